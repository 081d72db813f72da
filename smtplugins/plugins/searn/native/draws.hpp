// Random numbers derived from keys: the same in any order of work, in C++ and Python.
#pragma once

#include <cstdint>

namespace smt::searn {

// A step of SplitMix64 (Steele, Lea and Flood, 2014) that derives a new key from a key and a number.
inline std::uint64_t chained(std::uint64_t key, std::uint64_t number) noexcept {
  std::uint64_t z = key + 0x9E3779B97F4A7C15ULL * (number + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// The random number in [0, 1) of a key.
inline double uniform(std::uint64_t key) noexcept { return static_cast<double>(key >> 11) * 0x1.0p-53; }

}  // namespace smt::searn
