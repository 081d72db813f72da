// Arrays on their way from and to Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace smt::searn {

namespace nb = nanobind;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Table = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
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
Table<T> table(std::vector<T> values, std::size_t rows, std::size_t columns) {
  auto owned = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = owned->data();
  nb::capsule owner(owned.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  owned.release();
  return Table<T>(data, {rows, columns}, owner);
}

template <class Array>
auto view(const Array& array) {
  return std::span(array.data(), array.shape(0));
}

inline void check(bool good, const char* what) {
  if (!good) throw nb::value_error(what);
}

inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t end, const char* what) {
  check(!offsets.empty() && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(end), what);
  for (std::size_t i = 1; i < offsets.size(); ++i) check(offsets[i - 1] <= offsets[i], what);
}

template <class T>
inline void check_numbers(std::span<const T> numbers, std::int64_t least, std::size_t end, const char* what) {
  for (const T one : numbers) {
    check(static_cast<std::int64_t>(one) >= least && static_cast<std::int64_t>(one) < static_cast<std::int64_t>(end),
          what);
  }
}

}  // namespace smt::searn
