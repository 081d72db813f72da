// The parts of a KenLM file, taken one after the other and checked against its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/memory.hpp"
#include "lm/kenlm_file.hpp"
#include "lm/lm.hpp"

namespace smt {

// "1 byte", "2 bytes"
inline std::string counted(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// Yields the parts of a file in order.
class FileParts {
 public:
  explicit FileParts(const Memory& memory) : at_(memory.data()), left_(memory.size()) {}
  const std::byte* take(std::uint64_t bytes, const std::string& what) {
    if (bytes > left_) {
      throw KenlmFileError(counted(bytes, "byte") + " of " + what, "the end of the file after " + std::to_string(left_));
    }
    const std::byte* const part = at_;
    at_ += bytes;
    passed_ += bytes;
    left_ -= bytes;
    return part;
  }
  template <class Table>
  Table table(std::uint64_t entries, float multiplier, const std::string& what) {
    const std::uint64_t slots = buckets(entries, multiplier);
    const Table table(take(slots * Table::kSlot, what), slots);
    // A search ends at an empty slot: without one it would never end.
    for (std::uint64_t i = 0; i < slots; ++i) {
      if (smt::load<std::uint64_t>(table.data() + i * Table::kSlot) == 0) return table;
    }
    throw KenlmFileError("an empty slot in the table of " + what, "none");
  }
  const std::byte* at() const noexcept { return at_; }
  // The bytes before it, in the file.
  std::uint64_t passed() const noexcept { return passed_; }
  std::uint64_t left() const noexcept { return left_; }

 private:
  const std::byte* at_;
  std::uint64_t left_;
  std::uint64_t passed_ = 0;
};

}  // namespace smt
