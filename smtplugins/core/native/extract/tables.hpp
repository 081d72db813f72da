// Counted phrase pairs as tables: relative frequencies, lexical weights, orientations. Each number is rounded where and
// as Moses' programs for it (score, consolidate, lexical-reordering-score) do.
//
// Smoothing: G. Foster, R. Kuhn and H. Johnson, "Phrasetable Smoothing for Statistical Machine Translation" (2006).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/sort.hpp"
#include "extract/lexical.hpp"
#include "extract/pairs.hpp"
#include "extract/phrases.hpp"
#include "extract/totals.hpp"

namespace smt {

enum class Smoothing : std::uint8_t { kNone, kGoodTuring, kKneserNey };

// A reordering table to make.
struct ReorderingTable {
  std::size_t extraction = 0;               // by words, by phrases, hierarchical
  std::vector<std::vector<Orientation>> classes;  // the orientations of each column of a direction
  bool before = true, behind = false;       // directions
  bool with_target = true;                  // conditioned on both sides
};

// The counts allow no smoothing.
struct SmoothingError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// How often the sides of pairs occur, and in how many pairs.
struct SideCount {
  std::uint64_t occurrences = 0, pairs = 0;
  SideCount& operator+=(const SideCount& other) noexcept {
    occurrences += other.occurrences;
    pairs += other.pairs;
    return *this;
  }
};

// The lines of the phrase table and of reordering tables, made on demand.
class PhraseTables {
 public:
  PhraseTables(PhraseExtractor& extractor, const LexicalTable& target_given_source,
               const LexicalTable& source_given_target, Smoothing smoothing, std::vector<ReorderingTable> reordering,
               double reordering_smoothing, double penalty, std::uint64_t memory,
               std::shared_ptr<SpillFolder> folder);
  // More lines of each; false at the end.
  bool next(std::size_t bytes);
  const std::string& phrases() const noexcept { return phrases_; }
  const std::vector<std::string>& reordering() const noexcept { return lines_; }
  std::uint64_t pairs() const noexcept { return totals_.pairs(); }

 private:
  static constexpr std::size_t kMaxCount = 10;  // of counts of counts
  using Totals = SideSums<SideCount>::Totals;
  struct Counts {
    std::array<std::array<std::uint64_t, 4>, 2 * kExtractions> of{};  // by extraction and direction, orientation
  };
  struct Alignment {
    std::string_view links;
    std::uint64_t count;
  };

  void set_smoothing();
  void write(const CountedPair& pair);
  void write_scores(const CountedPair& pair, std::uint64_t count, const Totals& totals);
  void write_orientations(std::size_t table, const Counts& counts);
  void end_source();
  void append_source(std::string& out, WordSpan words) const;
  void append_target(std::string& out, WordSpan words) const;

  const PhraseExtractor& extractor_;
  const LexicalTable& forward_;
  const LexicalTable& backward_;
  Smoothing smoothing_;
  std::vector<ReorderingTable> reordering_;
  double reordering_smoothing_;
  double penalty_;  // the last score of each phrase pair, unless it is 0
  std::array<std::uint64_t, kMaxCount + 1> counts_of_counts_{};  // pairs that occur once, twice ..
  SideSums<SideCount> totals_;
  PairStream stream_;
  std::vector<float> good_turing_;
  std::array<float, 3> kneser_ney_{};
  float all_pairs_ = 0;

  std::string phrases_;
  std::vector<std::string> lines_;
  std::vector<Alignment> alignments_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> source_;  // of the last pair
  Counts pair_counts_, source_counts_;
};

}  // namespace smt
