#include "base/text_index.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "lm/probing.hpp"

namespace smt {
namespace {

using Slot = TextIndex::Slot;

constexpr Slot kTag = ~Slot{0} << 32U;

std::size_t text_of(Slot slot) noexcept { return static_cast<std::size_t>((slot & ~kTag) - 1); }

// The slot of a text, or the free slot for it.
std::size_t slot_of(std::span<const Slot> slots, const TextColumn& texts, std::string_view text,
                    std::uint64_t hash) noexcept {
  const std::size_t mask = slots.size() - 1;
  std::size_t at = hash & mask;
  for (; slots[at] != 0; at = (at + 1) & mask) {
    if (((slots[at] ^ hash) & kTag) == 0 && texts[text_of(slots[at])] == text) break;
  }
  return at;
}

}  // namespace

LargeVector<Slot> TextIndex::slots_of(const TextColumn& texts) {
  LargeVector<Slot> slots(std::bit_ceil(2 * texts.size() + 1));
  // Slots are random accesses: each is prefetched a few texts ahead.
  constexpr std::size_t kAhead = 32;
  std::array<std::uint64_t, kAhead> hashes{};
  for (std::size_t first = 0; first < texts.size(); first += kAhead) {
    const std::size_t last = std::min(first + kAhead, texts.size());
    for (std::size_t i = first; i < last; ++i) {
      hashes[i - first] = hash_word(texts[i]);
#if defined(__GNUC__)
      __builtin_prefetch(&slots[hashes[i - first] & (slots.size() - 1)]);
#endif
    }
    for (std::size_t i = first; i < last; ++i) {
      const std::uint64_t hash = hashes[i - first];
      slots[slot_of(slots, texts, texts[i], hash)] = (hash & kTag) | (i + 1);
    }
  }
  return slots;
}

bool TextIndex::is_sound(std::span<const Slot> slots, std::size_t texts) {
  if (!std::has_single_bit(slots.size()) || slots.size() <= texts) return false;
  const bool within = std::all_of(slots.begin(), slots.end(), [texts](Slot slot) { return (slot & ~kTag) <= texts; });
  // A free slot ends every search.
  return within && std::find(slots.begin(), slots.end(), Slot{0}) != slots.end();
}

std::int32_t TextIndex::find(std::string_view text) const noexcept {
  const std::size_t at = slot_of(slots_, texts_, text, hash_word(text));
  return slots_[at] == 0 ? none : static_cast<std::int32_t>(text_of(slots_[at]));
}

}  // namespace smt
