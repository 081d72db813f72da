#include "nbest.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "bytes.hpp"
#include "numbers.hpp"

namespace smt {
namespace {

constexpr std::size_t kFront = 16;  // readable bytes before a text, for `read_digits`
constexpr std::size_t kMaxDigits = 18;
constexpr std::string_view kBar = " |||";

std::string_view view(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

bool is_bar(const char* p) noexcept { return p[0] == '|' && p[1] == '|' && p[2] == '|'; }

// Whether this is the blank before `||| ` that ends a field.
bool is_field_end(const char* p) noexcept { return p[0] == ' ' && is_bar(p + 1) && p[4] == ' '; }

// Whether there are blanks that only the record parser handles.
bool has_odd_blank(std::string_view text) noexcept {
  const auto is_odd = [](char c) { return (c >= '\x0b' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); };
  return std::any_of(text.begin(), text.end(), is_odd);
}

// A mask of those of 16 bytes that are a bar or the end of the line.
std::uint32_t bars16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  const __m128i bars = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('|'));
  const __m128i ends = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(bars, ends)));
#else
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 16; ++i) found |= static_cast<std::uint32_t>(text[i] == '|' || text[i] == '\n') << i;
  return found;
#endif
}

// A mask of those of 16 bytes that are a point.
std::uint32_t points16(const char* text) noexcept {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'))));
#else
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 16; ++i) found |= static_cast<std::uint32_t>(text[i] == '.') << i;
  return found;
#endif
}

bool is_ascii(const char* p, const char* end) noexcept {
#if defined(__SSE2__)
  __m128i all = _mm_setzero_si128();
  for (; end - p >= 16; p += 16) all = _mm_or_si128(all, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  if (_mm_movemask_epi8(all) != 0) return false;
#endif
  return std::none_of(p, end, [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; });
}

// The end of a field: the blank before a bar, or the end of the line.
const char* field_end(const char* const begin) noexcept {
  for (const char* p = begin;; p += 16) {
    for (std::uint32_t found = bars16(p); found != 0; found &= found - 1) {
      const char* const at = p + std::countr_zero(found);
      if (*at == '\n') return at;
      if (at > begin && is_field_end(at - 1)) return at - 1;
    }
  }
}

std::string_view stripped(const char* begin, const char* end) noexcept {
  while (begin < end && *begin == ' ') ++begin;
  while (begin < end && end[-1] == ' ') --end;
  return view(begin, end);
}

// Parses sign, digits, point, digits, exponent, with at least one digit before the exponent; correctly rounded. False
// if it is not a number, or overflows or underflows a double.
bool parse_any(const char* const text, std::size_t length, double& value) noexcept {
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

// Fast path: nearly all numbers have at most 15 digits and no exponent. These digits and the power of ten that divides
// them are exact, so the quotient is the nearest double.
inline bool parse_double(const char* const text, std::size_t length, double& value) noexcept {
  const std::size_t sign = *text == '-';
  const char* const p = text + sign;
  const char* const end = text + length;
  const std::size_t size = length - sign;
  if (size - 1 > 15) [[unlikely]] {
    return parse_any(text, length, value);
  }
  const std::uint32_t points = points16(p) & low_bits(static_cast<unsigned>(size));
  std::uint64_t whole = 0;
  double number = 0;
  if (points == 0) {
    if (size > 15 || !read_digits(p, end, whole)) [[unlikely]] {
      return parse_any(text, length, value);
    }
    number = static_cast<double>(static_cast<std::int64_t>(whole));
  } else {
    const char* const point = p + std::countr_zero(points);
    const auto places = static_cast<std::size_t>(end - point - 1);
    std::uint64_t fraction = 0;
    const bool plain = point > p && places > 0;
    if (!plain || !read_digits(p, point, whole) || !read_digits(point + 1, end, fraction)) [[unlikely]] {
      return parse_any(text, length, value);
    }
    number = static_cast<double>(static_cast<std::int64_t>(whole * kWholePowers[places] + fraction)) / kPowers[places];
  }
  value = sign != 0 ? -number : number;
  return true;
}

// Parses the total, the only number that may be infinite. Returns the end of its field.
const char* parse_total(const char* const field, double& value) noexcept {
  const auto is_white = [](char c) { return is_blank(c) || c == '\r'; };
  const char* begin = field;
  while (is_white(*begin)) ++begin;
  const std::size_t length = token_length(begin);
  if (length > 0 && parse_double(begin, length, value)) [[likely]] {
    const char* const end = begin + length;
    if (*end == '\n' || is_field_end(end)) return end;
  }
  const char* const end = field_end(field);
  const char* last = end;
  while (last > begin && is_white(last[-1])) --last;
  if (last <= begin) return nullptr;
  const std::string_view text = view(begin, last);
  if (text == "inf" || text == "-inf") {
    value = text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return end;
  }
  return parse_any(begin, text.size(), value) ? end : nullptr;
}

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

ListExtra shape_of(const char* begin, const char* end) noexcept {
  if (is_alignment(begin, end)) return kAlignment;
  if (is_segmentation(begin, end)) return kSegmentation;
  return *begin == '[' ? kTree : kInput;
}

}  // namespace

ListScanner::ListScanner(ListDialect dialect, std::size_t max_line)
    : dialect_(dialect), max_line_(max_line), carry_(kFront, '\0') {}

bool ListScanner::feed(std::string_view bytes) {
  if (closed_) throw std::logic_error("the list scanner is closed");
  // Scan the carried text with one line of the new text, so that the rest has kFront bytes before it.
  const std::size_t cut = bytes.find('\n', std::min(kFront, bytes.size()));
  carry_.append(bytes.substr(0, cut));
  bytes.remove_prefix(cut == std::string_view::npos ? bytes.size() : cut);
  if (!bytes.empty()) {
    carry_ += '\n';
    bytes.remove_prefix(1);
    const std::size_t size = carry_.size();
    carry_.append(kPadding, '\0');
    const char* const end = carry_.data() + size;
    if (const char* const bad = scan(carry_.data() + kFront, end)) return stop(view(bad, end), bytes);
    carry_.resize(kFront);
  }
  if (bytes.size() > kPadding) {
    // Scan in place while the last line has enough readable bytes after it.
    const std::size_t last = bytes.substr(0, bytes.size() - kPadding).rfind('\n');
    if (last != std::string_view::npos) {
      const char* const end = bytes.data() + last + 1;
      if (const char* const bad = scan(bytes.data(), end)) return stop(view(bad, bytes.data() + bytes.size()), "");
      bytes.remove_prefix(last + 1);
    }
  }
  carry_.append(bytes);
  if (carry_.size() - kFront > max_line_) {
    const std::size_t start = std::max(carry_.rfind('\n') + 1, kFront);  // npos + 1 is 0
    if (carry_.size() - start > max_line_) return stop(std::string_view(carry_).substr(kFront), "");
  }
  return true;
}

bool ListScanner::finish() {
  if (closed_) throw std::logic_error("the list scanner is closed");
  if (carry_.size() > kFront) {
    open_ = carry_.back() != '\n';
    if (open_) carry_ += '\n';
    const std::size_t size = carry_.size();
    carry_.append(kPadding, '\0');
    const char* const end = carry_.data() + size;
    if (const char* const bad = scan(carry_.data() + kFront, end)) return stop(view(bad, end - open_), "");
  }
  close();
  return true;
}

void ListScanner::close() {
  closed_ = true;
  table_.offsets.push(static_cast<std::int64_t>(table_.totals.size()));
  fault_.lines = line_;
}

// Stops before the unread text and the empty lines before it, which have to be parsed together. Removes what was
// stored of an incomplete line.
bool ListScanner::stop(std::string_view unread, std::string_view more) {
  const auto known = static_cast<std::size_t>(table_.feature_offsets.back());
  table_.features.cut(known);
  table_.values.cut(known);
  Texts& names = table_.names.texts();
  names.offsets.cut(names_ + 1);
  names.blob.cut(static_cast<std::size_t>(names.offsets.back()));
  line_ -= blanks_;
  fault_.unread.assign(blanks_, '\n').append(unread).append(more);
  close();
  return false;
}

const char* ListScanner::scan(const char* begin, const char* end) {
  forget_wide_registers();
  last_ = end;
  sound_ = is_ascii(begin, end) || is_utf8(view(begin, end));
  for (const char* p = begin; p < end; ++line_) {
    const char* const line_end = line(p);
    if (line_end == nullptr) return p;
    p = line_end + 1;
  }
  return nullptr;
}

// Whether a line is within the size limit and valid UTF-8.
bool ListScanner::fits(const char* begin, const char* end) const noexcept {
  const bool own_end = !open_ || end + 1 < last_;
  return static_cast<std::size_t>(end - begin) + own_end <= max_line_ && (sound_ || is_utf8(view(begin, end)));
}

const char* ListScanner::line(const char* const begin) {
  const char* p = begin;
  const bool same = same_key(p);
  std::uint64_t id = id_;
  if (same) {
    if (blanks_ != 0) return nullptr;
    p += key_length_;
  } else {
    id = 0;
    while (is_digit(*p)) id = 10 * id + static_cast<std::uint64_t>(*p++ - '0');  // unused if there are too many
    const auto digits = static_cast<std::size_t>(p - begin);
    if (digits == 0) return blank(begin);
    if (digits > kMaxDigits || (key_length_ != 0 && id <= id_)) return nullptr;
    if (std::memcmp(p, kBar.data(), kBar.size()) != 0) return nullptr;
    p += kBar.size();
  }
  const char* const text = p;
  const char* const text_end = field_end(p);
  if (*text_end == '\n') return nullptr;
  p = features(text_end + 5);
  if (p == nullptr) return nullptr;
  double total = 0;
  p = parse_total(p + 5, total);
  if (p == nullptr) return nullptr;
  Fields fields;
  while (*p != '\n') {
    if (dialect_ == ListDialect::kCdec) return nullptr;
    const char* const field = p + 5;
    p = field_end(field);
    std::string_view& place = fields[shape_of(field, p)];
    if (place.empty()) place = stripped(field, p);
  }
  if (!fits(begin, p)) return nullptr;
  if (!same) {
    table_.ids.add(view(begin, text - kBar.size()));
    table_.offsets.push(static_cast<std::int64_t>(table_.totals.size()));
    table_.lines.push(static_cast<std::int64_t>(line_ + 1));
    id_ = id;
    key_length_ = static_cast<std::size_t>(text - begin);
    std::memcpy(key_, begin, key_length_);
    blanks_ = 0;
  }
  commit(stripped(text, text_end), total, fields);
  return p;
}

// Reads an empty line, which cdec writes for an untranslatable sentence.
const char* ListScanner::blank(const char* const begin) {
  const char* p = begin;
  while (is_blank(*p) || *p == '\r') ++p;
  if (dialect_ != ListDialect::kCdec || *p != '\n' || !fits(begin, p)) return nullptr;
  ++blanks_;
  return p;
}

bool ListScanner::same_key(const char* p) const noexcept {
  if (key_length_ == 0) return false;
  const std::uint32_t first = low_bits(static_cast<unsigned>(std::min<std::size_t>(key_length_, 16)));
  if ((same16(p, key_) & first) != first) return false;
  return key_length_ <= 16 || std::memcmp(p + 16, key_ + 16, key_length_ - 16) == 0;
}

void ListScanner::commit(std::string_view text, double total, const Fields& fields) {
  const std::size_t row = table_.totals.size();
  table_.texts.add(text);
  table_.feature_offsets.push(static_cast<std::int64_t>(table_.features.size()));
  table_.totals.push(total);
  names_ = table_.names.texts().size();
  for (std::size_t i = 0; i < kExtras; ++i) {
    ListTable::Extra& extra = table_.extras[i];
    if (fields[i].data() != nullptr && !extra.there) {
      extra.there = true;
      for (std::size_t before = 0; before < row; ++before) extra.texts.add("");
    }
    if (extra.there) extra.texts.add(fields[i]);
  }
}

// Returns the blank before the bar. Expects the features of the previous line first, then accepts any.
const char* ListScanner::features(const char* const field) {
  if (is_field_end(field)) return field;
  const char* p = field;
  while (*p == ' ') ++p;
  const std::size_t expected = slots_.size();
  std::int32_t* const ids = table_.features.room(expected);
  double* const values = table_.values.room(expected);
  const Slot* const slots = slots_.data();
  const char* group = p;  // the start of the group that the slow path has to see whole
  std::size_t group_place = 0;
  std::size_t place = 0;
  Ends ends(p);
  for (; place < expected; ++place) {
    const Slot& slot = slots[place];
    const char* const value = p + slot.length;
    if (slot.length != 0) {
      if ((same16(p, slot.prefix) & slot.mask) != slot.mask) break;
      if (slot.length > 16 && std::memcmp(p + 16, slot.prefix + 16, slot.length - 16) != 0) break;
      group = p;
      group_place = place;
      if (value[-1] == ' ') ends.next();
    }
    const char* const end = ends.next();
    if (value >= end || *end != ' ') break;
    if (!parse_double(value, static_cast<std::size_t>(end - value), values[place])) break;
    ids[place] = slot.id;
    p = end + 1;
  }
  if (place == expected && expected > 0 && is_bar(p) && p[3] == ' ') [[likely]] {
    table_.features.took(place);
    table_.values.took(place);
    return p - 1;
  }
  if (dialect_ == ListDialect::kMoses) {
    place = group_place;
    p = group;
  }
  table_.features.took(place);
  table_.values.took(place);
  know_features(place);
  return dialect_ == ListDialect::kMoses ? groups(p, field) : items(p, field);
}

// Registers the first `count` features as read on this line.
void ListScanner::know_features(std::size_t count) {
  slots_.resize(count);
  slots_end_ = false;
  for (const Slot& slot : slots_) name_line_[static_cast<std::size_t>(slot.id)] = line_ + 1;
}

const char* ListScanner::items(const char* p, const char* const field) {
  for (;;) {
    while (is_blank(*p)) ++p;
    if (p > field && is_field_end(p - 1)) return p - 1;
    const std::size_t length = token_length(p);
    if (length == 0 || !add_item(p, length)) return nullptr;
    p += length;
  }
}

// `name=value`; the name may hold other `=`.
bool ListScanner::add_item(const char* p, std::size_t length) {
  const std::size_t equals = std::string_view(p, length).rfind('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == length) return false;
  double value = 0;
  if (!parse_double(p + equals + 1, length - equals - 1, value)) return false;
  const std::string_view name(p, equals);
  const auto found = table_.names.add(p, equals);
  if ((found.is_new && has_odd_blank(name)) || !add_name(found.id)) return false;
  add_slot({p, equals + 1}, found.id);
  table_.values.push(value);
  return true;
}

const char* ListScanner::groups(const char* p, const char* const field) {
  std::string_view label = "";
  std::size_t first = table_.values.size();
  for (;;) {
    while (is_blank(*p)) ++p;
    const bool end = p > field && is_field_end(p - 1);
    const std::size_t length = token_length(p);
    if (length == 0) return nullptr;
    if (end || (length > 1 && (p[length - 1] == '=' || p[length - 1] == ':'))) {
      if (!add_group(label, first)) return nullptr;
      if (end) return p - 1;
      label = {p, length};
      first = table_.values.size();
    } else {
      double value = 0;
      if (!parse_double(p, length, value)) return nullptr;
      table_.values.push(value);
    }
    p += length;
  }
}

// Adds the names of the values from `first`, which follow a label; an empty label means the start of the line.
bool ListScanner::add_group(std::string_view label, std::size_t first) {
  const std::size_t count = table_.values.size() - first;
  if (count == 0) return label.empty();
  Label* known = &unlabelled_;
  std::string_view name = "F";
  if (!label.empty()) {
    name = label.substr(0, label.size() - 1);
    const auto found = labels_.add(name.data(), name.size());
    if (found.is_new && has_odd_blank(name)) return false;
    known = &found.payload;
  }
  for (std::size_t place = 0; place < count; ++place) {
    const bool single = count == 1 && !label.empty();
    const std::int32_t id = single ? single_name(*known, name) : vector_name(*known, name, place);
    if (!add_name(id)) return false;
    add_slot(place == 0 ? label : "", id);
  }
  return true;
}

std::int32_t ListScanner::single_name(Label& label, std::string_view text) {
  if (label.single == kUnknown) label.single = table_.names.add(text).id;
  return label.single;
}

std::int32_t ListScanner::vector_name(Label& label, std::string_view text, std::size_t place) {
  if (label.several == kUnknown) {
    label.several = static_cast<std::int32_t>(vectors_.size());
    vectors_.emplace_back();
  }
  std::vector<std::int32_t>& names = vectors_[static_cast<std::size_t>(label.several)];
  if (names.size() == place) {
    names.push_back(table_.names.add(std::string(text) + '[' + std::to_string(place) + ']').id);
  }
  return names[place];
}

// Adds a name; false if the line has it already.
bool ListScanner::add_name(std::int32_t id) {
  const auto at = static_cast<std::size_t>(id);
  if (at >= name_line_.size()) name_line_.resize(table_.names.texts().size());
  if (std::exchange(name_line_[at], line_ + 1) == line_ + 1) return false;
  table_.features.push(id);
  return true;
}

void ListScanner::add_slot(std::string_view prefix, std::int32_t id) {
  const bool blank = dialect_ == ListDialect::kMoses && !prefix.empty();
  const std::size_t length = prefix.size() + blank;
  slots_end_ |= length > kMaxPrefix;
  if (slots_end_) return;
  Slot& slot = slots_.emplace_back();
  std::memcpy(slot.prefix, prefix.data(), prefix.size());
  if (blank) slot.prefix[prefix.size()] = ' ';
  slot.length = length;
  slot.mask = low_bits(static_cast<unsigned>(std::min<std::size_t>(length, 16)));
  slot.id = id;
}

}  // namespace smt
