#include "json/list_line.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "json/spelling.hpp"

namespace smt::json {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kMaxLayouts = 4096;
constexpr std::size_t kMaxExtras = 64;   // of a hypothesis
constexpr std::ptrdiff_t kMaxDigits = 300;  // of numbers that Python keeps whole
constexpr std::string_view kPrompt = "prompt";
constexpr std::array<std::string_view, 7> kThoughtEnds = {"think>",     "thinking>", "thought>",  "thoughts>",
                                                          "reasoning>", "THINK]",    "channel|>"};

template <class Strings>
std::size_t place_of(const Strings& names, std::string_view name) noexcept {
  const auto found = std::find(std::begin(names), std::end(names), name);
  return found == std::end(names) ? kNone : static_cast<std::size_t>(found - std::begin(names));
}

// Reads `"name":` and the blanks after it.
const char* read_key(const char* p, String& key) noexcept {
  p = read_string(p, key);
  if (p == nullptr || key.escaped) return nullptr;
  p = skip(p);
  return *p == ':' ? skip(p + 1) : nullptr;
}

// Reads the members of an object, whose brace is at p, by a function that takes a key and the start of its value and
// returns its end.
template <class Read>
const char* read_members(const char* p, Read read) {
  if (*p != '{') return nullptr;
  p = skip(p + 1);
  if (*p == '}') return p + 1;
  for (String key;;) {
    p = read_key(p, key);
    if (p != nullptr) p = read(key.text, p);
    if (p == nullptr) return nullptr;
    p = skip(p);
    if (*p == '}') return p + 1;
    if (*p != ',') return nullptr;
    p = skip(p + 1);
  }
}

const char* read_null(const char* p) noexcept {
  return std::string_view(p, 4) == "null" ? p + 4 : nullptr;
}

bool is_sound(const String& string, std::string& decoded) { return !string.escaped || decode(string, decoded); }

// The text of a string that is sound.
std::string_view text_of(const String& string, std::string& decoded) {
  if (!string.escaped) return string.text;
  decode(string, decoded);
  return decoded;
}

// Whether a text may hold a model's thoughts, which the other parser finds by their tags.
bool may_think(std::string_view text) noexcept {
  if (text.find('<') == std::string_view::npos && text.find('[') == std::string_view::npos) return false;
  const auto occurs = [&](std::string_view end) { return text.find(end) != std::string_view::npos; };
  return std::any_of(kThoughtEnds.begin(), kThoughtEnds.end(), occurs);
}

std::string_view stripped(std::string_view text) noexcept {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

}  // namespace

std::int32_t Layouts::find(const std::vector<std::string_view>& names) {
  const auto is_same = [&](const std::vector<std::string>& layout) {
    return std::equal(names.begin(), names.end(), layout.begin(), layout.end());
  };
  if (last_ < layouts_.size() && is_same(layouts_[last_])) {
    return static_cast<std::int32_t>(last_);
  }
  std::string key;
  for (const std::string_view name : names) key.append(std::to_string(name.size())).append(" ").append(name);
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    last_ = static_cast<std::size_t>(known->second);
    return known->second;
  }
  if (std::unordered_set<std::string_view>(names.begin(), names.end()).size() != names.size()) return -1;
  last_ = layouts_.size();
  layouts_.emplace_back(names.begin(), names.end());
  numbers_.emplace(std::move(key), static_cast<std::int32_t>(last_));
  return static_cast<std::int32_t>(last_);
}

void Layouts::limit() {
  if (layouts_.size() < kMaxLayouts) return;
  layouts_.clear();
  numbers_.clear();
  ++age_;
}

const char* ListLine::read(const char* p) {
  layouts_.limit();
  items_.clear();
  values_.clear();
  extras_.clear();
  numbers_.clear();
  keys_.clear();
  has_id_ = has_source_ = false;
  bool is_prompted = false;
  p = read_members(skip(p), [&](std::string_view key, const char* at) -> const char* {
    if (place_of(names_.lists, key) != kNone) return items_.empty() ? list(at) : nullptr;
    if (place_of(names_.ids, key) != kNone) {
      if (std::exchange(has_id_, true)) return nullptr;
      if (*at == '"') return read_string(at, id_);
      // The names of a list's members are longer than kFront, an id may stand at the beginning.
      const char* const end = number_end(at);
      // A whole number may be spelled as a fraction, too.
      if (end == nullptr || end - at > kMaxDigits || !std::all_of(at, end, is_digit)) return nullptr;
      id_ = {{at, static_cast<std::size_t>(end - at)}, false};
      return end;
    }
    if (place_of(names_.sources, key) == kNone || std::exchange(has_source_, true)) return nullptr;
    is_prompted = key == kPrompt;
    return read_string(at, source_);
  });
  if (p == nullptr || items_.empty()) return nullptr;
  if ((has_id_ && !is_sound(id_, decoded_)) || (has_source_ && !is_sound(source_, decoded_))) return nullptr;
  if ((has_id_ && id_.text.empty()) || (is_prompted && is_echoed())) return nullptr;
  p = skip(p);
  return *p == '\n' ? p : nullptr;
}

// Whether a hypothesis begins with the source, which is the prompt.
bool ListLine::is_echoed() {
  std::string kept;
  const std::string_view prompt = stripped(text_of(source_, kept));
  return !prompt.empty() && std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
    return stripped(text_of(item.text, decoded_)).starts_with(prompt);
  });
}

// Reads the hypotheses, of which there is at least one; all have totals or none.
const char* ListLine::list(const char* p) {
  if (*p != '[') return nullptr;
  p = skip(p + 1);
  for (;;) {
    Item& item = items_.emplace_back();
    p = read_item(p, item);
    if (p == nullptr || item.has_total != items_.front().has_total) return nullptr;
    p = skip(p);
    if (*p == ']') return p + 1;
    if (*p != ',') return nullptr;
    p = skip(p + 1);
  }
}

const char* ListLine::read_item(const char* p, Item& item) {
  item.begin = p;
  item.values = values_.size();
  item.is_string = *p == '"';
  p = item.is_string ? read_string(p, item.text) : object(p, item);
  item.end = p;
  if (p == nullptr || !is_sound(item.text, decoded_)) return nullptr;
  return !may_think(item.text.escaped ? decoded_ : item.text.text) && settle(item) ? p : nullptr;
}

const char* ListLine::object(const char* p, Item& item) {
  bool has_text = false;
  const std::size_t first = extras_.size();
  p = read_members(p, [&](std::string_view key, const char* at) -> const char* {
    if (const std::size_t name = place_of(kScoreKeys, key); name != kNone) return score(at, item.scores[name]);
    if (place_of(names_.texts, key) != kNone) {
      return std::exchange(has_text, true) ? nullptr : read_string(at, item.text);
    }
    const auto others = extras_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto is_same = [&](const Extra& other) { return other.name == key; };
    if (place_of(names_.others, key) != kNone || extras_.size() - first == kMaxExtras) return nullptr;
    if (std::any_of(others, extras_.end(), is_same)) return nullptr;
    Extra& member = extras_.emplace_back();
    member.item = items_.size() - 1;
    member.name = key;
    return extra(at, member);
  });
  return has_text ? p : nullptr;
}

const char* ListLine::score(const char* p, Score& score) {
  if (score.kind != Score::kAbsent) return nullptr;
  score.begin = p;
  if (*p == '{') {
    score.kind = Score::kObject;
    // Features of two objects would mix.
    p = keys_.empty() ? features(p) : nullptr;
  } else if (*p == 'n') {
    score.kind = Score::kNull;
    p = read_null(p);
  } else {
    score.kind = Score::kNumber;
    p = read_number(p, score.value);
  }
  score.end = p;
  return p;
}

const char* ListLine::features(const char* p) {
  return read_members(p, [&](std::string_view key, const char* at) {
    double value = 0;
    const char* const end = read_number(at, value);
    keys_.push_back(key);
    values_.push_back(value);
    return end;
  });
}

const char* ListLine::extra(const char* p, Extra& member) {
  if (*p == '"') {
    p = read_string(p, member.value);
    return p != nullptr && is_sound(member.value, decoded_) ? p : nullptr;
  }
  for (const std::string_view word : {"null", "true", "false"}) {
    if (std::string_view(p, word.size()) != word) continue;
    if (word != "null") member.value.text = word;
    return p + word.size();
  }
  double value = 0;
  const char* const end = read_number(p, value);
  if (end == nullptr) return nullptr;
  const std::string_view spelled(p, static_cast<std::size_t>(end - p));
  constexpr std::string_view kOfFractions = ".eE";
  const bool whole = spelled.find_first_of(kOfFractions) == std::string_view::npos;
  if (whole && end - p <= kMaxDigits && spelled != "-0") {
    member.value.text = spelled;
    return end;
  }
  // As Python spells it.
  std::string& number = numbers_.emplace_back();
  append_number(number, value);
  if (number.find_first_of(kOfFractions) == std::string::npos) number += ".0";
  member.value.text = number;
  return end;
}

// Finds the total of a hypothesis and the layout of its features.
bool ListLine::settle(Item& item) {
  std::size_t objects = 0;
  std::array<const Score*, kScoreNames> numbers{};
  std::size_t count = 0;
  for (const Score& score : item.scores) {
    objects += score.kind == Score::kObject;
    if (score.kind == Score::kNumber) numbers[count++] = &score;
  }
  const bool twice = item.scores[kScore].kind == Score::kNumber && item.scores[kScores].kind == Score::kNumber;
  if (objects > 1 || twice) return false;
  item.has_total = count > 0;
  if (item.has_total) item.total = numbers[0]->value;
  if (objects == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_logprob = numbers[i] == &item.scores[kLogprob];
      keys_.push_back(is_logprob ? kScoreKeys[kLogprob] : kScoreKeys[kScore]);
      values_.push_back(numbers[i]->value);
    }
  }
  item.layout = layouts_.find(keys_);
  keys_.clear();
  return item.layout >= 0;
}

}  // namespace smt::json
