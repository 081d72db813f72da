#include "compact/packed_strings.hpp"

#include <array>
#include <string>

namespace smt::compact {
namespace {

constexpr std::size_t kStep = 32;

struct Code {
  unsigned count;
  unsigned bits;
};
// The codes of a Simple9 word by its highest four bits, which count from 1.
constexpr std::array<Code, 9> kCodes{{{1, 28}, {2, 14}, {3, 9}, {4, 7}, {5, 5}, {7, 4}, {9, 3}, {14, 2}, {28, 1}}};

[[noreturn]] void fail(const char* found) { throw BadTable("rising offsets of strings", found); }

}  // namespace

template <class Offset>
PackedStrings PackedStrings::read(Cursor& cursor, const char* what) {
  PackedStrings strings;
  strings.sorted_ = cursor.flag("whether strings are sorted");
  cursor.flag("whether offsets are complete");
  strings.size_ = cursor.number<std::uint64_t>(what);
  cursor.number<Offset>(what);
  strings.differences_ = cursor.counted<std::uint32_t>(what);
  strings.anchors_ = cursor.counted<std::uint32_t>(what);
  if (strings.size_ > cursor.file().size() * kStep || strings.anchors_.size() != (strings.size_ + kStep - 1) / kStep) {
    throw BadTable("an anchor for each 32 " + std::string(what),
                   std::to_string(strings.anchors_.size()) + " for " + std::to_string(strings.size_));
  }
  strings.text_ = cursor.bytes(cursor.number<std::uint64_t>(what), what);
  return strings;
}

template PackedStrings PackedStrings::read<std::uint32_t>(Cursor&, const char*);
template PackedStrings PackedStrings::read<std::uint64_t>(Cursor&, const char*);

std::uint64_t PackedStrings::offset(std::size_t i) const {
  std::size_t at = anchors_[i / kStep];
  const auto next = [&] {
    if (at >= differences_.size()) fail("an anchor or a difference beyond their end");
    return differences_[at++];
  };
  // The anchor: 31 bits in each word, and a bit if more follow.
  std::uint64_t sum = 0;
  for (unsigned shift = 0;; shift += 31) {
    const std::uint32_t word = next();
    if (shift > 62) fail("a number of more than 64 bits");
    sum |= std::uint64_t{word & 0x7FFFFFFFU} << shift;
    if ((word & 0x80000000U) == 0) break;
  }
  for (std::size_t left = i % kStep; left != 0;) {
    const std::uint32_t word = next();
    const unsigned type = word >> 28U;
    if (type == 0 || type > kCodes.size()) fail("a word that is no Simple9 code");
    const Code code = kCodes[type - 1];
    for (unsigned k = 1; k <= code.count && left != 0; ++k, --left) {
      sum += word >> code.bits * (code.count - k) & ((1U << code.bits) - 1);
    }
  }
  return sum;
}

std::string_view PackedStrings::operator[](std::size_t i) const {
  const std::uint64_t first = offset(i);
  const std::uint64_t last = i + 1 < size_ ? offset(i + 1) : text_.size();
  if (first > last || last > text_.size()) fail("an offset below the one before, or beyond the text");
  return text_.substr(first, last - first);
}

std::size_t PackedStrings::lower_bound(std::string_view text) const {
  std::size_t first = 0;
  for (std::size_t count = size_; count != 0;) {
    const std::size_t half = count / 2;
    if ((*this)[first + half] < text) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

std::size_t PackedStrings::upper_bound(std::string_view text) const {
  std::size_t first = 0;
  for (std::size_t count = size_; count != 0;) {
    const std::size_t half = count / 2;
    if ((*this)[first + half] <= text) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

}  // namespace smt::compact
