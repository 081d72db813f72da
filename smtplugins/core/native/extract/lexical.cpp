#include "extract/lexical.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace smt {
namespace {

constexpr int kDigits = 7;

// Moses reads back what it printed.
double as_printed(double prob) noexcept {
  char text[64];
  const auto printed = std::to_chars(text, text + sizeof text, prob, std::chars_format::fixed, kDigits);
  double value = 0;
  std::from_chars(text, printed.ptr, value);
  return value;
}

std::string_view next_token(std::string_view& line) noexcept {
  const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(begin);
  const std::string_view token = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(token.size());
  return token;
}

void bump(std::vector<std::uint64_t>& totals, std::uint32_t word, std::uint64_t times) {
  if (word >= totals.size()) totals.resize(std::max<std::size_t>(word + 1, 2 * totals.size()));
  totals[word] += times;
}

}  // namespace

void LexicalTable::read(std::string_view text, WordList& given, WordList& words) {
  while (!text.empty()) {
    ++lines_;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view whole = line;
    const std::string_view word = next_token(line), condition = next_token(line), number = next_token(line);
    double prob = 0;
    const auto [behind, error] = std::from_chars(number.data(), number.data() + number.size(), prob);
    const bool sound = error == std::errc{} && behind == number.data() + number.size() && std::isfinite(prob) &&
                       prob >= 0 && next_token(line).empty();
    if (!sound) {
      throw BitextError(0, lines_, "a word, the word it is given, and a probability",
                        "'" + std::string(whole.substr(0, 60)) + "'");
    }
    // No text has such words, but the gaps of rules may look like them.
    if (in_brackets(condition) || in_brackets(word)) continue;
    set(given.add(condition), words.add(word), prob);
  }
}

std::string LexicalTable::text(const WordList& given, const WordList& words) const {
  std::vector<std::string> lines;
  lines.reserve(probs_.size());
  for (const auto& slot : probs_.slots()) {
    if (slot.key == WordPairMap<double>::kFree) continue;
    std::string line(words.word(static_cast<std::uint32_t>(slot.key)));
    line += ' ';
    line += given.word(static_cast<std::uint32_t>(slot.key >> 32U));
    line += ' ';
    char number[64];
    const auto printed = std::to_chars(number, number + sizeof number, slot.value, std::chars_format::fixed, kDigits);
    line.append(number, printed.ptr);
    line += '\n';
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line;
  return out;
}

void LexicalCounts::count(std::uint32_t source, std::uint32_t target, std::uint64_t times) {
  pairs_[word_pair(source, target)] += times;
  bump(source_totals_, source, times);
  bump(target_totals_, target, times);
}

void LexicalCounts::pack(std::string& out) const {
  append_packed(out, pairs_.size());
  for (const auto& slot : pairs_.slots()) {
    if (slot.key == WordPairMap<std::uint64_t>::kFree) continue;
    append_packed(out, slot.key >> 32U);
    append_packed(out, static_cast<std::uint32_t>(slot.key));
    append_packed(out, slot.value);
  }
}

void LexicalCounts::add_packed(PackedReader& packed, const WordIds& ids) {
  for (std::size_t left = packed.size(); left > 0; --left) {
    const std::uint32_t source = ids.source[packed.below(ids.source.size())];
    const std::uint32_t target = ids.target[packed.below(ids.target.size())];
    count(source, target, packed.number());
  }
}

void LexicalCounts::add(const SentencePair& pair) {
  source_linked_.assign(pair.source.size(), false);
  target_linked_.assign(pair.target.size(), false);
  for (const Link& link : pair.links) {
    count(pair.source[link.source], pair.target[link.target]);
    source_linked_[link.source] = target_linked_[link.target] = true;
  }
  for (std::size_t i = 0; i < pair.target.size(); ++i) {
    if (!target_linked_[i]) count(kNullWord, pair.target[i]);
  }
  for (std::size_t i = 0; i < pair.source.size(); ++i) {
    if (!source_linked_[i]) count(pair.source[i], kNullWord);
  }
}

// `unlinked` of the total have no link.
double LexicalCounts::share(std::uint64_t count, std::uint64_t total, std::uint64_t unlinked,
                            LexicalCounting counting) {
  if (counting == LexicalCounting::kLinks) total -= unlinked;
  const double prob = static_cast<double>(count) / static_cast<double>(total);
  return counting == LexicalCounting::kMoses ? as_printed(prob) : prob;
}

LexicalTable LexicalCounts::target_given_source(LexicalCounting counting) const {
  LexicalTable table;
  for (const auto& slot : pairs_.slots()) {
    if (slot.key == WordPairMap<std::uint64_t>::kFree) continue;
    const auto source = static_cast<std::uint32_t>(slot.key >> 32U), target = static_cast<std::uint32_t>(slot.key);
    if (counting == LexicalCounting::kLinks && target == kNullWord) continue;
    const std::uint64_t* unlinked = pairs_.find(word_pair(source, kNullWord));
    table.set(source, target,
              share(slot.value, source_totals_[source], unlinked == nullptr ? 0 : *unlinked, counting));
  }
  return table;
}

LexicalTable LexicalCounts::source_given_target(LexicalCounting counting) const {
  LexicalTable table;
  for (const auto& slot : pairs_.slots()) {
    if (slot.key == WordPairMap<std::uint64_t>::kFree) continue;
    const auto source = static_cast<std::uint32_t>(slot.key >> 32U), target = static_cast<std::uint32_t>(slot.key);
    if (counting == LexicalCounting::kLinks && source == kNullWord) continue;
    const std::uint64_t* unlinked = pairs_.find(word_pair(kNullWord, target));
    table.set(target, source,
              share(slot.value, target_totals_[target], unlinked == nullptr ? 0 : *unlinked, counting));
  }
  return table;
}

double lexical_weight(const LexicalTable& table, const std::uint32_t* given, const std::uint32_t* words,
                      std::size_t length, const std::vector<Link>& links) noexcept {
  double weight = 1.0;
  auto link = links.begin();
  for (std::size_t i = 0; i < length; ++i) {
    const auto first = link;
    double sum = 0;
    for (; link != links.end() && link->target == i; ++link) sum += table.lookup(given[link->source], words[i]);
    weight *= link == first ? table.lookup(kNullWord, words[i]) : sum / static_cast<double>(link - first);
  }
  return weight;
}

}  // namespace smt
