// Linear BLEU as a stateful feature: each word and each n-gram of a reference has a fixed gain.
//
// R. Tromble, S. Kumar, F. Och and W. Macherey, "Lattice Minimum Bayes-Risk Decoding for Statistical Machine
// Translation" (2008), equation 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "metrics/ngram_index.hpp"
#include "search/scorer.hpp"

namespace smt {

// The state of a string: its longest known prefix and suffix, both at least one word shorter than the longest n-gram of
// the index, as nodes; and whether the prefix is the whole string.
class GainScorer final : public Scorer {
 public:
  // `gains`: of each word, then of an n-gram of each length. References are numbers from 0.
  GainScorer(std::span<const NgramIndex::Symbols> references, const std::vector<double>& gains);
  // Sets the gain of one n-gram. Throws std::invalid_argument if no reference has it.
  void set_gain(NgramIndex::Symbols ngram, double gain);

  // The references' ids of the words of target sides, negative for unknown words.
  void set_words(std::vector<std::int32_t> words) { words_ = std::move(words); }

  std::size_t components() const noexcept override { return 1; }
  std::size_t state_bytes() const noexcept override { return sizeof(State); }
  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override;
  void combine(const Batch& batch) override;
  void finish(const std::byte* /*state*/, bool /*begun*/, float* /*values*/) override {}
  std::uint64_t hash(const std::byte* state) const noexcept override;
  bool equal(const std::byte* a, const std::byte* b) const noexcept override;

 private:
  struct State {
    std::int32_t left = NgramIndex::kRoot;
    std::int32_t right = NgramIndex::kRoot;
    std::int64_t whole = 0;
  };
  State empty() const noexcept { return {NgramIndex::kRoot, NgramIndex::kRoot, context_ > 0 ? 1 : 0}; }
  static State read(const std::byte* state) noexcept;
  State of_word(std::int32_t symbol) const noexcept;
  double gain(std::int32_t node, std::size_t above) const noexcept;
  // Appends a string; returns the gain of the n-grams across the seam.
  double append(State& state, const State& next) const noexcept;
  double target_gain(std::span<const std::int32_t> target, std::span<const std::byte* const> tails, State& state) const;

  NgramIndex index_;
  std::size_t context_;             // the longest n-gram of a state
  double word_gain_;
  std::vector<double> node_gains_;  // of each n-gram
  std::vector<std::int32_t> node_words_;  // of each n-gram, context_ of them
  std::vector<std::int32_t> words_;
  std::vector<std::span<const std::int32_t>> targets_;
};

}  // namespace smt
