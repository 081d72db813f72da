// Number strings densely: a blob of bytes, offsets, and a hash table with open addressing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "growing.hpp"

namespace smt {

bool is_utf8(std::string_view text) noexcept;

// Concatenated texts; text i is blob[offsets[i], offsets[i + 1]).
struct Texts {
  Growing<char> blob;
  Growing<std::int64_t> offsets;

  Texts() { offsets.push(0); }
  std::size_t size() const noexcept { return offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const noexcept {
    return {blob.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  std::int32_t add(std::string_view text);
  // Keeps only the first `size` texts.
  void cut(std::size_t size) noexcept {
    offsets.cut(size + 1);
    blob.cut(static_cast<std::size_t>(offsets.back()));
  }
};

// The key of a text: up to 15 bytes and their number, or the hash of a longer text and a marker that is not a length.
struct TextKey {
  std::uint64_t low = 0, high = 0;
};

inline constexpr std::size_t kShortText = 15;
inline constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
// For n bytes, entry 15 - n is the mask of the first eight, and the entry eight further on is that of the others.
inline constexpr std::uint64_t kByteMasks[kShortText + 9] = {
    kAllBits,       kAllBits,        kAllBits,        kAllBits,        kAllBits,        kAllBits,
    kAllBits,       kAllBits,        kAllBits >> 8U,  kAllBits >> 16U, kAllBits >> 24U, kAllBits >> 32U,
    kAllBits >> 40U, kAllBits >> 48U, kAllBits >> 56U, 0};

TextKey long_key(const char* text, std::size_t length) noexcept;

inline TextKey text_key(const char* text, std::size_t length) noexcept {
  if (length > kShortText) [[unlikely]] {
    return long_key(text, length);
  }
  // Masks instead of a branch: lengths are hard to predict.
  const std::uint64_t* const mask = kByteMasks + (kShortText - length);
  return {load8(text) & mask[0], (load8(text + 8) & mask[8]) | static_cast<std::uint64_t>(length) << 56U};
}

// Numbers texts in order of first occurrence. Each has a Payload, stored in the hash table itself so that one memory
// access fetches both.
template <class Payload>
class Interner {
 public:
  struct Found {
    std::int32_t id;
    Payload& payload;
    bool is_new;
  };

  explicit Interner(std::size_t slots) { rehash(slots); }

  // The text needs kPadding readable bytes after it.
  Found add(const char* text, std::size_t length) {
    const TextKey key = text_key(text, length);
    for (std::size_t at = slot_of(key);; at = (at + 1) & mask_) {
      Entry& entry = entries_[at];
      if (entry.id < 0) break;
      if (entry.key.low == key.low && entry.key.high == key.high) {
        if (length <= kShortText) [[likely]] {
          return {entry.id, entry.payload, false};
        }
        if (texts_[static_cast<std::size_t>(entry.id)] == std::string_view(text, length)) {
          return {entry.id, entry.payload, false};
        }
      }
    }
    return insert(key, {text, length});
  }

  Found add(std::string_view text) {  // without padding
    std::string padded(text);
    padded.append(kPadding, '\0');
    return add(padded.data(), text.size());
  }

  Texts& texts() noexcept { return texts_; }
  const Texts& texts() const noexcept { return texts_; }

 private:
  struct alignas(32) Entry {
    TextKey key;
    std::int32_t id = -1;
    Payload payload{};
  };

  std::size_t slot_of(const TextKey& key) const noexcept {
    return static_cast<std::size_t>(((key.low ^ std::rotr(key.high, 25)) * 0x9E3779B97F4A7C15U) >> shift_);
  }

  [[gnu::noinline]] Found insert(const TextKey& key, std::string_view text) {
    // At most a quarter is used, so that most lookups hit the first slot.
    if (4 * (texts_.size() + 1) > mask_) rehash(2 * (mask_ + 1));
    const std::int32_t id = texts_.add(text);
    Entry& entry = free_slot(key);
    entry = {key, id, {}};
    return {id, entry.payload, true};
  }

  Entry& free_slot(const TextKey& key) noexcept {
    std::size_t at = slot_of(key);
    while (entries_[at].id >= 0) at = (at + 1) & mask_;
    return entries_[at];
  }

  void rehash(std::size_t slots) {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(slots));
    mask_ = slots - 1;
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
    for (const Entry& entry : old) {
      if (entry.id >= 0) free_slot(entry.key) = entry;
    }
  }

  std::vector<Entry> entries_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  Texts texts_;
};

}  // namespace smt
