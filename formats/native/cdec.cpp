#include "cdec.hpp"

#include <algorithm>
#include <stdexcept>

#include "bytes.hpp"
#include "numbers.hpp"

namespace smt {
namespace {

constexpr std::size_t kMaxUnlabelled = 100;  // that cdec has names for
constexpr std::size_t kMaxIndex = 99;
constexpr std::size_t kMaxLevel = 255;

const char* skip_between_items(const char* p) noexcept {
  while (is_blank(*p) || *p == ';') ++p;
  return p;
}

std::size_t item_length(const char* p) noexcept {
  const char* const begin = p;
  while (!is_end(*p) && *p != ';') ++p;
  return static_cast<std::size_t>(p - begin);
}

bool in_label(char c) noexcept {
  return c != '\t' && c != '\n' && c != '\r' && c != ' ' && c != '[' && c != ']' && c != ',';
}

bool is_label(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), in_label);
}

// Parses 1 to 99 without a leading zero; 0 otherwise.
std::uint8_t index_of(std::string_view text) noexcept {
  if (text.empty() || text.size() > 2 || text[0] == '0') return 0;
  int index = 0;
  for (const char c : text) {
    if (!is_digit(c)) return 0;
    index = 10 * index + (c - '0');
  }
  return static_cast<std::uint8_t>(index);
}

}  // namespace

std::size_t CdecScanner::levels() const noexcept { return std::min(coarse_.size(), kMaxLevel); }

const char* CdecScanner::scan_line(const char* p) {
  std::size_t level = 0;
  if (const std::size_t known = repeat_source(p); known > 0) [[likely]] {
    table_.lhs.push(table_.lhs.back());
    p += known;
  } else {
    const char* const begin = p;
    p = skip_blanks(p);
    level = static_cast<std::size_t>(p - begin);
    p = left_side(p);
    if (p != nullptr) p = source_side(p);
    if (p == nullptr) return nullptr;
    if (level == 0 && is_blank(*p)) {
      know_source(begin, ++p);
    } else {
      forget_text();  // what is known must be the previous rule's
    }
  }
  p = target_side(p);
  if (p != nullptr && *p != '\n') p = features(p + 3);
  if (p != nullptr && *p != '\n') p = points(p + 3);
  if (p != nullptr && *p != '\n') p = tree(p + 3);
  if (p == nullptr || p[-1] == '\r' || !check_level(level)) return nullptr;
  end_rule(level);
  return p;
}

const char* CdecScanner::left_side(const char* p) {
  if (*p != '[') return nullptr;
  const char* const label = ++p;
  while (in_label(*p)) ++p;
  if (*p != ']' || p == label) return nullptr;
  const std::string_view text = view(label, static_cast<std::size_t>(p - label));
  if (!is_utf8(text)) return nullptr;
  table_.lhs.push(table_.labels.add(text).id);
  p = skip_blanks(p + 1);
  return view(p, 3) == "|||" ? p + 3 : nullptr;
}

// Returns the position after the bar.
const char* CdecScanner::source_side(const char* p) {
  arity_ = 0;
  all_used_[0] = 1;
  all_used_[1] = 0;
  for (std::size_t count = 0;; ++count) {
    p = skip_blanks(p);
    if (*p == '\n') return nullptr;
    const std::size_t length = token_length(p);
    if (is_bar(p)) return count > 0 ? p + 3 : nullptr;
    if (count == limits_.symbols) return nullptr;
    const auto [id, gap, is_new] = tokens_.add(p, length);
    if (is_new) classify(view(p, length), gap);
    Token& known = known_[static_cast<std::size_t>(id)];
    if (known.bad) return nullptr;
    if (known.source == kUnknown) {  // a label without an index, seen on target sides only
      known.source = -1 - table_.labels.add(view(p + 1, length - 2)).id;
    }
    if (known.source < 0) {
      const std::size_t index = arity_ + 1;
      if (index > kMaxIndex || (known.index != 0 && known.index != index)) return nullptr;
      all_used_[index >> 6U] |= std::uint64_t{1} << (index & 63U);
      labels_[index] = -1 - known.source;
      arity_ = index;
    }
    table_.source.push(known.source);
    p += length;
  }
}

// Returns the bar or the end of the line.
const char* CdecScanner::target_side(const char* p) {
  // Whether a token is a word or a gap is hard to predict, so both take the same path, and errors are checked once.
  std::uint64_t used[2] = {0, 0};
  std::size_t gaps = 0;
  bool bad = false;
  const std::size_t first = table_.target.size();
  Ends ends(p);
  for (;;) {
    const char* const end = ends.next();
    const auto length = static_cast<std::size_t>(end - p);
    if (length == 0) [[unlikely]] {
      if (*p == '\n') break;
      ++p;
      continue;
    }
    if (is_bar(p)) [[unlikely]] break;
    const auto [id, gap, is_new] = tokens_.add(p, length);
    if (gap.target == kUnknown) [[unlikely]] {
      if (is_new) classify(view(p, length), gap);
      if (known_[static_cast<std::size_t>(id)].bad) return nullptr;
      if (gap.target == kUnknown) gap.target = table_.words.add(view(p, length));
    }
    const auto index = static_cast<std::size_t>(std::max(-gap.target, 0));
    bad |= (gap.expected != labels_[index]) & (gap.expected != kAnyLabel);
    gaps += index != 0;
    used[index >> 6U] |= std::uint64_t{1} << (index & 63U);
    table_.target.push(gap.target);
    p = end;
    if (*p == '\n') [[unlikely]] break;
    ++p;
  }
  used[0] |= 1;  // the bit that words set
  bad |= table_.target.size() - first > limits_.symbols || gaps != arity_;
  return !bad && used[0] == all_used_[0] && used[1] == all_used_[1] ? p : nullptr;
}

// Returns the bar or the end of the line. Expects the names of the previous rule first, then accepts any.
const char* CdecScanner::features(const char* p) {
  if (*p == '\n') return p;
  ++p;  // the blank after the bar
  const std::size_t expected = std::min(slots_.size(), limits_.features);
  std::int32_t* const ids = table_.features.room(expected);
  float* const values = table_.values.room(expected);
  const Slot* const slots = slots_.data();
  std::size_t place = 0;
  Ends ends(p);
  while (place < expected) {
    const Slot& slot = slots[place];
    const char* const end = ends.next();
    if ((same16(p, slot.name) & slot.mask) != slot.mask) break;
    if (slot.more != 0 && (same16(p + 16, slot.name + 16) & slot.more) != slot.more) [[unlikely]] break;
    const char* const value = p + slot.length;
    if (!parse_short(value, static_cast<std::size_t>(end - value), values[place])) break;
    ids[place++] = slot.id;
    p = end;
    if (*p == '\n') [[unlikely]] break;
    ++p;
  }
  table_.features.took(place);
  table_.values.took(place);
  if (place == expected && is_bar(p) && is_blank(p[-1])) [[likely]] return p;
  return more_features(p, place);
}

const char* CdecScanner::more_features(const char* p, std::size_t place) {
  bool first = true;
  for (;; ++place) {
    p = skip_between_items(p);
    if (*p == '\n') return p;
    if (is_bar(p)) return is_blank(p[-1]) ? p : nullptr;
    if (place >= limits_.features) return nullptr;
    if (first) {
      slots_.resize(place);
      know_put(place);
      first = false;
    }
    const std::size_t length = item_length(p);
    if (!add_feature(p, length, place)) return nullptr;
    p += length;
  }
}

bool CdecScanner::add_feature(const char* p, std::size_t length, std::size_t place) {
  const std::size_t equals = view(p, length).find('=');
  const bool labelled = equals != std::string_view::npos;
  const std::size_t name = labelled ? equals + 1 : 0;
  float number = 0;
  if (equals == 0 || !parse_number(p + name, length - name, number)) return false;
  std::int32_t id = -1;
  if (labelled) {
    const auto found = table_.names.add(p, equals);
    if (found.is_new && !is_utf8(view(p, equals))) return false;
    id = found.id;
  } else if ((id = unlabelled(place)) < 0) {
    return false;
  }
  if (put(id, number) && slots_.size() == place && name <= sizeof Slot::name) {
    Slot slot;
    std::memcpy(slot.name, p, name);
    slot.length = name;
    slot.mask = low_bits(static_cast<unsigned>(std::min<std::size_t>(name, 16)));
    slot.more = low_bits(static_cast<unsigned>(name - std::min<std::size_t>(name, 16)));
    slot.id = id;
    slots_.push_back(slot);
  }
  return true;
}

std::int32_t CdecScanner::unlabelled(std::size_t place) {
  if (place >= kMaxUnlabelled) return -1;
  while (unlabelled_.size() <= place) unlabelled_.push_back(-1);
  if (unlabelled_[place] < 0) unlabelled_[place] = table_.names.add("PhraseModel_" + std::to_string(place)).id;
  return unlabelled_[place];
}

// Checks a tree in round brackets with as many `[LABEL]` leaves as the rule has non-terminals. Returns the line's end.
const char* CdecScanner::tree(const char* p) const {
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
  bool label = false;  // the next token names a node
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
  return depth == 0 && leaves == arity_ ? line_end : nullptr;
}

bool CdecScanner::check_level(std::size_t level) {
  if (level > levels()) return false;
  if (level > 0 && !refines(coarse_[level - 1])) {
    bad_refinement_ = true;
    return false;
  }
  coarse_.resize(level + 1);
  coarse_[level] = table_.rules();
  return true;
}

// Whether this rule differs from an earlier one in its labels only.
bool CdecScanner::refines(std::size_t coarse) const noexcept {
  const auto same = [&](const Growing<std::int32_t>& symbols, const Growing<std::int64_t>& offsets, bool labels) {
    const std::int32_t* const fine = symbols.data() + offsets.back();
    const std::int32_t* const end = symbols.data() + symbols.size();
    const std::int32_t* const other = symbols.data() + offsets[coarse];
    if (end - fine != offsets[coarse + 1] - offsets[coarse]) return false;
    return std::equal(fine, end, other,
                      [&](std::int32_t a, std::int32_t b) { return a == b || (labels && a < 0 && b < 0); });
  };
  return same(table_.source, table_.source_offsets, true) && same(table_.target, table_.target_offsets, false);
}

void CdecScanner::classify(std::string_view text, Gap& gap) {
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
