// Hierarchical rules of word-aligned text, counted as Moses' extract-rules and score do, down to the rounding.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sort.hpp"
#include "extract/bitext.hpp"
#include "extract/lexical.hpp"
#include "extract/pairs.hpp"
#include "extract/rules.hpp"

namespace smt {

inline constexpr int kMaxRuleSpan = 255;

class RuleExtractor {
 public:
  // Counts do not depend on the number of threads.
  RuleExtractor(const RuleLimits& limits, bool numbered, bool skip_bad, bool count_words, int threads,
                std::uint64_t memory, std::shared_ptr<SpillFolder> folder);

  // Feeds whole lines, equally many of each side.
  void feed(std::string_view source, std::string_view target, std::string_view links);
  void finish();

  Bitext& bitext() noexcept { return bitext_; }
  const Bitext& bitext() const noexcept { return bitext_; }
  const LexicalCounts& lexical() const noexcept { return lexical_; }
  const PairCounter& pairs() const noexcept { return pairs_; }
  LexicalCounts& lexical() noexcept { return lexical_; }
  PairCounter& pairs() noexcept { return pairs_; }
  const RuleSymbols& symbols() const noexcept { return symbols_; }

 private:
  void add(const FoundRule& rule);
  class Ahead;
  void extract_ahead();

  RuleSymbols symbols_;
  bool count_words_;
  std::size_t threads_;
  Bitext bitext_;
  LexicalCounts lexical_;
  std::vector<RuleFinder> finders_;  // one for each thread
  PairCounter pairs_;
  std::vector<SentencePair> sentences_;
  std::string variant_;
};

// Counts added up in single precision, as in Moses. Where that loses too much, because small numbers vanish beside
// large ones, the exact sum.
class CountSum {
 public:
  void add(float count, std::uint64_t times) noexcept;
  CountSum& operator+=(const CountSum& other) noexcept {
    single_ += other.value();
    exact_ += other.exact_;
    return *this;
  }
  float value() const noexcept {
    const bool sound = std::abs(static_cast<double>(single_) - exact_) <= kTolerance * exact_;
    return sound ? single_ : static_cast<float>(exact_);
  }

 private:
  static constexpr double kTolerance = 1e-4;
  float single_ = 0;
  double exact_ = 0;
};

// A rule: pairs of sides whose gaps are linked in the same way.
struct CountedRule {
  CountSum forward, backward;        // its count, added up in the order of the sources' tables, and the targets'
  std::vector<Link> links, inverse;  // the most frequent alignment as (source, target) by target place, and as
                                     // (target, source) by source place: they may differ where several are as frequent
};

// Splits pairs into rules.
class RuleGroups {
 public:
  explicit RuleGroups(const RuleSymbols& symbols) : symbols_(symbols) {}
  void read(const CountedPair& pair);
  std::size_t size() const noexcept { return size_; }
  const CountedRule& operator[](std::size_t at) const noexcept { return rules_[at]; }
  // The rules in the order of the targets' tables.
  const std::vector<std::size_t>& backwards() const noexcept { return backwards_; }

 private:
  struct Line {
    std::string text;  // as Moses' extractor writes the alignment and the count
    std::string_view links, gaps;
    float count;
    std::uint64_t times;
  };
  struct Alignment {
    std::string_view links;
    CountSum count;
  };
  struct Group {
    std::string_view gaps;
    std::vector<Alignment> alignments;
  };

  void read_lines(const CountedPair& pair, std::size_t gaps, bool inverse);
  std::size_t place_of(std::string_view gaps);
  CountedRule& append();

  RuleSymbols symbols_;
  std::vector<CountedRule> rules_;
  std::size_t size_ = 0;
  std::vector<std::size_t> backwards_;
  std::vector<Line> lines_;
  std::vector<Group> groups_;
};

}  // namespace smt
