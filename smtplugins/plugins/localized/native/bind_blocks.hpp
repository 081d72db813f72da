// Conversion of block sets and word lists from Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bind/arrays.hpp"
#include "blocks.hpp"

namespace smt::localized {

// The arrays of a block set, kept alive.
struct BlockArrays {
  Input<std::int32_t> source_words, target_words, target_of;
  Input<std::int64_t> source_offsets, target_offsets, starts;

  Runs sources() const { return {view(source_words), view(source_offsets)}; }
  Runs targets() const { return {view(target_words), view(target_offsets)}; }

  void check_all() const {
    check_offsets(view(source_offsets), source_words.shape(0), "source offsets must rise to the number of words");
    check_offsets(view(target_offsets), target_words.shape(0), "target offsets must rise to the number of words");
    check_offsets(view(starts), target_of.shape(0), "starts must rise to the number of blocks");
    check(starts.shape(0) == source_offsets.shape(0), "each source phrase needs a start");
    check_numbers(view(target_of), 0, target_offsets.shape(0) - 1, "a block's target phrase is not there");
  }
};

inline std::vector<std::string_view> strings(const nanobind::bytes& blob, const Input<std::int64_t>& offsets) {
  check_offsets(view(offsets), blob.size(), "offsets of words must rise to the end of their text");
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
    found.emplace_back(blob.c_str() + offsets(i), static_cast<std::size_t>(offsets(i + 1) - offsets(i)));
  }
  return found;
}

}  // namespace smt::localized
