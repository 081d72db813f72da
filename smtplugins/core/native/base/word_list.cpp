#include "base/word_list.hpp"

#include <utility>

namespace smt {
namespace {

std::uint64_t hash_of(std::string_view word) noexcept {  // FNV-1a
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash ^ (hash >> 32U);
}

}  // namespace

WordList::WordList() : slots_(1024), offsets_{0} {}

std::size_t WordList::slot(std::string_view text, std::uint64_t hash) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].next_id != 0 && (slots_[at].hash != hash || word(slots_[at].next_id - 1) != text)) {
    at = (at + 1) & mask;
  }
  return at;
}

std::uint32_t WordList::add(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  std::size_t at = slot(text, hash);
  if (slots_[at].next_id == 0) {
    if (2 * size() >= slots_.size()) {
      grow();
      at = slot(text, hash);
    }
    text_.append(text);
    offsets_.push_back(text_.size());
    slots_[at] = {hash, static_cast<std::uint32_t>(size())};
  }
  return slots_[at].next_id - 1;
}

std::optional<std::uint32_t> WordList::find(std::string_view text) const noexcept {
  const Slot& entry = slots_[slot(text, hash_of(text))];
  if (entry.next_id == 0) return std::nullopt;
  return entry.next_id - 1;
}

std::string_view WordList::word(std::uint32_t id) const noexcept {
  return std::string_view(text_).substr(offsets_[id], offsets_[id + 1] - offsets_[id]);
}

std::size_t WordList::bytes() const noexcept {
  return slots_.capacity() * sizeof(Slot) + text_.capacity() + offsets_.capacity() * sizeof(std::uint64_t);
}

void WordList::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.next_id == 0) continue;
    std::size_t at = entry.hash & mask;
    while (slots_[at].next_id != 0) at = (at + 1) & mask;
    slots_[at] = entry;
  }
}

}  // namespace smt
