// Confusion rules: every pair of sides of a group with gaps renumbered, each distinct pair with its count.
//
// No memory or sorting grows with the number of pairs: an index maps each input side to its groups, from which its
// outputs are counted on the fly. The index covers as many input sides at a time as fit in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "groups.hpp"
#include "sides.hpp"

namespace smt::cdlm {

// Word texts: word i is text[offsets[i]:offsets[i+1]].
struct WordTexts {
  std::span<const char> text;
  std::span<const std::int64_t> offsets;
  std::size_t size() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::string_view word(std::int32_t id) const noexcept {
    const auto at = static_cast<std::size_t>(id);
    return {text.data() + offsets[at], static_cast<std::size_t>(offsets[at + 1] - offsets[at])};
  }
};

// All sides in output order: by the bytes of their words, gaps after words, prefixes first.
class RankedSides {
 public:
  RankedSides() = default;
  RankedSides(const SideTable& sides, const WordTexts& words);
  Symbols side(std::uint32_t rank) const noexcept {
    return Symbols(symbols_).subspan(offsets_[rank], offsets_[rank + 1] - offsets_[rank]);
  }
  std::size_t size() const noexcept { return offsets_.size() - 1; }
  std::uint32_t rank(std::uint32_t id) const noexcept { return ranks_[id]; }
  std::span<const std::int32_t> symbols() const noexcept { return symbols_; }
  std::span<const std::size_t> offsets() const noexcept { return offsets_; }

 private:
  std::vector<std::int32_t> symbols_;
  std::vector<std::size_t> offsets_{0};
  std::vector<std::uint32_t> ranks_;
};

// The rank of an output side, and how often it is confused with the input.
struct Output {
  std::uint32_t side;
  std::uint64_t times;
};

class Pairs {
 public:
  // `wordless`: include input sides of two or more gaps and no word.
  Pairs(Confused& confused, const WordTexts& words, bool wordless, std::uint64_t memory);

  const RankedSides& sides() const noexcept { return ranked_; }
  // Pairs whose input side is empty or a single gap, which no rule can have (it would apply without end).
  std::uint64_t without_input() const noexcept { return without_input_; }

  // A range of input sides and the index of their groups.
  struct Index {
    std::uint32_t first, last;
    std::vector<std::uint64_t> offsets;  // into places, for inputs first .. last
    std::vector<std::uint64_t> places;   // positions of members
  };
  struct Range {
    const Index* index;  // valid until the next range
    std::uint32_t first, last;
    bool empty() const noexcept { return first == last; }
  };
  // The next range of input sides, empty at the end.
  Range next();
  void rewind() noexcept { at_ = 0; }

  // Counts the outputs of an input side.
  class Counter {
   public:
    explicit Counter(const Pairs& pairs) : pairs_(pairs), times_(pairs.sides().size(), 0) {}
    // The outputs in order.
    std::span<const Output> of(const Index& index, std::uint32_t input);

   private:
    void add(std::uint32_t output, std::uint64_t times) {
      if (times_[output] == 0) touched_.push_back(output);
      times_[output] += times;
    }
    const Pairs& pairs_;
    std::vector<std::uint64_t> times_;
    std::vector<std::uint32_t> touched_;
    std::vector<Output> outputs_;
  };

 private:
  std::uint32_t order_of(Symbols side);
  std::uint32_t turned(std::uint32_t side, std::uint32_t order);
  void turn_groups();
  bool can_be_input(Symbols side, bool wordless) const noexcept;
  void count_entries();
  Index index(std::uint32_t first) const;

  Confused& confused_;
  std::uint64_t memory_;
  SideTable orders_;                                 // gap orders; 0 is increasing
  std::vector<std::uint32_t> order_;                 // gap order of each collected side
  std::vector<std::uint32_t> input_;                 // its rank as an input, kHeader if it cannot be an input
  SideTable turns_;                                  // pairs of a side and a gap order
  std::vector<std::uint32_t> turned_;                // the rank of the renumbered side
  RankedSides ranked_;
  std::vector<std::uint64_t> entries_, work_;        // by input rank: number of groups, and of sides in them
  std::vector<std::uint64_t> less_;                  // by rank: count to subtract from the identity
  std::uint64_t without_input_ = 0;
  std::uint32_t at_ = 0;
  Index index_{};  // empty
};

enum class LineFormat : std::uint8_t { kCdec, kJoshua, kMoses };

// Formats rules as lines.
class LineWriter {
 public:
  // `label` is that of left-hand sides and gaps; `cost` is the feature name, or empty.
  LineWriter(const Pairs& pairs, const WordTexts& words, LineFormat format, std::string label, std::string cost);
  void append(std::string& out, std::uint32_t input, std::span<const Output> outputs) const;

 private:
  void append_side(std::string& out, Symbols side, bool is_target) const;
  std::string_view target(std::uint32_t side) const noexcept {
    return std::string_view(targets_).substr(offsets_[side], offsets_[side + 1] - offsets_[side]);
  }

  const Pairs& pairs_;
  WordTexts words_;
  LineFormat format_;
  std::string label_, cost_;
  std::string targets_;
  std::vector<std::size_t> offsets_{0};
};

struct PairColumns {
  std::vector<std::uint32_t> inputs, outputs;
  std::vector<std::uint64_t> times;
};

// Produces the pairs, or their lines, in order and in pieces; an empty piece is the end.
class Producer {
 public:
  explicit Producer(Pairs& pairs) : pairs_(pairs), counter_(pairs) { pairs_.rewind(); }
  PairColumns next_columns();
  std::string next_lines(const LineWriter& writer);
  std::uint64_t written() const noexcept { return written_; }

 private:
  Pairs& pairs_;
  Pairs::Counter counter_;
  std::uint64_t written_ = 0;
};

}  // namespace smt::cdlm
