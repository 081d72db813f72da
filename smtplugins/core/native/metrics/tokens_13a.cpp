#include "metrics/tokens_13a.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "metrics/text.hpp"

namespace smt {
namespace {

constexpr bool is_digit(std::uint32_t c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_point(std::uint32_t c) noexcept { return c == '.' || c == ','; }
// Punctuation that is a token wherever it stands: all but the apostrophe, hyphen, period and comma.
constexpr bool is_symbol(std::uint32_t c) noexcept {
  return (c >= '!' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// Replaces a pattern, which is not shorter than what replaces it, from left to right.
template <class Character>
void replace(std::vector<Character>& text, std::string_view pattern, std::string_view by) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto from = text.begin() + static_cast<std::ptrdiff_t>(i);
    if (text.size() - i >= pattern.size() && std::equal(pattern.begin(), pattern.end(), from)) {
      for (const char c : by) text[size++] = static_cast<Character>(c);
      i += pattern.size();
    } else {
      text[size++] = text[i++];
    }
  }
  text.resize(size);
}

// Words with a blank between them.
template <class Character>
class Joined {
 public:
  explicit Joined(std::vector<Character>& text) : text_(text) {}
  void put(Character c) {
    if (is_space(c)) {
      apart_ = !text_.empty();
      return;
    }
    if (apart_) text_.push_back(' ');
    apart_ = false;
    text_.push_back(c);
  }
  void end() noexcept {}

 private:
  std::vector<Character>& text_;
  bool apart_ = false;
};

// Puts blanks into pairs of characters, found from left to right and without overlap, as a substitution by a regular
// expression does.
template <class Character, class Pair, class Next>
class Pairs {
 public:
  explicit Pairs(Next& next) : next_(next) {}
  void put(Character c) {
    if (held_ && Pair::matches(last_, c)) {
      held_ = false;
      if (Pair::kBlankBefore) next_.put(' ');
      next_.put(last_);
      next_.put(' ');
      next_.put(c);
      if (!Pair::kBlankBefore) next_.put(' ');
      return;
    }
    if (held_) next_.put(last_);
    last_ = c;
    held_ = true;
  }
  void end() {
    if (held_) next_.put(last_);
    next_.end();
  }

 private:
  Next& next_;
  Character last_ = 0;
  bool held_ = false;
};

struct PointNotAfterDigit {
  static constexpr bool kBlankBefore = false;
  static bool matches(std::uint32_t a, std::uint32_t b) noexcept { return is_point(b) && !is_digit(a); }
};
struct PointNotBeforeDigit {
  static constexpr bool kBlankBefore = true;
  static bool matches(std::uint32_t a, std::uint32_t b) noexcept { return is_point(a) && !is_digit(b); }
};
struct DashAfterDigit {
  static constexpr bool kBlankBefore = false;
  static bool matches(std::uint32_t a, std::uint32_t b) noexcept { return b == '-' && is_digit(a); }
};

template <class Character>
void split(std::span<const Character> text, std::vector<Character>& tokens) {
  using Words = Joined<Character>;
  using Dashes = Pairs<Character, DashAfterDigit, Words>;
  using Before = Pairs<Character, PointNotBeforeDigit, Dashes>;
  using After = Pairs<Character, PointNotAfterDigit, Before>;
  Words words(tokens);
  Dashes dashes(words);
  Before before(dashes);
  After after(before);
  after.put(' ');
  for (const Character c : text) {
    if (is_symbol(c)) {
      after.put(' ');
      after.put(c);
      after.put(' ');
    } else {
      after.put(c);
    }
  }
  after.put(' ');
  after.end();
}

}  // namespace

template <class Character>
void tokenize_13a(std::span<const Character> text, std::vector<Character>& tokens) {
  tokens.clear();
  tokens.reserve(text.size() + text.size() / 4 + 8);
  if (std::none_of(text.begin(), text.end(), [](auto c) { return c == '<' || c == '&' || c == '\n'; })) {
    split(text, tokens);
    return;
  }
  std::vector<Character> plain(text.begin(), text.end());
  replace(plain, "<skipped>", "");
  replace(plain, "-\n", "");
  replace(plain, "\n", " ");
  replace(plain, "&quot;", "\"");
  replace(plain, "&amp;", "&");
  replace(plain, "&lt;", "<");
  replace(plain, "&gt;", ">");
  split(std::span<const Character>(plain), tokens);
}

template void tokenize_13a(std::span<const std::uint8_t>, std::vector<std::uint8_t>&);
template void tokenize_13a(std::span<const std::uint16_t>, std::vector<std::uint16_t>&);
template void tokenize_13a(std::span<const std::uint32_t>, std::vector<std::uint32_t>&);

}  // namespace smt
