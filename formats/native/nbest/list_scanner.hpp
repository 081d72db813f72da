// Reads n-best lists into columns. The formats are described in smtformats/nbest/moses.py and cdec.py; an invalid or
// unusual line is left to the parsers there, with all lines after it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "growing.hpp"
#include "nbest/fields.hpp"
#include "strings.hpp"

namespace smt {

enum class ListDialect {
  kCdec,   // name=value; blank lines between lists
  kMoses,  // Name= v v; fields after the total
};

struct ListTable {
  struct Nothing {};
  struct Extra {
    Texts texts;  // of all hypotheses, if some have the field
    bool there = false;
  };

  Texts ids;                              // of the lists
  Growing<std::int64_t> offsets;          // by list, the hypotheses before it; at the end, all of them
  Growing<std::int64_t> lines;            // by list, where it begins
  Texts texts;                            // of the hypotheses
  Growing<std::int32_t> features;         // names
  Growing<double> values;                 // of these
  Growing<std::int64_t> feature_offsets;  // by hypothesis
  Growing<double> totals;
  std::array<Extra, kExtras> extras;
  Interner<Nothing> names{64};

  ListTable() { feature_offsets.push(0); }
};

// Where the scanner stopped.
struct ListFault {
  std::uint64_t lines = 0;  // before the unread text
  std::string unread;       // the rest of the text it was fed
};

class ListScanner {
 public:
  ListScanner(ListDialect dialect, std::size_t max_line);

  // Scans the next piece of the file, split anywhere. False at a line left to the parser; the scanner is then closed.
  bool feed(std::string_view bytes);
  // Ends the file; like `feed`.
  bool finish();

  const ListFault& fault() const noexcept { return fault_; }
  std::uint64_t lines() const noexcept { return line_; }
  ListTable& table() noexcept { return table_; }

 private:
  static constexpr std::size_t kMaxPrefix = 48;
  static constexpr std::int32_t kUnknown = -1;

  // The feature of the previous line at this position.
  struct Slot {
    char prefix[kMaxPrefix] = {};  // before the value: `name=`, or `Name= ` before the first of several
    std::size_t length = 0;
    std::uint32_t mask = 0;  // of its first 16 bytes
    std::int32_t id = 0;
  };
  // The feature names of a label, unknown until they occur: of its only value, or of several values by position.
  struct Label {
    std::int32_t single = kUnknown;
    std::int32_t several = kUnknown;  // in vectors_
  };
  using Fields = std::array<std::string_view, kExtras>;  // without data if absent

  // Returns null, or the line that was not read.
  const char* scan(const char* begin, const char* end);
  bool stop(std::string_view unread, std::string_view more);
  void close();

  // Each takes the start of its part of the line and returns the end; null if it cannot be read.
  const char* line(const char* p);
  const char* blank(const char* p);
  const char* features(const char* p);
  const char* items(const char* p, const char* field);
  const char* groups(const char* p, const char* field);

  bool same_key(const char* p) const noexcept;
  bool fits(const char* begin, const char* end) const noexcept;
  void know_features(std::size_t count);
  bool add_item(const char* p, std::size_t length);
  bool add_group(std::string_view label, std::size_t first);
  bool add_name(std::int32_t id);
  std::int32_t single_name(Label& label, std::string_view text);
  std::int32_t vector_name(Label& label, std::string_view text, std::size_t place);
  void add_slot(std::string_view prefix, std::int32_t id);
  void commit(std::string_view text, double total, const Fields& fields);

  ListDialect dialect_;
  std::size_t max_line_;
  ListTable table_;
  ListFault fault_;
  std::string carry_;              // kFront bytes, then the text after the last scanned line
  const char* last_ = nullptr;     // the end of the text being scanned
  std::uint64_t line_ = 0;
  std::uint64_t blanks_ = 0;       // empty lines just before
  bool sound_ = false;             // all of the text is UTF-8
  bool open_ = false;              // the last line has no newline
  bool closed_ = false;

  char key_[32] = {};  // the id of the current list and the bar after it
  std::size_t key_length_ = 0;
  std::uint64_t id_ = 0;

  std::vector<Slot> slots_;
  bool slots_end_ = false;                // that line has more features than slots
  std::size_t names_ = 0;                 // the number of names on complete lines
  std::vector<std::uint64_t> name_line_;  // by name, the last line that has it, from 1
  Interner<Label> labels_{64};
  std::vector<std::vector<std::int32_t>> vectors_;
  Label unlabelled_;
};

}  // namespace smt
