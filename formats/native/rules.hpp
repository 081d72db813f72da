// Shared by the scanners of rules: columns, repeated source sides, repeated features, alignment points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "growing.hpp"
#include "lines.hpp"
#include "strings.hpp"

namespace smt {

struct RuleLimits {
  std::size_t line = 0;      // bytes, with the newline
  std::size_t symbols = 0;   // per side
  std::size_t features = 0;  // per rule; also limits its alignment points
};

struct Nothing {};

struct RuleTable {
  Growing<std::int32_t> lhs;
  Growing<std::uint8_t> level;
  Growing<std::int32_t> source, target;  // source: a word, or -1 - label; target: a word, or -1 - gap number
  Growing<std::int64_t> source_offsets, target_offsets;
  Growing<std::int32_t> features;
  Growing<float> values;
  Growing<std::int64_t> feature_offsets;
  Growing<std::int16_t> points;  // pairs
  Growing<std::int64_t> point_offsets;
  Texts words;
  Interner<Nothing> labels{64}, names{64};

  RuleTable();
  std::size_t rules() const noexcept { return level.size(); }
};

class RuleScanner : public LineScanner {
 public:
  explicit RuleScanner(RuleLimits limits) : LineScanner(limits.line), limits_(limits) {}
  RuleTable& table() noexcept { return table_; }

 protected:
  // Most rules have the source side of the previous rule. If the text at p starts as given to `know_source`, appends
  // the source side again and returns the length of that text, otherwise 0.
  std::size_t repeat_source(const char* p);
  // Remembers the text before the target side of this rule; its last byte is a blank.
  void know_source(const char* begin, const char* end) noexcept {
    known_source_ = begin;
    known_length_ = static_cast<std::size_t>(end - begin);
  }

  // Reads alignment points. Returns the bar or the end of the line; null on anything else.
  const char* points(const char* p);

  // Sets a feature of this rule; the last value counts. Returns whether it is the first value.
  bool put(std::int32_t name, float value);
  // Registers the last `count` features of the table as those of this rule.
  void know_put(std::size_t count);

  // Completes a rule in the columns.
  void end_rule(std::size_t level = 0) {
    table_.level.push(static_cast<std::uint8_t>(level));
    table_.source_offsets.push(static_cast<std::int64_t>(table_.source.size()));
    table_.target_offsets.push(static_cast<std::int64_t>(table_.target.size()));
    table_.feature_offsets.push(static_cast<std::int64_t>(table_.features.size()));
    table_.point_offsets.push(static_cast<std::int64_t>(table_.points.size() / 2));
  }
  void undo() override;
  void forget_text() override { known_length_ = 0; }

  const RuleLimits limits_;
  RuleTable table_;

 private:
  const char* known_source_ = nullptr;  // in the text of an earlier line
  std::size_t known_length_ = 0;
  std::vector<std::uint64_t> name_line_;  // by name, the last line that has it
  std::vector<std::size_t> name_place_;   // and the position of its value
};

inline std::string_view view(const char* p, std::size_t length) noexcept { return {p, length}; }

// Whether the token at p is |||.
inline bool is_bar(const char* p) noexcept { return (load4(p) & 0xFFFFFFU) == 0x7C7C7CU && is_end(p[3]); }

inline const char* skip_blanks(const char* p) noexcept {
  while (is_blank(*p)) ++p;
  return p;
}

}  // namespace smt
