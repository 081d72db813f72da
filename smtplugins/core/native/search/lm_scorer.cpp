#include "search/lm_scorer.hpp"

#include <algorithm>
#include <new>

#include "search/search_run.hpp"

namespace smt {

template <int N>
LmScorer<N>::LmScorer(const LmTables& lm, const LmOptions& options)
    : lm_(lm),
      markers_(options.markers),
      scale_(options.scale),
      memos_(options.memo ? kMemos : 0),
      fragments_(lm, options.markers) {}

template <int N>
void LmScorer<N>::prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) {
  items_.offsets.assign(1, 0);
  items_.values.clear();
  fragments_.clear();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    double estimate = 0.0;
    const auto target = rules.targets[static_cast<std::size_t>(chosen[i])];
    fragments_.split(target, [this](std::int32_t symbol) { return word(symbol); }, [&](std::int32_t item) {
      items_.values.push_back(item);
      if (item >= 0) estimate += fragments_[item].score;
    });
    items_.end_part();
    estimates[i] = static_cast<float>(scale_ * estimate);
  }
}

// Appends the next fragment to what the scorer has.
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
      const typename LmFragments<N>::Fragment* const own = item >= 0 ? &fragments_[item] : nullptr;
      const ChartState<N>& next = own != nullptr ? own->state : of(tails[static_cast<std::size_t>(-1 - item)]);
      const double score = own != nullptr ? own->score : 0.0;
      if (first) {
        scorer.first_gap(next, score);
      } else {
        put(scorer, next, score);
      }
      // After an empty fragment, the next one is still the first.
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
