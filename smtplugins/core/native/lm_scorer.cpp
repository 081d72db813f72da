#include "lm_scorer.hpp"

#include <algorithm>
#include <new>

#include "search_run.hpp"

namespace smt {
namespace {

std::uint64_t hash_of(std::span<const std::int32_t> words, bool begins) noexcept {
  std::uint64_t h = 2 * words.size() + (begins ? 1U : 0U);
  for (const std::int32_t word : words) h = mix(h, static_cast<std::uint32_t>(word));
  return h;
}

}  // namespace

template <int N>
LmScorer<N>::LmScorer(const LmTables& lm, const LmOptions& options)
    : lm_(lm), markers_(options.markers), scale_(options.scale), memos_(options.memo ? kMemos : 0) {}

template <int N>
void LmScorer<N>::grow() {
  slots_.assign(std::max<std::size_t>(256, slots_.size() * 2), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < fragments_.size(); ++i) {
    std::size_t slot = hash_of(fragment_words_[i], fragments_[i].begins) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::int32_t>(i + 1);
  }
}

template <int N>
std::int32_t LmScorer<N>::fragment(std::span<const std::int32_t> words, bool leads) {
  const bool begins = markers_ && leads && word(words.front()) == lm_.begin;
  if ((fragments_.size() + 1) * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(words, begins) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const auto i = static_cast<std::size_t>(slots_[slot] - 1);
    const auto known = fragment_words_[i];
    if (begins == fragments_[i].begins && std::equal(words.begin(), words.end(), known.begin(), known.end())) {
      return slots_[slot] - 1;
    }
  }
  const auto number = static_cast<std::int32_t>(fragments_.size());
  slots_[slot] = number + 1;
  fragment_words_.values.insert(fragment_words_.values.end(), words.begin(), words.end());
  fragment_words_.end_part();
  Fragment& made = fragments_.emplace_back();
  made.begins = begins;
  RuleScorer<N> scorer(lm_, made.state);
  if (begins) scorer.begin_sentence();
  for (const std::int32_t symbol : words.subspan(begins ? 1 : 0)) scorer.terminal(word(symbol));
  made.score = scorer.finish();
  return number;
}

template <int N>
void LmScorer<N>::prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) {
  items_.offsets.assign(1, 0);
  items_.values.clear();
  fragments_.clear();
  fragment_words_.offsets.assign(1, 0);
  fragment_words_.values.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto target = rules.targets[static_cast<std::size_t>(chosen[i])];
    double estimate = 0.0;
    for (std::size_t at = 0; at < target.size();) {
      if (target[at] < 0) {
        items_.values.push_back(target[at++]);
        continue;
      }
      const std::size_t first = at;
      while (at < target.size() && target[at] >= 0) ++at;
      const std::int32_t number = fragment(target.subspan(first, at - first), first == 0);
      items_.values.push_back(number);
      estimate += fragments_[static_cast<std::size_t>(number)].score;
    }
    items_.end_part();
    estimates[i] = static_cast<float>(scale_ * estimate);
  }
}

// The next piece of text behind what the scorer has.
template <int N>
inline void LmScorer<N>::put(RuleScorer<N>& scorer, const ChartState<N>& next, double score) noexcept {
  if (memos_.empty()) {
    scorer.gap(next, join(lm_, scorer.right(), next.left), score);
    return;
  }
  const std::uint64_t key = smt::hash(next.left, smt::hash(scorer.right())) | 1U;
  Memo& memo = memos_[(key >> 40U) & (kMemos - 1)];
  if (memo.key != key) {
    memo.joined = join(lm_, scorer.right(), next.left);
    memo.key = key;
  }
  scorer.gap(next, memo.joined, score);
}

template <int N>
void LmScorer<N>::combine(const Batch& batch) {
  for (std::size_t i = 0; i < batch.size; ++i) {
    const auto items = items_[static_cast<std::size_t>(batch.rules[i])];
    const auto tails = batch.tails_of(i);
    RuleScorer<N> scorer(lm_, *new (batch.state(i)) ChartState<N>);
    const bool begins = !markers_ && batch.begins[i] != 0;
    if (begins) scorer.begin_sentence();
    bool first = !begins;
    for (const std::int32_t item : items) {
      const Fragment* const own = item >= 0 ? &fragments_[static_cast<std::size_t>(item)] : nullptr;
      const ChartState<N>& next = own != nullptr ? own->state : of(tails[static_cast<std::size_t>(-1 - item)]);
      const double score = own != nullptr ? own->score : 0.0;
      if (first) {
        scorer.first_gap(next, score);
      } else {
        put(scorer, next, score);
      }
      // An empty piece leaves the place of the first to the next one.
      first = first && next.empty();
    }
    *batch.values(i) = static_cast<float>(scale_ * scorer.finish());
  }
}

template <int N>
void LmScorer<N>::finish(const std::byte* state, bool begun, float* values) {
  if (markers_) return;
  const ChartState<N>& piece = of(state);
  double score = 0.0;
  RightState<N> end;
  if (begun) {
    score = static_cast<double>(step(lm_, piece.right, lm_.end, end).prob);
  } else {
    ChartState<N> whole;
    RuleScorer<N> scorer(lm_, whole);
    scorer.begin_sentence();
    scorer.gap(piece);
    scorer.terminal(lm_.end);
    score = scorer.finish();
  }
  *values += static_cast<float>(scale_ * score);
}

std::shared_ptr<AnyLmScorer> make_lm_scorer(const LmTables& lm, const LmOptions& options) {
  return for_order(lm.order, [&](auto n) -> std::shared_ptr<AnyLmScorer> {
    return std::make_shared<LmScorer<decltype(n)::value>>(lm, options);
  });
}

template class LmScorer<4>;
template class LmScorer<6>;
template class LmScorer<kMaxOrder>;
template class Searcher<LmScorer<4>>;
template class Searcher<LmScorer<6>>;

}  // namespace smt
