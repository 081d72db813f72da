// Looking at 16 bytes of text at once. Every text scanned has kPadding readable bytes behind its end.
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

inline std::uint32_t load4(const char* text) noexcept {
  return static_cast<unsigned char>(text[0]) | static_cast<std::uint32_t>(static_cast<unsigned char>(text[1])) << 8U |
         static_cast<std::uint32_t>(static_cast<unsigned char>(text[2])) << 16U |
         static_cast<std::uint32_t>(static_cast<unsigned char>(text[3])) << 24U;
}

inline std::uint64_t load8(const char* text) noexcept {
  std::uint64_t value = 0;
  std::memcpy(&value, text, sizeof value);
  if constexpr (std::endian::native == std::endian::big) {
    std::uint64_t swapped = 0;
    for (int i = 0; i < 8; ++i) swapped |= ((value >> (8 * i)) & 0xFFU) << (8 * (7 - i));
    value = swapped;
  }
  return value;
}

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
inline bool is_end(char c) noexcept { return is_blank(c) || c == '\n'; }
inline bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// A bit for each of 16 bytes that is a blank or another control character: where a token may end.
inline std::uint32_t ends16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes);
  return static_cast<std::uint32_t>(_mm_movemask_epi8(low));
#else
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 16; ++i) {
    found |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]) <= ' ') << i;
  }
  return found;
#endif
}

// A bit for each of 16 bytes that is the same in both.
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

inline std::uint32_t low_bits(unsigned count) noexcept { return (std::uint32_t{1} << count) - 1; }

inline std::uint64_t ends64(const char* text) noexcept {
  return ends16(text) | std::uint64_t{ends16(text + 16)} << 16U | std::uint64_t{ends16(text + 32)} << 32U |
         std::uint64_t{ends16(text + 48)} << 48U;
}

// The ends of tokens one after the other, found 64 bytes at a time: each is known before the one before it is used.
class Ends {
 public:
  explicit Ends(const char* text) noexcept : text_(text), found_(ends64(text)) {}

  // Not to be called again after the line's end.
  const char* next() noexcept {
    for (;;) {
      while (found_ == 0) [[unlikely]] {
        text_ += 64;
        found_ = ends64(text_);
      }
      const char* const end = text_ + std::countr_zero(found_);
      found_ &= found_ - 1;
      if (is_end(*end)) [[likely]] {
        return end;
      }
    }
  }

 private:
  const char* text_;
  std::uint64_t found_;
};

// How many bytes until a blank or the line's end.
inline std::size_t token_length(const char* text) noexcept {
  const char* end = text;
  for (;; ++end) {
    const std::uint32_t found = ends16(end);
    end += found != 0 ? std::countr_zero(found) : 15;
    if (is_end(*end)) return static_cast<std::size_t>(end - text);
  }
}

// Whoever ran before may have left the upper halves of wide registers in use (isal's checksums do), and every SSE
// instruction then waits for them: a fifth of the scanner's time.
#if defined(__x86_64__) && defined(__GNUC__)
[[gnu::target("avx")]] inline void clear_wide_registers() noexcept { __builtin_ia32_vzeroupper(); }
inline void forget_wide_registers() noexcept {
  if (__builtin_cpu_supports("avx")) clear_wide_registers();
}
#else
inline void forget_wide_registers() noexcept {}
#endif

}  // namespace smt
