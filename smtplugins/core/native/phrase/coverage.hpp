// Which words of a sentence hypotheses have translated, by numbers; and what may come next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace smt {

// A run of source positions, with the options [begin, end) for it.
struct PhraseSpan {
  std::int32_t first;
  std::int32_t last;
  std::int32_t begin;
  std::int32_t end;
};

// Which phrases may come next, whatever their scores are.
enum class PhraseOrder : std::uint8_t {
  kFree,      // any, as far as the distortion limit goes
  kWindow,    // any that ends within the distortion limit from the first gap, however long the jump (Joshua)
  kMonotone,  // the one that begins where the last one ended
  kSwap,      // two neighbours may change places, and then come two others: a gap is filled by one phrase at once
};

class Coverages {
 public:
  // A span that may come next, and the coverage then.
  struct Next {
    std::int32_t span;
    std::int32_t coverage;
  };
  static constexpr std::int32_t none = 0;  // nothing is translated

  // Begins a sentence of so many positions. `best` is the best estimate of each span's options, `distances` between
  // positions, square; without it they are differences. `fills`: whether a span has an option that may fill a gap.
  void start(std::int32_t positions, std::span<const PhraseSpan> spans, std::span<const double> best,
             std::span<const std::uint8_t> fills, std::span<const std::int32_t> distances, PhraseOrder order,
             std::int32_t limit);

  std::int32_t covered(std::int32_t coverage) const noexcept { return sets_[index(coverage)].covered; }
  // An estimate of what is still to be translated.
  double future(std::int32_t coverage) const noexcept { return sets_[index(coverage)].future; }
  bool full(std::int32_t coverage) const noexcept { return covered(coverage) == positions_; }
  // Whether a gap comes next, as one phrase, in the order kSwap.
  bool has_gap(std::int32_t coverage) const noexcept {
    return order_ == PhraseOrder::kSwap && sets_[index(coverage)].covered > sets_[index(coverage)].first_gap;
  }
  bool has(std::int32_t coverage, std::int32_t position) const noexcept {
    return (words_[index(coverage) * width_ + index(position) / 64] >> (index(position) % 64) & 1U) != 0;
  }
  std::int32_t distance(std::int32_t one, std::int32_t other) const noexcept {
    if (distances_.empty()) return one < other ? other - one : one - other;
    const auto [low, high] = one < other ? std::pair{one, other} : std::pair{other, one};
    return distances_[index(low) * (index(positions_) + 1) + index(high)];
  }
  // The spans that may come next, the limit of the jump that leads to them left out. Calls change what was given.
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
  std::int32_t with(std::int32_t coverage, const PhraseSpan& span);
  std::int32_t find(std::size_t words);
  void grow();

  std::int32_t positions_ = 0;
  std::size_t width_ = 0;  // words of 64 positions
  PhraseOrder order_ = PhraseOrder::kFree;
  std::int32_t limit_ = -1;
  std::span<const PhraseSpan> spans_;
  std::span<const std::int32_t> distances_;
  std::vector<double> gaps_;  // the best estimate of phrases that fill [first, last), or minus infinity
  std::vector<std::uint8_t> single_;  // whether one phrase may fill it
  std::vector<Set> sets_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int32_t> slots_;
  std::vector<Next> nexts_;
};

}  // namespace smt
