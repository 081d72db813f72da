#include "lm/smoothing.hpp"

#include <charconv>
#include <utility>

namespace smt {

TextError::TextError(std::uint64_t line_, std::string expected_, std::string found_)
    : std::runtime_error("line " + std::to_string(line_) + ": expected " + expected_ + ", found " + found_),
      line(line_),
      expected(std::move(expected_)),
      found(std::move(found_)) {}

DiscountError::DiscountError(int order_, std::string reason_)
    : std::runtime_error(reason_), order(order_), reason(std::move(reason_)) {}

MemoryLimitError::MemoryLimitError(std::uint64_t needed_, std::uint64_t allowed_)
    : std::runtime_error(std::to_string(needed_) + " bytes needed, " + std::to_string(allowed_) + " allowed"),
      needed(needed_),
      allowed(allowed_) {}

// Equation 26 of Chen and Goodman.
void EstimatedModel::add_discounts(const CountsOfCounts& n, const std::optional<Discounts>& fallback) {
  const int order = static_cast<int>(discounts.size()) + 1;
  const std::string what = std::to_string(order) + "-gram";
  std::string reason;
  Discounts own{};
  for (std::size_t j = 1; j < 4 && reason.empty(); ++j) {
    if (n[j] == 0) reason = "no " + what + " has the adjusted count " + std::to_string(j);
  }
  if (reason.empty()) {
    const float y = static_cast<float>(n[1]) / static_cast<float>(n[1] + 2 * n[2]);
    for (std::size_t j = 1; j < 4; ++j) {
      const auto whole = static_cast<float>(j);
      own[j - 1] = whole - (whole + 1) * y * static_cast<float>(n[j + 1]) / static_cast<float>(n[j]);
      if (own[j - 1] < 0.0F || own[j - 1] > whole) {
        reason = "the " + what + " discount of the adjusted count " + std::to_string(j) + " would be " +
                 std::to_string(own[j - 1]);
        break;
      }
    }
  }
  if (!reason.empty()) {
    if (!fallback) throw DiscountError(order, reason);
    fallen_back.push_back(order);
    own = *fallback;
  }
  discounts.push_back(own);
}

void append_number(std::string& out, float number) {
  char digits[48];
  const auto scientific = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::scientific);
  const std::string_view text(digits, static_cast<std::size_t>(scientific.ptr - digits));
  const std::size_t e = text.rfind('e');
  const bool small = e != std::string_view::npos && text[e + 1] == '-' && text.substr(e + 2) > "06";
  if (!small) {
    const auto fixed = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed);
    out.append(digits, fixed.ptr);
    return;
  }
  out.append(text.substr(0, e + 2));
  out.append(text.substr(text.find_first_not_of('0', e + 2)));
}

}  // namespace smt
