#include "numbers.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace smt {

bool parse_number(const char* text, std::size_t length, double& value) noexcept {
  const char* p = text;
  const char* const end = text + length;
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const char* const start = p;

  constexpr int kDigits = 19;  // that a 64-bit mantissa always holds
  std::uint64_t mantissa = 0;
  int kept = 0;
  std::int64_t scale = 0;
  const auto take = [&](char c) {
    if (mantissa == 0 && c == '0') return true;
    if (kept == kDigits) return false;
    mantissa = mantissa * 10 + static_cast<std::uint64_t>(c - '0');
    ++kept;
    return true;
  };
  bool all = true;
  std::int64_t magnitude = 0;  // the power of ten before the first nonzero digit
  if (p == end || !is_digit(*p)) return false;
  for (; p < end && is_digit(*p); ++p) {
    if (!take(*p)) {
      all = false;
      ++scale;
    }
    if (mantissa != 0) ++magnitude;
  }
  if (p < end && *p == '.') {
    for (++p; p < end && is_digit(*p); ++p) {
      if (mantissa == 0 && *p == '0') --magnitude;
      if (take(*p)) {
        --scale;
      } else {
        all = false;
      }
    }
  }
  std::int64_t exponent = 0;
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool down = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    if (p == end || !is_digit(*p)) return false;
    for (; p < end && is_digit(*p); ++p) {
      if (exponent < 1'000'000'000'000) exponent = exponent * 10 + (*p - '0');
    }
    if (down) exponent = -exponent;
  }
  if (p != end) return false;

  double number = 0;
  const std::int64_t power = scale + exponent;
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53U;
  if (mantissa == 0) {
    number = 0;
  } else if (all && mantissa <= kExact && power >= -22 && power <= 22) {
    number = static_cast<double>(mantissa);
    number = power < 0 ? number / kPowers[-power] : number * kPowers[power];
  } else {
    const auto [stop, problem] = std::from_chars(start, end, number);
    if (problem == std::errc::result_out_of_range) {
      if (magnitude + exponent > 0) return false;
      number = 0;
    } else if (problem != std::errc{} || stop != end) {
      return false;
    }
  }
  value = negative ? -number : number;
  return std::isfinite(static_cast<float>(value));
}

}  // namespace smt
