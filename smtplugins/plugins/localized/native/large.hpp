// An allocator for randomly accessed arrays: uses huge pages where available, to save TLB misses.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace smt::localized {

template <class T>
struct Large {
  using value_type = T;

  Large() = default;
  template <class Other>
  Large(const Large<Other>&) noexcept {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) {
    void* const pages = ::mmap(nullptr, size_of(count), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    ::madvise(pages, size_of(count), MADV_HUGEPAGE);  // a hint; failure is harmless
#endif
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, std::size_t count) noexcept { ::munmap(pages, size_of(count)); }
  template <class Other>
  bool operator==(const Large<Other>&) const noexcept {
    return true;
  }

 private:
  static std::size_t size_of(std::size_t count) noexcept { return count * sizeof(T); }
};

}  // namespace smt::localized
