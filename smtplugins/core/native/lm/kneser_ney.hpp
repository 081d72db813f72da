// N-gram models from text: interpolated modified Kneser-Ney.
//
// S. Chen and J. Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling" (1998), has the
// estimates; K. Heafield, I. Pouzyrevsky, J. Clark and P. Koehn, "Scalable Modified Kneser-Ney Language Model
// Estimation" (2013), the treatment of <s>, <unk> and pruning used here.
//
// No n-gram is stored as words. An n-gram is the place in the text where it first ends in suffix order, and the
// places are sorted once, by the word there, then the word before it, and so on: n-grams of every order then lie
// together, each behind its suffix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/word_list.hpp"

namespace smt {

using Discounts = std::array<float, 3>;  // for adjusted counts of 1, 2, and 3 or more

struct KneserNeyOptions {
  int order = 3;
  std::vector<std::uint64_t> prune;  // for each order: n-grams with at most this count are left out
  std::optional<Discounts> fallback;
  std::uint64_t memory = 0;  // bytes
};

// A text that no model can be estimated from.
struct TextError : std::runtime_error {
  TextError(std::uint64_t line_, std::string expected_, std::string found_);
  std::uint64_t line;  // 0: the text as a whole
  std::string expected, found;
};

// The counts of counts allow no discounts.
struct DiscountError : std::runtime_error {
  DiscountError(int order_, std::string reason_);
  int order;
  std::string reason;
};

// The model would need more memory than allowed.
struct MemoryLimitError : std::runtime_error {
  MemoryLimitError(std::uint64_t needed_, std::uint64_t allowed_);
  std::uint64_t needed, allowed;
};

// The n-grams of one order that the model keeps, in suffix order.
struct NgramLevel {
  std::vector<std::uint32_t> position;  // the end in the text
  std::vector<float> prob, backoff;     // log10; no back-off for the longest
};

class KneserNeyModel {
 public:
  int order() const noexcept { return static_cast<int>(levels_.size()); }
  std::size_t count(int order) const { return levels_[static_cast<std::size_t>(order - 1)].position.size(); }
  const std::vector<Discounts>& discounts() const noexcept { return discounts_; }
  const std::vector<int>& fallen_back() const noexcept { return fallen_back_; }  // orders with fallback discounts
  std::uint64_t sentences() const noexcept { return sentences_; }
  std::uint64_t words() const noexcept { return words_of_text_; }  // without </s>
  std::uint64_t peak_bytes() const noexcept { return peak_bytes_; }
  // The lines of an ARPA file for n-grams from begin to end.
  std::string rows(int order, std::size_t begin, std::size_t end) const;

 private:
  friend class KneserNey;

  WordList words_;
  std::vector<std::uint32_t> text_;  // word ids; each sentence between <s> and </s>
  std::vector<NgramLevel> levels_;
  std::vector<Discounts> discounts_;
  std::vector<int> fallen_back_;
  std::uint64_t sentences_ = 0, words_of_text_ = 0, peak_bytes_ = 0;
};

// Estimates a model from a text in pieces of any size, a sentence a line.
class KneserNey {
 public:
  explicit KneserNey(KneserNeyOptions options);
  void feed(std::string_view bytes);
  // With a vocabulary, n-grams with other words are left out. The object is used up afterwards.
  KneserNeyModel finish(const std::optional<std::vector<std::string>>& vocabulary);

 private:
  // Sums over the one-word extensions of an n-gram.
  struct Context {
    std::uint32_t total = 0;   // of adjusted counts
    std::uint32_t pruned = 0;  // the part of n-grams left out
    std::array<std::uint32_t, 3> kept{};  // n-grams with adjusted counts of 1, 2, 3 or more
  };

  void add(std::string_view word);
  void end_sentence();
  void require(std::uint64_t bytes);
  void allow(const std::vector<std::string>& vocabulary);
  void sort_positions();
  void measure();
  void estimate(int order);
  void count(int order, std::vector<Context>& contexts, std::vector<std::uint32_t>& counts,
             std::array<std::uint64_t, 5>& counts_of_counts);
  Discounts discounts(int order, const std::array<std::uint64_t, 5>& counts_of_counts);
  void interpolate(int order, const std::vector<Context>& contexts, const std::vector<std::uint32_t>& counts,
                   const Discounts& discounts);
  void index(int order);
  bool keeps(int order, std::uint32_t position, std::uint64_t seen) const noexcept;
  template <class Visit>
  void for_ngrams(int order, Visit visit) const;

  KneserNeyOptions options_;
  KneserNeyModel model_;
  std::string partial_;  // a word cut by the end of a piece
  std::uint64_t line_ = 1;
  bool open_ = false;    // the last line is incomplete
  bool closed_ = false;
  std::vector<bool> allowed_;  // by word; empty: all

  std::vector<std::uint64_t> sizes_;   // by order: the n-grams of the text
  std::vector<std::uint32_t> sorted_;  // positions
  std::vector<std::uint8_t> depth_;    // of sorted_[i]: words up to and with <s>, at most the order
  std::vector<std::uint8_t> shared_;   // words that sorted_[i] shares with the previous position
  std::vector<std::uint32_t> entry_;   // by position: the n-gram of the order just estimated that ends there
};

}  // namespace smt
