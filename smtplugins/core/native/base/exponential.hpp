// exp() that a compiler turns into vector code, and sums of exponentials with it.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace smt {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// e^x for x <= 700, to about one unit in the last place; 0 below -708 (and for -inf), where doubles lose digits.
inline double fast_exp(double x) noexcept {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer in the low bits
  const double y = x < -708.0 ? -708.0 : x;
  const double shifted = y * 1.4426950408889634 + kRound;
  const double n = shifted - kRound;
  // ln 2 in two parts, the first short enough for n times it to be exact.
  const double r = (y - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52U);
  return x < -708.0 ? 0.0 : p * power;
}

inline double largest(const double* values, std::size_t size) noexcept {
  double m[4] = {kMinusInfinity, kMinusInfinity, kMinusInfinity, kMinusInfinity};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) m[k] = values[i + k] > m[k] ? values[i + k] : m[k];
  }
  for (; i < size; ++i) m[0] = values[i] > m[0] ? values[i] : m[0];
  const double a = m[0] > m[1] ? m[0] : m[1];
  const double b = m[2] > m[3] ? m[2] : m[3];
  return a > b ? a : b;
}

// The sum of exp(values - shift), for a shift not below any value. Always in the same order.
inline double sum_of_exps(const double* values, std::size_t size, double shift) noexcept {
  double s[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t i = 0;
  for (; i + 4 <= size; i += 4) {
    for (std::size_t k = 0; k < 4; ++k) s[k] += fast_exp(values[i + k] - shift);
  }
  for (; i < size; ++i) s[0] += fast_exp(values[i] - shift);
  return (s[0] + s[1]) + (s[2] + s[3]);
}

inline double log_sum(const double* values, std::size_t size) noexcept {
  const double most = largest(values, size);
  if (size == 1 || most == kMinusInfinity) return most;
  return most + std::log(sum_of_exps(values, size, most));
}

}  // namespace smt
