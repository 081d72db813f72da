#include "base/vocabulary.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "lm/probing.hpp"

namespace smt {

std::size_t Vocabulary::slot_of(std::string_view word, std::uint64_t hash) const noexcept {
  const std::size_t mask = slots_.size() - 1;
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  std::size_t at = hash & mask;
  for (; slots_[at].number != none; at = (at + 1) & mask) {
    if (slots_[at].hash == tag && this->word(slots_[at].number) == word) break;
  }
  return at;
}

std::int32_t Vocabulary::find(std::string_view word) const noexcept {
  return slots_[slot_of(word, hash_word(word))].number;
}

std::int32_t Vocabulary::add(std::string_view word) {
  const std::uint64_t hash = hash_word(word);
  std::size_t at = slot_of(word, hash);
  if (slots_[at].number != none) return slots_[at].number;
  if (size() == std::numeric_limits<std::int32_t>::max()) throw std::length_error("too many different strings");
  if (2 * (ends_.size() + 1) > slots_.size()) {
    grow();
    at = slot_of(word, hash);
  }
  const std::int32_t number = size();
  ends_.push_back(ends_.back() + static_cast<std::int64_t>(word.size()));
  try {
    text_.append(word);
  } catch (...) {
    ends_.pop_back();
    throw;
  }
  slots_[at] = {number, static_cast<std::uint32_t>(hash >> 32U)};
  return number;
}

void Vocabulary::grow() {
  std::vector<Slot> slots(std::max<std::size_t>(64, 2 * slots_.size()), Slot{none, 0});
  slots_.swap(slots);
  for (std::int32_t number = 0; number < size(); ++number) {
    const std::uint64_t hash = hash_word(word(number));
    slots_[slot_of(word(number), hash)] = {number, static_cast<std::uint32_t>(hash >> 32U)};
  }
}

}  // namespace smt
