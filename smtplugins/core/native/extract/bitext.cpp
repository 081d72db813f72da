#include "extract/bitext.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/word_bytes.hpp"

namespace smt {
namespace {

constexpr std::size_t kMaxWords = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kMaxQuote = 60;

// The kind of a byte: part of a word, its end, or part of a word that tables may be unable to hold.
constexpr std::uint8_t kOrdinary = 0, kBlank = 1, kMark = 2;

constexpr std::array<std::uint8_t, 256> byte_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (std::size_t byte = 0; byte < kinds.size(); ++byte) kinds[byte] = kWordEnds[byte] ? kBlank : kOrdinary;
  for (const unsigned char byte : {'[', '|'}) kinds[byte] = kMark;
  return kinds;
}
constexpr std::array<std::uint8_t, 256> kKinds = byte_kinds();

std::uint8_t kind(char byte) noexcept { return kKinds[static_cast<unsigned char>(byte)]; }

struct Token {
  std::string_view text;
  bool marked;  // has a byte of kMark
};

Token cut_token(std::string_view& line) noexcept {
  std::size_t begin = 0;
  while (begin < line.size() && kind(line[begin]) == kBlank) ++begin;
  std::size_t end = begin;
  std::uint8_t kinds = kOrdinary;
  for (; end < line.size() && kind(line[end]) != kBlank; ++end) kinds |= kind(line[end]);
  const std::string_view text = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return {text, kinds == kMark};
}

// The requirement of table readers that a word breaks, or null.
const char* expectation(std::string_view word) noexcept {
  if (word.find("|||") != std::string_view::npos) {
    return "words without |||, which separates the fields of tables "
           "(`--escape moses` makes it &#124;&#124;&#124;)";
  }
  if (in_brackets(word)) {
    return "words without brackets around them, which mark gaps in tables "
           "(`--escape moses` makes them &#91; and &#93;)";
  }
  return nullptr;
}

std::string quoted(std::string_view text) {
  const bool long_one = text.size() > kMaxQuote;
  return "'" + std::string(text.substr(0, kMaxQuote)) + (long_one ? "..." : "") + "'";
}

bool read_position(const char*& at, const char* end, std::uint32_t& position) noexcept {
  const auto [behind, error] = std::from_chars(at, end, position);
  if (error != std::errc{} || *at == '-') return false;
  at = behind;
  return true;
}

}  // namespace

BitextError::BitextError(int side_, std::uint64_t line_, std::string expected_, std::string found_)
    : std::runtime_error("line " + std::to_string(line_) + ": expected " + expected_ + ", found " + found_),
      side(side_),
      line(line_),
      expected(std::move(expected_)),
      found(std::move(found_)) {}

Bitext::Bitext(bool skip_bad) : skip_bad_(skip_bad) {
  for (WordList& words : words_) words.add("NULL");
}

std::string_view Bitext::cut_line(std::string_view& text) noexcept {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

bool Bitext::read(std::string_view source, std::string_view target, std::string_view links) {
  ++pair_.line;
  read_words(0, source, pair_.source);
  read_words(1, target, pair_.target);
  const bool inside = read_links(links);
  if (pair_.source.empty() || pair_.target.empty()) {
    ++empty_;
    return false;
  }
  if (!inside) ++skipped_;
  return inside;
}

void Bitext::pack(std::string& out) const {
  for (const std::uint64_t number : {pair_.line, empty_, skipped_}) append_packed(out, number);
  for (const WordList& words : words_) append_packed(out, words);
}

WordIds Bitext::add_packed(PackedReader& packed) {
  for (std::uint64_t* number : {&pair_.line, &empty_, &skipped_}) *number += packed.number();
  WordIds ids;
  for (const std::string_view word : smt::read_words(packed)) ids.source.push_back(source_words().add(word));
  for (const std::string_view word : smt::read_words(packed)) ids.target.push_back(target_words().add(word));
  return ids;
}

void Bitext::read_words(int side, std::string_view line, std::vector<std::uint32_t>& words) {
  words.clear();
  WordList& list = words_[side];
  while (true) {
    const auto [word, marked] = cut_token(line);
    if (word.empty()) break;
    if (marked) {
      const char* const expected = expectation(word);
      if (expected != nullptr) throw BitextError(side, pair_.line, expected, quoted(word));
    }
    words.push_back(list.add(word));
  }
  if (words.size() > kMaxWords) {
    throw BitextError(side, pair_.line, "at most " + std::to_string(kMaxWords) + " words",
                      std::to_string(words.size()));
  }
}

bool Bitext::read_links(std::string_view line) {
  pair_.links.clear();
  bool inside = true;
  while (true) {
    const std::string_view token = cut_token(line).text;
    if (token.empty()) return inside;
    const char* at = token.data();
    const char* const end = at + token.size();
    std::uint32_t source = 0, target = 0;
    const bool sound = read_position(at, end, source) && at < end && *at++ == '-' && at < end &&
                       read_position(at, end, target) && at == end;
    if (!sound) throw BitextError(2, pair_.line, "links as 0-0 1-2", quoted(token));
    if (source < pair_.source.size() && target < pair_.target.size()) {
      pair_.links.push_back({static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)});
      continue;
    }
    inside = false;
    // Nothing is extracted from an empty sentence anyway.
    if (!skip_bad_ && !pair_.source.empty() && !pair_.target.empty()) {
      throw BitextError(2, pair_.line,
                        "links inside the sentences of " + std::to_string(pair_.source.size()) + " and " +
                            std::to_string(pair_.target.size()) + " words",
                        quoted(token));
    }
  }
}

}  // namespace smt
