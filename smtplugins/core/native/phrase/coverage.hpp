// Coverage vectors as numbers, and the spans that may come next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "phrase/barriers.hpp"

namespace smt {

// A span of source positions with its options [begin, end).
struct PhraseSpan {
  std::int32_t first;
  std::int32_t last;
  std::int32_t begin;
  std::int32_t end;
};

// Which phrases may come next, whatever their scores.
enum class PhraseOrder : std::uint8_t {
  kFree,      // any within the distortion limit
  kWindow,    // any that ends within the distortion limit of the first gap, however long the jump (Joshua)
  kMonotone,  // the phrase at the end of the last one
  kSwap,      // swaps of two adjacent phrases: a gap must be filled by the next phrase
};

class Coverages {
 public:
  // A span that may come next, and the resulting coverage.
  struct Next {
    std::int32_t span;
    std::int32_t coverage;
  };
  static constexpr std::int32_t none = 0;  // the empty coverage

  // Starts a sentence with this many positions. `best` is the best estimate of each span's options; `distances` is a
  // square matrix between positions, by default their differences. `fills`: whether a span has an option that may fill
  // a gap. `walls` and `zones` are those of Barriers.
  void start(std::int32_t positions, std::span<const PhraseSpan> spans, std::span<const double> best,
             std::span<const std::uint8_t> fills, std::span<const std::int32_t> distances, PhraseOrder order,
             std::int32_t limit, std::span<const std::int32_t> walls = {}, std::span<const std::int32_t> zones = {});

  std::int32_t covered(std::int32_t coverage) const noexcept { return sets_[index(coverage)].covered; }
  // The future cost estimate of a coverage.
  double future(std::int32_t coverage) const noexcept { return sets_[index(coverage)].future; }
  bool full(std::int32_t coverage) const noexcept { return covered(coverage) == positions_; }
  // Whether the next phrase must fill a gap, in the order kSwap.
  bool has_gap(std::int32_t coverage) const noexcept {
    return order_ == PhraseOrder::kSwap && sets_[index(coverage)].covered > sets_[index(coverage)].first_gap;
  }
  bool has(std::int32_t coverage, std::int32_t position) const noexcept {
    return (words_[index(coverage) * width_ + index(position) / 64] >> (index(position) % 64) & 1U) != 0;
  }
  std::int32_t distance(std::int32_t from, std::int32_t to) const noexcept {
    if (distances_.empty()) return from < to ? to - from : from - to;
    const auto [low, high] = from < to ? std::pair{from, to} : std::pair{to, from};
    return distances_[index(low) * (index(positions_) + 1) + index(high)];
  }
  // The spans that may come next, not checking the distortion limit of the jump to them. Valid until the next call.
  std::span<const Next> next(std::int32_t coverage);

 private:
  struct Set {
    std::int32_t covered;
    std::int32_t first_gap;
    double future;
    std::int64_t next_begin = -1;
    std::int64_t next_end = -1;
  };

  static std::size_t index(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }
  double gap(std::int32_t first, std::int32_t last) const noexcept {
    return gaps_[index(first) * (index(positions_) + 1) + index(last)];
  }
  bool allowed(std::int32_t coverage, const PhraseSpan& span) const noexcept;
  bool reachable(std::int32_t coverage, const PhraseSpan& span) const noexcept;
  std::int32_t with(std::int32_t coverage, const PhraseSpan& span);
  std::int32_t find(std::size_t words);
  void grow();

  std::int32_t positions_ = 0;
  std::size_t width_ = 0;  // 64-bit words per coverage
  PhraseOrder order_ = PhraseOrder::kFree;
  std::int32_t limit_ = -1;
  Barriers barriers_;
  std::span<const PhraseSpan> spans_;
  std::span<const std::int32_t> distances_;
  std::vector<double> gaps_;  // the best estimate of phrases that cover [first, last), or minus infinity
  std::vector<std::uint8_t> single_;  // whether a single phrase may cover it
  std::vector<Set> sets_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int32_t> slots_;
  std::vector<Next> nexts_;
};

}  // namespace smt
