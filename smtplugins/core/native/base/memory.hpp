// The memory of a model: private zeroed pages, or a file mapped for reading.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace smt {

// Returns freed memory to the system, of which malloc keeps tens of megabytes.
void trim_memory() noexcept;

class Memory {
 public:
  Memory() = default;
  // Untouched pages cost nothing. Uses huge pages where the system has them.
  static Memory zeroed(std::size_t bytes);
  // Throws std::system_error. `copy`: reads the file into private pages instead.
  static Memory of_file(const std::string& path, bool copy);

  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace smt
