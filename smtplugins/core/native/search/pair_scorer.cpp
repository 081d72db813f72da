#include "search/pair_scorer.hpp"

#include <cstring>

namespace smt {

PairScorer::State PairScorer::read(const std::byte* state) noexcept {
  State found;
  std::memcpy(&found, state, sizeof found);
  return found;
}

float PairScorer::value(std::int32_t left, std::int32_t right) const noexcept {
  const auto found = values_.find(key(left, right));
  return found == values_.end() ? other_ : found->second;
}

float PairScorer::append(State& state, State next) const noexcept {
  if (next.first == kNone) return 0.0F;
  if (state.first == kNone) {
    state = next;
    return 0.0F;
  }
  const float added = value(state.last, next.first);
  state.last = next.last;
  return added;
}

void PairScorer::prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) {
  targets_.clear();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::span<const std::int32_t> target = rules.targets[static_cast<std::size_t>(chosen[i])];
    targets_.push_back(target);
    estimates[i] = 0.0F;
    for (std::size_t k = 1; k < target.size(); ++k) {
      if (target[k - 1] >= 0 && target[k] >= 0) estimates[i] += value(target[k - 1], target[k]);
    }
  }
}

void PairScorer::combine(const Batch& batch) {
  for (std::size_t i = 0; i < batch.size; ++i) {
    const auto tails = batch.tails_of(i);
    State state{kNone, kNone};
    if (batch.begins[i] != 0) state = {kBegin, kBegin};
    float sum = 0.0F;
    for (const std::int32_t symbol : targets_[static_cast<std::size_t>(batch.rules[i])]) {
      const State next = symbol >= 0 ? State{symbol, symbol} : read(tails[static_cast<std::size_t>(-1 - symbol)]);
      sum += append(state, next);
    }
    *batch.values(i) = sum;
    std::memcpy(batch.state(i), &state, sizeof state);
  }
}

void PairScorer::finish(const std::byte* state, bool begun, float* values) {
  State whole{kBegin, kBegin};
  if (begun) {
    whole = read(state);
  } else {
    *values += append(whole, read(state));
  }
  *values += append(whole, {kEnd, kEnd});
}

std::uint64_t PairScorer::hash(const std::byte* state) const noexcept {
  const State found = read(state);
  const std::uint64_t mixed = key(found.first, found.last) * 0x9E3779B97F4A7C15U;
  return mixed ^ mixed >> 32U;
}

bool PairScorer::equal(const std::byte* a, const std::byte* b) const noexcept {
  return std::memcmp(a, b, sizeof(State)) == 0;
}

}  // namespace smt
