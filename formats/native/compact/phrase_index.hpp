// The numbers of phrases by their text. Only fingerprints of the phrases are there: a phrase that the table does not
// have is found with the probability 2^-bits of a fingerprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "compact/chd.hpp"
#include "compact/packed_strings.hpp"
#include "compact/parts.hpp"

namespace smt::compact {

// Sorted phrases in ranges of 2^order_bits, each with a perfect hash function and the order and fingerprint of each
// phrase; the first phrase of each range is there as text.
class PhraseIndex {
 public:
  static PhraseIndex read(Cursor& cursor);
  // Throws BadTable. `key` ends with " ||| ".
  std::optional<std::uint64_t> find(std::string_view key) const;
  std::uint64_t size() const noexcept { return size_; }
  unsigned fingerprint_bits() const noexcept { return fingerprint_bits_; }

 private:
  std::optional<std::uint64_t> find(std::size_t range, std::string_view key, Bytes bytes) const;
  bool finds_landmarks(Bytes bytes) const;

  std::string_view file_;
  Bytes bytes_ = Bytes::are_unsigned;
  unsigned order_bits_ = 0;
  unsigned fingerprint_bits_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t size_ = 0;
  PackedStrings landmarks_;
  Packed<std::uint64_t> ranges_;
};

}  // namespace smt::compact
