// Tokens of JSON on one line. What is not JSON, or spelled in an unusual way, is left to the parser in Python.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bytes.hpp"
#include "nbest/doubles.hpp"

namespace smt::json {

// Readable bytes before every number, for `parse_double`; after every text there are kPadding.
inline constexpr std::size_t kFront = 16;

// What stands between two quotes.
struct String {
  std::string_view text;
  bool escaped = false;
};

// Skips blanks; every line ends with a newline.
inline const char* skip(const char* p) noexcept {
  while (*p == ' ' || *p == '\t' || *p == '\r') ++p;
  return p;
}

// A mask of those of 16 bytes that a string cannot hold as they are: quotes, backslashes and control characters.
inline std::uint32_t marks16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i slashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(quotes, _mm_or_si128(slashes, controls))));
#else
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 16; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    found |= static_cast<std::uint32_t>(c == '"' || c == '\\' || c < 0x20) << i;
  }
  return found;
#endif
}

// Reads the string whose quote is at p; returns the position after it, or null. Control characters end every line and
// every padding, so it stays inside the text.
inline const char* read_string(const char* p, String& found) noexcept {
  if (*p != '"') return nullptr;
  const char* const begin = ++p;
  found.escaped = false;
  for (;;) {
    const std::uint32_t marks = marks16(p);
    if (marks == 0) {
      p += 16;
      continue;
    }
    p += std::countr_zero(marks);
    if (*p == '"') break;
    if (*p != '\\' || static_cast<unsigned char>(p[1]) < 0x20) return nullptr;
    found.escaped = true;
    p += 2;
  }
  found.text = {begin, static_cast<std::size_t>(p - begin)};
  return p + 1;
}

// The text of a string, without its escapes. False at an escape that is none, or half of a surrogate pair.
bool decode(const String& string, std::string& text);

// The end of the number at p; null if there is none.
inline const char* number_end(const char* p) noexcept {
  p += *p == '-';
  if (!is_digit(*p) || (*p == '0' && is_digit(p[1]))) return nullptr;
  while (is_digit(*p)) ++p;
  if (*p == '.') {
    if (!is_digit(*++p)) return nullptr;
    while (is_digit(*p)) ++p;
  }
  if (*p == 'e' || *p == 'E') {
    ++p;
    p += *p == '-' || *p == '+';
    if (!is_digit(*p)) return nullptr;
    while (is_digit(*p)) ++p;
  }
  return p;
}

// Reads the number at p; returns its end, or null, also if it is beyond a double. Needs kFront readable bytes before.
inline const char* read_number(const char* const p, double& value) noexcept {
  const char* const end = number_end(p);
  return end != nullptr && parse_double(p, static_cast<std::size_t>(end - p), value) ? end : nullptr;
}

}  // namespace smt::json
