#include "grammar.hpp"

#include <algorithm>
#include <stdexcept>

#include "bytes.hpp"
#include "numbers.hpp"

namespace smt {
namespace {

constexpr std::size_t kMaxUnlabelled = 100;  // cdec has names for so many
constexpr std::size_t kMaxIndex = 99;
constexpr std::size_t kMaxLevel = 255;
constexpr int kMaxPosition = 32767;

bool is_end(char c) noexcept { return is_blank(c) || c == '\n'; }
bool is_bar(const char* p) noexcept { return p[0] == '|' && p[1] == '|' && p[2] == '|'; }

const char* skip_blanks(const char* p) noexcept {
  while (is_blank(*p)) ++p;
  return p;
}

const char* skip_between_items(const char* p) noexcept {
  while (is_blank(*p) || *p == ';') ++p;
  return p;
}

std::string_view view(const char* p, std::size_t length) noexcept { return {p, length}; }

bool in_label(char c) noexcept {
  return c != '\t' && c != '\n' && c != '\r' && c != ' ' && c != '[' && c != ']' && c != ',';
}

bool is_label(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), in_label);
}

// 1 to 99 without a leading zero, or 0.
std::uint8_t index_of(std::string_view text) noexcept {
  if (text.empty() || text.size() > 2 || text[0] == '0') return 0;
  int index = 0;
  for (const char c : text) {
    if (!is_digit(c)) return 0;
    index = 10 * index + (c - '0');
  }
  return static_cast<std::uint8_t>(index);
}

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

}  // namespace

GrammarTable::GrammarTable() {
  for (auto* offsets : {&source_offsets, &target_offsets, &feature_offsets, &point_offsets}) offsets->push(0);
}

GrammarScanner::GrammarScanner(GrammarLimits limits) : limits_(limits) {}

bool GrammarScanner::feed(std::string_view bytes) {
  if (closed_) throw std::logic_error("the grammar scanner is closed");
  if (!carry_.empty()) {
    const std::size_t cut = bytes.find('\n');
    carry_.append(bytes.substr(0, cut));
    bytes.remove_prefix(cut == std::string_view::npos ? bytes.size() : cut);
    if (!bytes.empty()) {
      carry_ += '\n';
      bytes.remove_prefix(1);
      const std::size_t size = carry_.size();
      carry_.append(kPadding, '\0');
      if (!scan(carry_.data(), carry_.data() + size)) return false;
      carry_.clear();
    }
  }
  if (bytes.size() > kPadding) {
    // In place, as far as there are readable bytes behind the last line.
    const std::size_t last = bytes.substr(0, bytes.size() - kPadding).rfind('\n');
    if (last != std::string_view::npos) {
      if (!scan(bytes.data(), bytes.data() + last + 1)) return false;
      bytes.remove_prefix(last + 1);
    }
  }
  carry_.append(bytes);
  const std::size_t start = carry_.rfind('\n') + 1;  // npos + 1 is 0
  if (carry_.size() - start > limits_.line) {
    const std::string line = carry_.substr(start);
    carry_.append(kPadding, '\0');
    if (!scan(carry_.data(), carry_.data() + start)) return false;
    ++line_;
    fail(line);
    return false;
  }
  return true;
}

bool GrammarScanner::finish() {
  if (closed_) throw std::logic_error("the grammar scanner is closed");
  if (!carry_.empty()) {
    open_ = carry_.back() != '\n';
    if (open_) carry_ += '\n';
    const std::size_t size = carry_.size();
    carry_.append(kPadding, '\0');
    if (!scan(carry_.data(), carry_.data() + size)) return false;
  }
  closed_ = true;
  return true;
}

bool GrammarScanner::scan(const char* begin, const char* end) {
  forget_wide_registers();
  for (const char* p = begin; p < end;) {
    ++line_;
    if (*p == '\n') {
      ++p;
      continue;
    }
    const char* const last = rule(p);
    const bool own_end = !open_ || last == nullptr || last + 1 < end;
    const bool fits = last != nullptr && static_cast<std::size_t>(last - p) + own_end <= limits_.line;
    if (!fits) [[unlikely]] {
      std::string_view text(p, static_cast<std::size_t>(end - p));
      const std::size_t length = text.find('\n');
      fail(text.substr(0, open_ && length + 1 == text.size() ? length : length + 1));
      return false;
    }
    p = last + 1;
  }
  return true;
}

void GrammarScanner::fail(std::string_view text) {
  closed_ = true;
  fault_.line = line_;
  fault_.text = text;
  fault_.levels = std::min(coarse_.size(), kMaxLevel);
}

const char* GrammarScanner::rule(const char* p) {
  std::size_t level = 0;
  if (same_left(p)) [[likely]] {
    const std::size_t rules = table_.source_offsets.size() - 1;
    const auto first = static_cast<std::size_t>(table_.source_offsets[rules - 1]);
    table_.lhs.push(table_.lhs.back());
    table_.source.repeat(first, table_.source.size() - first);
    p += left_length_;
  } else {
    const char* const begin = p;
    p = skip_blanks(p);
    level = static_cast<std::size_t>(p - begin);
    p = left_side(p);
    if (p != nullptr) p = source_side(p);
    if (p == nullptr) return nullptr;
    left_length_ = 0;
    if (level == 0 && is_blank(*p)) {
      left_.assign(begin, p + 1);
      left_length_ = left_.size();
      left_.append(kPadding, '\0');
    }
  }
  p = target_side(p);
  if (p != nullptr && *p != '\n') p = features(p + 3);
  if (p != nullptr && *p != '\n') p = alignment(p + 3);
  if (p != nullptr && *p != '\n') p = tree(p + 3);
  if (p == nullptr || p[-1] == '\r' || !end_rule(level)) return nullptr;
  return p;
}

// Most rules have the source side of the one before.
bool GrammarScanner::same_left(const char* p) const noexcept {
  if (left_length_ == 0) return false;
  const char* const left = left_.data();
  std::size_t at = 0;
  for (; at + 16 <= left_length_; at += 16) {
    if (same16(p + at, left + at) != 0xFFFFU) return false;
  }
  const std::uint32_t wanted = low_bits(static_cast<unsigned>(left_length_ - at));
  return (same16(p + at, left + at) & wanted) == wanted;
}

const char* GrammarScanner::left_side(const char* p) {
  if (*p != '[') return nullptr;
  const char* const label = ++p;
  while (in_label(*p)) ++p;
  if (*p != ']' || p == label) return nullptr;
  const std::string_view text = view(label, static_cast<std::size_t>(p - label));
  if (!is_utf8(text)) return nullptr;
  table_.lhs.push(table_.labels.add(text).id);
  p = skip_blanks(p + 1);
  return is_bar(p) ? p + 3 : nullptr;
}

// Ends behind the bar.
const char* GrammarScanner::source_side(const char* p) {
  source_labels_.assign(1, kNoLabel);
  all_used_[0] = 1;
  all_used_[1] = 0;
  for (std::size_t count = 0;; ++count) {
    p = skip_blanks(p);
    if (*p == '\n') return nullptr;
    const std::size_t length = token_length(p);
    if (length == 3 && is_bar(p)) return count > 0 ? p + 3 : nullptr;
    if (count == limits_.symbols) return nullptr;
    const auto [id, gap, is_new] = tokens_.add(p, length);
    if (is_new) classify(view(p, length), gap);
    Token& known = known_[static_cast<std::size_t>(id)];
    if (known.bad) return nullptr;
    if (known.source == kUnknown) {  // a label without an index: as yet the token came on target sides at most
      known.source = -1 - table_.labels.add(view(p + 1, length - 2)).id;
    }
    if (known.source < 0) {
      const std::size_t index = source_labels_.size();
      if (index > kMaxIndex || (known.index != 0 && known.index != index)) return nullptr;
      all_used_[index >> 6U] |= std::uint64_t{1} << (index & 63U);
      source_labels_.push_back(-1 - known.source);
    }
    table_.source.push(known.source);
    p += length;
  }
}

// Ends at the bar, or at the line's end.
const char* GrammarScanner::target_side(const char* p) {
  // Whether a token is a word or a gap is hard to foresee, so both go the same way, and faults are looked for once.
  const std::size_t arity = source_labels_.size() - 1;
  std::uint64_t used[2] = {0, 0};
  std::size_t gaps = 0;
  bool bad = false;
  Ends ends(p);
  for (std::size_t count = 0;;) {
    const char* const end = ends.next();
    const auto length = static_cast<std::size_t>(end - p);
    if (length == 0) [[unlikely]] {
      if (*p == '\n') break;
      ++p;
      continue;
    }
    if (length == 3 && is_bar(p)) break;
    if (count++ == limits_.symbols) return nullptr;
    const auto [id, gap, is_new] = tokens_.add(p, length);
    if (gap.target == kUnknown) [[unlikely]] {
      if (is_new) classify(view(p, length), gap);
      if (known_[static_cast<std::size_t>(id)].bad) return nullptr;
      if (gap.target == kUnknown) gap.target = table_.words.add(view(p, length));
    }
    const auto index = static_cast<std::size_t>(gap.target < 0 ? -gap.target : 0);
    table_.target.push(gap.target);
    bad |= index > arity;
    bad |= gap.expected != kAnyLabel && gap.expected != source_labels_[index <= arity ? index : 0];
    gaps += index != 0;
    used[index >> 6U] |= std::uint64_t{1} << (index & 63U);
    p = end;
    if (*p == '\n') break;
    ++p;
  }
  used[0] |= 1;  // which is where the words are counted
  return !bad && gaps == arity && used[0] == all_used_[0] && used[1] == all_used_[1] ? p : nullptr;
}

// Ends at the bar, or at the line's end. Expects the names of the rule before, then takes any.
const char* GrammarScanner::features(const char* p) {
  if (*p != '\n') ++p;  // the blank behind the bar
  const std::size_t expected = std::min(slots_.size(), limits_.features);
  std::int32_t* const ids = table_.features.room(expected);
  float* const values = table_.values.room(expected);
  const Slot* const slots = slots_.data();
  std::size_t place = 0;
  Ends<true> ends(p);
  while (place < expected && *p != '\n') {
    const Slot& slot = slots[place];
    const char* const end = ends.next();
    if (end == p) [[unlikely]] {
      ++p;
      continue;
    }
    if ((same16(p, slot.name) & slot.mask) != slot.mask) break;
    if (slot.length > 16) [[unlikely]] {
      if ((same16(p + 16, slot.name + 16) & slot.more) != slot.more) break;
    }
    const char* const value = p + slot.length;
    if (value >= end || !parse_short(value, static_cast<std::size_t>(end - value), values[place])) break;
    ids[place++] = slot.id;
    p = end + (*end != '\n');
  }
  table_.features.took(place);
  table_.values.took(place);
  return more_features(p, place);
}

const char* GrammarScanner::more_features(const char* p, std::size_t place) {
  bool first = true;
  for (;; ++place) {
    p = skip_between_items(p);
    if (*p == '\n') return p;
    if (is_bar(p) && (is_blank(p[3]) || p[3] == '\n')) return is_blank(p[-1]) ? p : nullptr;
    if (place >= limits_.features) return nullptr;
    if (first) {
      know_features(place);
      first = false;
    }
    const std::size_t length = token_length<true>(p);
    if (!add_feature(p, length, place)) return nullptr;
    p += length;
  }
}

// Remembers where the features of this rule read so far stand.
void GrammarScanner::know_features(std::size_t count) {
  slots_.resize(count);
  const std::size_t begin = table_.features.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::size_t>(slots_[i].id);
    name_line_[id] = line_;
    name_place_[id] = begin + i;
  }
}

bool GrammarScanner::add_feature(const char* p, std::size_t length, std::size_t place) {
  const std::size_t equals = view(p, length).find('=');
  const bool labelled = equals != std::string_view::npos;
  const std::size_t name = labelled ? equals + 1 : 0;
  float number = 0;
  if (equals == 0 || !parse_number(p + name, length - name, number)) return false;
  const std::int32_t id = labelled ? table_.names.add(p, equals).id : unlabelled(place);
  if (id < 0) return false;
  if (table_.names.texts().size() > name_line_.size()) {
    if (labelled && !is_utf8(view(p, equals))) return false;
    name_line_.push_back(0);
    name_place_.push_back(0);
  }
  const auto at = static_cast<std::size_t>(id);
  if (name_line_[at] == line_) {  // the last one counts
    table_.values[name_place_[at]] = number;
    return true;
  }
  if (slots_.size() == place && name <= sizeof Slot::name) {
    Slot slot;
    std::memcpy(slot.name, p, name);
    slot.length = name;
    slot.mask = low_bits(static_cast<unsigned>(std::min<std::size_t>(name, 16)));
    slot.more = low_bits(static_cast<unsigned>(name - std::min<std::size_t>(name, 16)));
    slot.id = id;
    slots_.push_back(slot);
  }
  name_line_[at] = line_;
  name_place_[at] = table_.values.size();
  table_.features.push(id);
  table_.values.push(number);
  return true;
}

std::int32_t GrammarScanner::unlabelled(std::size_t place) {
  if (place >= kMaxUnlabelled) return -1;
  while (unlabelled_.size() <= place) unlabelled_.push_back(-1);
  if (unlabelled_[place] < 0) unlabelled_[place] = table_.names.add("PhraseModel_" + std::to_string(place)).id;
  return unlabelled_[place];
}

// Ends at the bar, or at the line's end.
const char* GrammarScanner::alignment(const char* p) {
  for (std::size_t count = 0;; ++count) {
    if (*p == ' ') ++p;
    if (is_digit(p[0]) && p[1] == '-' && is_digit(p[2]) && is_end(p[3]) && count < limits_.features) [[likely]] {
      table_.points.push(static_cast<std::int16_t>(p[0] - '0'));
      table_.points.push(static_cast<std::int16_t>(p[2] - '0'));
      p += 3;
      continue;
    }
    p = skip_blanks(p);
    if (*p == '\n') return p;
    const std::size_t length = token_length(p);
    if (length == 3 && is_bar(p)) return p;
    const std::string_view text = view(p, length);
    const std::size_t dash = std::min(text.find('-'), length - 1);
    const int from = position(text.substr(0, dash));
    const int to = position(text.substr(dash + 1));
    if (from < 0 || to < 0 || count == limits_.features) return nullptr;
    table_.points.push(static_cast<std::int16_t>(from));
    table_.points.push(static_cast<std::int16_t>(to));
    p += length;
  }
}

// A tree in round brackets with as many `[LABEL]` leaves as the rule has non-terminals. Ends at the line's end.
const char* GrammarScanner::tree(const char* p) const {
  p = skip_blanks(p);
  const char* line_end = p;
  while (*line_end != '\n') ++line_end;
  const char* end = line_end;
  while (end > p && is_blank(end[-1])) --end;
  if (p == end) return line_end;
  const std::string_view text = view(p, static_cast<std::size_t>(end - p));
  if (text.front() != '(' || text.find('|') != std::string_view::npos || !is_utf8(text)) return nullptr;
  std::size_t depth = 0;
  std::size_t leaves = 0;
  bool label = false;  // what comes next names a node
  while (p < end) {
    if (*p == '(') {
      ++depth;
      label = true;
      ++p;
    } else if (*p == ')') {
      ++p;
      label = false;
      if (--depth == 0 && p != end) return nullptr;
    } else if (*p == ' ') {
      ++p;
    } else {
      const char* const begin = p;
      while (p < end && *p != ' ' && *p != '(' && *p != ')') ++p;
      leaves += !label && p - begin >= 3 && *begin == '[' && p[-1] == ']';
      label = false;
    }
  }
  return depth == 0 && leaves + 1 == source_labels_.size() ? line_end : nullptr;
}

bool GrammarScanner::end_rule(std::size_t level) {
  const std::size_t rule = table_.level.size();
  table_.level.push(static_cast<std::uint8_t>(level));
  table_.source_offsets.push(static_cast<std::int64_t>(table_.source.size()));
  table_.target_offsets.push(static_cast<std::int64_t>(table_.target.size()));
  table_.feature_offsets.push(static_cast<std::int64_t>(table_.features.size()));
  table_.point_offsets.push(static_cast<std::int64_t>(table_.points.size() / 2));
  if (level > std::min(coarse_.size(), kMaxLevel)) return false;
  if (level > 0 && !refines(coarse_[level - 1])) {
    fault_.refinement = true;
    return false;
  }
  coarse_.resize(level + 1);
  coarse_[level] = rule;
  return true;
}

// Whether the last rule differs from an earlier one in its labels alone.
bool GrammarScanner::refines(std::size_t coarse) const noexcept {
  const std::size_t rule = table_.level.size() - 1;
  const auto same = [&](const Growing<std::int32_t>& symbols, const Growing<std::int64_t>& offsets, bool labels) {
    const std::int32_t* const fine = symbols.data() + offsets[rule];
    const std::int32_t* const end = symbols.data() + offsets[rule + 1];
    const std::int32_t* const other = symbols.data() + offsets[coarse];
    if (end - fine != offsets[coarse + 1] - offsets[coarse]) return false;
    return std::equal(fine, end, other,
                      [&](std::int32_t a, std::int32_t b) { return a == b || (labels && a < 0 && b < 0); });
  };
  return same(table_.source, table_.source_offsets, true) && same(table_.target, table_.target_offsets, false);
}

void GrammarScanner::classify(std::string_view text, Gap& gap) {
  Token& found = known_.emplace_back();
  if (!is_utf8(text)) {
    found.bad = true;
    return;
  }
  const bool brackets = text.size() >= 3 && text.front() == '[' && text.back() == ']';
  const std::string_view inner = brackets ? text.substr(1, text.size() - 2) : "";
  const std::size_t comma = inner.find(',');
  const std::string_view label = inner.substr(0, comma);
  const bool numbered = comma != std::string_view::npos;
  const std::uint8_t index = index_of(numbered ? inner.substr(comma + 1) : inner);
  if (!is_label(label) || (numbered && index == 0)) {
    found.source = gap.target = table_.words.add(text);
    return;
  }
  if (index != 0) gap.target = -static_cast<std::int32_t>(index);
  if (numbered) {
    gap.expected = table_.labels.add(label).id;
    found.source = -1 - gap.expected;
    found.index = index;
  } else if (index != 0) {
    gap.expected = kAnyLabel;
  }
}

}  // namespace smt
