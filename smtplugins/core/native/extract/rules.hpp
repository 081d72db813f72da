// Hierarchical rules of aligned sentence pairs.
//
// D. Chiang, "Hierarchical Phrase-Based Translation" (2007), section 3: initial phrase pairs, rules with gaps where
// smaller phrase pairs were, and limits on their number. Rules and counts, down to rounding, are those of Moses'
// extract-rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "extract/bitext.hpp"

namespace smt {

enum class RuleCounts {
  kShares,   // the rules of an initial phrase pair share a count of one
  kPhrases,  // each initial phrase pair gives each of its rules a count of one
  kPlaces,   // each position of a rule's source words gives it one, however far the gaps at its ends reach
};

struct RuleLimits {
  int span = 15;                 // words of an initial phrase, on each side
  int source_words = 5;          // words of a rule without gaps
  int target_words = 999;
  int source_symbols = 5;        // words and gaps of a rule with gaps
  int target_symbols = 999;
  int gaps = 2;
  int source_gap = 2;            // minimum words of a gap
  int target_gap = 1;
  int words = 1;                 // minimum words of a rule with gaps, on each side
  bool adjacent_source = false;  // gaps may be adjacent
  bool adjacent_target = true;
  bool linked_word = true;       // a rule with gaps has a pair of linked words
  bool tight = false;            // no unlinked words at the edges of phrases
  RuleCounts counts = RuleCounts::kShares;
};

// The symbols of gaps: words in both word lists of a bitext, after NULL.
class RuleSymbols {
 public:
  // If numbered, a gap has the same symbol on both sides, by its source position; else, as in Moses, all gaps have the
  // same symbol, and a left-hand side ends both sides of a rule.
  RuleSymbols(bool numbered, int gaps) : numbered_(numbered), gaps_(numbered ? static_cast<std::uint32_t>(gaps) : 1) {}
  bool numbered() const noexcept { return numbered_; }
  std::uint32_t gap(std::uint32_t place) const noexcept { return numbered_ ? kFirst + place : kFirst; }
  bool is_gap(std::uint32_t symbol) const noexcept { return symbol - kFirst < gaps_; }
  std::uint32_t head() const noexcept { return kFirst + gaps_; }
  // Words and gaps of a side.
  std::size_t length(std::size_t symbols) const noexcept { return numbered_ ? symbols : symbols - 1; }
  // All symbols, in the order of their ids.
  std::vector<std::string> words() const;

 private:
  static constexpr std::uint32_t kFirst = 1;
  bool numbered_;
  std::uint32_t gaps_;
};

// A rule of one sentence pair. Links are ordered by target, then source position; links of gaps come last.
struct FoundRule {
  std::span<const std::uint32_t> source, target, links;
  float count = 0;
};

inline std::uint32_t packed_link(std::size_t source, std::size_t target) noexcept {
  return static_cast<std::uint32_t>(source << 16U | target);
}
inline std::uint32_t link_source(std::uint32_t link) noexcept { return link >> 16U; }
inline std::uint32_t link_target(std::uint32_t link) noexcept { return link & 0xFFFFU; }

class RuleFinder {
 public:
  RuleFinder(const RuleLimits& limits, const RuleSymbols& symbols) : limits_(limits), symbols_(symbols) {}

  // Calls visit(FoundRule) for each rule of the pair, once.
  template <class Visit>
  void find(const SentencePair& pair, Visit visit) {
    search(pair);
    for (const Entry& entry : entries_) visit(rule(entry));
  }

 private:
  struct Phrase {
    int first_target, last_target, first_source, last_source;
  };
  struct Entry {  // a rule: numbers of symbols and links, and then these
    std::size_t begin = 0;
    std::uint64_t hash = 0;
    float count = 0;
    std::uint32_t slot = 0;
  };

  struct Found {
    std::uint32_t entry;
    std::uint64_t place;  // of the source words
  };

  void search(const SentencePair& pair);
  void read_links(const SentencePair& pair);
  void find_phrases();
  bool is_consistent(int first_target, int last_target, int first_source, int last_source) const noexcept;
  void order_by_start();
  void collect_inside(const Phrase& phrase);
  void add_gaps(const Phrase& phrase, std::size_t from, int source_words, int target_words, int linked);
  bool fits(const Phrase& gap) const noexcept;
  void add_rule(const Phrase& phrase);
  std::uint32_t entry_of(std::size_t begin);
  void grow();
  void add_counts();
  bool is_new_place(const Found& rule);
  FoundRule rule(const Entry& entry) const noexcept;

  RuleLimits limits_;
  RuleSymbols symbols_;

  // For the current sentence pair.
  const SentencePair* pair_ = nullptr;
  std::vector<std::uint32_t> link_sources_;  // by target word, ascending, without duplicates
  std::vector<std::uint32_t> link_begin_;    // offsets by target word
  std::vector<int> lowest_target_, highest_target_;  // that a source word is linked with
  std::vector<int> linked_before_;           // linked target words before a position
  std::vector<Phrase> phrases_;              // by length of the target side, then its start: Moses' order
  std::vector<Phrase> by_start_;             // the same by start of the target side
  std::vector<std::size_t> start_;           // offsets by target word

  // For the current phrase pair.
  std::vector<Phrase> inside_;               // phrase pairs that may be gaps, by start
  std::vector<Phrase> gaps_;                 // those chosen, by start
  std::vector<Found> found_;                 // its rules

  std::vector<std::uint32_t> text_;          // the symbols and links of entries
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;         // by hash: the entry plus 1, 0 is free
  std::unordered_set<std::uint64_t> places_;  // of all rules
  std::vector<std::uint32_t> source_place_, target_place_;  // in a rule, of the words of a sentence
};

}  // namespace smt
