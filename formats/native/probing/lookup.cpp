#include "probing/lookup.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>
#include <unordered_set>

#include "bytes.hpp"
#include "probing/sources.hpp"
#include "strings.hpp"

namespace smt {
namespace {

constexpr const char* kSources = "source_vocabids";
constexpr const char* kTargets = "TargetVocab.dat";
constexpr const char* kAlignments = "Alignments.dat";
constexpr const char* kHashes = "probing_hash.dat";
constexpr const char* kRows = "TargetColl.dat";
constexpr std::size_t kLongest = 64;
constexpr std::size_t kMostRows = std::size_t{1} << 24U;
constexpr std::uint64_t kPrefix = ~std::uint64_t{0};
constexpr unsigned kLargestPoint = 32767;

// The reader in Python says what is wrong.
[[noreturn]] void fail(const char* file) { throw BadTable("a file as CreateProbingPT writes it", "other data", file); }

std::string at_byte(std::size_t at) { return " at byte " + std::to_string(at); }

template <class Function>
void each_line(std::string_view text, const char* file, Function function) {
  if (!text.empty() && text.back() != '\n') fail(file);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.find('\t', tab + 1) != std::string_view::npos) fail(file);
    function(line.substr(0, tab), line.substr(tab + 1));
    text.remove_prefix(end + 1);
  }
}

template <class Number>
Number number(std::string_view text, const char* file) {
  Number value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) fail(file);
  return value;
}

void check_word(std::string_view word, const char* file) {
  if (word.empty() || word.find_first_of(" \v\f\r") != std::string_view::npos || !is_utf8(word)) fail(file);
}

bool is_bracketed(std::string_view word) { return word.front() == '[' && word.back() == ']'; }

}  // namespace

ProbingLookup::ProbingLookup(const ProbingFiles& files, std::size_t scores, std::size_t others, bool are_logarithms)
    : files_(files), scores_(scores), others_(others), are_logarithms_(are_logarithms) {
  if (files.hashes.empty() || files.hashes.size() % 16 != 0) {
    throw BadTable("a multiple of 16 bytes", std::to_string(files.hashes.size()), kHashes);
  }
  if (files.rows.empty()) throw BadTable("a target phrase", "an empty file", kRows);
  read_sources();
  read_targets();
  read_alignments();
  ProbingRows first;
  read(0, first);
  has_rules_ = has_rules_ || is_bracketed(targets_[first.words[static_cast<std::size_t>(first.word_ends[0]) - 1]]);
}

void ProbingLookup::read_sources() {
  const auto lines = static_cast<std::size_t>(std::count(files_.sources.begin(), files_.sources.end(), '\n'));
  known_.assign(std::bit_ceil(2 * lines + 2), 0);
  each_line(files_.sources, kSources, [&](std::string_view word, std::string_view text) {
    check_word(word, kSources);
    const auto hash = number<std::uint64_t>(text, kSources);
    if (hash != probing_hash(word) || is_known(hash)) fail(kSources);
    has_rules_ = has_rules_ || (is_bracketed(word) && word.find("][") != std::string_view::npos);
    ++known_count_;
    if (hash == 0) {
      knows_zero_ = true;
      return;
    }
    std::size_t at = hash & (known_.size() - 1);
    while (known_[at] != 0) at = (at + 1) & (known_.size() - 1);
    known_[at] = hash;
  });
}

bool ProbingLookup::is_known(std::uint64_t hash) const noexcept {
  if (hash == 0) return knows_zero_;
  for (std::size_t at = hash & (known_.size() - 1); known_[at] != 0; at = (at + 1) & (known_.size() - 1)) {
    if (known_[at] == hash) return true;
  }
  return false;
}

void ProbingLookup::read_targets() {
  const auto lines = static_cast<std::size_t>(std::count(files_.targets.begin(), files_.targets.end(), '\n'));
  targets_.assign(lines + 1, {});
  std::unordered_set<std::string_view> words;
  words.reserve(lines);
  each_line(files_.targets, kTargets, [&](std::string_view word, std::string_view text) {
    check_word(word, kTargets);
    const auto own = number<std::uint64_t>(text, kTargets);
    if (own < 1 || own > lines || !targets_[own].empty() || !words.insert(word).second) fail(kTargets);
    targets_[own] = word;
  });
}

void ProbingLookup::read_alignments() {
  const auto lines = static_cast<std::size_t>(std::count(files_.alignments.begin(), files_.alignments.end(), '\n'));
  point_starts_.assign(lines, kPrefix);
  point_ends_.assign(lines, 0);
  each_line(files_.alignments, kAlignments, [&](std::string_view text, std::string_view points) {
    const auto own = number<std::uint64_t>(text, kAlignments);
    if (own >= lines || point_starts_[own] != kPrefix) fail(kAlignments);
    point_starts_[own] = points_.size();
    while (!points.empty()) {
      const std::size_t end = points.find(' ');
      if (end == std::string_view::npos) fail(kAlignments);
      const auto place = number<std::uint32_t>(points.substr(0, end), kAlignments);
      if (place > kLargestPoint) fail(kAlignments);
      points_.push_back(static_cast<std::int16_t>(place));
      points.remove_prefix(end + 1);
    }
    point_ends_[own] = points_.size();
    if ((point_ends_[own] - point_starts_[own]) % 2 != 0) fail(kAlignments);
  });
}

std::span<const std::int16_t> ProbingLookup::points(std::uint32_t alignment) const {
  return std::span(points_).subspan(point_starts_[alignment], point_ends_[alignment] - point_starts_[alignment]);
}

std::optional<std::size_t> ProbingLookup::find(ProbingWords source) const {
  if (source.empty() || source.size() > kLongest) return std::nullopt;
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::uint64_t hash = probing_hash(source[i]);
    if (!is_known(hash)) return std::nullopt;
    key += hash << i;
  }
  const std::size_t slots = entries();
  std::size_t at = key % slots;
  for (std::size_t tried = 0; tried < slots; ++tried, at = at + 1 == slots ? 0 : at + 1) {
    const char* const entry = files_.hashes.data() + 16 * at;
    const std::uint64_t found = load8(entry), block = load8(entry + 8);
    if (found == 0) return std::nullopt;
    if (found != key) continue;
    if (block == kPrefix) return std::nullopt;
    if (block >= files_.rows.size()) {
      throw BadTable("the place of a block of TargetColl.dat", std::to_string(block) + at_byte(16 * at + 8), kHashes);
    }
    return block;
  }
  return std::nullopt;
}

void ProbingLookup::read(std::size_t block, ProbingRows& rows) const {
  const std::size_t row = rows.places.size(), word = rows.words.size();
  if (!probing_block(files_.rows, width(), block, rows)) {
    throw BadTable(rows.expected, "other data" + at_byte(static_cast<std::size_t>(rows.fault)), kRows);
  }
  if (rows.places.size() > kMostRows) {
    throw BadTable("at most 2^24 target phrases for a sentence", std::to_string(rows.places.size()), kRows);
  }
  const auto place = [&](std::size_t i) { return at_byte(static_cast<std::size_t>(rows.places[i])); };
  for (std::size_t i = word, owner = row; i < rows.words.size(); ++i) {
    while (static_cast<std::size_t>(rows.word_ends[owner]) <= i) ++owner;
    if (rows.words[i] < 1 || rows.words[i] >= targets_.size()) {
      throw BadTable("numbers of words in TargetVocab.dat", std::to_string(rows.words[i]) + place(owner), kRows);
    }
  }
  for (std::size_t i = 2 * row; i < rows.points.size(); ++i) {
    if (rows.points[i] >= point_starts_.size()) {
      throw BadTable("numbers of alignments in Alignments.dat", std::to_string(rows.points[i]) + place(i / 2), kRows);
    }
  }
}

void ProbingLookup::convert(std::span<float> scores) const {
  const std::vector<float> stored(scores.begin(), scores.end());
  const std::int64_t bad = probing_logarithms(scores.data(), scores.size(), are_logarithms_);
  if (bad < 0) return;
  throw BadTable(are_logarithms_ ? "a logarithm from -100 on" : "a probability of 0 or more",
                 std::to_string(stored[static_cast<std::size_t>(bad)]), kRows);
}

std::optional<std::uint32_t> ProbingLookup::target_number(std::string_view word) const {
  std::call_once(numbered_, [&] {
    target_numbers_.reserve(targets_.size());
    for (std::size_t i = 1; i < targets_.size(); ++i) target_numbers_.emplace(targets_[i], static_cast<std::uint32_t>(i));
  });
  const auto found = target_numbers_.find(word);
  if (found == target_numbers_.end()) return std::nullopt;
  return found->second;
}

bool ProbingLookup::Pairs::find(ProbingWords source, ProbingWords target, std::span<float> scores) {
  const auto key_of = [](const std::uint32_t* words, std::size_t count) {
    return std::string(reinterpret_cast<const char*>(words), count * sizeof *words);
  };
  if (source_.empty() || !std::equal(source.begin(), source.end(), source_.begin(), source_.end())) {
    source_.assign(source.begin(), source.end());
    places_.clear();
    rows_ = ProbingRows();
    const auto block = table_.find(source);
    is_there_ = block.has_value();
    if (is_there_) {
      table_.read(*block, rows_);
      for (std::size_t i = 0; i < rows_.places.size(); ++i) {
        const auto first = static_cast<std::size_t>(i == 0 ? 0 : rows_.word_ends[i - 1]);
        const auto last = static_cast<std::size_t>(rows_.word_ends[i]);
        places_.insert_or_assign(key_of(rows_.words.data() + first, last - first), i);
      }
    }
  }
  if (!is_there_) return false;
  std::vector<std::uint32_t> numbers;
  for (const std::string_view word : target) {
    const auto own = table_.target_number(word);
    if (!own) return false;
    numbers.push_back(*own);
  }
  const auto found = places_.find(key_of(numbers.data(), numbers.size()));
  if (found == places_.end()) return false;
  std::memcpy(scores.data(), rows_.scores.data() + found->second * table_.width() + first_, scores.size() * sizeof(float));
  table_.convert(scores);
  return true;
}

}  // namespace smt
