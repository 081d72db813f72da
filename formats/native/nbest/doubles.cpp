#include "nbest/doubles.hpp"

#include <charconv>
#include <system_error>

namespace smt {

bool parse_any_double(const char* const text, std::size_t length, double& value) noexcept {
  const char* const end = text + length;
  const char* p = text;
  const auto digits = [&] {
    const char* const from = p;
    while (p < end && is_digit(*p)) ++p;
    return p > from;
  };
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const char* const start = *text == '+' ? p : text;
  bool some = digits();
  if (p < end && *p == '.') {
    ++p;
    some |= digits();
  }
  if (!some) return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p < end && (*p == '-' || *p == '+')) ++p;
    if (!digits()) return false;
  }
  if (p != end) return false;
  const auto [stop, problem] = std::from_chars(start, end, value);
  return problem == std::errc{} && stop == end;
}

}  // namespace smt
