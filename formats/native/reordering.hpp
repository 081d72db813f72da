// Reads the text of Moses' reordering tables into columns. What a line may be is described in
// smtformats/reordering/moses.py; lines that are sound but unusual come back by `add`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bytes.hpp"
#include "growing.hpp"
#include "lines.hpp"
#include "strings.hpp"

namespace smt {

struct ReorderingRows {
  Texts keys;             // of each row: source and target with a bar between them, or the source alone
  Growing<float> values;  // logarithms, as many for each row
};

class ReorderingScanner final : public LineScanner {
 public:
  explicit ReorderingScanner(std::size_t max_line) : LineScanner(max_line) {}

  // How many fields and numbers all lines have. Before, no line can be read.
  void expect(std::size_t fields, std::size_t numbers);
  // A row that someone else read.
  void add(std::string_view key, const std::vector<double>& values);

  ReorderingRows& table() noexcept { return table_; }

 private:
  static constexpr std::size_t kSlots = 256;
  static constexpr std::size_t kMostBytes = 63;
  static constexpr std::size_t kMostNumbers = 8;

  // What numbers are spelt like, and their logarithms: nearly all lines have those of one of few others.
  struct Known {
    char text[kMostBytes + 1] = {};  // with the line's end
    float values[kMostNumbers] = {};
  };

  const char* scan_line(const char* p) override;
  void undo() override;
  bool skips_empty_lines() const noexcept override { return false; }
  const char* logarithms(const char* p, bool first, float* values) const;

  std::size_t fields_ = 0;
  std::size_t numbers_ = 0;
  ReorderingRows table_;
  std::array<Known, kSlots> known_;
};

}  // namespace smt
