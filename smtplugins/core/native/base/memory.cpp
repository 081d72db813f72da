#include "base/memory.hpp"

#include <fcntl.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>

namespace smt {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21U;
constexpr std::size_t kReadAtOnce = std::size_t{1} << 30U;

[[noreturn]] void fail() { throw std::system_error(errno, std::generic_category()); }

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) fail();
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace

void trim_memory() noexcept {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

Memory Memory::zeroed(std::size_t bytes) {
  Memory memory;
  if (bytes == 0) return memory;
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  memory.data_ = static_cast<std::byte*>(pages);
  memory.size_ = bytes;
#ifdef MADV_HUGEPAGE
  if (bytes >= 2 * kHugePage) ::madvise(pages, bytes, MADV_HUGEPAGE);  // only advice
#endif
  return memory;
}

Memory Memory::of_file(const std::string& path, bool copy) {
  const Descriptor file(path);
  struct stat about {};
  if (::fstat(file.number(), &about) != 0) fail();
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size == 0) return {};
  if (copy) {
    Memory memory = zeroed(size);
    for (std::size_t done = 0; done < size;) {
      const auto got = ::read(file.number(), memory.data_ + done, std::min(size - done, kReadAtOnce));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail();
      if (got == 0) throw std::system_error(EIO, std::generic_category());  // the file has shrunk
      done += static_cast<std::size_t>(got);
    }
    return memory;
  }
#ifdef MAP_POPULATE
  constexpr int kFlags = MAP_SHARED | MAP_POPULATE;
#else
  constexpr int kFlags = MAP_SHARED;
#endif
  void* const pages = ::mmap(nullptr, size, PROT_READ, kFlags, file.number(), 0);
  if (pages == MAP_FAILED) fail();
  Memory memory;
  memory.data_ = static_cast<std::byte*>(pages);
  memory.size_ = size;
  return memory;
}

Memory::~Memory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace smt
