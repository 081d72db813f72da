// Counted rules as the tables that Moses, cdec and Joshua read.
//
// In Moses' tables each number is rounded where and as its programs (score, consolidate) do. The others' features are
// those of cdec's extractor (A. Lopez, "Hierarchical Phrase-Based Translation with Suffix Arrays", 2007) and of Thrax
// (J. Weese et al., "Joshua 3.0: Syntax-based Machine Translation with the Thrax Grammar Extractor", 2011).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sort.hpp"
#include "extract/bitext.hpp"
#include "extract/lexical.hpp"
#include "extract/pairs.hpp"
#include "extract/rule_counts.hpp"
#include "extract/totals.hpp"

namespace smt {

enum class RuleFormat : std::uint8_t { kMoses, kCdec, kJoshua };

// Writes the lines of a rule table.
class RuleWriter {
 public:
  using Totals = SideSums<CountSum>::Totals;
  RuleWriter(const RuleExtractor& extractor, const LexicalTable& target_given_source,
             const LexicalTable& source_given_target, RuleFormat format);
  void write(const CountedPair& pair, const Totals& totals);
  std::string take_lines() { return std::exchange(lines_, {}); }

 private:
  struct Scores {
    float count, source, target;  // as printed between Moses' programs
    float target_given_source, source_given_target;
  };
  void write_moses(const CountedPair& pair, const CountedRule& rule, const Scores& scores);
  void write_cdec(const CountedPair& pair, const CountedRule& rule, const Scores& scores);
  void write_joshua(const CountedPair& pair, const CountedRule& rule, const Scores& scores);
  void write_sides(const CountedPair& pair);
  void write_word_links(const CountedPair& pair, const CountedRule& rule);
  double forward_weight(const CountedPair& pair, const CountedRule& rule) const;
  double backward_weight(const CountedPair& pair, const CountedRule& rule) const;
  double mean_cost(const LexicalTable& table, WordSpan given, WordSpan words, const std::vector<Link>& links) const;
  double most_likely(const LexicalTable& table, WordSpan given, WordSpan words) const;

  const Bitext& bitext_;
  RuleSymbols symbols_;
  const LexicalTable& forward_;
  const LexicalTable& backward_;
  RuleFormat format_;
  RuleGroups groups_;
  std::string lines_;
  std::vector<std::string> points_;
};

// The lines of a rule table, made on demand by several threads in pieces. Rules have unnumbered gaps in Moses' tables,
// numbered gaps in the others.
class RuleTable {
 public:
  RuleTable(const RuleExtractor& extractor, const LexicalTable& target_given_source,
            const LexicalTable& source_given_target, RuleFormat format, int threads, std::uint64_t memory,
            std::shared_ptr<SpillFolder> folder);
  // More lines; empty at the end.
  std::string next();
  std::uint64_t rules() const noexcept { return rules_; }

 private:
  class Batch;
  SideSums<CountSum> sums(const RuleExtractor& extractor, std::uint64_t memory, std::shared_ptr<SpillFolder> folder);

  RuleWriter writer_;
  std::size_t threads_;
  std::uint64_t rules_ = 0;
  SideSums<CountSum> sums_;
  PairStream stream_;
  bool ended_ = false;
  std::deque<std::future<std::string>> ahead_;
};

}  // namespace smt
