// The runs of words between the gaps of target sides: a language model scores each distinct run once per sentence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/forest.hpp"
#include "lm/lm_state.hpp"
#include "search/rule_score.hpp"

namespace smt {

template <int N>
class LmFragments {
 public:
  struct Fragment {
    ChartState<N> state;
    double score = 0.0;   // log10
    bool begins = false;  // the sentence: the rule has <s> there
  };

  // `lm` must outlive it. With markers, <s> at the start of a target side begins the sentence and has no score.
  LmFragments(const LmTables& lm, bool markers) : lm_(lm), markers_(markers) {}

  void clear() {
    fragments_.clear();
    words_.offsets.assign(1, 0);
    words_.values.clear();
    std::fill(slots_.begin(), slots_.end(), 0);
  }
  const Fragment& operator[](std::int32_t number) const noexcept {
    return fragments_[static_cast<std::size_t>(number)];
  }

  // Calls put(number) for each run of words of a target side, and put(-1 - k) for each gap. word(symbol) is the model's
  // id.
  template <class Word, class Put>
  void split(std::span<const std::int32_t> target, Word word, Put put) {
    for (std::size_t at = 0; at < target.size();) {
      if (target[at] < 0) {
        put(target[at++]);
        continue;
      }
      const std::size_t first = at;
      while (at < target.size() && target[at] >= 0) ++at;
      put(find(target.subspan(first, at - first), first == 0, word));
    }
  }

 private:
  static std::uint64_t hash_of(std::span<const std::int32_t> words, bool begins) noexcept {
    std::uint64_t h = 2 * words.size() + (begins ? 1U : 0U);
    for (const std::int32_t word : words) h = mix(h, static_cast<std::uint32_t>(word));
    return h;
  }

  void grow() {
    slots_.assign(std::max<std::size_t>(256, slots_.size() * 2), 0);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = 0; i < fragments_.size(); ++i) {
      std::size_t slot = hash_of(words_[i], fragments_[i].begins) & mask;
      while (slots_[slot] != 0) slot = (slot + 1) & mask;
      slots_[slot] = static_cast<std::int32_t>(i + 1);
    }
  }

  template <class Word>
  std::int32_t find(std::span<const std::int32_t> words, bool leads, Word word) {
    const bool begins = markers_ && leads && word(words.front()) == lm_.begin;
    if ((fragments_.size() + 1) * 2 > slots_.size()) grow();
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash_of(words, begins) & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
      const auto i = static_cast<std::size_t>(slots_[slot] - 1);
      const auto known = words_[i];
      if (begins == fragments_[i].begins && std::equal(words.begin(), words.end(), known.begin(), known.end())) {
        return slots_[slot] - 1;
      }
    }
    const auto number = static_cast<std::int32_t>(fragments_.size());
    slots_[slot] = number + 1;
    words_.values.insert(words_.values.end(), words.begin(), words.end());
    words_.end_part();
    Fragment& made = fragments_.emplace_back();
    made.begins = begins;
    RuleScorer<N> scorer(lm_, made.state);
    if (begins) scorer.begin_sentence();
    for (const std::int32_t symbol : words.subspan(begins ? 1 : 0)) scorer.terminal(word(symbol));
    made.score = scorer.finish();
    return number;
  }

  const LmTables& lm_;
  const bool markers_;
  std::vector<Fragment> fragments_;
  Parts<std::int32_t> words_;
  std::vector<std::int32_t> slots_;  // fragment + 1, or 0
};

}  // namespace smt
