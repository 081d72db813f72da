#include "reordering.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bytes.hpp"
#include "numbers.hpp"

namespace smt {
namespace {

constexpr double kFloor = -100.0;

// A field, up to the bar after it.
struct Field {
  const char* bar = nullptr;  // null if it ends otherwise, or words are not separated by single blanks
  bool ascii = true;
};

// Starts at the blank before its first word; a line's end has to follow.
Field field(const char* p) noexcept {
  Field found;
  for (;; p += 16) {
    std::uint32_t ends = 0, odd = 0, high = 0;
#if defined(__SSE2__)
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 1));
    const __m128i blank = _mm_set1_epi8(' ');
    const __m128i stops = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('|')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
    const __m128i twice = _mm_and_si128(_mm_cmpeq_epi8(bytes, blank), _mm_cmpeq_epi8(next, blank));
    // All other blanks are smaller.
    const __m128i controls = _mm_andnot_si128(_mm_cmplt_epi8(bytes, _mm_setzero_si128()), _mm_cmplt_epi8(bytes, blank));
    ends = static_cast<std::uint32_t>(_mm_movemask_epi8(stops));
    odd = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(twice, controls)));
    high = static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
#else
    for (unsigned i = 0; i < 16; ++i) {
      const char c = p[i];
      const bool plain = static_cast<unsigned char>(c) >= ' ';
      ends |= static_cast<std::uint32_t>(c == '|' || c == '\n') << i;
      odd |= static_cast<std::uint32_t>(!plain || (c == ' ' && p[i + 1] == ' ')) << i;
      high |= static_cast<std::uint32_t>(static_cast<unsigned char>(c) >= 0x80) << i;
    }
#endif
    const std::uint32_t inside = ends == 0 ? 0xFFFFU : low_bits(static_cast<unsigned>(std::countr_zero(ends)));
    found.ascii &= (high & inside) == 0;
    if ((odd & inside) != 0) return found;
    if (ends != 0) {
      p += std::countr_zero(ends);
      if (p[0] == '|' && p[1] == '|' && p[2] == '|' && p[3] == ' ' && p[-1] == ' ') found.bar = p;
      return found;
    }
  }
}

// A mask of those of 64 bytes that are a line's end.
std::uint64_t line_ends64(const char* p) noexcept {
  static constexpr char kLineEnds[17] = "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n";
  return same16(p, kLineEnds) | std::uint64_t{same16(p + 16, kLineEnds)} << 16U |
         std::uint64_t{same16(p + 32, kLineEnds)} << 32U | std::uint64_t{same16(p + 48, kLineEnds)} << 48U;
}

// Hashes some of its bytes.
std::size_t slot_of(const char* text, std::size_t length) noexcept {
  const auto part = [&](std::size_t at) { return load8(text + at) * 0x9FB21C651E98DF25U; };
  std::uint64_t hash = length;
  if (length >= 8) hash ^= part(0) ^ std::rotl(part(length / 2 - 4), 17) ^ std::rotl(part(length - 8), 34);
  return hash * 0x9E3779B97F4A7C15U >> 56U;
}

}  // namespace

void ReorderingScanner::expect(std::size_t fields, std::size_t numbers) {
  fields_ = fields;
  numbers_ = numbers;
}

void ReorderingScanner::add(std::string_view key, const std::vector<double>& values) {
  table_.keys.add(key);
  for (const double value : values) table_.values.push(static_cast<float>(value));
}

void ReorderingScanner::undo() { table_.values.cut(table_.keys.size() * numbers_); }

const char* ReorderingScanner::scan_line(const char* p) {
  if (numbers_ == 0 || *p == ' ' || *p == '|') return nullptr;
  const char* const begin = p;
  Field found = field(p);
  bool ascii = found.ascii;
  for (std::size_t i = 2; i < fields_ && found.bar != nullptr; ++i) {
    const char* const from = found.bar + 3;
    found = field(from);
    ascii &= found.ascii;
    if (found.bar == from + 1) return nullptr;  // no target
  }
  if (found.bar == nullptr) return nullptr;
  const std::string_view key(begin, static_cast<std::size_t>(found.bar - 1 - begin));
  if (!ascii && !is_utf8(key)) return nullptr;
  p = found.bar + 4;
  float* const values = table_.values.room(std::max(numbers_, kMostNumbers));
  const std::uint64_t ends = line_ends64(p);
  Known* known = nullptr;
  if (ends != 0 && numbers_ <= kMostNumbers) [[likely]] {
    const auto length = static_cast<std::size_t>(std::countr_zero(ends));
    const std::uint64_t wanted = ends ^ (ends - 1);  // with the line's end
    known = &known_[slot_of(p, length)];
    if ((same64(p, known->text) & wanted) == wanted) [[likely]] {
      for (std::size_t i = 0; i < kMostNumbers; ++i) values[i] = known->values[i];
      table_.values.took(numbers_);
      table_.keys.add(key);
      return p + length;
    }
  }
  const char* const end = logarithms(p, p - begin < 16, values);
  if (end == nullptr) return nullptr;
  if (known != nullptr) {
    std::copy_n(p, static_cast<std::size_t>(end - p) + 1, known->text);
    std::copy_n(values, numbers_, known->values);
  }
  table_.values.took(numbers_);
  table_.keys.add(key);
  return end;
}

// Returns the line's end. `first`: there may be no readable bytes before the line.
const char* ReorderingScanner::logarithms(const char* p, bool first, float* values) const {
  std::size_t place = 0;
  for (Ends ends(p);; ++p) {
    const char* const end = ends.next();
    const bool last = *end == '\n';
    const auto length = static_cast<std::size_t>(end - p) - (last && end > p && end[-1] == '\r' ? 1 : 0);
    if (length > 0) {
      double number = 0;
      if (place == numbers_) return nullptr;
      const bool sound = first ? parse_number(p, length, number) : parse_short(p, length, number);
      if (!sound || !(number >= 0)) return nullptr;
      values[place++] = static_cast<float>(number > 0 ? std::max(std::log(number), kFloor) : kFloor);
    }
    p = end;
    if (last) break;
  }
  return place == numbers_ ? p : nullptr;
}

}  // namespace smt
