// Numbered sequences of symbols: target sides with their gaps, source sides, gap orders.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace smt::cdlm {

using Symbols = std::span<const std::int32_t>;

// Numbers sequences in order of first use.
class SideTable {
 public:
  SideTable() : slots_(64), offsets_{0} {}

  std::uint32_t add(Symbols symbols) {
    if (2 * (size() + 1) > slots_.size()) grow();
    const std::uint64_t hash = hash_of(symbols);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.next_id == 0) {
        if (size() >= 0x7FFFFFFFU) throw std::length_error("more than 2^31 different sides");
        symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
        offsets_.push_back(symbols_.size());
        slot = {tag_of(hash), static_cast<std::uint32_t>(size())};
        return slot.next_id - 1;
      }
      if (slot.tag == tag_of(hash) && std::ranges::equal(side(slot.next_id - 1), symbols)) return slot.next_id - 1;
    }
  }
  // The number of a sequence, which must exist.
  std::uint32_t find(Symbols symbols) const noexcept {
    const std::uint64_t hash = hash_of(symbols);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.next_id != 0 && slot.tag == tag_of(hash) && std::ranges::equal(side(slot.next_id - 1), symbols)) {
        return slot.next_id - 1;
      }
    }
  }
  Symbols side(std::uint32_t id) const noexcept {
    return Symbols(symbols_).subspan(offsets_[id], offsets_[id + 1] - offsets_[id]);
  }
  std::size_t size() const noexcept { return offsets_.size() - 1; }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t next_id = 0;  // number + 1; 0 is an empty slot
  };
  static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash >> 32U); }
  static std::uint64_t hash_of(Symbols symbols) noexcept {
    std::uint64_t hash = symbols.size();
    for (const std::int32_t one : symbols) {
      hash = (hash ^ static_cast<std::uint32_t>(one)) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 29U;
    }
    return hash;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), {});
    for (std::uint32_t id = 0; id < size(); ++id) {
      const std::uint64_t hash = hash_of(side(id));
      std::size_t at = hash & (slots_.size() - 1);
      while (slots_[at].next_id != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {tag_of(hash), id + 1};
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::int32_t> symbols_;
  std::vector<std::size_t> offsets_;
};

}  // namespace smt::cdlm
