#include "json/spelling.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>

namespace smt::json {

void append_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') [[likely]] {
      continue;
    }
    out.append(text, begin, i - begin);
    begin = i + 1;
    constexpr std::string_view kMeanings = "\"\\\b\f\n\r\t";
    constexpr std::string_view kEscapes = "\"\\bfnrt";
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += '\\';
    if (const std::size_t at = kMeanings.find(text[i]); at != std::string_view::npos) {
      out += kEscapes[at];
    } else {
      out.append("u00").append(1, kDigits[c >> 4U]).append(1, kDigits[c & 0xFU]);
    }
  }
  out.append(text, begin).append(1, '"');
}

bool append_number(std::string& out, double value) {
  if (!std::isfinite(value)) return false;
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::scientific);
  const std::string_view spelled(text, static_cast<std::size_t>(written.ptr - text));
  const std::size_t mark = spelled.rfind('e');
  int exponent = 0;
  const char* const digits_of_exponent = spelled.data() + mark + 1 + (spelled[mark + 1] == '+');
  std::from_chars(digits_of_exponent, spelled.data() + spelled.size(), exponent);
  if (std::signbit(value)) out += '-';
  if (exponent < -4 || exponent >= 16) {
    out += spelled;
    return true;
  }
  std::string digits(spelled.substr(0, 1));
  if (mark > 2) digits += spelled.substr(2, mark - 2);
  if (exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
    return true;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    out.append(digits).append(whole - digits.size(), '0');
  } else {
    out.append(digits, 0, whole).append(1, '.').append(digits, whole);
  }
  return true;
}

}  // namespace smt::json
