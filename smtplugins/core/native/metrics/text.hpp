// Texts and the symbols that metrics compare: words by number, characters by their code points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt {

// A text of one, two or four bytes per character, as in Python.
struct TextView {
  const void* data = nullptr;
  std::size_t size = 0;
  int width = 1;
};

// visit(span of characters) with characters of the text's own width.
template <class Visit>
auto with_characters(const TextView& text, Visit visit) {
  switch (text.width) {
    case 1:
      return visit(std::span(static_cast<const std::uint8_t*>(text.data), text.size));
    case 2:
      return visit(std::span(static_cast<const std::uint16_t*>(text.data), text.size));
    default:
      return visit(std::span(static_cast<const std::uint32_t*>(text.data), text.size));
  }
}

// The characters at which Python's str.split() splits.
inline bool is_space(std::uint32_t c) noexcept {
  if (c <= 0x20) return c == 0x20 || (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F);
  if (c < 0x1680) return c == 0x85 || c == 0xA0;
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

// visit(word) for each word of a text.
template <class Character, class Visit>
void for_each_word(std::span<const Character> text, Visit visit) {
  std::size_t at = 0;
  for (;;) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) return;
    const std::size_t first = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    visit(text.subspan(first, at - first));
  }
}

// Words numbered in order of first use. Words are compared by characters, whatever their width.
class MetricWords {
 public:
  static constexpr std::int32_t kNone = -1;

  MetricWords() : slots_(64) {}
  std::size_t size() const noexcept { return offsets_.size() - 1; }

  template <class Character>
  std::int32_t find(std::span<const Character> word) const noexcept {
    return slots_[slot_of(word, hash_of(word))].number;
  }

  template <class Character>
  std::int32_t add(std::span<const Character> word) {
    const std::uint32_t hash = hash_of(word);
    const std::size_t slot = slot_of(word, hash);
    if (slots_[slot].number != kNone) return slots_[slot].number;
    const auto number = next_number();
    characters_.insert(characters_.end(), word.begin(), word.end());
    offsets_.push_back(characters_.size());
    slots_[slot] = {number, hash};
    if (2 * size() > slots_.size()) grow();
    return number;
  }

 private:
  struct Slot {
    std::int32_t number = kNone;
    std::uint32_t hash = 0;
  };

  template <class Character>
  static std::uint32_t hash_of(std::span<const Character> word) noexcept {
    std::uint64_t hash = word.size();
    for (const Character c : word) hash = (hash ^ c) * 0x9E3779B97F4A7C15U;
    return static_cast<std::uint32_t>(hash >> 32U);
  }

  template <class Character>
  std::size_t slot_of(std::span<const Character> word, std::uint32_t hash) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      const Slot& entry = slots_[slot];
      if (entry.number == kNone) return slot;
      if (entry.hash == hash && is_word(entry.number, word)) return slot;
    }
  }

  template <class Character>
  bool is_word(std::int32_t number, std::span<const Character> word) const noexcept {
    const std::size_t first = offsets_[static_cast<std::size_t>(number)];
    if (offsets_[static_cast<std::size_t>(number) + 1] - first != word.size()) return false;
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (characters_[first + i] != word[i]) return false;
    }
    return true;
  }

  std::int32_t next_number() const;
  void grow();

  std::vector<std::uint32_t> characters_;
  std::vector<std::size_t> offsets_{0};
  std::vector<Slot> slots_;  // a power of two, at least half of them free
};

}  // namespace smt
