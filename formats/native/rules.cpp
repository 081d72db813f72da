#include "rules.hpp"

#include <algorithm>

#include "bytes.hpp"

namespace smt {
namespace {

constexpr int kMaxPosition = 32767;
constexpr std::uint32_t kNoPoint = ~std::uint32_t{0};

// Digits as a position, or -1.
int position(std::string_view digits) noexcept {
  int value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return -1;
    value = 10 * value + (c - '0');
    if (value > kMaxPosition) return -1;
  }
  return digits.empty() ? -1 : value;
}

// A point of single digits, the shape that nearly all have: the second half a word higher than the first.
inline std::uint32_t short_point(const char* p) noexcept {
  const std::uint32_t digits = (load4(p) ^ ('0' | '-' << 8 | '0' << 16)) & 0xFFFFFFU;
  const bool sound = ((digits | (digits + 0x060006U)) & 0xF0FFF0U) == 0 && is_end(p[3]);
  return sound ? digits : kNoPoint;
}

}  // namespace

RuleTable::RuleTable() {
  for (auto* offsets : {&source_offsets, &target_offsets, &feature_offsets, &point_offsets}) offsets->push(0);
}

std::size_t RuleScanner::repeat_source(const char* p) {
  if (known_length_ == 0) return 0;
  const char* const known = known_source_.data();
  std::size_t at = 0;
  for (; at + 16 <= known_length_; at += 16) {
    if (same16(p + at, known + at) != 0xFFFFU) return 0;
  }
  const std::uint32_t wanted = low_bits(static_cast<unsigned>(known_length_ - at));
  if ((same16(p + at, known + at) & wanted) != wanted) return 0;
  const auto first = static_cast<std::size_t>(table_.source_offsets[table_.rules() - 1]);
  table_.source.repeat(first, table_.source.size() - first);
  return known_length_;
}

void RuleScanner::know_source(const char* begin, const char* end) {
  known_source_.assign(begin, end);
  known_length_ = known_source_.size();
  known_source_.append(kPadding, '\0');
}

const char* RuleScanner::points(const char* p) {
  for (std::size_t count = 0;; ++count) {
    if (*p == ' ') ++p;
    std::uint32_t point = short_point(p);
    if (point != kNoPoint) [[likely]] {
      p += 3;
    } else {
      p = skip_blanks(p);
      if (*p == '\n') return p;
      if (is_bar(p)) return p;
      const std::string_view text = view(p, token_length(p));
      const std::size_t dash = std::min(text.find('-'), text.size() - 1);
      const int from = position(text.substr(0, dash));
      const int to = position(text.substr(dash + 1));
      if (from < 0 || to < 0) return nullptr;
      point = static_cast<std::uint32_t>(from) | static_cast<std::uint32_t>(to) << 16U;
      p += text.size();
    }
    if (count == limits_.features) return nullptr;
    std::int16_t* const pair = table_.points.room(2);
    pair[0] = static_cast<std::int16_t>(point & 0xFFFFU);
    pair[1] = static_cast<std::int16_t>(point >> 16U);
    table_.points.took(2);
  }
}

bool RuleScanner::put(std::int32_t name, float value) {
  const auto at = static_cast<std::size_t>(name);
  if (at >= name_line_.size()) {
    name_line_.resize(at + 1);
    name_place_.resize(at + 1);
  }
  if (name_line_[at] == lines()) {
    table_.values[name_place_[at]] = value;
    return false;
  }
  name_line_[at] = lines();
  name_place_[at] = table_.values.size();
  table_.features.push(name);
  table_.values.push(value);
  return true;
}

void RuleScanner::know_put(std::size_t count) {
  const std::size_t size = table_.features.size();
  for (std::size_t place = size - count; place < size; ++place) {
    const auto at = static_cast<std::size_t>(table_.features[place]);
    if (at >= name_line_.size()) {
      name_line_.resize(at + 1);
      name_place_.resize(at + 1);
    }
    name_line_[at] = lines();
    name_place_[at] = place;
  }
}

void RuleScanner::end_rule(std::size_t level) {
  table_.level.push(static_cast<std::uint8_t>(level));
  table_.source_offsets.push(static_cast<std::int64_t>(table_.source.size()));
  table_.target_offsets.push(static_cast<std::int64_t>(table_.target.size()));
  table_.feature_offsets.push(static_cast<std::int64_t>(table_.features.size()));
  table_.point_offsets.push(static_cast<std::int64_t>(table_.points.size() / 2));
}

void RuleScanner::undo() {
  const auto size = [](const Growing<std::int64_t>& offsets) { return static_cast<std::size_t>(offsets.back()); };
  table_.lhs.cut(table_.rules());
  table_.source.cut(size(table_.source_offsets));
  table_.target.cut(size(table_.target_offsets));
  table_.features.cut(size(table_.feature_offsets));
  table_.values.cut(size(table_.feature_offsets));
  table_.points.cut(2 * size(table_.point_offsets));
  known_length_ = 0;
}

}  // namespace smt
