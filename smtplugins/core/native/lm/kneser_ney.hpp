// N-gram models from text: interpolated modified Kneser-Ney (smoothing.hpp) in memory.
//
// No n-gram is stored as words. An n-gram is the place in the text where it first ends in suffix order, and the
// places are sorted once, by the word there, then the word before it, and so on: n-grams of every order then lie
// together, each behind its suffix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/word_list.hpp"
#include "lm/smoothing.hpp"
#include "lm/streamed_model.hpp"

namespace smt {

// The n-grams of one order that the model keeps, in suffix order.
struct NgramLevel {
  std::vector<std::uint32_t> position;  // the end in the text
  std::vector<float> prob, backoff;     // log10; no back-off for the longest
};

class KneserNeyModel : public EstimatedModel {
 public:
  // The lines of an ARPA file for n-grams from begin to end.
  std::string rows(int order, std::size_t begin, std::size_t end) const;

 private:
  friend class KneserNey;

  WordList words_;
  std::vector<std::uint32_t> text_;  // word ids; each sentence between <s> and </s>
  std::vector<NgramLevel> levels_;
};

// Estimates a model from a text in pieces of any size, a sentence a line. After a MemoryLimitError the estimation may go
// on from disk: spill() and then finish_streamed().
class KneserNey {
 public:
  explicit KneserNey(KneserNeyOptions options);
  void feed(std::string_view bytes);
  // Moves the n-grams of the text to files in this empty folder, where all others go, too.
  void spill(std::string folder);
  // With a vocabulary, n-grams with other words are left out. The object is used up afterwards.
  KneserNeyModel finish(const std::optional<std::vector<std::string>>& vocabulary);
  StreamedModel finish_streamed(const std::optional<std::vector<std::string>>& vocabulary);

 private:
  using Context = ContextSums<std::uint32_t>;

  void add(std::string_view word);
  void push(std::uint32_t id);
  void end_sentence();
  void end_text();
  void require(std::uint64_t bytes);
  std::uint64_t word_bytes() const noexcept;
  void allow(const std::optional<std::vector<std::string>>& vocabulary);
  void sort_positions();
  void measure();
  void estimate(int order);
  void count(int order, std::vector<Context>& contexts, std::vector<std::uint32_t>& counts,
             CountsOfCounts& counts_of_counts);
  void interpolate(int order, const std::vector<Context>& contexts, const std::vector<std::uint32_t>& counts);
  void index(int order);
  template <class Visit>
  void for_ngrams(int order, Visit visit) const;

  KneserNeyOptions options_;
  KneserNeyModel model_;
  std::unique_ptr<NgramSorter> sorter_;  // on disk
  std::string partial_;  // a word cut by the end of a piece
  std::uint64_t line_ = 1;
  bool open_ = false;    // the last line is incomplete
  bool closed_ = false;
  NgramFilter filter_;
  std::vector<std::uint64_t> seen_;  // by word, if the vocabulary has a size

  std::vector<std::uint64_t> sizes_;   // by order: the n-grams of the text
  std::vector<std::uint32_t> sorted_;  // positions
  std::vector<std::uint8_t> depth_;    // of sorted_[i]: words up to and with <s>, at most the order
  std::vector<std::uint8_t> shared_;   // words that sorted_[i] shares with the previous position
  std::vector<std::uint32_t> entry_;   // by position: the n-gram of the order just estimated that ends there
};

}  // namespace smt
