// Hashes of the search with a stack of fragments. Draws depend on them: they must stay as they are.
#pragma once

#include <cstdint>

namespace smt::searn {

inline std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

inline std::uint64_t joined_hash(std::uint64_t hash, std::int64_t value) noexcept {
  return mixed(hash * 0x9E3779B97F4A7C15U + static_cast<std::uint64_t>(value));
}

}  // namespace smt::searn
