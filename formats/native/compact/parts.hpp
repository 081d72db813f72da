// Reads the parts of a mapped file of Moses' compact tables in order, within its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bad_table.hpp"
#include "bytes.hpp"

namespace smt::compact {

using smt::BadTable;

// Numbers in a file, at any address.
template <class T>
class Packed {
 public:
  Packed() = default;
  explicit Packed(std::string_view bytes) : bytes_(bytes) {}
  std::size_t size() const noexcept { return bytes_.size() / sizeof(T); }
  T operator[](std::size_t i) const noexcept {
    if constexpr (sizeof(T) == 1) return static_cast<T>(bytes_[i]);
    return load<T>(bytes_.data() + i * sizeof(T));
  }

 private:
  std::string_view bytes_;
};

class Cursor {
 public:
  explicit Cursor(std::string_view file, std::uint64_t at = 0) : file_(file), at_(at) {
    if (at > file.size()) fail("a part at byte " + std::to_string(at), at);
  }

  std::uint64_t at() const noexcept { return at_; }
  std::string_view file() const noexcept { return file_; }

  std::string_view bytes(std::uint64_t count, const char* what) {
    if (count > file_.size() - at_) fail(std::to_string(count) + " bytes of " + what, at_);
    const std::string_view part = file_.substr(at_, count);
    at_ += count;
    return part;
  }

  template <class T>
  T number(const char* what) {
    return load<T>(bytes(sizeof(T), what).data());
  }

  bool flag(const char* what) {
    const char value = bytes(1, what)[0];
    if (value != 0 && value != 1) {
      throw BadTable(std::string("0 or 1, ") + what, std::to_string(static_cast<unsigned char>(value)) + place(at_ - 1));
    }
    return value == 1;
  }

  template <class T>
  Packed<T> numbers(std::uint64_t count, const char* what) {
    if (count > (file_.size() - at_) / sizeof(T)) fail(std::to_string(count) + " " + what, at_);
    return Packed<T>(bytes(count * sizeof(T), what));
  }

  // Numbers after their count.
  template <class T>
  Packed<T> counted(const char* what) {
    return numbers<T>(number<std::uint64_t>(what), what);
  }

  static std::string place(std::uint64_t at) { return " at byte " + std::to_string(at); }

 private:
  [[noreturn]] void fail(const std::string& expected, std::uint64_t at) const {
    throw BadTable(expected, "the end of the file, which has " + std::to_string(file_.size()) + " bytes," + place(at));
  }

  std::string_view file_;
  std::uint64_t at_;
};

}  // namespace smt::compact
