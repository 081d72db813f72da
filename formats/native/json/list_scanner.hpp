// Reads a file of JSON lines with n-best lists into columns. The caller leaves a file with a line that is not read here
// to the parser in Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "growing.hpp"
#include "json/list_line.hpp"
#include "lines.hpp"
#include "strings.hpp"

namespace smt::json {

struct ListTable {
  struct Nothing {};
  struct Column {
    std::string name;
    Texts texts;  // of all hypotheses
  };

  Texts ids;                              // of the lists
  Growing<std::int64_t> offsets;          // by list, the hypotheses before it; at the end, all of them
  Growing<std::int64_t> lines;            // by list
  Texts sources;                          // by list
  Growing<std::uint8_t> has_source;       // by list
  Texts texts;                            // of the hypotheses
  Growing<std::int32_t> features;         // names
  Growing<double> values;                 // of these
  Growing<std::int64_t> feature_offsets;  // by hypothesis
  Growing<double> totals;                 // of the hypotheses that have one
  std::vector<Column> extras;
  Interner<Nothing> names{64};

  ListTable() {
    offsets.push(0);
    feature_offsets.push(0);
  }
};

class ListScanner : public LineScanner {
 public:
  ListScanner(Names names, std::size_t max_line) : LineScanner(max_line), line_(std::move(names)) {}

  ListTable& table() noexcept { return table_; }

 private:
  const char* scan_line(const char* p) override;
  void undo() override {}

  bool add_id();
  void add_item(const Item& item);
  void add_extras(std::size_t first);
  std::string_view text_of(const String& string);

  ListLine line_;
  ListTable table_;
  Interner<ListTable::Nothing> known_{64};               // the ids, whole numbers without leading zeros
  std::vector<std::vector<std::int32_t>> layout_names_;  // by layout
  std::size_t age_ = 0;
  bool has_ids_ = false;
  std::string decoded_;
};

}  // namespace smt::json
