#include "nbest/list_scanner.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "bytes.hpp"
#include "nbest/doubles.hpp"
#include "nbest/fields.hpp"

namespace smt {
namespace {

constexpr std::size_t kFront = 16;  // readable bytes before a text, for `read_digits`
constexpr std::size_t kMaxDigits = 18;
constexpr std::string_view kBar = " |||";

bool is_ascii(const char* p, const char* end) noexcept {
#if defined(__SSE2__)
  __m128i all = _mm_setzero_si128();
  for (; end - p >= 16; p += 16) all = _mm_or_si128(all, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  if (_mm_movemask_epi8(all) != 0) return false;
#endif
  return std::none_of(p, end, [](char c) { return (static_cast<unsigned char>(c) & 0x80U) != 0; });
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
  const std::string_view text = text_of(begin, last);
  if (text == "inf" || text == "-inf") {
    value = text[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return end;
  }
  return parse_any_double(begin, text.size(), value) ? end : nullptr;
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
    if (const char* const bad = scan(carry_.data() + kFront, end)) return stop(text_of(bad, end), bytes);
    carry_.resize(kFront);
  }
  if (bytes.size() > kPadding) {
    // Scan in place while the last line has enough readable bytes after it.
    const std::size_t last = bytes.substr(0, bytes.size() - kPadding).rfind('\n');
    if (last != std::string_view::npos) {
      const char* const end = bytes.data() + last + 1;
      if (const char* const bad = scan(bytes.data(), end)) return stop(text_of(bad, bytes.data() + bytes.size()), "");
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
    if (const char* const bad = scan(carry_.data() + kFront, end)) return stop(text_of(bad, end - open_), "");
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
  sound_ = is_ascii(begin, end) || is_utf8(text_of(begin, end));
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
  return static_cast<std::size_t>(end - begin) + own_end <= max_line_ && (sound_ || is_utf8(text_of(begin, end)));
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
    table_.ids.add(text_of(begin, text - kBar.size()));
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

}  // namespace smt
