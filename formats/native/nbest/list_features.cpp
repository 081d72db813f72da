// The features of a line of an n-best list.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "bytes.hpp"
#include "nbest/doubles.hpp"
#include "nbest/fields.hpp"
#include "nbest/list_scanner.hpp"

namespace smt {
namespace {

// Whether there are blanks that only the record parser handles.
bool has_odd_blank(std::string_view text) noexcept {
  const auto is_odd = [](char c) { return (c >= '\x0b' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); };
  return std::any_of(text.begin(), text.end(), is_odd);
}

}  // namespace

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
  if (place == expected && expected > 0 && is_field_end(p - 1)) [[likely]] {
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
