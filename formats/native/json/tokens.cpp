#include "json/tokens.hpp"

namespace smt::json {
namespace {

// Four hexadecimal digits.
bool read_unit(const char* p, std::uint32_t& unit) noexcept {
  unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    const char low = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      unit = unit << 4U | static_cast<std::uint32_t>(c - '0');
    } else if (low >= 'a' && low <= 'f') {
      unit = unit << 4U | static_cast<std::uint32_t>(low - 'a' + 10);
    } else {
      return false;
    }
  }
  return true;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto more = [&](unsigned shift) { text += static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0U | code >> 6U);
    more(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0U | code >> 12U);
    more(6);
    more(0);
  } else {
    text += static_cast<char>(0xF0U | code >> 18U);
    more(12);
    more(6);
    more(0);
  }
}

}  // namespace

bool decode(const String& string, std::string& text) {
  text.clear();
  const char* p = string.text.data();
  const char* const end = p + string.text.size();
  while (p < end) {
    if (*p != '\\') {
      const std::size_t length = std::string_view(p, static_cast<std::size_t>(end - p)).find('\\');
      const std::size_t taken = length == std::string_view::npos ? static_cast<std::size_t>(end - p) : length;
      text.append(p, taken);
      p += taken;
      continue;
    }
    constexpr std::string_view kEscapes = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const char kind = p[1];
    p += 2;
    if (const std::size_t at = kEscapes.find(kind); at != std::string_view::npos) {
      text += kMeanings[at];
      continue;
    }
    std::uint32_t unit = 0;
    if (kind != 'u' || end - p < 4 || !read_unit(p, unit)) return false;
    p += 4;
    if (unit >= 0xD800 && unit < 0xE000) {
      std::uint32_t second = 0;
      const bool paired = unit < 0xDC00 && end - p >= 6 && p[0] == '\\' && p[1] == 'u' && read_unit(p + 2, second);
      if (!paired || second < 0xDC00 || second >= 0xE000) return false;
      unit = 0x10000 + ((unit - 0xD800) << 10U) + (second - 0xDC00);
      p += 6;
    }
    append_utf8(text, unit);
  }
  return true;
}

}  // namespace smt::json
