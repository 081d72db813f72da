// Arrays on their way from and to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "blocks.hpp"

namespace smt::localized {

namespace nb = nanobind;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Column<T> column(std::vector<T> values) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  const std::size_t size = owned->size();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return Column<T>(data, {size}, owner);
}

template <class T>
std::span<const T> view(const Input<T>& array) {
  return {array.data(), array.shape(0)};
}

inline void check(bool good, const char* what) {
  if (!good) throw nb::value_error(what);
}

inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t end, const char* what) {
  check(!offsets.empty() && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(end), what);
  for (std::size_t i = 1; i < offsets.size(); ++i) check(offsets[i - 1] <= offsets[i], what);
}

template <class T>
inline void check_numbers(std::span<const T> numbers, std::size_t end, const char* what) {
  for (const T one : numbers) check(one >= 0 && static_cast<std::size_t>(one) < end, what);
}

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
    check_numbers(view(target_of), target_offsets.shape(0) - 1, "a block's target phrase is not there");
  }
};

inline std::vector<std::string_view> strings(const nb::bytes& blob, const Input<std::int64_t>& offsets) {
  check_offsets(view(offsets), blob.size(), "offsets of words must rise to the end of their text");
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i) {
    found.emplace_back(blob.c_str() + offsets(i), static_cast<std::size_t>(offsets(i + 1) - offsets(i)));
  }
  return found;
}

}  // namespace smt::localized
