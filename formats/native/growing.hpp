// A growing column. Large columns use huge pages if available, as the first touch of a small page takes as long as
// reading a few lines. Unused capacity takes no memory.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace smt {

struct Free {
  void operator()(void* data) const noexcept { std::free(data); }
};

template <class T>
class Growing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Growing() = default;
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  Growing(Growing&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Growing& operator=(Growing&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Growing() { std::free(data_); }

  std::size_t size() const noexcept { return size_; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  const T& back() const noexcept { return data_[size_ - 1]; }

  void push(T value) {
    if (size_ == capacity_) [[unlikely]] {
      grow(1);
    }
    data_[size_++] = value;
  }

  void append(const T* values, std::size_t count) {
    reserve(count);
    if (count > 0) std::memcpy(data_ + size_, values, count * sizeof(T));
    size_ += count;
  }

  // Appends a copy of [first, first + count).
  void repeat(std::size_t first, std::size_t count) {
    reserve(count);
    for (std::size_t i = 0; i < count; ++i) data_[size_ + i] = data_[first + i];
    size_ += count;
  }

  // Reserves room for `count` more.
  void reserve(std::size_t count) {
    if (capacity_ - size_ < count) [[unlikely]] {
      grow(count);
    }
  }

  // Returns room for `count` more values; after writing them, call `took`.
  T* room(std::size_t count) {
    reserve(count);
    return data_ + size_;
  }
  void took(std::size_t count) noexcept { size_ += count; }

  // Keeps only the first `size` values.
  void cut(std::size_t size) noexcept { size_ = size; }

  // Shrinks the values and passes their ownership to the caller; never null.
  T* release() {
    reserve(1);
    T* values = data_;
    if (size_ > 0) {
      if (void* const fitting = std::realloc(data_, size_ * sizeof(T))) values = static_cast<T*>(fitting);
    }
    data_ = nullptr;
    size_ = capacity_ = 0;
    return values;
  }

 private:
  [[gnu::noinline]] void grow(std::size_t count) {
    constexpr std::size_t kFirst = 8192;
    const std::size_t least = size_ + count;
    if (least * sizeof(T) >= kLarge / 4 && grow_large(least)) return;
    const std::size_t capacity = std::max(2 * capacity_ + kFirst, least);
    void* const bigger = std::realloc(data_, capacity * sizeof(T));
    if (bigger == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(bigger);
    capacity_ = capacity;
  }

  // Allocates generously, as moving huge pages means copying them. False if that fails.
  bool grow_large(std::size_t least) {
#if defined(MADV_HUGEPAGE)
    const std::size_t bytes = (std::max(8 * least * sizeof(T), kRoom) + kLarge - 1) / kLarge * kLarge;
    void* const bigger = std::aligned_alloc(kLarge, bytes);
    if (bigger == nullptr) return false;
    ::madvise(bigger, bytes, MADV_HUGEPAGE);  // a hint; may fail
    if (size_ > 0) std::memcpy(bigger, data_, size_ * sizeof(T));
    std::free(data_);
    data_ = static_cast<T*>(bigger);
    capacity_ = bytes / sizeof(T);
    return true;
#else
    return least == 0;
#endif
  }

  static constexpr std::size_t kLarge = std::size_t{1} << 21U;
  static constexpr std::size_t kRoom = std::size_t{1} << 26U;

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace smt
