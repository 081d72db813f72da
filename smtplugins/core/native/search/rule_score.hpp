// Language model scores of strings and of their joins; the states are those of lm_state.hpp.
//
//   ChartState<N> state;
//   RuleScorer<N> scorer(tables, state);  // lm.tables()
//   scorer.terminal(the); scorer.gap(child); scorer.terminal(dog);
//   double log10 = scorer.finish();       // the rule's score on top of its children; `state` is that of the whole
#pragma once

#include <cstdint>
#include <cstring>

#include "lm/lm_state.hpp"
#include "lm/probing.hpp"

namespace smt {

struct Step {
  float prob;             // log10
  std::uint8_t length;    // words of the matched n-gram
  bool independent;       // a further word to the left would not change the probability
  std::uint64_t pointer;  // the n-gram's key
};

// One word after a state. `next` must not be `state`.
template <int N>
Step step(const LmTables& lm, const RightState<N>& state, WordId word, RightState<N>& next) noexcept {
  const Weights unigram = lm.unigram(word);
  Step result{log10_prob(unigram.prob), 1, independent_of_left(unigram.prob), static_cast<std::uint64_t>(word)};
  next.words[0] = word;
  next.backoff[0] = unigram.backoff;
  next.length = has_extension(unigram.backoff) ? 1 : 0;

  int matched = 1;
  for (; matched <= state.length && !result.independent; ++matched) {
    const WordId before = state.words[matched - 1];
    const std::uint64_t key = extend(result.pointer, before);
    if (matched == lm.order - 1) {
      result.independent = true;
      if (const std::byte* slot = lm.longest.find(key)) {
        result.prob = log10_prob(load<float>(slot));
        result.pointer = key;
        ++matched;
      }
      break;
    }
    const std::byte* const slot = lm.middle(matched + 1).find(key);
    if (slot == nullptr) {
      result.independent = true;
      break;
    }
    const auto entry = load<Weights>(slot);
    result.prob = log10_prob(entry.prob);
    result.independent = independent_of_left(entry.prob);
    result.pointer = key;
    next.words[matched] = before;
    next.backoff[matched] = entry.backoff;
    if (has_extension(entry.backoff)) next.length = static_cast<std::uint8_t>(matched + 1);
  }
  result.length = static_cast<std::uint8_t>(matched);
  for (int i = matched; i <= state.length; ++i) result.prob += state.backoff[i - 1];
  return result;
}

// Prefetches the memory of a step.
template <int N>
void prefetch_step(const LmTables& lm, const RightState<N>& state, WordId word) noexcept {
  auto key = static_cast<std::uint64_t>(word);
  for (int n = 2; n <= state.length + 1; ++n) {
    key = extend(key, state.words[n - 2]);
    n == lm.order ? lm.longest.prefetch(key) : lm.middle(n).prefetch(key);
  }
}

// The result of joining two strings. It depends only on the right state of the left string and the left state of the
// right string (their == and hash), so a search may cache it.
template <int N>
struct Joined {
  float score = 0.0F;        // log10, on top of the scores of both strings
  std::uint8_t gained = 0;   // pointers that the whole's left state gains, if the left piece's is open
  bool closes = true;        // and whether it is full then
  std::uint8_t context = 0;  // words of the left piece that stay in the right state, behind those of the right piece
  std::uint64_t pointers[N - 1];
  float backoff[N - 1];  // of these words

  Joined() noexcept {}
};

// The left piece must have words.
template <int N>
Joined<N> join(const LmTables& lm, const RightState<N>& before, const LeftState<N>& after) noexcept {
  Joined<N> joined;
  int context = before.length;  // words of the left piece that may still matter
  bool open = context > 0;
  double score = 0.0;  // probabilities are added and subtracted
  std::memcpy(joined.backoff, before.backoff, sizeof joined.backoff);

  for (int n = 1; n <= after.length && context > 0; ++n) {
    // Word n of the right piece: so far its n-gram begins with the piece; now words come before it.
    std::uint64_t key = after.pointers[n - 1];
    float backoff[N - 1];
    float prob = 0.0F;
    int matched = 0;
    int kept = 0;
    bool independent = false;
    for (; matched < context && !independent;) {
      const std::uint64_t longer = extend(key, before.words[matched]);
      if (n + matched + 1 == lm.order) {
        independent = true;
        if (const std::byte* slot = lm.longest.find(longer)) {
          prob = log10_prob(load<float>(slot));
          ++matched;
        }
        break;
      }
      const std::byte* const slot = lm.middle(n + matched + 1).find(longer);
      if (slot == nullptr) {
        independent = true;
        break;
      }
      const auto entry = load<Weights>(slot);
      prob = log10_prob(entry.prob);
      independent = independent_of_left(entry.prob);
      backoff[matched] = entry.backoff;
      key = longer;
      ++matched;
      if (has_extension(entry.backoff)) kept = matched;
    }
    if (matched > 0) {
      // Replaces the estimate without context by the real probability.
      const std::uint64_t pointer = after.pointers[n - 1];
      const float estimate =
          n == 1 ? lm.unigram(static_cast<WordId>(pointer)).prob : load<float>(lm.middle(n).find(pointer));
      score += static_cast<double>(prob) - static_cast<double>(log10_prob(estimate));
    }
    for (int i = matched; i < context; ++i) score += static_cast<double>(joined.backoff[i]);
    if (open && !independent) joined.pointers[joined.gained++] = key;
    open = open && !independent && kept == before.length;
    context = kept;
    std::memcpy(joined.backoff, backoff, static_cast<std::size_t>(kept) * sizeof(float));
  }

  if (after.full) {
    for (int i = 0; i < context; ++i) score += static_cast<double>(joined.backoff[i]);
    context = 0;
    open = false;
  }
  joined.score = static_cast<float>(score);
  joined.closes = !open;
  joined.context = static_cast<std::uint8_t>(context);
  return joined;
}

// Extends `whole`, the state of the left piece, to the state of both. `open`: whether its left state may still grow.
template <int N>
void apply(const Joined<N>& joined, const ChartState<N>& after, ChartState<N>& whole, bool& open) noexcept {
  if (open) {
    for (int i = 0; i < joined.gained; ++i) whole.left.pointers[whole.left.length++] = joined.pointers[i];
    open = !joined.closes;
  }
  RightState<N>& right = whole.right;
  if (joined.context == 0 || after.left.full || after.right.length < after.left.length) {
    right = after.right;
    return;
  }
  const int shift = after.right.length;
  for (int i = joined.context; i-- > 0;) right.words[shift + i] = right.words[i];
  for (int i = joined.context; i-- > 0;) right.backoff[shift + i] = joined.backoff[i];
  for (int i = 0; i < shift; ++i) right.words[i] = after.right.words[i];
  for (int i = 0; i < shift; ++i) right.backoff[i] = after.right.backoff[i];
  right.length = static_cast<std::uint8_t>(shift + joined.context);
}

// Scores a rule's target side, symbol by symbol. A run of words scored before counts as a gap.
template <int N>
class RuleScorer {
 public:
  // `state` becomes the rule's state; it must not be a child's.
  RuleScorer(const LmTables& lm, ChartState<N>& state) noexcept : lm_(lm), state_(state) { reset(); }

  void reset() noexcept {
    state_.left.length = 0;
    state_.right.length = 0;
    open_ = true;
    score_ = 0.0;
  }

  // Only before all symbols; the model must have <s>.
  void begin_sentence() noexcept {
    const float backoff = lm_.unigram(lm_.begin).backoff;
    state_.right.length = has_extension(backoff) ? 1 : 0;
    state_.right.words[0] = lm_.begin;
    state_.right.backoff[0] = backoff;
    open_ = false;
  }

  void terminal(WordId word) noexcept {
    const RightState<N> before = state_.right;
    const Step scored = step(lm_, before, word, state_.right);
    score_ += static_cast<double>(scored.prob);
    if (!open_) return;
    if (scored.independent) {
      open_ = false;
      return;
    }
    state_.left.pointers[state_.left.length++] = scored.pointer;
    if (state_.right.length != before.length + 1) open_ = false;
  }

  // `score`: the child's own score, if it is to be added here.
  void gap(const ChartState<N>& child, double score = 0.0) noexcept {
    if (state_.right.length == 0 && state_.left.length == 0 && open_) {
      first_gap(child, score);
    } else {
      gap(child, join(lm_, state_.right, child.left), score);
    }
  }
  // For a gap that is the first symbol.
  void first_gap(const ChartState<N>& child, double score = 0.0) noexcept {
    score_ = score;
    state_ = child;
    open_ = !child.left.full;
  }
  // With a cached join of `right()` and the child's left state.
  void gap(const ChartState<N>& child, const Joined<N>& joined, double score = 0.0) noexcept {
    score_ += score + static_cast<double>(joined.score);
    if (!child.empty()) apply(joined, child, state_, open_);
  }
  const RightState<N>& right() const noexcept { return state_.right; }

  // The log10 score so far.
  double finish() noexcept {
    state_.left.full = !open_ || state_.left.length == lm_.order - 1;
    return score_;
  }

 private:
  const LmTables& lm_;
  ChartState<N>& state_;
  double score_ = 0.0;
  bool open_ = true;
};

}  // namespace smt
