// Bindings of counts and numberings over the target sides of many rules.

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

void check_parts(const Input<std::int64_t>& offsets, std::size_t values) {
  const std::int64_t* const first = offsets.data();
  const std::size_t size = offsets.shape(0);
  if (size == 0 || first[0] < 0 || static_cast<std::uint64_t>(first[size - 1]) > values ||
      !std::is_sorted(first, first + size)) {
    throw nb::value_error("offsets must rise and not lead out of their column");
  }
}

// The number of marked values of each part.
Column<std::int64_t> count_flags(Input<bool> flags, Input<std::int64_t> offsets) {
  check_parts(offsets, flags.shape(0));
  const std::size_t parts = offsets.shape(0) - 1;
  // Parts are a few values long: loops over each would be mispredicted more often than not. So the marks before each
  // value are counted, in blocks that stay in the cache.
  constexpr std::size_t kBlock = 4096;
  std::array<std::int64_t, kBlock + 1> before{};
  std::vector<std::int64_t> counts(parts);
  std::int64_t last = 0;
  std::size_t bound = 0;
  for (std::size_t first = 0; bound <= parts; first += kBlock) {
    const std::size_t size = std::min(kBlock, flags.shape(0) - first);
    for (std::size_t i = 0; i < size; ++i) before[i + 1] = before[i] + (flags.data()[first + i] ? 1 : 0);
    for (; bound <= parts && static_cast<std::size_t>(offsets.data()[bound]) <= first + size; ++bound) {
      const std::int64_t marked = before[static_cast<std::size_t>(offsets.data()[bound]) - first];
      if (bound > 0) counts[bound - 1] = marked - last;
      last = marked;
    }
    before[0] = before[size];
  }
  return column(std::move(counts));
}

// Target sides with their gaps, -1 - k, numbered in target order.
Column<std::int32_t> target_order(Input<std::int32_t> target, Input<std::int64_t> offsets) {
  check_parts(offsets, target.shape(0));
  std::vector<std::int32_t> made(target.data(), target.data() + target.shape(0));
  for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
    std::int32_t next = -1;
    for (std::int64_t at = offsets.data()[i]; at < offsets.data()[i + 1]; ++at) {
      std::int32_t& symbol = made[static_cast<std::size_t>(at)];
      if (symbol < 0) symbol = next--;
    }
  }
  return column(std::move(made));
}

}  // namespace

void bind_rules(nb::module_& m) {
  m.def("count_flags", &count_flags, "flags"_a, "offsets"_a, "How many values of each part are marked.");
  m.def("target_order", &target_order, "target"_a, "offsets"_a,
        "Target sides with their gaps numbered in target order.");
}

}  // namespace smt
