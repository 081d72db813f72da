// Numbers for pairs of numbers, in order of first use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace smt {

class PairNumbers {
 public:
  struct Number {
    std::int32_t number;
    bool added;
  };

  Number add(std::int32_t first, std::int32_t second) {
    if (2 * entries_.size() >= slots_.size()) grow();
    const std::size_t slot = find(first, second);
    if (slots_[slot] != 0) return {slots_[slot] - 1, false};
    entries_.push_back({first, second});
    slots_[slot] = static_cast<std::int32_t>(entries_.size());
    return {slots_[slot] - 1, true};
  }

 private:
  struct Entry {
    std::int32_t first;
    std::int32_t second;
  };

  std::size_t find(std::int32_t first, std::int32_t second) const noexcept {
    const std::uint64_t key =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32 | static_cast<std::uint32_t>(second);
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
      const Entry& entry = entries_[static_cast<std::size_t>(slots_[slot] - 1)];
      if (entry.first == first && entry.second == second) break;
    }
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(256, 4 * slots_.size()), 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      slots_[find(entries_[i].first, entries_[i].second)] = static_cast<std::int32_t>(i + 1);
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::int32_t> slots_;  // 0, or a number plus 1
};

}  // namespace smt
