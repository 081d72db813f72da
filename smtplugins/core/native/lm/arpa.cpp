#include "lm/arpa.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace smt {
namespace {

constexpr std::size_t kMaxLine = std::size_t{1} << 20;
constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 31) - 1;
constexpr std::size_t kMaxQuote = 60;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

std::string_view strip(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Data for an error message: shortened, control characters escaped.
std::string quote(std::string_view text) {
  std::size_t cut = text.size();
  if (cut > kMaxQuote) {
    cut = kMaxQuote;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U) --cut;  // at the end of a character
  }
  std::string quoted = "'";
  for (const char c : text.substr(0, cut)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      quoted += c;
    } else {
      constexpr const char* kHex = "0123456789abcdef";
      quoted += {'\\', 'x', kHex[byte >> 4U], kHex[byte & 0xFU]};
    }
  }
  return quoted + (cut < text.size() ? "...'" : "'");
}

// "1 field", "3 fields"
std::string some(std::uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string ngrams(std::uint64_t count, int order) { return some(count, std::to_string(order) + "-gram"); }

template <class Number>
std::optional<Number> parse(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc{} || stop != end) return std::nullopt;
  return number;
}

// A plain decimal number. Up to 15 digits and the power of ten that divides them are exact, so their quotient equals
// the result of from_chars.
std::optional<double> parse_number(std::string_view text) noexcept {
  constexpr std::size_t kExact = 15;
  static constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool minus = !text.empty() && text[0] == '-';
  const std::string_view digits = text.substr(minus ? 1 : 0);
  if (digits.size() > kExact + 1) return parse<double>(text);
  std::int64_t number = 0;
  std::size_t point = digits.size();
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto digit = static_cast<unsigned char>(digits[i] - '0');
    if (digit < 10) {
      number = 10 * number + digit;
    } else if (digits[i] == '.' && point == digits.size()) {
      point = i;
    } else {
      return parse<double>(text);
    }
  }
  const std::size_t decimals = point == digits.size() ? 0 : digits.size() - point - 1;
  const std::size_t count = digits.size() - (point == digits.size() ? 0 : 1);
  if (count == 0 || count > kExact) return parse<double>(text);
  const double value = static_cast<double>(number) / kPowers[decimals];
  return minus ? -value : value;
}

}  // namespace

ArpaError::ArpaError(std::uint64_t line_, std::string expected_, std::string found_)
    : std::runtime_error("line " + std::to_string(line_) + ": expected " + expected_ + ", found " + found_),
      line(line_),
      expected(std::move(expected_)),
      found(std::move(found_)) {}

void ArpaReader::fail(std::string expected, std::string found) const {
  throw ArpaError(line_ == 0 ? 1 : line_, std::move(expected), std::move(found));
}

void ArpaReader::feed(std::string_view bytes) {
  if (std::exchange(closed_, true)) throw std::logic_error("the ARPA reader is closed");
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (partial_.size() + piece.size() > kMaxLine) {
      ++line_;
      fail("a line of at most " + some(kMaxLine, "byte"), "a longer one");
    }
    if (end == std::string_view::npos) {
      partial_.append(piece);
      break;
    }
    if (partial_.empty()) {
      read_line(piece);
    } else {
      partial_.append(piece);
      read_line(partial_);
      partial_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
  closed_ = false;  // it stays closed after an error
}

LanguageModel ArpaReader::finish() {
  if (std::exchange(closed_, true)) throw std::logic_error("the ARPA reader is closed");
  if (!partial_.empty()) read_line(partial_);
  const std::string end = "the end of the file";
  switch (section_) {
    case Section::kPreamble:
      fail("\\data\\", end);
    case Section::kHeader:
      fail(counts_.empty() ? "ngram 1=COUNT" : "\\1-grams:", end);
    case Section::kNgrams: {
      const std::uint64_t count = counts_[static_cast<std::size_t>(order_ - 1)];
      if (in_section_ < count) {
        fail(ngrams(count, order_) + ", as the header says", end + " after " + std::to_string(in_section_));
      }
      const bool last = static_cast<std::size_t>(order_) == counts_.size();
      fail(last ? "\\end\\" : "\\" + std::to_string(order_ + 1) + "-grams:", end);
    }
    case Section::kEnd:
      break;
  }
  return std::move(builder_).finish();
}

void ArpaReader::read_line(std::string_view line) {
  ++line_;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  line = strip(line);
  if (line.empty()) return;
  switch (section_) {
    case Section::kPreamble:
      if (line == "\\data\\") section_ = Section::kHeader;
      break;
    case Section::kHeader:
      if (line.front() == '\\') {
        begin_section(line);
      } else {
        read_count(line);
      }
      break;
    case Section::kNgrams:
      if (line.front() == '\\') {
        end_section();
        begin_section(line);
      } else {
        read_ngram(line);
      }
      break;
    case Section::kEnd:
      fail("nothing after \\end\\", quote(line));
  }
}

void ArpaReader::read_count(std::string_view line) {
  constexpr std::string_view kWord = "ngram";
  const std::size_t equals = line.find('=');
  const std::string order = std::to_string(counts_.size() + 1);
  if (equals == std::string_view::npos || !line.starts_with(kWord) ||
      strip(line.substr(kWord.size(), equals - kWord.size())) != order) {
    fail("ngram " + order + "=COUNT" + (counts_.empty() ? "" : " or \\1-grams:"), quote(line));
  }
  const std::string_view digits = strip(line.substr(equals + 1));
  const bool plain = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  const auto count = parse<std::uint64_t>(digits);
  if (!plain || !count || *count > kMaxCount) {
    fail("a count from 0 to " + std::to_string(kMaxCount), quote(digits));
  }
  if (counts_.size() == static_cast<std::size_t>(kMaxOrder)) {
    fail("n-grams of at most " + some(kMaxOrder, "word"), quote(line));
  }
  counts_.push_back(*count);
}

void ArpaReader::begin_section(std::string_view line) {
  if (counts_.empty()) fail("ngram 1=COUNT", quote(line));
  const bool last = static_cast<std::size_t>(order_) == counts_.size();
  const std::string marker = last ? "\\end\\" : "\\" + std::to_string(order_ + 1) + "-grams:";
  if (line != marker) fail(marker, quote(line));
  if (section_ == Section::kHeader) builder_.set_counts(counts_);
  section_ = last ? Section::kEnd : Section::kNgrams;
  ++order_;
  in_section_ = 0;
}

void ArpaReader::end_section() {
  const std::uint64_t count = counts_[static_cast<std::size_t>(order_ - 1)];
  if (in_section_ < count) {
    fail(ngrams(count, order_) + ", as the header says", std::to_string(in_section_));
  }
  if (order_ == 1) builder_.end_unigrams();
}

// Prefetches the n-gram's memory while its numbers are read.
void ArpaReader::find_words(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view word = fields_[i + 1];
    if (ids_[i] != kUnknown && word == builder_.word(ids_[i])) continue;  // as in the previous line
    ids_[i] = builder_.find(word);
    if (ids_[i] == kUnknown && !(builder_.has_unknown() && is_unknown(word))) {
      fail("words that have a unigram", quote(word));
    }
  }
  builder_.prefetch(ids_, order_);
}

void ArpaReader::read_ngram(std::string_view line) {
  const std::uint64_t count = counts_[static_cast<std::size_t>(order_ - 1)];
  const bool longest = static_cast<std::size_t>(order_) == counts_.size();
  const auto words = static_cast<std::size_t>(order_);
  if (in_section_ == count) {
    const std::string marker = longest ? "\\end\\" : "\\" + std::to_string(order_ + 1) + "-grams:";
    fail(marker + " after " + ngrams(count, order_) + ", as the header says", quote(line));
  }

  fields_.clear();
  for (std::size_t at = 0; at < line.size();) {
    std::size_t stop = at;
    while (stop < line.size() && !is_blank(line[stop])) ++stop;
    fields_.push_back(line.substr(at, stop - at));
    at = stop;
    while (at < line.size() && is_blank(line[at])) ++at;
  }
  const bool with_backoff = fields_.size() == words + 2;
  const auto backoff = with_backoff ? parse_number(fields_.back()) : 0.0;
  // Some writers put a back-off of 0 on the longest n-grams too.
  if (fields_.size() != words + 1 && !(with_backoff && (!longest || backoff == 0.0))) {
    const std::string start = "a probability" + std::string(longest ? " and " : ", ") + some(words, "word");
    fail(longest ? start + ": " + some(words + 1, "field")
                 : start + " and perhaps a back-off: " + std::to_string(words + 1) + " or " +
                       some(words + 2, "field"),
         some(fields_.size(), "field"));
  }
  if (order_ > 1) find_words(words);
  const auto prob = parse_number(fields_[0]);
  if (!prob || std::isnan(*prob) || *prob > 0.0) {
    fail("a log10 probability of at most 0", quote(fields_[0]));
  }
  if (!backoff || std::isnan(*backoff) || *backoff > std::numeric_limits<float>::max()) {
    fail("a log10 back-off weight", quote(fields_.back()));
  }

  const Weights weights{static_cast<float>(*prob), static_cast<float>(*backoff)};
  bool twice = false;
  if (order_ == 1) {
    twice = !builder_.add_unigram(fields_[1], weights);
  } else {
    const LmBuilder::Added added = builder_.add(ids_, order_, weights);
    twice = added == LmBuilder::Added::kTwice;
    if (added == LmBuilder::Added::kAboveOne) {
      fail("a probability of at most 1 for the last words of each n-gram", "back-offs that make it greater");
    }
  }
  if (twice) {
    const char* const begin = fields_[1].data();
    const std::string_view& last_word = fields_[words];
    const auto length = static_cast<std::size_t>(last_word.data() + last_word.size() - begin);
    fail("one line for each n-gram", quote({begin, length}) + " again");
  }
  ++in_section_;
}

}  // namespace smt
