#include "nbest/fields.hpp"

namespace smt {
namespace {

// Skips digits; returns whether there are any.
bool skip_digits(const char*& p, const char* end) noexcept {
  const char* const begin = p;
  while (p < end && is_digit(*p)) ++p;
  return p > begin;
}

// `0-0 1-1 ` and the like.
bool is_alignment(const char* p, const char* end) noexcept {
  while (skip_digits(p, end)) {
    if (p == end || *p++ != '-' || !skip_digits(p, end)) return false;
    if (p == end) return true;
    if (*p++ != ' ') return false;
  }
  return p == end || (*p == ' ' && p + 1 == end);
}

// `0-3=0-3 4=4` and the like.
bool is_segmentation(const char* p, const char* end) noexcept {
  const auto range = [&] {
    if (!skip_digits(p, end)) return false;
    if (p == end || *p != '-') return true;
    ++p;
    return skip_digits(p, end);
  };
  do {
    if (!range() || p == end || *p++ != '=' || !range()) return false;
    if (p == end) return true;
    if (*p++ != ' ') return false;
  } while (p < end);
  return true;
}

}  // namespace

ListExtra shape_of(const char* begin, const char* end) noexcept {
  if (is_alignment(begin, end)) return kAlignment;
  if (is_segmentation(begin, end)) return kSegmentation;
  return *begin == '[' ? kTree : kInput;
}

}  // namespace smt
