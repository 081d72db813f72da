// Sums of values of neighbouring words: the simplest stateful feature, and a check of searches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/scorer.hpp"

namespace smt {

class PairScorer final : public Scorer {
 public:
  static constexpr std::int32_t kBegin = -1;  // before the first word of a sentence
  static constexpr std::int32_t kEnd = -2;    // behind the last

  // Pairs that are not given count `other`.
  explicit PairScorer(float other) : other_(other) {}
  void add(std::int32_t left, std::int32_t right, float value) { values_[key(left, right)] = value; }

  std::size_t components() const noexcept override { return 1; }
  std::size_t state_bytes() const noexcept override { return sizeof(State); }
  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override;
  void combine(const Batch& batch) override;
  void finish(const std::byte* state, bool begun, float* values) override;
  std::uint64_t hash(const std::byte* state) const noexcept override;
  bool equal(const std::byte* a, const std::byte* b) const noexcept override;

 private:
  static constexpr std::int32_t kNone = -3;  // both ends of an output without words
  struct State {
    std::int32_t first;
    std::int32_t last;
  };
  static std::uint64_t key(std::int32_t left, std::int32_t right) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U | static_cast<std::uint32_t>(right);
  }
  static State read(const std::byte* state) noexcept;
  float value(std::int32_t left, std::int32_t right) const noexcept;
  // Puts words with these ends behind what is there; the value of the new pair.
  float append(State& state, State next) const noexcept;

  std::unordered_map<std::uint64_t, float> values_;
  float other_;
  std::vector<std::span<const std::int32_t>> targets_;
};

}  // namespace smt
