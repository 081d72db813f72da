// The fields of a line of an n-best list, which end with ` ||| ` or the line.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bytes.hpp"

namespace smt {

// The fields after a total, recognised by their syntax.
enum ListExtra : std::size_t { kSegmentation, kAlignment, kTree, kInput, kExtras };

inline std::string_view text_of(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// Whether this is the blank before `||| ` that ends a field.
inline bool is_field_end(const char* p) noexcept {
  return p[0] == ' ' && p[1] == '|' && p[2] == '|' && p[3] == '|' && p[4] == ' ';
}

// A mask of those of 16 bytes that are a bar or the end of the line.
inline std::uint32_t bars16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i bars = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('|'));
  const __m128i ends = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(bars, ends)));
#else
  std::uint32_t bars = 0;
  for (unsigned i = 0; i < 16; ++i) bars |= static_cast<std::uint32_t>(text[i] == '|' || text[i] == '\n') << i;
  return bars;
#endif
}

// The end of a field: the blank before a bar, or the end of the line.
inline const char* field_end(const char* const begin) noexcept {
  for (const char* p = begin;; p += 16) {
    for (std::uint32_t bars = bars16(p); bars != 0; bars &= bars - 1) {
      const char* const at = p + std::countr_zero(bars);
      if (*at == '\n') return at;
      if (at > begin && is_field_end(at - 1)) return at - 1;
    }
  }
}

// Without the blanks around it.
inline std::string_view stripped(const char* begin, const char* end) noexcept {
  while (begin < end && *begin == ' ') ++begin;
  while (begin < end && end[-1] == ' ') --end;
  return text_of(begin, end);
}

// The field that the text between these is.
ListExtra shape_of(const char* begin, const char* end) noexcept;

}  // namespace smt
