// A language model as a stateful feature of a search: log10 probabilities of the words, <s> and </s> included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lm_state.hpp"
#include "rule_score.hpp"
#include "scorer.hpp"

namespace smt {

class AnyLmScorer : public Scorer {
 public:
  // The model's ids of the words of target sides; words beyond are unknown. To be called before prepare(), not while
  // a search goes on.
  void set_words(std::vector<WordId> words) { words_ = std::move(words); }

 protected:
  std::vector<WordId> words_;
};

template <int N>
class LmScorer final : public AnyLmScorer {
 public:
  // `lm` has to outlive the scorer. memo: joins are kept in a table, from sentence to sentence.
  explicit LmScorer(const LmTables& lm, bool memo = true);

  std::size_t components() const noexcept override { return 1; }
  std::size_t state_bytes() const noexcept override { return sizeof(ChartState<N>); }
  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override;
  void combine(const Batch& batch) override;
  void finish(const std::byte* state, bool begun, float* values) override;
  std::uint64_t hash(const std::byte* state) const noexcept override { return smt::hash(of(state)); }
  bool equal(const std::byte* a, const std::byte* b) const noexcept override { return of(a) == of(b); }

 private:
  // The terminals between two gaps, scored once.
  struct Fragment {
    ChartState<N> state;
    double score = 0.0;
  };
  // 48 bytes and a key are less than a line for N = 4.
  struct alignas(64) Memo {
    std::uint64_t key = 0;
    Joined<N> joined;
  };
  static constexpr std::size_t kMemos = std::size_t{1} << 14U;

  static const ChartState<N>& of(const std::byte* state) noexcept {
    return *reinterpret_cast<const ChartState<N>*>(state);
  }
  WordId word(std::int32_t symbol) const noexcept {
    return static_cast<std::size_t>(symbol) < words_.size() ? words_[static_cast<std::size_t>(symbol)] : kUnknown;
  }
  std::int32_t fragment(std::span<const std::int32_t> words);
  void grow();
  void put(RuleScorer<N>& scorer, const ChartState<N>& next, double score) noexcept;

  const LmTables& lm_;
  std::vector<Memo> memos_;
  // Of the sentence: each rule's fragments (their numbers) and gaps (-1 - k).
  Parts<std::int32_t> items_;
  std::vector<Fragment> fragments_;
  Parts<std::int32_t> fragment_words_;
  std::vector<std::int32_t> slots_;  // fragment + 1, or 0
};

// `lm` has to outlive it, and to have <s> and </s>.
std::shared_ptr<AnyLmScorer> make_lm_scorer(const LmTables& lm, bool memo = true);

}  // namespace smt
