// Reads the text of Moses' phrase tables and rule tables into columns. What a line may be is described in
// smtformats/grammar/moses_phrases.py and moses_rules.py; lines that are sound but unusual come back by `add`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules.hpp"
#include "strings.hpp"

namespace smt {

class MosesScanner final : public RuleScanner {
 public:
  // `gaps`: the sides have gaps, and labels at their ends. `prefix` stands before the names of sparse features.
  MosesScanner(RuleLimits limits, bool gaps, std::string prefix);

  // The names of the scores that every line has. Until they are known no line can be read.
  void expect(const std::vector<std::string>& names);

  // A rule that someone else read, each of its features once. Symbols are a text and 0 for a word; on the source side
  // a label and the index of a gap.
  using Symbols = std::vector<std::pair<std::string, std::int32_t>>;
  void add(const std::string& lhs, const Symbols& source, const Symbols& target,
           const std::vector<std::pair<std::string, double>>& features,
           const std::vector<std::pair<int, int>>& points);

 private:
  // A word, -1 - label of a pair, or one of these.
  static constexpr std::int32_t kNone = INT32_MIN;       // a token that is not known yet
  static constexpr std::int32_t kBad = INT32_MIN + 1;    // it cannot be on a side
  static constexpr std::int32_t kLabel = INT32_MIN + 2;  // a label by itself
  struct Symbol {
    std::int32_t value = kNone;
  };
  struct Side {
    std::size_t size = 0;    // of symbols, without the label at its end
    std::uint64_t gaps = 0;  // a bit for each of its first places
    std::int32_t label = 0;  // the token at its end
  };
  static constexpr std::size_t kPlaces = 64;  // that gaps may be at, where there are any

  const char* scan_line(const char* p) override;
  void undo() override;
  void end_sound_rule();
  const char* side(const char* p, Ends& ends, Growing<std::int32_t>& symbols, Side& found);
  template <bool kGaps>
  const char* side(const char* p, Ends& line, Growing<std::int32_t>& symbols, Side& found);
  const char* scores(const char* p, Ends ends, bool first);
  const char* numbers(const char* p) const;
  const char* sparse(const char* p);
  const char* properties(const char* p) const;
  bool link_gaps();
  std::int32_t classify(std::string_view text);
  std::int32_t word(const std::string& text);
  std::int32_t label(std::string_view source, std::string_view target);
  std::int32_t lhs();

  const bool gaps_;
  const std::string prefix_;
  std::vector<std::int32_t> score_names_;
  std::vector<double> numbers_;  // the scores of this rule
  Interner<Symbol> tokens_{4096};
  std::size_t sound_tokens_ = 0, sound_words_ = 0;  // how many there were after the last rule
  Side source_, target_;
  std::pair<std::int32_t, std::int32_t> lhs_tokens_{-1, -1};  // of the rule before
  std::int32_t lhs_ = 0;
  std::string sparse_name_;
};

}  // namespace smt
