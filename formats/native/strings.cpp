#include "strings.hpp"

#include <limits>
#include <stdexcept>

namespace smt {
namespace {

constexpr std::uint64_t kNotAscii = 0x8080808080808080U;

bool follows(unsigned char byte) noexcept { return (byte & 0xC0U) == 0x80U; }

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = p + text.size();
  while (p < end) {
    const unsigned char c = *p;
    const auto left = end - p;
    if (left >= 8 && (load8(reinterpret_cast<const char*>(p)) & kNotAscii) == 0) {
      p += 8;
    } else if (c < 0x80) {
      p += 1;
    } else if (c >= 0xC2 && c <= 0xDF) {
      if (left < 2 || !follows(p[1])) return false;
      p += 2;
    } else if (c >= 0xE0 && c <= 0xEF) {
      if (left < 3 || !follows(p[1]) || !follows(p[2])) return false;
      if (c == 0xE0 && p[1] < 0xA0) return false;   // overlong
      if (c == 0xED && p[1] >= 0xA0) return false;  // lone surrogate
      p += 3;
    } else if (c >= 0xF0 && c <= 0xF4) {
      if (left < 4 || !follows(p[1]) || !follows(p[2]) || !follows(p[3])) return false;
      if (c == 0xF0 && p[1] < 0x90) return false;
      if (c == 0xF4 && p[1] >= 0x90) return false;  // past the last code point
      p += 4;
    } else {
      return false;
    }
  }
  return true;
}

std::int32_t Texts::add(std::string_view text) {
  if (size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::length_error("more different strings than 32 bits can number");
  }
  blob.append(text.data(), text.size());
  offsets.push(static_cast<std::int64_t>(blob.size()));
  return static_cast<std::int32_t>(size() - 1);
}

TextKey long_key(const char* text, std::size_t length) noexcept {
  constexpr std::uint64_t kMark = std::uint64_t{0xFF} << 56U;
  std::uint64_t hash = length;
  const char* const last = text + length - 8;
  for (const char* p = text;; p += 8) {
    hash = (hash ^ load8(p < last ? p : last)) * 0x9FB21C651E98DF25U;
    hash ^= hash >> 29U;
    if (p >= last) break;
  }
  return {hash, kMark | (length & ~kMark)};
}

}  // namespace smt
