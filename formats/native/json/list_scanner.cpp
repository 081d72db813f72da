#include "json/list_scanner.hpp"

#include <algorithm>
#include <utility>

namespace smt::json {
namespace {

constexpr std::size_t kMaxDigits = 18;
constexpr std::size_t kMaxColumns = 256;

// Normalizes an id for comparison: 07 is 7.
std::string_view normal(std::string_view id) noexcept {
  if (id.empty() || id.size() > kMaxDigits || !std::all_of(id.begin(), id.end(), is_digit)) return id;
  const std::size_t first = std::min(id.find_first_not_of('0'), id.size() - 1);
  return id.substr(first);
}

}  // namespace

std::string_view ListScanner::text_of(const String& string) {
  if (!string.escaped) return string.text;
  decode(string, decoded_);
  return decoded_;
}

const char* ListScanner::scan_line(const char* p) {
  const char* const newline = line_.read(p);
  if (newline == nullptr || !is_utf8({p, static_cast<std::size_t>(newline - p)}) || !add_id()) return nullptr;
  if (table_.extras.size() > kMaxColumns) return nullptr;
  if (std::exchange(age_, line_.layouts().age()) != line_.layouts().age()) layout_names_.clear();
  const std::size_t first = table_.texts.size();
  for (const Item& item : line_.items()) add_item(item);
  add_extras(first);
  table_.offsets.push(static_cast<std::int64_t>(table_.texts.size()));
  table_.lines.push(static_cast<std::int64_t>(lines()));
  table_.has_source.push(line_.has_source());
  table_.sources.add(line_.has_source() ? text_of(line_.source()) : std::string_view());
  return newline;
}

// Adds the id of the line, by default the number of lists before it. False if the file had it before, or if some lines
// have ids and others have none.
bool ListScanner::add_id() {
  if (table_.ids.size() == 0) has_ids_ = line_.has_id();
  if (has_ids_ != line_.has_id()) return false;
  const std::string number = line_.has_id() ? "" : std::to_string(table_.ids.size());
  const std::string_view id = line_.has_id() ? text_of(line_.id()) : std::string_view(number);
  table_.ids.add(id);
  return known_.add(normal(id)).is_new;
}

void ListScanner::add_item(const Item& item) {
  const auto layout = static_cast<std::size_t>(item.layout);
  for (std::size_t i = layout_names_.size(); i <= layout; ++i) {
    std::vector<std::int32_t>& ids = layout_names_.emplace_back();
    for (const std::string& name : line_.layouts()[i]) ids.push_back(table_.names.add(name).id);
  }
  const std::vector<std::int32_t>& ids = layout_names_[layout];
  const std::vector<double>& values = line_.values();
  table_.texts.add(text_of(item.text));
  table_.features.append(ids.data(), ids.size());
  table_.values.append(values.data() + item.values, ids.size());
  table_.feature_offsets.push(static_cast<std::int64_t>(table_.values.size()));
  if (item.has_total) table_.totals.push(item.total);
}

// Adds the other members of a list, whose hypotheses begin at `first`; a hypothesis without one has an empty text.
void ListScanner::add_extras(std::size_t first) {
  for (const Extra& extra : line_.extras()) {
    const auto is_same = [&](const ListTable::Column& column) { return column.name == extra.name; };
    auto column = std::find_if(table_.extras.begin(), table_.extras.end(), is_same);
    if (column == table_.extras.end()) {
      column = table_.extras.insert(column, ListTable::Column{std::string(extra.name), {}});
    }
    while (column->texts.size() < first + extra.item) column->texts.add("");
    column->texts.add(text_of(extra.value));
  }
  for (ListTable::Column& column : table_.extras) {
    while (column.texts.size() < table_.texts.size()) column.texts.add("");
  }
}

}  // namespace smt::json
