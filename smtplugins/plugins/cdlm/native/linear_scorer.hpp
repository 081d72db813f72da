// A trained discriminative language model in a search (Li et al., 2010): the weighted sum of a language model, bigrams
// of word classes on the target sides of rules, and a word penalty.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "search/lm_scorer.hpp"
#include "search/scorer.hpp"

namespace smt::cdlm {

// Weights of class pairs, sorted by key = left * size + right; class size - 1 is the gap.
struct PairWeights {
  std::vector<std::int64_t> keys;
  std::vector<double> values;
  std::int64_t size = 1;

  double of(std::int64_t left, std::int64_t right) const noexcept {
    const std::int64_t key = left * size + right;
    const auto found = std::ranges::lower_bound(keys, key);
    return found == keys.end() || *found != key ? 0.0 : values[static_cast<std::size_t>(found - keys.begin())];
  }
};

// A single component: the language model's score, already weighted, plus the rules' own scores.
class LinearScorer final : public Scorer {
 public:
  LinearScorer(std::shared_ptr<AnyLmScorer> lm, PairWeights pairs, double word)
      : lm_(std::move(lm)), pairs_(std::move(pairs)), word_(word) {}

  // The language model ids and classes of target words; class -1 is for sentence markers.
  void set_words(std::vector<WordId> words, std::vector<std::int32_t> classes) {
    const auto known = static_cast<std::int64_t>(lm_->lm().words);
    if (std::ranges::any_of(words, [&](WordId word) { return word < 0 || word >= known; }) ||
        std::ranges::any_of(classes, [&](std::int32_t one) { return one < kNone || one >= pairs_.size; })) {
      throw std::invalid_argument("expected words of the language model, and classes");
    }
    lm_->set_words(std::move(words));
    classes_ = std::move(classes);
  }

  std::size_t components() const noexcept override { return 1; }
  std::size_t state_bytes() const noexcept override { return lm_->state_bytes(); }
  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override {
    lm_->prepare(rules, chosen, estimates);
    local_.clear();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto rule = static_cast<std::size_t>(chosen[i]);
      // The gap before a phrase stands for the partial translation and is not part of the phrase.
      const bool phrase = !rules.firsts.empty();
      local_.push_back(static_cast<float>(worth(rules.targets[rule], phrase)));
      estimates[i] += local_.back();
    }
  }
  void combine(const Batch& batch) override {
    lm_->combine(batch);
    for (std::size_t i = 0; i < batch.size; ++i) {
      *batch.values(i) += local_[static_cast<std::size_t>(batch.rules[i])];
    }
  }
  void finish(const std::byte* state, bool begun, float* values) override { lm_->finish(state, begun, values); }
  std::uint64_t hash(const std::byte* state) const noexcept override { return lm_->hash(state); }
  bool equal(const std::byte* a, const std::byte* b) const noexcept override { return lm_->equal(a, b); }

 private:
  static constexpr std::int64_t kNone = -1;

  std::int64_t class_of(std::int32_t symbol) const noexcept {
    const auto i = static_cast<std::size_t>(symbol);
    return i < classes_.size() ? classes_[i] : kNone;
  }

  double worth(std::span<const std::int32_t> target, bool phrase) const noexcept {
    double sum = 0.0;
    std::int64_t last = kNone;
    for (const std::int32_t symbol : target) {
      if (symbol < 0 && phrase) continue;
      const std::int64_t next = symbol < 0 ? pairs_.size - 1 : class_of(symbol);
      if (symbol >= 0 && next != kNone) sum += word_;
      if (last != kNone && next != kNone) sum += pairs_.of(last, next);
      last = next;
    }
    return sum;
  }

  std::shared_ptr<AnyLmScorer> lm_;
  PairWeights pairs_;
  double word_;
  std::vector<std::int32_t> classes_;
  std::vector<float> local_;
};

}  // namespace smt::cdlm
