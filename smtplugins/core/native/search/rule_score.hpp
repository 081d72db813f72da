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
#include "lm/tables.hpp"

namespace smt {

struct Step {
  float prob;             // log10
  std::uint8_t length;    // words of the matched n-gram
  bool independent;       // a further word to the left would not change the probability
  std::uint64_t pointer;  // the n-gram's key
};

// The steps and joins of each layout. Those of the probing tables are part of the callers' code; those of the others
// are functions of their own, so that the callers stay small.
namespace layout {

template <int N, class Lookup>
Step step(const Lookup& lm, const RightState<N>& state, WordId word, RightState<N>& next) noexcept {
  typename Lookup::Node node;
  Entry entry = lm.unigram(word, node);
  Step result{entry.prob, 1, entry.independent, Lookup::key(node)};
  next.words[0] = word;
  next.backoff[0] = entry.backoff;
  next.length = has_extension(entry.backoff) ? 1 : 0;

  int matched = 1;
  for (; matched <= state.length && !result.independent; ++matched) {
    const WordId before = state.words[matched - 1];
    if (matched == lm.order() - 1) {
      result.independent = true;
      const auto longest = lm.longest();
      if (longest.read(longest.home(node, before), node, before, entry)) {
        result.prob = entry.prob;
        result.pointer = Lookup::key(node);
        ++matched;
      }
      break;
    }
    const auto level = lm.middle(matched + 1);
    if (!level.read(level.home(node, before), node, before, entry)) {
      result.independent = true;
      break;
    }
    result.prob = entry.prob;
    result.independent = entry.independent;
    result.pointer = Lookup::key(node);
    next.words[matched] = before;
    next.backoff[matched] = entry.backoff;
    if (has_extension(entry.backoff)) next.length = static_cast<std::uint8_t>(matched + 1);
  }
  result.length = static_cast<std::uint8_t>(matched);
  for (int i = matched; i <= state.length; ++i) result.prob += state.backoff[i - 1];
  return result;
}

template <int N>
[[gnu::noinline]] Step other_step(const LmTables& lm, const RightState<N>& state, WordId word,
                                  RightState<N>& next) noexcept {
  if (lm.layout == LmLayout::kTrie) return step(TrieLookup(lm), state, word, next);
  return step(ProbingLookup<true>(lm), state, word, next);
}

}  // namespace layout

// One word after a state. `next` must not be `state`.
template <int N>
Step step(const LmTables& lm, const RightState<N>& state, WordId word, RightState<N>& next) noexcept {
  if (lm.layout != LmLayout::kProbing) [[unlikely]] return layout::other_step(lm, state, word, next);
  return layout::step(ProbingLookup<false>(lm), state, word, next);
}

// What stands for the probability of a step, which is not independent of the words before, while these are not known.
inline float rest_of(const LmTables& lm, const Step& scored) noexcept {
  if (lm.layout != LmLayout::kRestProbing) [[likely]] return scored.prob;
  return ProbingLookup<true>(lm).entry(scored.length, scored.pointer).rest;
}

namespace layout {

template <int N, class Table>
void prefetch_step(const LmTables& lm, const Table* middles, const RightState<N>& state, WordId word) noexcept {
  auto key = static_cast<std::uint64_t>(word);
  for (int n = 2; n <= state.length + 1; ++n) {
    key = extend(key, state.words[n - 2]);
    n == lm.order ? lm.longest.prefetch(key) : middles[n - 2].prefetch(key);
  }
}

template <int N>
[[gnu::noinline]] void other_prefetch(const LmTables& lm, const RightState<N>& state, WordId word) noexcept {
  if (lm.layout == LmLayout::kRestProbing) return prefetch_step(lm, lm.rests, state, word);
  if (state.length == 0) return;
  const TrieLookup trie(lm);
  TrieNode node;
  trie.unigram(word, node);
  const TrieTable& table = lm.trie.tables[0];
  table.prefetch(table.home(node, state.words[0]));
}

}  // namespace layout

// Prefetches the memory of a step, of a trie only that of its first look-up.
template <int N>
void prefetch_step(const LmTables& lm, const RightState<N>& state, WordId word) noexcept {
  if (lm.layout != LmLayout::kProbing) [[unlikely]] return layout::other_prefetch(lm, state, word);
  layout::prefetch_step(lm, lm.middles, state, word);
}

// The result of joining two strings. It depends only on the right state of the left string and the left state of the
// right string (their == and hash), so a search may cache it.
template <int N>
struct Joined {
  float score = 0.0F;        // log10, on top of the scores of both strings
  float open_score = 0.0F;   // to be added if the left piece's left state is open: rest costs in place of probabilities
  std::uint8_t gained = 0;   // pointers that the whole's left state gains, if the left piece's is open
  bool closes = true;        // and whether it is full then
  std::uint8_t context = 0;  // words of the left piece that stay in the right state, behind those of the right piece
  std::uint64_t pointers[N - 1];
  float backoff[N - 1];  // of these words

  Joined() noexcept {}
};

namespace layout {

template <int N, class Lookup>
Joined<N> join(const Lookup& lm, const RightState<N>& before, const LeftState<N>& after) noexcept {
  Joined<N> joined;
  int context = before.length;  // words of the left piece that may still matter
  bool open = context > 0;
  double score = 0.0;  // probabilities are added and subtracted
  double open_score = 0.0;
  std::memcpy(joined.backoff, before.backoff, sizeof joined.backoff);

  int n = 1;
  for (; n <= after.length && context > 0; ++n) {
    // Word n of the right piece: so far its n-gram begins with the piece; now words come before it.
    const std::uint64_t pointer = after.pointers[n - 1];
    typename Lookup::Node node = lm.node(n, pointer);
    std::uint64_t key = pointer;
    float backoff[N - 1];
    Entry entry;
    int matched = 0;
    int kept = 0;
    bool independent = false;
    for (; matched < context && !independent;) {
      const WordId word = before.words[matched];
      if (n + matched + 1 == lm.order()) {
        independent = true;
        const auto longest = lm.longest();
        Entry last;
        if (longest.read(longest.home(node, word), node, word, last)) {
          entry = last;
          ++matched;
        }
        break;
      }
      const auto level = lm.middle(n + matched + 1);
      Entry longer;
      if (!level.read(level.home(node, word), node, word, longer)) {
        independent = true;
        break;
      }
      entry = longer;
      independent = entry.independent;
      backoff[matched] = entry.backoff;
      key = Lookup::key(node);
      ++matched;
      if (has_extension(entry.backoff)) kept = matched;
    }
    if (matched > 0) {
      // Replaces the estimate without context by the real probability.
      score += static_cast<double>(entry.prob) - static_cast<double>(lm.entry(n, pointer).rest);
    } else if constexpr (Lookup::kRest) {
      const Entry alone = lm.entry(n, pointer);
      score += static_cast<double>(alone.prob) - static_cast<double>(alone.rest);
    }
    for (int i = matched; i < context; ++i) score += static_cast<double>(joined.backoff[i]);
    if (open && !independent) {
      joined.pointers[joined.gained++] = key;
      if constexpr (Lookup::kRest) open_score += static_cast<double>(entry.rest) - static_cast<double>(entry.prob);
    }
    open = open && !independent && kept == before.length;
    context = kept;
    std::memcpy(joined.backoff, backoff, static_cast<std::size_t>(kept) * sizeof(float));
  }
  if constexpr (Lookup::kRest) {
    // No word before the right piece changes the probabilities of the others.
    for (; n <= after.length; ++n) {
      const Entry alone = lm.entry(n, after.pointers[n - 1]);
      score += static_cast<double>(alone.prob) - static_cast<double>(alone.rest);
    }
  }

  if (after.full) {
    for (int i = 0; i < context; ++i) score += static_cast<double>(joined.backoff[i]);
    context = 0;
    open = false;
  }
  joined.score = static_cast<float>(score);
  joined.open_score = static_cast<float>(open_score);
  joined.closes = !open;
  joined.context = static_cast<std::uint8_t>(context);
  return joined;
}

template <int N>
[[gnu::noinline]] Joined<N> other_join(const LmTables& lm, const RightState<N>& before,
                                       const LeftState<N>& after) noexcept {
  if (lm.layout == LmLayout::kTrie) return join(TrieLookup(lm), before, after);
  return join(ProbingLookup<true>(lm), before, after);
}

}  // namespace layout

// The left piece must have words.
template <int N>
Joined<N> join(const LmTables& lm, const RightState<N>& before, const LeftState<N>& after) noexcept {
  if (lm.layout != LmLayout::kProbing) [[unlikely]] return layout::other_join(lm, before, after);
  return layout::join(ProbingLookup<false>(lm), before, after);
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
    const float backoff = lm_.backoff(lm_.begin);
    state_.right.length = has_extension(backoff) ? 1 : 0;
    state_.right.words[0] = lm_.begin;
    state_.right.backoff[0] = backoff;
    open_ = false;
  }

  void terminal(WordId word) noexcept {
    const RightState<N> before = state_.right;
    const Step scored = step(lm_, before, word, state_.right);
    if (!open_ || scored.independent) {
      score_ += static_cast<double>(scored.prob);
      open_ = false;
      return;
    }
    score_ += static_cast<double>(rest_of(lm_, scored));
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
    if (open_) score_ += static_cast<double>(joined.open_score);
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
