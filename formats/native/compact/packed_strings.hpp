// Concatenated strings with compressed offsets: every 32nd in full, the others as differences in Simple9 code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compact/parts.hpp"

namespace smt::compact {

class PackedStrings {
 public:
  PackedStrings() = default;
  // `Offset` is the type of offsets in the program that wrote the file.
  template <class Offset>
  static PackedStrings read(Cursor& cursor, const char* what);

  std::size_t size() const noexcept { return size_; }
  bool is_sorted() const noexcept { return sorted_; }
  // Throw BadTable. The number must be below the size.
  std::string_view operator[](std::size_t i) const;
  // The number of the first string that is not less than this one; the strings must be sorted.
  std::size_t lower_bound(std::string_view text) const;
  std::size_t upper_bound(std::string_view text) const;

 private:
  std::uint64_t offset(std::size_t i) const;

  bool sorted_ = false;
  std::uint64_t size_ = 0;
  Packed<std::uint32_t> differences_;
  Packed<std::uint32_t> anchors_;
  std::string_view text_;
};

}  // namespace smt::compact
