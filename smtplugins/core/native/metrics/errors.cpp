// Word and character error rates: the minimum number of insertions, deletions and substitutions.
//
// G. Myers, "A Fast Bit-Vector Algorithm for Approximate String Matching" (1999), in blocks of 64 symbols as
// H. Hyyro, "A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances" (2003), computes distances.
#include <algorithm>
#include <bit>

#include "metrics/segments.hpp"

namespace smt {
namespace {

class EditPattern {
 public:
  void set(std::span<const std::int32_t> symbols) {
    size_ = symbols.size();
    blocks_ = (size_ + 63) / 64;
    slots_.assign(std::bit_ceil(2 * size_ + 1), Slot{});
    places_.clear();
    for (std::size_t i = 0; i < size_; ++i) {
      Slot& slot = slots_[find(symbols[i])];
      if (slot.place < 0) {
        slot = {symbols[i], static_cast<std::int32_t>(places_.size())};
        places_.resize(places_.size() + blocks_, 0);
      }
      places_[static_cast<std::size_t>(slot.place) + i / 64] |= std::uint64_t{1} << i % 64;
    }
  }

  std::size_t size() const noexcept { return size_; }

  std::size_t distance(std::span<const std::int32_t> text) {
    if (size_ == 0) return text.size();
    plus_.assign(blocks_, ~std::uint64_t{0});
    minus_.assign(blocks_, 0);
    const std::uint64_t last = std::uint64_t{1} << (size_ - 1) % 64;
    std::size_t distance = size_;
    for (const std::int32_t symbol : text) {
      const std::int32_t place = slots_[find(symbol)].place;
      // The row above the table grows by one a column.
      std::uint64_t up = 1;
      std::uint64_t down = 0;
      for (std::size_t b = 0; b < blocks_; ++b) {
        const std::uint64_t equal = place < 0 ? 0 : places_[static_cast<std::size_t>(place) + b];
        const std::uint64_t vertical = equal | minus_[b];
        const std::uint64_t reached = equal | down;
        const std::uint64_t horizontal = (((reached & plus_[b]) + plus_[b]) ^ plus_[b]) | reached;
        std::uint64_t rising = minus_[b] | ~(horizontal | plus_[b]);
        std::uint64_t falling = plus_[b] & horizontal;
        if (b + 1 == blocks_) {
          if ((rising & last) != 0) ++distance;
          if ((falling & last) != 0) --distance;
        }
        const std::uint64_t next_up = rising >> 63U;
        const std::uint64_t next_down = falling >> 63U;
        rising = rising << 1U | up;
        falling = falling << 1U | down;
        plus_[b] = falling | ~(vertical | rising);
        minus_[b] = rising & vertical;
        up = next_up;
        down = next_down;
      }
    }
    return distance;
  }

 private:
  struct Slot {
    std::int32_t symbol = 0;
    std::int32_t place = -1;  // offset of its blocks
  };

  std::size_t find(std::int32_t symbol) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(symbol)) * 0x9E3779B97F4A7C15U >> 32U) & mask;
    while (slots_[slot].place >= 0 && slots_[slot].symbol != symbol) slot = (slot + 1) & mask;
    return slot;
  }

  std::size_t size_ = 0;
  std::size_t blocks_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> places_;
  std::vector<std::uint64_t> plus_, minus_;
};

class ErrorScorer final : public SegmentScorer {
 public:
  explicit ErrorScorer(bool characters) : characters_(characters) {}

  std::size_t width() const noexcept override { return 2; }

  void set(std::span<const MetricText> references) override {
    count_ = references.size();
    if (patterns_.size() < count_) patterns_.resize(count_);
    for (std::size_t k = 0; k < count_; ++k) patterns_[k].set(symbols(references[k]));
  }

  void score(const MetricText& hypothesis, double* row) override {
    for (std::size_t k = 0; k < count_; ++k) {
      const auto errors = static_cast<double>(patterns_[k].distance(symbols(hypothesis)));
      const auto length = static_cast<double>(patterns_[k].size());
      if (k == 0 || rate(errors, length) < rate(row[0], row[1])) {
        row[0] = errors;
        row[1] = length;
      }
    }
  }

 private:
  std::span<const std::int32_t> symbols(const MetricText& text) const noexcept {
    return characters_ ? text.characters : text.words;
  }
  static double rate(double errors, double length) noexcept {
    if (length > 0) return errors / length;
    return errors > 0 ? 1.0 : 0.0;
  }

  bool characters_;
  std::size_t count_ = 0;
  std::vector<EditPattern> patterns_;
};

class ErrorKind final : public MetricKind {
 public:
  explicit ErrorKind(bool by_characters) : by_characters_(by_characters) {
    words = by_characters ? Words::kNone : Words::kPlain;
    characters = by_characters ? Characters::kSingleBlanks : Characters::kNone;
  }
  std::unique_ptr<SegmentScorer> scorer() const override { return std::make_unique<ErrorScorer>(by_characters_); }

 private:
  bool by_characters_;
};

}  // namespace

std::unique_ptr<MetricKind> error_rate_kind(bool characters) { return std::make_unique<ErrorKind>(characters); }

}  // namespace smt
