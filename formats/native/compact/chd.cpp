#include "compact/chd.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string>

namespace smt::compact {
namespace {

constexpr std::uint32_t kChdPh = 7;
constexpr unsigned kStepBits = 7;

[[noreturn]] void fail(const char* found) { throw BadTable("a hash function of CMPH (CHD)", found); }

// Up to 32 bits at a bit position; words of the file are little-endian.
std::uint32_t bits_at(const Packed<std::uint8_t>& bytes, std::uint64_t place, unsigned count) {
  if (count == 0) return 0;
  const std::uint64_t size = std::uint64_t{bytes.size()} * 8;
  if (place > size || count > size - place) fail("an entry beyond the end of its array");
  std::uint64_t value = 0;
  for (std::uint64_t i = place / 8, shift = 0; i <= (place + count - 1) / 8; ++i, shift += 8) {
    value |= std::uint64_t{bytes[i]} << shift;
  }
  return static_cast<std::uint32_t>(value >> place % 8 & ((std::uint64_t{1} << count) - 1));
}

Packed<std::uint8_t> words(Cursor& cursor, std::uint64_t bits) {
  return cursor.numbers<std::uint8_t>((bits + 31) / 32 * 4, "bytes of a hash function");
}

unsigned width(Cursor& cursor) {
  const auto bits = cursor.number<std::uint32_t>("a hash function");
  if (bits > 31) fail("entries of more than 31 bits");
  return bits;
}

SelectBits sized_select(Cursor& cursor) {
  const auto size = cursor.number<std::uint32_t>("a hash function");
  Cursor inner(cursor.bytes(size, "a hash function"));
  return SelectBits::read(inner);
}

// B. Jenkins' hash of 1996; the lowest byte of the last third is the length. CMPH's code as first published takes most
// bytes as signed.
template <class Byte>
std::array<std::uint32_t, 3> jenkins(std::string_view key, std::uint32_t seed) noexcept {
  std::uint32_t a = 0x9E3779B9U, b = 0x9E3779B9U, c = seed;
  const auto mix = [&] {
    a -= b, a -= c, a ^= c >> 13U;
    b -= c, b -= a, b ^= a << 8U;
    c -= a, c -= b, c ^= b >> 13U;
    a -= b, a -= c, a ^= c >> 12U;
    b -= c, b -= a, b ^= a << 16U;
    c -= a, c -= b, c ^= b >> 5U;
    a -= b, a -= c, a ^= c >> 3U;
    b -= c, b -= a, b ^= a << 10U;
    c -= a, c -= b, c ^= b >> 15U;
  };
  const auto byte = [&](std::size_t i, unsigned shift) {
    return static_cast<std::uint32_t>(static_cast<Byte>(key[i])) << shift;
  };
  const auto length = static_cast<std::uint32_t>(key.size());
  while (key.size() >= 12) {
    a += byte(0, 0) + byte(1, 8) + byte(2, 16) + byte(3, 24);
    b += byte(4, 0) + byte(5, 8) + byte(6, 16) + byte(7, 24);
    c += byte(8, 0) + byte(9, 8) + byte(10, 16) + byte(11, 24);
    mix();
    key.remove_prefix(12);
  }
  c += length;
  for (std::size_t i = key.size(); i-- > 8;) c += byte(i, static_cast<unsigned>(8 * (i - 7)));
  for (std::size_t i = std::min<std::size_t>(key.size(), 8); i-- > 5;) b += byte(i, static_cast<unsigned>(8 * (i - 4)));
  if (key.size() > 4) b += static_cast<unsigned char>(key[4]);
  for (std::size_t i = std::min<std::size_t>(key.size(), 4); i-- > 1;) a += byte(i, static_cast<unsigned>(8 * i));
  if (!key.empty()) a += static_cast<unsigned char>(key[0]);
  mix();
  return {a, b, c};
}

}  // namespace

std::uint32_t murmur3(std::string_view key, std::uint32_t seed) noexcept {
  const auto scramble = [](std::uint32_t k) { return std::rotl(k * 0xCC9E2D51U, 15) * 0x1B873593U; };
  std::uint32_t h = seed;
  std::size_t at = 0;
  for (; at + 4 <= key.size(); at += 4) h = std::rotl(h ^ scramble(load4(key.data() + at)), 13) * 5 + 0xE6546B64U;
  std::uint32_t rest = 0;
  for (std::size_t i = key.size(); i-- > at;) rest = rest << 8U | static_cast<unsigned char>(key[i]);
  if (at < key.size()) h ^= scramble(rest);
  h ^= static_cast<std::uint32_t>(key.size());
  h = (h ^ h >> 16U) * 0x85EBCA6BU;
  h = (h ^ h >> 13U) * 0xC2B2AE35U;
  return h ^ h >> 16U;
}

SelectBits SelectBits::read(Cursor& cursor) {
  SelectBits bits;
  const std::uint64_t ones = cursor.number<std::uint32_t>("a hash function");
  const std::uint64_t zeros = cursor.number<std::uint32_t>("a hash function");
  bits.size_ = ones + zeros;
  bits.bytes_ = words(cursor, bits.size_);
  bits.table_ = cursor.numbers<std::uint32_t>((ones >> kStepBits) + 1, "places of bits");
  return bits;
}

bool SelectBits::operator[](std::uint64_t i) const { return bits_at(bytes_, i, 1) != 0; }

std::uint64_t SelectBits::walk(std::uint64_t place, std::uint64_t skipped) const {
  for (std::uint64_t i = place / 8; i < bytes_.size(); ++i) {
    auto byte = static_cast<std::uint8_t>(bytes_[i]);
    if (i == place / 8) byte = static_cast<std::uint8_t>(byte & 0xFFU << place % 8);
    const auto count = static_cast<unsigned>(std::popcount(byte));
    if (skipped >= count) {
      skipped -= count;
      continue;
    }
    for (; skipped != 0; --skipped) byte = static_cast<std::uint8_t>(byte & (byte - 1U));
    return i * 8 + static_cast<unsigned>(std::countr_zero(byte));
  }
  fail("a bit vector with too few bits set");
}

std::uint64_t SelectBits::select(std::uint64_t number) const {
  const std::uint64_t step = number >> kStepBits;
  if (step >= table_.size()) fail("a bit vector with too few bits set");
  return walk(table_[step], number & ((1U << kStepBits) - 1));
}

std::uint64_t SelectBits::next(std::uint64_t place) const { return walk(place + 1, 0); }

ChdHash ChdHash::read(Cursor& cursor) {
  ChdHash hash;
  const char* const what = "a hash function";
  if (cursor.bytes(4, what) != std::string_view("chd", 4)) fail("another name");
  cursor.number<std::uint32_t>(what);  // the number of keys
  Cursor first(cursor.bytes(cursor.number<std::uint32_t>(what), what));
  if (first.number<std::uint32_t>(what) != kChdPh) fail("another algorithm inside");
  if (first.number<std::uint32_t>(what) != 0) fail("another hash than that of Jenkins");
  hash.seed_ = first.number<std::uint32_t>(what);
  hash.bins_ = first.number<std::uint32_t>(what);
  hash.buckets_ = first.number<std::uint32_t>(what);
  if (hash.bins_ < 2 || hash.buckets_ < 1) fail("no bins or buckets");
  const std::uint64_t count = first.number<std::uint32_t>(what);
  if (count != hash.buckets_) fail("another number of displacements than buckets");
  hash.length_bits_ = width(first);
  const std::uint64_t total = first.number<std::uint32_t>(what);
  hash.lengths_ = sized_select(first);
  hash.length_rests_ = words(first, count * hash.length_bits_);
  hash.values_ = words(first, total);
  Cursor second(cursor.bytes(cursor.number<std::uint32_t>(what), what));
  hash.last_empty_ = second.number<std::uint32_t>(what);
  hash.empty_ = second.number<std::uint32_t>(what);
  hash.empty_bits_ = width(second);
  hash.empties_ = sized_select(second);
  hash.empty_rests_ = words(second, std::uint64_t{hash.empty_} * hash.empty_bits_);
  return hash;
}

std::uint64_t ChdHash::displacement(std::uint32_t bucket) const {
  const auto rest = [&](std::uint32_t i) { return bits_at(length_rests_, std::uint64_t{i} * length_bits_, length_bits_); };
  // Where codes end, as a quotient in the bit vector and a rest.
  std::uint64_t begin = 0;
  std::uint64_t place = 0;
  if (bucket == 0) {
    place = lengths_.select(0);
  } else {
    place = lengths_.select(bucket - 1);
    begin = ((place - (bucket - 1)) << length_bits_) + rest(bucket - 1);
    place = lengths_.next(place);
  }
  const std::uint64_t end = ((place - bucket) << length_bits_) + rest(bucket);
  if (end < begin || end - begin > 31) fail("a displacement of more than 31 bits");
  const auto length = static_cast<unsigned>(end - begin);
  return std::uint64_t{bits_at(values_, begin, length)} + ((std::uint64_t{1} << length) - 1);
}

std::uint64_t ChdHash::empty_before(std::uint64_t bin) const {
  if (bin > last_empty_) return empty_;
  const std::uint64_t quotient = bin >> empty_bits_;
  const std::uint64_t rest = bin & ((std::uint64_t{1} << empty_bits_) - 1);
  std::uint64_t place = quotient == 0 ? 0 : empties_.select(quotient - 1) + 1;
  std::uint64_t rank = place - quotient;
  while (!empties_[place] && bits_at(empty_rests_, rank * empty_bits_, empty_bits_) < rest) {
    ++place;
    ++rank;
  }
  return rank;
}

std::uint64_t ChdHash::operator()(std::string_view key, Bytes bytes) const {
  const auto [g, f, h] = bytes == Bytes::are_signed ? jenkins<signed char>(key, seed_) : jenkins<unsigned char>(key, seed_);
  const std::uint64_t shift = displacement(g % buckets_);
  const std::uint64_t start = f % bins_;
  const std::uint64_t step = h % (bins_ - 1) + 1;
  const std::uint64_t bin = (start + step * (shift % bins_) + shift / bins_) % bins_;
  const std::uint64_t empty = empty_before(bin);
  if (empty > bin) fail("more empty bins than bins");
  return bin - empty;
}

}  // namespace smt::compact
