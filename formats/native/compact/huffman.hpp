// Canonical Huffman codes, read bit by bit from the lowest bit of each byte.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compact/parts.hpp"

namespace smt::compact {

class Bits {
 public:
  explicit Bits(std::string_view bytes) noexcept : bytes_(bytes) {}
  std::uint64_t left() const noexcept { return bytes_.size() * 8 - at_; }
  bool next() {
    if (at_ >= bytes_.size() * 8) throw BadTable("a complete code", "the end of the entry");
    const auto byte = static_cast<unsigned char>(bytes_[at_ / 8]);
    return (byte >> (at_++ % 8) & 1U) != 0;
  }

 private:
  std::string_view bytes_;
  std::uint64_t at_ = 0;
};

template <class Symbol>
class Huffman {
 public:
  static Huffman read(Cursor& cursor, const char* what) {
    Huffman codes;
    codes.symbols_ = cursor.counted<Symbol>(what);
    const auto firsts = cursor.counted<std::uint64_t>(what);
    const auto starts = cursor.counted<std::uint64_t>(what);
    if (firsts.size() != starts.size() || firsts.size() < 2 || firsts.size() > kMaxLength + 1) {
      throw BadTable("codes of 1 to 63 bits of " + std::string(what),
                     std::to_string(firsts.size()) + " and " + std::to_string(starts.size()) + " lengths");
    }
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      if (starts[i] > codes.symbols_.size()) throw BadTable(std::string("codes of ") + what, "a length without symbols");
      codes.firsts_.push_back(firsts[i]);
      codes.starts_.push_back(starts[i]);
    }
    if constexpr (std::is_floating_point_v<Symbol>) {
      for (std::size_t i = 0; i < codes.symbols_.size(); ++i) {
        if (!std::isfinite(codes.symbols_[i])) throw BadTable(std::string("finite ") + what, "another number");
      }
    }
    return codes;
  }

  Symbol next(Bits& bits) const {
    std::uint64_t code = bits.next() ? 1 : 0;
    std::size_t length = 1;
    while (code < firsts_[length]) {
      if (++length == firsts_.size()) throw BadTable("a code of at most " + std::to_string(length - 1) + " bits", "none");
      code = 2 * code + (bits.next() ? 1 : 0);
    }
    const std::uint64_t place = starts_[length] + (code - firsts_[length]);
    if (place >= symbols_.size()) throw BadTable("a code with a symbol", "one without");
    return symbols_[place];
  }

 private:
  static constexpr std::size_t kMaxLength = 63;

  Packed<Symbol> symbols_;
  std::vector<std::uint64_t> firsts_;  // the first code of each length
  std::vector<std::uint64_t> starts_;  // the place of its symbol
};

}  // namespace smt::compact
