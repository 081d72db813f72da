// Numbers as C++ streams print them: 6 significant digits.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>

namespace smt {

inline void append_short(std::string& out, double number) {
  if (number >= 0 && number < 1e6) {
    // Most counts, and 1.
    const auto whole = static_cast<std::uint32_t>(number);
    if (static_cast<double>(whole) == number) {
      char digits[16];
      out.append(digits, std::to_chars(digits, digits + sizeof digits, whole).ptr);
      return;
    }
  }
  char text[64];
  out.append(text, std::to_chars(text, text + sizeof text, number, std::chars_format::general, 6).ptr);
}

inline void append_short(std::string& out, float number) { append_short(out, static_cast<double>(number)); }

// A count after the text round trip between Moses' programs.
inline float as_printed(float count) {
  if (count < 1e6F && count == std::floor(count)) return count;
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<double>(count), std::chars_format::general, 6);
  float printed = 0;
  std::from_chars(text, end.ptr, printed);
  return printed;
}

}  // namespace smt
