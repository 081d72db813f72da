// Examine 16 bytes of text at once. Every scanned text has kPadding readable bytes after its end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace smt {

inline constexpr std::size_t kPadding = 64;

// Loads bytes as a little-endian number.
template <class T>
inline T load(const char* text) noexcept {
  T value = 0;
  std::memcpy(&value, text, sizeof value);
  if constexpr (std::endian::native == std::endian::big) {
    T swapped = 0;
    for (unsigned i = 0; i < sizeof value; ++i) swapped = static_cast<T>(swapped << 8U | (value >> 8U * i & 0xFFU));
    value = swapped;
  }
  return value;
}

inline std::uint32_t load4(const char* text) noexcept { return load<std::uint32_t>(text); }
inline std::uint64_t load8(const char* text) noexcept { return load<std::uint64_t>(text); }

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
inline bool is_end(char c) noexcept { return is_blank(c) || c == '\n'; }
inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// A mask of those of 16 bytes that are a blank or the end of the line.
inline std::uint32_t ends16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i spaces = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
  const __m128i tabs = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
  const __m128i lines = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(spaces, _mm_or_si128(tabs, lines))));
#else
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 16; ++i) found |= static_cast<std::uint32_t>(is_end(text[i])) << i;
  return found;
#endif
}

// A mask of those of 16 bytes that are equal in both.
inline std::uint32_t same16(const char* left, const char* right) noexcept {
#if defined(__SSE2__)
  const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(left));
  const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(right));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)));
#else
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 16; ++i) found |= static_cast<std::uint32_t>(left[i] == right[i]) << i;
  return found;
#endif
}

// The same for 64 bytes.
inline std::uint64_t same64(const char* left, const char* right) noexcept {
  return same16(left, right) | std::uint64_t{same16(left + 16, right + 16)} << 16U |
         std::uint64_t{same16(left + 32, right + 32)} << 32U | std::uint64_t{same16(left + 48, right + 48)} << 48U;
}

// A mask of those of 16 bytes that are a digit or a blank.
inline std::uint32_t digits_or_blanks16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i values = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
  const __m128i digits = _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values);
  const __m128i blanks = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(digits, blanks)));
#else
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 16; ++i) found |= static_cast<std::uint32_t>(text[i] == ' ' || is_digit(text[i])) << i;
  return found;
#endif
}

inline std::uint32_t low_bits(unsigned count) noexcept { return (std::uint32_t{1} << count) - 1; }

inline std::uint64_t ends64(const char* text) noexcept {
  return ends16(text) | std::uint64_t{ends16(text + 16)} << 16U | std::uint64_t{ends16(text + 32)} << 32U |
         std::uint64_t{ends16(text + 48)} << 48U;
}

// Iterates over the ends of tokens, located 64 bytes at a time, so that the next end is known early.
class Ends {
 public:
  explicit Ends(const char* text) noexcept : text_(text), found_(ends64(text)) {}

  // Must not be called after it returned the end of the line.
  const char* next() noexcept {
    while (found_ == 0) [[unlikely]] {
      text_ += 64;
      found_ = ends64(text_);
    }
    const char* const end = text_ + std::countr_zero(found_);
    found_ &= found_ - 1;
    return end;
  }

 private:
  const char* text_;
  std::uint64_t found_;
};

// The number of bytes before a blank or the end of the line.
inline std::size_t token_length(const char* text) noexcept {
  for (const char* end = text;; end += 16) {
    const std::uint32_t found = ends16(end);
    if (found != 0) return static_cast<std::size_t>(end - text) + static_cast<std::size_t>(std::countr_zero(found));
  }
}

// Earlier code may have left the upper halves of AVX registers dirty (isal's checksums do), and every SSE instruction
// then waits for them, which costs a fifth of the scanner's time.
#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx")]] inline void clear_wide_registers() noexcept { __builtin_ia32_vzeroupper(); }
inline void forget_wide_registers() noexcept {
  if (__builtin_cpu_supports("avx")) clear_wide_registers();
}
#else
inline void forget_wide_registers() noexcept {}
#endif

}  // namespace smt
