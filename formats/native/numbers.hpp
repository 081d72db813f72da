// Parse decimal numbers (sign, digits, point, exponent), correctly rounded to double, then to float.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "bytes.hpp"

namespace smt {

inline constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr double kInverses[] = {1e0,  1e-1, 1e-2,  1e-3,  1e-4,  1e-5,  1e-6, 1e-7,
                                       1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15,
                                       1e-16, 1e-17, 1e-18, 1e-19, 1e-20, 1e-21, 1e-22};
inline constexpr std::uint64_t kWholePowers[] = {
    1,         10,         100,         1000,         10000,         100000,         1000000,        10000000,
    100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000, 100000000000000};

// Parses any spelling; false if it is not a number or overflows a float.
bool parse_number(const char* text, std::size_t length, double& value) noexcept;

inline bool parse_number(const char* text, std::size_t length, float& value) noexcept {
  double number = 0;
  const bool sound = parse_number(text, length, number);
  value = static_cast<float>(number);
  return sound;
}

// Reads at most 14 digits between `text` and `end`; false if some are not digits. 16 bytes before `end` and after
// `text` must be readable.
inline bool read_digits(const char* text, const char* end, std::uint64_t& number) noexcept {
#if defined(__SSE2__)
  const auto count = static_cast<std::size_t>(end - text);
  alignas(16) static constexpr std::uint8_t kLast[32] = {0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  0,
                                                         0,   0,   0,   0,   0,   255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - 16));
  const __m128i wanted = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kLast + count));
  const __m128i digits = _mm_and_si128(_mm_xor_si128(bytes, _mm_set1_epi8('0')), wanted);
  if (_mm_movemask_epi8(_mm_adds_epu8(digits, _mm_set1_epi8(0x76))) != 0) return false;  // more than 9
  const __m128i tens = _mm_mullo_epi16(_mm_and_si128(digits, _mm_set1_epi16(0xFF)), _mm_set1_epi16(10));
  const __m128i twos = _mm_add_epi16(tens, _mm_srli_epi16(digits, 8));
  const __m128i fours = _mm_madd_epi16(twos, _mm_set1_epi32(100 | 1 << 16));
  const __m128i eights = _mm_madd_epi16(_mm_packs_epi32(fours, fours), _mm_set1_epi32(10000 | 1 << 16));
  std::uint64_t halves = 0;
  _mm_storel_epi64(reinterpret_cast<__m128i*>(&halves), eights);
  number = (halves & 0xFFFFFFFFU) * 100000000U + (halves >> 32U);
  return true;
#else
  number = 0;
  for (const char* p = text; p < end; ++p) {
    if (!is_digit(*p)) return false;
    number = number * 10 + static_cast<std::uint64_t>(*p - '0');
  }
  return true;
#endif
}

// The negated exponent of a number that ends in two exponent digits, `e-05`; 0 if it ends otherwise.
inline std::size_t short_exponent(const char* end) noexcept {
  const std::uint32_t tail = load4(end - 4) ^ ('e' | '-' << 8 | '0' << 16 | '0' << 24);
  const std::size_t tens = tail >> 16U & 0xFFU, ones = tail >> 24U;
  return (tail & 0xFFFFU) == 0 && tens <= 9 && ones <= 9 ? 10 * tens + ones : 0;
}

// Fast path for the common spellings `d`, `d.ddd` with up to 14 decimals, and `d.ddde-05`. Needs the same readable
// bytes around it as `read_digits`.
template <class T>
inline bool parse_short(const char* text, std::size_t length, T& value) noexcept {
  if (*text == '-') [[unlikely]] {
    return parse_number(text, length, value);
  }
  const auto whole = static_cast<std::uint64_t>(static_cast<unsigned char>(*text)) - '0';
  if (whole > 9) return false;
  if (length == 1) {
    value = static_cast<T>(whole);
    return true;
  }
  if (text[1] != '.' || length < 3 || length > 16) [[unlikely]] {
    return parse_number(text, length, value);
  }
  std::size_t digits = length - 2;
  std::size_t power = digits;
  if (const std::size_t more = short_exponent(text + length); more > 0 && length > 6) {
    digits -= 4;
    power = digits + more;
  }
  std::uint64_t fraction = 0;
  if (power >= std::size(kPowers) || !read_digits(text + 2, text + 2 + digits, fraction)) [[unlikely]] {
    return parse_number(text, length, value);
  }
  const std::uint64_t mantissa = whole * kWholePowers[digits] + fraction;
  const auto exact = static_cast<double>(static_cast<std::int64_t>(mantissa));
  if constexpr (sizeof(T) == sizeof(double)) {
    value = exact / kPowers[power];
    return true;
  }
  // The product is at most one unit off the quotient, which is the nearest double. Only where that could round to
  // another float, the slower division decides.
  double number = exact * kInverses[power];
  constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29U) - 1;
  constexpr std::uint64_t kNearHalf = (std::uint64_t{1} << 28U) - 4;
  if ((std::bit_cast<std::uint64_t>(number) & kDropped) - kNearHalf <= 8) [[unlikely]] {
    number = exact / kPowers[power];
  }
  value = static_cast<T>(number);
  return true;
}

}  // namespace smt
