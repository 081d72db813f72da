// Conversion of arrays from and to Python for all nanobind bindings.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace smt {

template <class T>
using Input = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using InOut = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
// An array that owns its data.
template <class T>
using Column = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;
// A view of an object that owns the data.
template <class T>
using View = Column<const T>;
template <class T>
using Table = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<2>>;

template <class T>
std::span<const T> view(const Input<T>& array) noexcept {
  return {array.data(), array.shape(0)};
}

template <class T>
std::span<T> view(const InOut<T>& array) noexcept {
  return {array.data(), array.shape(0)};
}

template <class T>
std::vector<T> values_of(const Input<T>& array) {
  return {array.data(), array.data() + array.shape(0)};
}

// The owner of a result array: frees the data with the last reference.
template <class Kept>
nanobind::capsule owner_of(std::unique_ptr<Kept> kept) {
  nanobind::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<Kept*>(p); });
  kept.release();
  return owner;
}

template <class T>
nanobind::capsule owner_of(std::unique_ptr<T[]> kept) {
  nanobind::capsule owner(kept.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  kept.release();
  return owner;
}

template <class T>
Column<T> column(std::vector<T> values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  const std::size_t size = kept->size();
  return Column<T>(data, {size}, owner_of(std::move(kept)));
}

template <class T>
Column<T> column(std::unique_ptr<T[]> values, std::size_t size) {
  T* const data = values.get();
  return Column<T>(data, {size}, owner_of(std::move(values)));
}

template <class T>
Table<T> table(std::vector<T> values, std::size_t rows, std::size_t columns) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  return Table<T>(data, {rows, columns}, owner_of(std::move(kept)));
}

inline void check(bool good, const char* what) {
  if (!good) throw nanobind::value_error(what);
}

inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t end, const char* what) {
  check(!offsets.empty() && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(end), what);
  for (std::size_t i = 1; i < offsets.size(); ++i) check(offsets[i - 1] <= offsets[i], what);
}

// Offsets of parts of a column that need not begin or end with it.
inline void check_part_offsets(std::span<const std::int64_t> offsets, std::size_t end) {
  check(!offsets.empty(), "there must be an offset more than parts");
  check(offsets.front() >= 0 && static_cast<std::uint64_t>(offsets.back()) <= end,
        "offsets must not lead out of their column");
  check(std::is_sorted(offsets.begin(), offsets.end()), "offsets must not fall");
}

template <class T>
void check_numbers(std::span<const T> numbers, std::int64_t least, std::size_t end, const char* what) {
  for (const T number : numbers) {
    const auto value = static_cast<std::int64_t>(number);
    check(value >= least && value < static_cast<std::int64_t>(end), what);
  }
}

}  // namespace smt
