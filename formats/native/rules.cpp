#include "rules.hpp"

#include <algorithm>
#include <bit>

#include "bytes.hpp"

namespace smt {
namespace {

constexpr int kMaxPosition = 32767;

// Parses digits as a position; -1 if they are not one.
int position(std::string_view digits) noexcept {
  int value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return -1;
    value = 10 * value + (c - '0');
    if (value > kMaxPosition) return -1;
  }
  return digits.empty() ? -1 : value;
}

// Fast path for points of single digits, as nearly all are: ` 0-0 1-1`. Returns their number, at most kFew; `pairs`
// must have room for kFew, as their number is hard to predict.
constexpr unsigned kFew = 8;
inline unsigned short_points(const char* p, std::int16_t* pairs) noexcept {
#if defined(__SSE2__)
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16 * i));
    const __m128i values = _mm_xor_si128(bytes, _mm_set1_epi32(' ' | '0' << 8 | '-' << 16 | '0' << 24));
    const __m128i odd = _mm_subs_epu8(values, _mm_set1_epi32(9 << 8 | 9 << 24));
    const __m128i digits = _mm_and_si128(_mm_srli_epi32(bytes, 8), _mm_set1_epi16(0xF));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pairs + 8 * i), digits);
    const __m128i sound = _mm_cmpeq_epi32(odd, _mm_setzero_si128());
    found |= static_cast<std::uint32_t>(_mm_movemask_epi8(sound)) << (16 * i);
  }
  const auto count = static_cast<unsigned>(std::countr_one(found)) / 4;
#else
  unsigned count = 0;
  const auto is_point = [](const char* q) { return *q == ' ' && is_digit(q[1]) && q[2] == '-' && is_digit(q[3]); };
  for (; count < kFew && is_point(p + 4 * count); ++count) {
    pairs[2 * count] = static_cast<std::int16_t>(p[4 * count + 1] - '0');
    pairs[2 * count + 1] = static_cast<std::int16_t>(p[4 * count + 3] - '0');
  }
#endif
  return count - (count > 0 && !is_end(p[4 * count]));
}

}  // namespace

RuleTable::RuleTable() {
  for (auto* offsets : {&source_offsets, &target_offsets, &feature_offsets, &point_offsets}) offsets->push(0);
}

std::size_t RuleScanner::repeat_source(const char* p) {
  if (known_length_ == 0) return 0;
  std::size_t at = 0;
  for (; at + 64 <= known_length_; at += 64) {
    if (same64(p + at, known_source_ + at) != ~std::uint64_t{0}) return 0;
  }
  const std::uint64_t wanted = (std::uint64_t{1} << (known_length_ - at)) - 1;
  if ((same64(p + at, known_source_ + at) & wanted) != wanted) return 0;
  const auto first = static_cast<std::size_t>(table_.source_offsets[table_.rules() - 1]);
  table_.source.repeat(first, table_.source.size() - first);
  return known_length_;
}

const char* RuleScanner::points(const char* p) {
  std::size_t count = 0;
  for (;;) {
    const unsigned few = short_points(p, table_.points.room(2 * kFew));
    table_.points.took(2 * few);
    count += few;
    p += 4 * few;
    if (few == kFew) continue;
    p = skip_blanks(p);
    if (*p == '\n' || is_bar(p)) return count <= limits_.features ? p : nullptr;
    const std::string_view text = view(p, token_length(p));
    const std::size_t dash = std::min(text.find('-'), text.size() - 1);
    const int from = position(text.substr(0, dash));
    const int to = position(text.substr(dash + 1));
    if (from < 0 || to < 0) return nullptr;
    for (const int place : {from, to}) table_.points.push(static_cast<std::int16_t>(place));
    ++count;
    p += text.size();
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
