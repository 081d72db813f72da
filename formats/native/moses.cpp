#include "moses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "bytes.hpp"
#include "numbers.hpp"

namespace smt {
namespace {

bool is_whole(const char* p, std::size_t length) noexcept {
  return length <= 30 && std::all_of(p, p + length, is_digit);
}

constexpr double kFloor = -100.0;
const double kLeast = std::exp(kFloor);
constexpr std::string_view kBar = "|||";
const std::uint64_t kNothingMore = load8("||| |||\n");  // the end of nearly all lines

float logarithm(double number) noexcept {
  if (number == 1) return 0;
  return static_cast<float>(number > kLeast ? std::log(number) : kFloor);
}

}  // namespace

MosesScanner::MosesScanner(RuleLimits limits, bool gaps, std::string prefix)
    : RuleScanner(limits), gaps_(gaps), prefix_(std::move(prefix)) {}

void MosesScanner::expect(const std::vector<std::string>& names) {
  score_names_.clear();
  for (const std::string& name : names) score_names_.push_back(table_.names.add(name).id);
  numbers_.resize(names.size());
}

void MosesScanner::add(const std::string& lhs, const Symbols& source, const Symbols& target,
                       const std::vector<std::pair<std::string, double>>& features,
                       const std::vector<std::pair<int, int>>& points) {
  table_.lhs.push(table_.labels.add(lhs).id);
  for (const auto& [text, gap] : source) table_.source.push(gap != 0 ? -1 - table_.labels.add(text).id : word(text));
  for (const auto& [text, index] : target) table_.target.push(index > 0 ? -index : word(text));
  for (const auto& [name, value] : features) {
    table_.features.push(table_.names.add(name).id);
    table_.values.push(static_cast<float>(value));
  }
  for (const auto& [s, t] : points) {
    for (const int place : {s, t}) table_.points.push(static_cast<std::int16_t>(place));
  }
  end_sound_rule();
}

void MosesScanner::end_sound_rule() {
  end_rule();
  sound_tokens_ = tokens_.texts().size();
  sound_words_ = table_.words.size();
}

// Tokens taken for words on a bad line may not be words.
void MosesScanner::undo() {
  RuleScanner::undo();
  for (std::size_t i = sound_tokens_; i < tokens_.texts().size(); ++i) {
    tokens_.add(std::string(tokens_.texts()[i])).payload = Symbol{};
  }
  table_.words.cut(sound_words_);
}

const char* MosesScanner::scan_line(const char* p) {
  if (score_names_.empty() || score_names_.size() > limits_.features) return nullptr;
  const char* const begin = p;
  const std::size_t known = repeat_source(p);
  p += known;
  Ends ends(p);
  if (known == 0) {
    p = side(p, ends, table_.source, source_);
    if (p == nullptr || source_.size == 0) return nullptr;
    know_source(begin, p);
  }
  p = side(p, ends, table_.target, target_);
  if (p == nullptr) return nullptr;
  table_.lhs.push(lhs());
  p = scores(p, Ends(p), p - begin < 16);
  if (p != nullptr && *p != '\n') p = points(p + kBar.size());
  if (p == nullptr || ((source_.gaps | target_.gaps) != 0 && !link_gaps())) return nullptr;
  if (*p != '\n') p = numbers(p + kBar.size());
  if (p != nullptr && load8(p) == kNothingMore) [[likely]] {
    p += sizeof kNothingMore - 1;
  } else {
    if (p != nullptr && *p != '\n') p = sparse(p + kBar.size());
    if (p != nullptr && *p != '\n') p = properties(p + kBar.size());
  }
  if (p == nullptr) return nullptr;
  end_sound_rule();
  return p;
}

// Returns the position after the bar and its blank.
const char* MosesScanner::side(const char* p, Ends& ends, Growing<std::int32_t>& symbols, Side& found) {
  return gaps_ ? side<true>(p, ends, symbols, found) : side<false>(p, ends, symbols, found);
}

template <bool kGaps>
const char* MosesScanner::side(const char* p, Ends& line, Growing<std::int32_t>& symbols, Side& found) {
  const std::size_t first = symbols.size();
  std::uint64_t gaps = 0;
  std::size_t labels = 0;
  std::int32_t last = kNone;
  Ends ends = line;
  for (;; ++p) {
    const char* const end = ends.next();
    if (*end == '\n') [[unlikely]] return nullptr;
    const auto length = static_cast<std::size_t>(end - p);
    if (length == 0) [[unlikely]] continue;
    if (is_bar(p)) [[unlikely]] break;
    const auto token = tokens_.add(p, length);
    std::int32_t& symbol = token.payload.value;
    if (symbol <= kBad) [[unlikely]] {
      if (symbol == kNone) symbol = classify(view(p, length));
      if (symbol == kBad) return nullptr;
    }
    // Whether a token is a word or a gap is hard to predict.
    if constexpr (kGaps) {
      labels += symbol == kLabel;
      gaps |= std::uint64_t{symbol < 0} << ((symbols.size() - first) % kPlaces);
    }
    symbols.push(symbol);
    last = token.id;
    p = end;
  }
  line = ends;
  std::size_t size = symbols.size() - first;
  if (size > limits_.symbols || labels != std::size_t{kGaps}) return nullptr;
  if constexpr (kGaps) {
    if (symbols.back() != kLabel) return nullptr;
    symbols.cut(first + --size);
    gaps ^= std::uint64_t{1} << (size % kPlaces);
    if (gaps != 0 && size > kPlaces) return nullptr;
  }
  found = {size, gaps, last};
  return p + kBar.size() + 1;
}

std::int32_t MosesScanner::lhs() {
  const std::pair tokens = gaps_ ? std::pair(source_.label, target_.label) : std::pair(0, 0);
  if (tokens != lhs_tokens_) {
    const auto inner = [&](std::int32_t token) {
      const std::string_view text = tokens_.texts()[static_cast<std::size_t>(token)];
      return text.substr(1, text.size() - 2);
    };
    lhs_ = gaps_ ? label(inner(source_.label), inner(target_.label)) : label("X", "X");
    lhs_tokens_ = tokens;
  }
  return lhs_;
}

// Starts where `ends` does; returns the bar or the end of the line. `first`: there may be no readable bytes before the
// line.
const char* MosesScanner::scores(const char* p, Ends ends, bool first) {
  const std::size_t count = score_names_.size();
  table_.features.append(score_names_.data(), count);
  std::size_t place = 0;
  while (place < count) {
    const char* const end = ends.next();
    const auto length = static_cast<std::size_t>(end - p);
    if (length > 0) [[likely]] {
      double& number = numbers_[place++];
      const bool sound = first ? parse_number(p, length, number) : parse_short(p, length, number);
      if (!sound || number < 0) return nullptr;
    }
    p = end;
    if (*p == '\n') break;
    ++p;
  }
  p = skip_blanks(p);
  if (place < count || (*p != '\n' && !is_bar(p))) return nullptr;
  float* const values = table_.values.room(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = logarithm(numbers_[i]);
  table_.values.took(count);
  return p;
}

// Checks that each gap of a side has one point, which links it to a gap of the other side with the same labels.
bool MosesScanner::link_gaps() {
  std::int32_t* const target = table_.target.data() + table_.target_offsets.back();
  const std::int32_t* const source = table_.source.data() + table_.source_offsets.back();
  std::uint64_t left = source_.gaps, right = target_.gaps;  // without a point so far
  const auto at = [](std::uint64_t gaps, std::int16_t place) {
    return static_cast<std::size_t>(place) < kPlaces ? gaps & std::uint64_t{1} << place : 0;
  };
  for (auto i = 2 * static_cast<std::size_t>(table_.point_offsets.back()); i < table_.points.size(); i += 2) {
    const std::int16_t s = table_.points[i], t = table_.points[i + 1];
    if ((at(source_.gaps, s) | at(target_.gaps, t)) == 0) continue;
    if (at(left, s) == 0 || at(right, t) == 0 || source[s] != target[t]) return false;
    left ^= std::uint64_t{1} << s;
    right ^= std::uint64_t{1} << t;
    const std::uint64_t before = source_.gaps & ((std::uint64_t{1} << s) - 1);
    target[t] = -1 - std::popcount(before);
  }
  return (left | right) == 0;
}

// Checks counts, which are not kept. Returns the bar or the end of the line.
const char* MosesScanner::numbers(const char* p) const {
  // Fast path: only whole numbers, within 16 bytes.
  const int whole = std::countr_one(digits_or_blanks16(p));
  if (is_bar(p + whole) && is_blank(p[whole - 1]) && limits_.features >= 8) [[likely]] return p + whole;
  std::size_t count = 0;
  Ends ends(p);
  for (;;) {
    const char* const end = ends.next();
    const auto length = static_cast<std::size_t>(end - p);
    if (length > 0) {
      float number = 0;
      if (is_bar(p)) return p;
      if (count++ == limits_.features) return nullptr;
      if (!is_whole(p, length) && !parse_short(p, length, number)) return nullptr;
    }
    p = end;
    if (*p == '\n') return p;
    ++p;
  }
}

// Reads alternating names and values. Returns the bar or the end of the line.
const char* MosesScanner::sparse(const char* p) {
  const char* name = nullptr;
  for (std::size_t count = 0;; ++count) {
    p = skip_blanks(p);
    if (*p == '\n' || is_bar(p)) return name == nullptr ? p : nullptr;
    if (count == limits_.features) return nullptr;
    const std::size_t length = token_length(p);
    if (count == 0) know_put(score_names_.size());
    if (name == nullptr) {
      name = p;
      sparse_name_.assign(prefix_).append(p, length);
    } else {
      float value = 0;
      if (!parse_number(p, length, value)) return nullptr;
      const std::string_view text = view(name, sparse_name_.size() - prefix_.size());
      if (text.find(kBar) != std::string_view::npos || !is_utf8(text)) return nullptr;
      put(table_.names.add(sparse_name_).id, value);
      name = nullptr;
    }
    p += length;
  }
}

// Checks any number of `{{Key value}}`. Returns the end of the line.
const char* MosesScanner::properties(const char* p) const {
  constexpr std::string_view kOpen = "{{", kClose = "}}";
  p = skip_blanks(p);
  if (*p == '\n') return p;
  const char* end = p;
  while (*end != '\n') ++end;
  std::string_view text = view(p, static_cast<std::size_t>(end - p));
  if (!text.starts_with(kOpen) || text.find(kBar) != std::string_view::npos || !is_utf8(text)) return nullptr;
  for (std::size_t count = 0; !text.empty(); ++count) {
    text.remove_prefix(kOpen.size());
    std::string_view property = text.substr(0, text.find(kOpen));
    text.remove_prefix(property.size());
    while (!property.empty() && is_blank(property.back())) property.remove_suffix(1);
    if (!property.ends_with(kClose) || count == limits_.features) return nullptr;
    property.remove_suffix(kClose.size());
    const std::size_t blank = property.find(' ');
    if (blank == 0 || blank == std::string_view::npos || blank + 1 == property.size()) return nullptr;
  }
  return end;
}

// Classifies a token on a side, for `tokens_`.
std::int32_t MosesScanner::classify(std::string_view text) {
  if (!is_utf8(text) || text.find(kBar) != std::string_view::npos) return kBad;
  if (text.front() != '[' || text.back() != ']') return table_.words.add(text);
  if (!gaps_ || text.size() < 3) return kBad;
  const std::string_view inner = text.substr(1, text.size() - 2);
  const auto is_label = [](std::string_view part) { return !part.empty() && part.find_first_of("[]") == part.npos; };
  if (is_label(inner)) return kLabel;
  const std::size_t middle = inner.find("][");
  if (middle == inner.npos) return kBad;
  const std::string_view left = inner.substr(0, middle), right = inner.substr(middle + 2);
  return is_label(left) && is_label(right) ? -1 - label(left, right) : kBad;
}

std::int32_t MosesScanner::label(std::string_view source, std::string_view target) {
  if (source == target) return table_.labels.add(source).id;
  return table_.labels.add(std::string(source).append("][").append(target)).id;
}

std::int32_t MosesScanner::word(const std::string& text) {
  std::int32_t& symbol = tokens_.add(text).payload.value;
  if (symbol == kNone) symbol = classify(text);
  if (symbol < 0) throw std::invalid_argument("no word of Moses: " + text);
  return symbol;
}

}  // namespace smt
