#include "search/scorer.hpp"

#include <algorithm>
#include <utility>

namespace smt {

Scorers::Scorers(std::vector<std::shared_ptr<Scorer>> parts) : given_(std::move(parts)) {
  for (const std::shared_ptr<Scorer>& part : given_) {
    const std::size_t component = components_;
    const std::size_t state = state_bytes_;
    components_ += part->components();
    state_bytes_ += part->state_bytes();
    parts_.push_back({part.get(), component, state});
  }
}

void Scorers::prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) {
  for (const Part& part : parts_) {
    const std::size_t width = part.scorer->components();
    estimates_.assign(chosen.size() * width, 0.0F);
    part.scorer->prepare(rules, chosen, estimates_.data());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::copy_n(estimates_.data() + i * width, width, estimates + i * components_ + part.component);
    }
  }
}

bool Scorers::may_go_left(std::int32_t rule) const {
  return std::all_of(parts_.begin(), parts_.end(), [rule](const Part& part) { return part.scorer->may_go_left(rule); });
}

void Scorers::combine(const Batch& batch) {
  const auto total = static_cast<std::size_t>(batch.tail_offsets[batch.size]);
  for (const Part& part : parts_) {
    tails_.resize(total);
    for (std::size_t i = 0; i < total; ++i) tails_[i] = batch.tails[i] + part.state;
    Batch own = batch;
    own.tails = tails_.data();
    own.values_at += part.component * sizeof(float);
    own.state_at += part.state;
    part.scorer->combine(own);
  }
}

void Scorers::finish(const std::byte* state, bool begun, float* values) {
  for (const Part& part : parts_) part.scorer->finish(state + part.state, begun, values + part.component);
}

std::uint64_t Scorers::hash(const std::byte* state) const noexcept {
  std::uint64_t sum = 0;
  for (const Part& part : parts_) {
    sum = (sum ^ part.scorer->hash(state + part.state)) * 0x9E3779B97F4A7C15U;
    sum ^= sum >> 29U;
  }
  return sum;
}

bool Scorers::equal(const std::byte* a, const std::byte* b) const noexcept {
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return part.scorer->equal(a + part.state, b + part.state); });
}

std::vector<float> score_words(Scorer& scorer, std::span<const std::int32_t> words) {
  TargetRules rules;
  rules.targets.values.assign(words.begin(), words.end());
  rules.targets.end_part();
  rules.scores.push_back(0.0F);
  const std::int32_t chosen = 0;
  const std::size_t width = scorer.components();
  std::vector<float> values(width);
  scorer.prepare(rules, {&chosen, 1}, values.data());

  const std::size_t value_words = (width + 1) / 2;
  std::vector<std::uint64_t> record(value_words + scorer.state_bytes() / 8 + 1);
  const std::int32_t offsets[2] = {0, 0};
  const std::uint8_t begins = 0;
  Batch batch;
  batch.size = 1;
  batch.rules = &chosen;
  batch.tail_offsets = offsets;
  batch.begins = &begins;
  batch.out = reinterpret_cast<std::byte*>(record.data());
  batch.stride = record.size() * 8;
  batch.state_at = value_words * 8;
  scorer.combine(batch);
  std::copy_n(batch.values(0), width, values.begin());
  scorer.finish(batch.state(0), false, values.data());
  return values;
}

}  // namespace smt
