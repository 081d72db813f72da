// A minimal perfect hash function in CMPH's packed form of CHD ("compress, hash and displace").
//
// D. Belazzougui, F. Botelho and M. Dietzfelbinger, "Hash, Displace, and Compress" (2009). A key has three hash values:
// its bucket, and two that lead to its bin with the bucket's displacement. Empty bins do not count.
#pragma once

#include <cstdint>
#include <string_view>

#include "compact/parts.hpp"

namespace smt::compact {

// MurmurHash3 of 32 bits, by A. Appleby.
std::uint32_t murmur3(std::string_view key, std::uint32_t seed) noexcept;

// A bit vector with the places of every 128th bit that is set.
class SelectBits {
 public:
  SelectBits() = default;
  static SelectBits read(Cursor& cursor);
  bool operator[](std::uint64_t i) const;
  std::uint64_t select(std::uint64_t number) const;  // the place of a set bit by its number, from 0
  std::uint64_t next(std::uint64_t place) const;     // the place of the next set bit

 private:
  std::uint64_t walk(std::uint64_t place, std::uint64_t skipped) const;

  std::uint64_t size_ = 0;
  Packed<std::uint8_t> bytes_;
  Packed<std::uint32_t> table_;
};

// How the code that made a file took the bytes of keys: a matter of CMPH's version.
enum class Bytes { are_unsigned, are_signed };

class ChdHash {
 public:
  static ChdHash read(Cursor& cursor);
  // For keys that it was not made of, the number may be any up to the number of keys.
  std::uint64_t operator()(std::string_view key, Bytes bytes) const;

 private:
  std::uint64_t displacement(std::uint32_t bucket) const;
  std::uint64_t empty_before(std::uint64_t bin) const;

  std::uint32_t seed_ = 0;
  std::uint32_t bins_ = 0;
  std::uint32_t buckets_ = 0;
  // Displacements: lengths and values of codes.
  unsigned length_bits_ = 0;
  SelectBits lengths_;
  Packed<std::uint8_t> length_rests_;
  Packed<std::uint8_t> values_;
  // Empty bins.
  std::uint32_t last_empty_ = 0;
  std::uint32_t empty_ = 0;
  unsigned empty_bits_ = 0;
  SelectBits empties_;
  Packed<std::uint8_t> empty_rests_;
};

}  // namespace smt::compact
