// Columns as numpy arrays, without copying.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "growing.hpp"
#include "strings.hpp"

namespace smt {

template <class T>
nanobind::object column(Growing<T>& values) {
  const std::size_t size = values.size();
  T* const data = values.release();
  nanobind::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>(data, {size}, owner));
}

// The bytes of texts as an array.
inline nanobind::object bytes(Growing<char>& text) {
  const std::size_t size = text.size();
  void* const data = text.release();
  nanobind::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, std::uint8_t, nanobind::ndim<1>>(static_cast<std::uint8_t*>(data), {size}, owner));
}

// A string table: its bytes, copied, and its offsets.
inline nanobind::object strings(Texts& texts) {
  nanobind::bytes blob(texts.blob.data() != nullptr ? texts.blob.data() : "", texts.blob.size());
  return nanobind::make_tuple(blob, column(texts.offsets));
}

}  // namespace smt
