// A language model as a stateful feature of a search: log10 probabilities of the words, <s> and </s> included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lm/lm_fragments.hpp"
#include "lm/lm_state.hpp"
#include "search/rule_score.hpp"
#include "search/scorer.hpp"

namespace smt {

struct LmOptions {
  bool memo = true;      // caches joins from sentence to sentence
  bool markers = false;  // the rules contain <s> and </s>, as the glue rules of Moses and Joshua do
  double scale = 1.0;    // factor of the values: ln 10 gives natural logarithms
};

// The model's ids of the words of target sides; words beyond are unknown. Not to be called during a search.
class AnyLmScorer : public Scorer {
 public:
  void set_words(std::vector<WordId> words) {
    base_ = std::make_shared<const std::vector<WordId>>(std::move(words));
    added_.clear();
  }
  // Appends words.
  void add_words(std::span<const WordId> words) { added_.insert(added_.end(), words.begin(), words.end()); }
  // Takes the words of another scorer of the same model: shares those it was set to, copies those it appended.
  void share_words(const AnyLmScorer& other) {
    base_ = other.base_;
    added_ = other.added_;
  }
  std::size_t known() const noexcept { return base_->size() + added_.size(); }
  virtual const LmTables& lm() const noexcept = 0;
  virtual LmOptions options() const noexcept = 0;
  // The model's id of a symbol of target sides.
  WordId word(std::int32_t symbol) const noexcept {
    auto i = static_cast<std::size_t>(symbol);
    if (i < base_->size()) return (*base_)[i];
    i -= base_->size();
    return i < added_.size() ? added_[i] : kUnknown;
  }

 private:
  std::shared_ptr<const std::vector<WordId>> base_ = std::make_shared<const std::vector<WordId>>();
  std::vector<WordId> added_;
};

template <int N>
class LmScorer final : public AnyLmScorer {
 public:
  // `lm` has to outlive the scorer. With markers, <s> at the start of a target side begins the sentence and has no
  // score; elsewhere it is a word, as </s> is everywhere; finish() adds nothing and marks of edges are ignored.
  explicit LmScorer(const LmTables& lm, const LmOptions& options = {});

  const LmTables& lm() const noexcept override { return lm_; }
  LmOptions options() const noexcept override { return {!memos_.empty(), markers_, scale_}; }
  std::size_t components() const noexcept override { return 1; }
  std::size_t state_bytes() const noexcept override { return sizeof(ChartState<N>); }
  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override;
  void combine(const Batch& batch) override;
  void finish(const std::byte* state, bool begun, float* values) override;
  std::uint64_t hash(const std::byte* state) const noexcept override { return smt::hash(of(state)); }
  bool equal(const std::byte* a, const std::byte* b) const noexcept override { return of(a) == of(b); }

 private:
  // 48 bytes and a key are less than a line for N = 4.
  struct alignas(64) Memo {
    std::uint64_t key = 0;
    Joined<N> joined;
  };
  static constexpr std::size_t kMemos = std::size_t{1} << 14U;

  static const ChartState<N>& of(const std::byte* state) noexcept {
    return *reinterpret_cast<const ChartState<N>*>(state);
  }
  void put(RuleScorer<N>& scorer, const ChartState<N>& next, double score) noexcept;

  const LmTables& lm_;
  const bool markers_;
  const double scale_;
  std::vector<Memo> memos_;
  // For the sentence: each rule's fragments (their numbers) and gaps (-1 - k).
  Parts<std::int32_t> items_;
  LmFragments<N> fragments_;
};

// `lm` has to outlive it, and to have <s> and </s>.
std::shared_ptr<AnyLmScorer> make_lm_scorer(const LmTables& lm, const LmOptions& options = {});

}  // namespace smt
