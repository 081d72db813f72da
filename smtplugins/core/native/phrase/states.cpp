#include "phrase/states.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "search/rule_score.hpp"

namespace smt {
namespace {

constexpr std::size_t kFirstMoves = std::size_t{1} << 14U;
constexpr std::size_t kMostMoves = std::size_t{1} << 16U;

std::size_t at(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

std::uint64_t pair_of(std::int32_t high, std::int32_t low) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32U | static_cast<std::uint32_t>(low);
}

template <int N>
class LmStatesOf final : public LmStates {
 public:
  explicit LmStatesOf(std::shared_ptr<AnyLmScorer> scorer) : LmStates(std::move(scorer)) { reset(); }

 private:
  void reset() override {
    states_.clear();
    slots_.assign(1024, 0);
    RightState<N> state;
    number(state);
    const LmTables& lm = scorer().lm();
    const float backoff = lm.backoff(lm.begin);
    state.length = 1;
    state.words[0] = lm.begin;
    state.backoff[0] = backoff;
    // The beginning is a state of its own, even if no longer n-gram uses it.
    states_.push_back(state);
    insert(1);
  }
  std::size_t states() const noexcept override { return states_.size(); }

  LmMove work_out(std::int32_t from, WordId word) override {
    RightState<N> next;
    const RightState<N> before = states_[at(from)];
    const Step scored = smt::step(scorer().lm(), before, word, next);
    return {0, scored.prob, number(next)};
  }

  std::int32_t number(const RightState<N>& state) {
    if (2 * (states_.size() + 1) >= slots_.size()) {
      slots_.assign(4 * slots_.size(), 0);
      for (std::size_t i = 0; i < states_.size(); ++i) insert(i);
    }
    std::size_t slot = smt::hash(state) & (slots_.size() - 1);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (states_[at(slots_[slot] - 1)] == state) return slots_[slot] - 1;
    }
    states_.push_back(state);
    slots_[slot] = static_cast<std::int32_t>(states_.size());
    return slots_[slot] - 1;
  }
  void insert(std::size_t i) {
    std::size_t slot = smt::hash(states_[i]) & (slots_.size() - 1);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<std::int32_t>(i + 1);
  }

  std::vector<RightState<N>> states_;
  std::vector<std::int32_t> slots_;
};

}  // namespace

LmStates::LmStates(std::shared_ptr<AnyLmScorer> scorer)
    : scorer_(std::move(scorer)), scale_(scorer_->options().scale), end_(scorer_->lm().end), moves_(kFirstMoves) {
  if (scorer_->options().markers) {
    throw std::invalid_argument("phrases hold no marks of sentences: the language model has to be made without markers");
  }
}

std::unique_ptr<LmStates> LmStates::make(std::shared_ptr<AnyLmScorer> scorer) {
  const int order = scorer->lm().order;
  return for_order(order, [&](auto n) -> std::unique_ptr<LmStates> {
    return std::make_unique<LmStatesOf<decltype(n)::value>>(std::move(scorer));
  });
}

const LmMove& LmStates::step(std::int32_t state, WordId word) {
  // States are numbered from 0, so keys are shifted: 0 is an empty slot.
  const std::uint64_t key = pair_of(state, word) + 1;
  const std::size_t mask = moves_.size() - 1;
  std::size_t slot = (key * 0x9E3779B97F4A7C15ULL >> 20U) & mask;
  for (; moves_[slot].key != 0; slot = (slot + 1) & mask) {
    if (moves_[slot].key == key) return moves_[slot];
  }
  LmMove made = work_out(state, word);
  made.key = key;
  if (2 * ++used_ >= moves_.size()) {
    grow();
    slot = (key * 0x9E3779B97F4A7C15ULL >> 20U) & (moves_.size() - 1);
    while (moves_[slot].key != 0) slot = (slot + 1) & (moves_.size() - 1);
  }
  return moves_[slot] = made;
}

void LmStates::grow() {
  std::vector<LmMove> old(2 * moves_.size());
  old.swap(moves_);
  const std::size_t mask = moves_.size() - 1;
  for (const LmMove& move : old) {
    if (move.key == 0) continue;
    std::size_t slot = (move.key * 0x9E3779B97F4A7C15ULL >> 20U) & mask;
    while (moves_[slot].key != 0) slot = (slot + 1) & mask;
    moves_[slot] = move;
  }
}

void LmStates::start(const TargetRules& rules) {
  if (used_ > kMostMoves) {
    std::fill(moves_.begin(), moves_.end(), LmMove());
    used_ = 0;
    reset();
  }
  words_.offsets.assign(1, 0);
  words_.values.clear();
  alone_.resize(rules.targets.size());
  for (std::size_t r = 0; r < rules.targets.size(); ++r) {
    const std::size_t first = words_.values.size();
    std::int32_t state = empty;
    for (const std::int32_t symbol : rules.targets[r]) {
      if (symbol < 0) continue;
      const WordId word = scorer_->word(symbol);
      const LmMove& moved = step(state, word);
      state = moved.next;
      words_.values.push_back({word, state, static_cast<double>(moved.prob)});
    }
    double rest = 0.0;
    for (std::size_t i = words_.values.size(); i-- > first;) {
      const double own = words_.values[i].rest;
      words_.values[i].rest = rest;
      rest += own;
    }
    alone_[r] = rest;
    words_.end_part();
  }
}

double LmStates::move(std::int32_t state, std::int32_t rule, std::int32_t& next) {
  double sum = 0.0;
  const std::span<const Word> words = words_[at(rule)];
  for (const Word& word : words) {
    const LmMove& moved = step(state, word.word);
    sum += static_cast<double>(moved.prob);
    state = moved.next;
    if (state == word.state) {
      // From here on, scores are as for the phrase by itself.
      next = words.back().state;
      return scale_ * (sum + word.rest);
    }
  }
  next = state;
  return scale_ * sum;
}

PhraseStates::PhraseStates(std::vector<WeightedScorer> parts) {
  for (WeightedScorer& given : parts) {
    Part part;
    part.weights = std::move(given.weights);
    part.component = components_;
    components_ += given.scorer->components();
    if (auto lm = std::dynamic_pointer_cast<AnyLmScorer>(given.scorer)) {
      part.lm = LmStates::make(std::move(lm));
    } else {
      part.stored = std::make_unique<Stored>();
      part.stored->scorer = std::move(given.scorer);
      part.stored->stride = part.stored->scorer->state_bytes() / sizeof(std::uint64_t);
    }
    parts_.push_back(std::move(part));
  }
  if (parts_.size() == 1 && parts_[0].lm != nullptr) {
    only_ = parts_[0].lm.get();
    only_weight_ = parts_[0].weights[0];
  }
}

double PhraseStates::lm_nat() const noexcept {
  double sum = 0.0;
  for (const Part& part : parts_) {
    if (part.lm != nullptr) sum += std::abs(part.weights[0]) * part.lm->scale() / std::numbers::ln10;
  }
  return sum;
}

std::int32_t PhraseStates::Stored::number(const std::byte* state) {
  const std::uint64_t hash = scorer->hash(state);
  const auto [begin, end] = numbers.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    if (scorer->equal(this->state(entry->second), state)) return entry->second;
  }
  const std::size_t offset = states.size();
  states.resize(offset + stride);
  std::copy_n(state, stride * sizeof(std::uint64_t), reinterpret_cast<std::byte*>(states.data() + offset));
  numbers.emplace(hash, count);
  return count++;
}

std::int32_t PhraseStates::joint(std::span<const std::int32_t> states) {
  std::uint64_t hash = 0;
  for (const std::int32_t state : states) hash = mix(hash, static_cast<std::uint32_t>(state));
  const auto [begin, end] = joint_numbers_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    if (std::ranges::equal(states_of(entry->second), states)) return entry->second;
  }
  const auto number = static_cast<std::int32_t>(joint_numbers_.size());
  joints_.insert(joints_.end(), states.begin(), states.end());
  joint_numbers_.emplace(hash, number);
  return number;
}

std::int32_t PhraseStates::start(const TargetRules& rules, std::vector<PhraseOption>& options) {
  asked_ = 0;
  options_ = &options;
  joints_.clear();
  joint_numbers_.clear();
  bool any_stored = false;
  for (const Part& part : parts_) {
    if (part.lm != nullptr) {
      part.lm->start(rules);
      for (PhraseOption& option : options) option.alone += part.weights[0] * part.lm->alone(option.rule);
    }
    any_stored |= part.stored != nullptr;
  }
  if (only_ != nullptr) {
    for (PhraseOption& option : options) option.estimate += option.alone;
    return LmStates::begun;
  }
  if (any_stored) {
    // Rule 0 is the start; each option has a rule of its own with a gap in front for the previous hypothesis.
    steps_.targets.offsets.assign(2, 0);
    steps_.targets.values.clear();
    steps_.scores.assign(1 + options.size(), 0.0F);
    steps_.firsts.assign(1, 0);
    steps_.lasts.assign(1, 0);
    for (const PhraseOption& option : options) {
      steps_.targets.values.push_back(-1);
      const auto words = rules.targets[at(option.rule)];
      steps_.targets.values.insert(steps_.targets.values.end(), words.begin(), words.end());
      steps_.targets.end_part();
      steps_.firsts.push_back(option.first);
      steps_.lasts.push_back(option.last);
    }
  }
  std::vector<std::int32_t> begun(parts_.size(), LmStates::begun);
  std::vector<std::int32_t> all(1 + options.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].stored == nullptr) continue;
    Stored& part = *parts_[p].stored;
    part.states.clear();
    part.count = 0;
    part.numbers.clear();
    part.moves.clear();
    part.next.clear();
    part.values.clear();
    const std::size_t width = part.scorer->components();
    std::vector<float> estimates(all.size() * width);
    part.scorer->prepare(steps_, all, estimates.data());
    for (std::size_t i = 0; i < options.size(); ++i) {
      for (std::size_t c = 0; c < width; ++c) {
        options[i].alone += parts_[p].weights[c] * static_cast<double>(estimates[(1 + i) * width + c]);
      }
    }
    const std::pair<std::int32_t, std::int32_t> beginning{unknown, unknown};
    work_out(part, {&beginning, 1});
    begun[p] = part.next[0];
  }
  for (PhraseOption& option : options) option.estimate += option.alone;
  return joint(begun);
}

// Computes the missing states and values of a scorer's moves; an unknown state and option are the start.
void PhraseStates::work_out(Stored& part, std::span<const std::pair<std::int32_t, std::int32_t>> wanted) {
  fresh_.clear();
  for (const auto& [state, option] : wanted) {
    if (part.moves.emplace(pair_of(state, option), part.next.size() + fresh_.size()).second) {
      fresh_.emplace_back(state, option);
    }
  }
  if (fresh_.empty()) return;
  asked_ += static_cast<std::int64_t>(fresh_.size());
  const std::size_t width = part.scorer->components();
  const std::size_t state_at = (width * sizeof(float) + 7) & ~std::size_t{7};
  std::vector<std::int32_t> rules;
  std::vector<std::int32_t> offsets{0};
  std::vector<const std::byte*> tails;
  for (const auto& [state, option] : fresh_) {
    rules.push_back(1 + option);
    if (option >= 0) tails.push_back(part.state(state));
    offsets.push_back(static_cast<std::int32_t>(tails.size()));
  }
  const std::vector<std::uint8_t> begins(fresh_.size(), 0);
  Batch batch;
  batch.size = fresh_.size();
  batch.rules = rules.data();
  batch.tail_offsets = offsets.data();
  batch.tails = tails.data();
  batch.begins = begins.data();
  batch.stride = state_at + part.stride * sizeof(std::uint64_t);
  std::vector<std::uint64_t> memory(batch.size * batch.stride / sizeof(std::uint64_t));
  batch.out = reinterpret_cast<std::byte*>(memory.data());
  batch.values_at = 0;
  batch.state_at = state_at;
  part.scorer->combine(batch);
  for (std::size_t i = 0; i < batch.size; ++i) {
    part.values.insert(part.values.end(), batch.values(i), batch.values(i) + width);
    part.next.push_back(part.number(batch.state(i)));
  }
}

void PhraseStates::ask(std::span<const std::pair<std::int32_t, std::int32_t>> wanted) {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (parts_[p].stored == nullptr) continue;
    own_.clear();
    for (const auto& [state, option] : wanted) own_.emplace_back(states_of(state)[p], option);
    work_out(*parts_[p].stored, own_);
  }
}

std::int64_t PhraseStates::place(const Stored& part, std::int32_t state, std::int32_t option) const {
  return part.moves.at(pair_of(state, option));
}

void PhraseStates::moves(std::int32_t state, std::span<const std::int32_t> numbers, Move* results) {
  const std::vector<PhraseOption>& options = *options_;
  if (only_ != nullptr) {
    asked_ += static_cast<std::int64_t>(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      results[i].score = only_weight_ * only_->move(state, options[at(numbers[i])].rule, results[i].next);
    }
    return;
  }
  const std::vector<std::int32_t> own(states_of(state).begin(), states_of(state).end());
  std::vector<std::int32_t> next(numbers.size() * parts_.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) results[i].score = 0.0;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    if (part.lm != nullptr) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::int32_t rule = options[at(numbers[i])].rule;
        results[i].score += part.weights[0] * part.lm->move(own[p], rule, next[i * parts_.size() + p]);
      }
      continue;
    }
    Stored& stored = *part.stored;
    own_.clear();
    for (const std::int32_t option : numbers) own_.emplace_back(own[p], option);
    work_out(stored, own_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t where = at(place(stored, own[p], numbers[i]));
      next[i * parts_.size() + p] = stored.next[where];
      for (std::size_t c = 0; c < part.weights.size(); ++c) {
        results[i].score += part.weights[c] * static_cast<double>(stored.values[where * part.weights.size() + c]);
      }
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    results[i].next = joint(std::span(next).subspan(i * parts_.size(), parts_.size()));
  }
}

double PhraseStates::finish(std::int32_t state) {
  if (only_ != nullptr) return only_weight_ * only_->finish(state);
  std::vector<float> values(components_);
  finish_values(state, values.data());
  double sum = 0.0;
  for (const Part& part : parts_) {
    for (std::size_t c = 0; c < part.weights.size(); ++c) {
      sum += part.weights[c] * static_cast<double>(values[part.component + c]);
    }
  }
  return sum;
}

void PhraseStates::values(std::int32_t state, std::int32_t option, float* values) {
  std::int32_t next = 0;
  const std::int32_t rule = (*options_)[at(option)].rule;
  if (only_ != nullptr) {
    values[0] = static_cast<float>(only_->move(state, rule, next));
    return;
  }
  const std::vector<std::int32_t> own(states_of(state).begin(), states_of(state).end());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Part& part = parts_[p];
    if (part.lm != nullptr) {
      values[part.component] = static_cast<float>(part.lm->move(own[p], rule, next));
      continue;
    }
    const std::pair<std::int32_t, std::int32_t> move{own[p], option};
    work_out(*part.stored, {&move, 1});
    const std::size_t where = at(place(*part.stored, own[p], option));
    std::copy_n(part.stored->values.data() + where * part.weights.size(), part.weights.size(), values + part.component);
  }
}

void PhraseStates::finish_values(std::int32_t state, float* values) {
  if (only_ != nullptr) {
    values[0] = static_cast<float>(only_->finish(state));
    return;
  }
  const std::span<const std::int32_t> own = states_of(state);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    float* const into = values + parts_[p].component;
    if (parts_[p].lm != nullptr) {
      *into = static_cast<float>(parts_[p].lm->finish(own[p]));
    } else {
      std::fill_n(into, parts_[p].weights.size(), 0.0F);
      parts_[p].stored->scorer->finish(parts_[p].stored->state(own[p]), false, into);
    }
  }
}

}  // namespace smt
