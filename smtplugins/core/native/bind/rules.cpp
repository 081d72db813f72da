// Bindings of counts and numberings over the target sides of many rules.

#include <algorithm>
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
  // Parts are a few values long: loops over each would be mispredicted more often than not.
  std::vector<std::int64_t> before(flags.shape(0) + 1);
  for (std::size_t i = 0; i < flags.shape(0); ++i) before[i + 1] = before[i] + (flags.data()[i] ? 1 : 0);
  std::vector<std::int64_t> counts(parts);
  for (std::size_t i = 0; i < parts; ++i) {
    const auto bound = [&](std::size_t at) { return before[static_cast<std::size_t>(offsets.data()[at])]; };
    counts[i] = bound(i + 1) - bound(i);
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
