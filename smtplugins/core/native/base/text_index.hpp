// Looks up texts by their bytes: a hash table over concatenated texts, which can be cached.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/large_vector.hpp"

namespace smt {

// Text i is blob[offsets[i], offsets[i + 1]).
struct TextColumn {
  std::string_view blob;
  std::span<const std::int64_t> offsets;  // one more than there are texts

  std::size_t size() const noexcept { return offsets.size() - 1; }
  std::string_view operator[](std::size_t i) const noexcept {
    return blob.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

class TextIndex {
 public:
  using Slot = std::uint64_t;  // 0 if free, else some bits of the hash above the text's number plus 1
  static constexpr std::int32_t none = -1;

  // The number of slots is a power of two, at least half of them free. Of equal texts the last one counts. There must
  // be fewer than 2^31 texts.
  static LargeVector<Slot> slots_of(const TextColumn& texts);
  // Whether slots can belong to this many texts.
  static bool is_sound(std::span<const Slot> slots, std::size_t texts);

  // For the texts that the slots were made of.
  TextIndex(const TextColumn& texts, std::span<const Slot> slots) : texts_(texts), slots_(slots) {}

  std::int32_t find(std::string_view text) const noexcept;

 private:
  TextColumn texts_;
  std::span<const Slot> slots_;
};

}  // namespace smt
