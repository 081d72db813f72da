// Vectors that use huge pages if they are large and the system has them: the first touch of a small page costs as much
// as hundreds of numbers.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace smt {

template <class T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) noexcept {}

  T* allocate(std::size_t count) {
    constexpr std::size_t kPage = std::size_t{1} << 21U;
    const std::size_t bytes = count * sizeof(T);
    if (bytes >= kPage) {
      if (void* const pages = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage)) {
#if defined(MADV_HUGEPAGE)
        ::madvise(pages, bytes, MADV_HUGEPAGE);  // only advice
#endif
        return static_cast<T*>(pages);
      }
    }
    if (void* const memory = std::malloc(bytes)) return static_cast<T*>(memory);
    throw std::bad_alloc();
  }
  void deallocate(T* values, std::size_t) noexcept { std::free(values); }

  friend bool operator==(const LargePages&, const LargePages&) noexcept { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

}  // namespace smt
