// Reads Moses' reordering tables into columns. The format is described in smtformats/reordering/moses.py; valid but
// unusual lines are parsed there and passed to `add`.
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
  Texts keys;             // of each row: source and target with a bar between them, or the source only
  Growing<float> values;  // logarithms, equally many per row
};

class ReorderingScanner final : public LineScanner {
 public:
  explicit ReorderingScanner(std::size_t max_line) : LineScanner(max_line) {}

  // Sets the numbers of fields and scores per line. Until then no line can be read.
  void expect(std::size_t fields, std::size_t numbers);
  // Adds a row parsed elsewhere.
  void add(std::string_view key, const std::vector<double>& values);

  ReorderingRows& table() noexcept { return table_; }

 private:
  static constexpr std::size_t kSlots = 256;
  static constexpr std::size_t kMostBytes = 63;
  static constexpr std::size_t kMostNumbers = 8;

  // The text of a line's numbers, and their logarithms: most lines repeat one of few such texts.
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
