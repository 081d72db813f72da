// Numbers and texts as bytes for another process, or for a file: seven bits of a number in a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/word_list.hpp"

namespace smt {

inline void append_packed(std::string& out, std::uint64_t number) {
  for (; number > 0x7FU; number >>= 7U) out += static_cast<char>(number | 0x80U);
  out += static_cast<char>(number);
}

// Reads what was packed; throws std::invalid_argument where it ends early or a number is too large.
class PackedReader {
 public:
  explicit PackedReader(std::string_view bytes) : left_(bytes) {}
  bool done() const noexcept { return left_.empty(); }
  std::uint64_t number() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(text(1)[0]);
      number |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return number;
    }
    throw std::invalid_argument("packed counts have a number of more than 64 bits");
  }
  // A number less than `end`.
  std::uint32_t below(std::size_t end) {
    const std::uint64_t number = this->number();
    if (number >= end) throw std::invalid_argument("packed counts refer to what they do not have");
    return static_cast<std::uint32_t>(number);
  }
  // The number of items that follow, of a byte or more each.
  std::size_t size() {
    const std::uint64_t size = number();
    if (size > left_.size()) throw std::invalid_argument("packed counts end early");
    return size;
  }
  std::string_view text(std::size_t bytes) {
    if (bytes > left_.size()) throw std::invalid_argument("packed counts end early");
    const std::string_view text = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return text;
  }

 private:
  std::string_view left_;
};

inline void append_packed(std::string& out, const WordList& words) {
  append_packed(out, words.size());
  for (std::uint32_t id = 0; id < words.size(); ++id) {
    const std::string_view word = words.word(id);
    append_packed(out, word.size());
    out += word;
  }
}

inline std::vector<std::string_view> read_words(PackedReader& packed) {
  std::vector<std::string_view> words(packed.size());
  for (std::string_view& word : words) word = packed.text(packed.size());
  return words;
}

}  // namespace smt
