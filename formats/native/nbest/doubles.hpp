// Numbers of n-best lists, correctly rounded to doubles.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "bytes.hpp"
#include "numbers.hpp"

namespace smt {

// Parses sign, digits, point, digits, exponent, with at least one digit before the exponent; correctly rounded. False
// if it is not a number, or overflows or underflows a double.
bool parse_any_double(const char* text, std::size_t length, double& value) noexcept;

// A mask of those of 16 bytes that are a point.
inline std::uint32_t points16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'))));
#else
  std::uint32_t points = 0;
  for (unsigned i = 0; i < 16; ++i) points |= static_cast<std::uint32_t>(text[i] == '.') << i;
  return points;
#endif
}

// Parses the same, with readable bytes around the text as `read_digits` needs. Fast path: nearly all numbers have at
// most 15 digits and no exponent. These digits and the power of ten that divides them are exact, so the quotient is the
// nearest double.
inline bool parse_double(const char* const text, std::size_t length, double& value) noexcept {
  const std::size_t sign = *text == '-';
  const char* const p = text + sign;
  const char* const end = text + length;
  const std::size_t size = length - sign;
  if (size - 1 > 15) [[unlikely]] {
    return parse_any_double(text, length, value);
  }
  const std::uint32_t points = points16(p) & low_bits(static_cast<unsigned>(size));
  std::uint64_t whole = 0;
  double number = 0;
  if (points == 0) {
    if (size > 15 || !read_digits(p, end, whole)) [[unlikely]] {
      return parse_any_double(text, length, value);
    }
    number = static_cast<double>(static_cast<std::int64_t>(whole));
  } else {
    const char* const point = p + std::countr_zero(points);
    const auto places = static_cast<std::size_t>(end - point - 1);
    std::uint64_t fraction = 0;
    const bool plain = point > p && places > 0;
    if (!plain || !read_digits(p, point, whole) || !read_digits(point + 1, end, fraction)) [[unlikely]] {
      return parse_any_double(text, length, value);
    }
    number = static_cast<double>(static_cast<std::int64_t>(whole * kWholePowers[places] + fraction)) / kPowers[places];
  }
  value = sign != 0 ? -number : number;
  return true;
}

}  // namespace smt
