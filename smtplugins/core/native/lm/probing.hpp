// Tables of n-grams in the layout of KenLM's probing files, so that a file can be used as mapped.
//
// K. Heafield, "KenLM: Faster and Smaller Language Model Queries" (2011): one open-addressing table for each order,
// keyed by a hash that grows from the last word backwards.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace smt {

using WordId = std::int32_t;

constexpr WordId kUnknown = 0;
constexpr int kMaxOrder = 16;

// log10 values. The sign bit of `prob` is a flag: the value is -|prob|, and a set sign means that no n-gram of the
// model has one more word to the left, so that the probability does not depend on it. A back-off of -0.0 means that no
// longer n-gram begins with these words, so a state need not keep them. Otherwise a zero back-off is stored as +0.0.
struct Weights {
  float prob;
  float backoff;
};

// With the estimate of the probability while the words before the n-gram are not known.
struct RestWeights {
  float prob;
  float backoff;
  float rest;
};

inline float log10_prob(float prob) noexcept { return -std::fabs(prob); }
inline bool independent_of_left(float prob) noexcept { return std::signbit(prob); }
inline bool has_extension(float backoff) noexcept {
  return std::bit_cast<std::uint32_t>(backoff) != 0x80000000U;
}

// The key of an n-gram from the key of its suffix (a word's id for one word) and the word before the suffix.
inline std::uint64_t extend(std::uint64_t key, WordId word) noexcept {
  constexpr std::uint64_t kLater = 8978948897894561157ULL;
  constexpr std::uint64_t kEarlier = 17894857484156487943ULL;
  return (key * kLater) ^ ((1 + static_cast<std::uint64_t>(word)) * kEarlier);
}

template <class T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);  // entries are packed
  return value;
}

// x mod d without a division, for many x with one d.
class Modulo {
 public:
  Modulo() = default;
  explicit Modulo(std::uint64_t divisor) noexcept : divisor_(divisor), inverse_(~std::uint64_t{0} / divisor) {}
  std::uint64_t divisor() const noexcept { return divisor_; }
  std::uint64_t operator()(std::uint64_t x) const noexcept {
    __extension__ using Wide = unsigned __int128;
    // The inverse is less than 1 too small, so the quotient is right or one too small.
    const auto quotient = static_cast<std::uint64_t>((static_cast<Wide>(x) * inverse_) >> 64U);
    const std::uint64_t rest = x - quotient * divisor_;
    return rest >= divisor_ ? rest - divisor_ : rest;
  }

 private:
  std::uint64_t divisor_ = 1;
  std::uint64_t inverse_ = ~std::uint64_t{0};
};

// Slots of `Size` bytes, each a 64-bit key (0: empty) and a value. At least one slot is empty.
template <std::size_t Size>
class ProbingTable {
 public:
  static constexpr std::size_t kSlot = Size;

  ProbingTable() = default;
  ProbingTable(const std::byte* slots, std::uint64_t count) noexcept
      : slots_(slots), end_(slots + count * Size), home_(count) {}
  std::uint64_t slots() const noexcept { return home_.divisor(); }
  const std::byte* data() const noexcept { return slots_; }

  // The first slot of the search for a key.
  const std::byte* home(std::uint64_t key) const noexcept { return slots_ + home_(key) * Size; }
  void prefetch(std::uint64_t key) const noexcept { prefetch_from(home(key)); }
  // A search that runs into the next cache line would wait for it.
  static void prefetch_from(const std::byte* slot) noexcept {
    __builtin_prefetch(slot);
    __builtin_prefetch(slot + 64);
  }

  // The value of a key; null if it is missing.
  const std::byte* find(std::uint64_t key) const noexcept { return find_from(home(key), key); }
  const std::byte* find_from(const std::byte* slot, std::uint64_t key) const noexcept {
    slot = slot_from(slot, key);
    return load<std::uint64_t>(slot) == key ? slot + sizeof key : nullptr;
  }
  // The slot of a key, or the empty slot for it.
  const std::byte* slot_from(const std::byte* slot, std::uint64_t key) const noexcept {
    for (;;) {
      const auto there = load<std::uint64_t>(slot);
      if (there == key || there == 0) return slot;
      slot += Size;
      if (slot == end_) slot = slots_;
    }
  }

 private:
  const std::byte* slots_ = nullptr;
  const std::byte* end_ = nullptr;
  Modulo home_;
};

using WordTable = ProbingTable<12>;     // hash of a word: its id
using MiddleTable = ProbingTable<16>;   // key: Weights
using RestTable = ProbingTable<20>;     // key: RestWeights
using LongestTable = ProbingTable<12>;  // key: prob

// MurmurHash64A (A. Appleby, public domain) of `size` bytes; `last(at)` gives the 1 to 7 bytes at the end as a number.
template <class Last>
std::uint64_t hash_bytes(const char* at, std::size_t size, Last last) noexcept {
  constexpr std::uint64_t kMix = 0xc6a4a7935bd1e995ULL;
  constexpr unsigned kShift = 47;
  std::uint64_t h = size * kMix;
  for (const char* const stop = at + size / 8 * 8; at != stop; at += 8) {
    std::uint64_t k;
    std::memcpy(&k, at, sizeof k);
    k *= kMix;
    k ^= k >> kShift;
    h = (h ^ (k * kMix)) * kMix;
  }
  if (size % 8 != 0) h = (h ^ last(at)) * kMix;
  h ^= h >> kShift;
  h *= kMix;
  return h ^ (h >> kShift);
}

inline std::uint64_t hash_word(std::string_view word) noexcept {
  return hash_bytes(word.data(), word.size(), [&](const char* at) {
    const std::size_t left = word.size() % 8;
    std::uint64_t k = 0;
    if (word.size() >= 8) {
      std::memcpy(&k, at + left - 8, sizeof k);  // with preceding bytes, which are shifted out
      return k >> (64 - 8 * left);
    }
    for (std::size_t i = 0; i < left; ++i) k |= static_cast<std::uint64_t>(static_cast<unsigned char>(at[i])) << (8 * i);
    return k;
  });
}

// The same for a word after which 7 more bytes are readable.
inline std::uint64_t hash_padded(const char* word, std::size_t size) noexcept {
  static_assert(std::endian::native == std::endian::little, "KenLM's files and these tables are");
  return hash_bytes(word, size, [&](const char* at) {
    std::uint64_t k;
    std::memcpy(&k, at, sizeof k);
    return k & ((std::uint64_t{1} << (size % 8 * 8)) - 1);
  });
}

}  // namespace smt
