// Reads Moses' phrase tables and rule tables into columns. The formats are described in
// smtformats/grammar/moses_phrases.py and moses_rules.py; valid but unusual lines are parsed there and passed to `add`.
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
  // `gaps`: sides have gaps, and a label at the end. `prefix` is prepended to the names of sparse features.
  MosesScanner(RuleLimits limits, bool gaps, std::string prefix);

  // Sets the names of the scores of every line. Until then no line can be read.
  void expect(const std::vector<std::string>& names);

  // Adds a rule parsed elsewhere, each feature once. A symbol is a word and 0, or a label and a gap index.
  using Symbols = std::vector<std::pair<std::string, std::int32_t>>;
  void add(const std::string& lhs, const Symbols& source, const Symbols& target,
           const std::vector<std::pair<std::string, double>>& features,
           const std::vector<std::pair<int, int>>& points);

 private:
  // A word, -1 - label of a pair, or one of these.
  static constexpr std::int32_t kNone = INT32_MIN;       // not classified yet
  static constexpr std::int32_t kBad = INT32_MIN + 1;    // not allowed on a side
  static constexpr std::int32_t kLabel = INT32_MIN + 2;  // a single label
  struct Symbol {
    std::int32_t value = kNone;
  };
  struct Side {
    std::size_t size = 0;    // in symbols, without the label at its end
    std::uint64_t gaps = 0;  // a mask of gap positions
    std::int32_t label = 0;  // the token at its end
  };
  static constexpr std::size_t kPlaces = 64;  // positions that gaps may have

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
  std::size_t sound_tokens_ = 0, sound_words_ = 0;  // their numbers after the last rule
  Side source_, target_;
  std::pair<std::int32_t, std::int32_t> lhs_tokens_{-1, -1};  // of the previous rule
  std::int32_t lhs_ = 0;
  std::string sparse_name_;
};

}  // namespace smt
