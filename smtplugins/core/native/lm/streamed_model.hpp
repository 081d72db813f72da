// Estimation in bounded memory: sorted files of n-grams and passes over them, as in lmplz (Heafield et al., 2013).
//
// An n-gram is a record of its words, each as bytes that sort like its number. In suffix order (by the last word, then
// the word before it, and so on) n-grams of every order follow their suffixes; in context order (by the words before
// the last one, the nearest first, then the last word) they follow their contexts. The longest n-grams of the text are
// sorted into suffix order; one pass finds those of all orders and their adjusted counts. Each order is then sorted
// into context order, where a pass has the sums of each context, and back into suffix order, where a pass joins the
// probabilities of the suffixes and the back-offs. The results are those of KneserNey::finish, to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sort.hpp"
#include "base/word_list.hpp"
#include "lm/smoothing.hpp"

namespace smt {

// A file of n-grams with a number each, read in the order in which it was written.
class NgramNumbers {
 public:
  explicit NgramNumbers(SpillFolder& folder) : file_(folder.create()) {}
  void add(std::string_view ngram, float number);
  void close();
  // To be called with n-grams in order.
  std::optional<float> find(std::string_view ngram);

 private:
  std::unique_ptr<SpillFile> file_;
  std::unique_ptr<SpillReader> reader_;
  bool more_ = false;
  std::string buffer_;
};

// An estimated model whose n-grams are in files.
class StreamedModel : public EstimatedModel {
 public:
  StreamedModel(StreamedModel&&) = default;
  StreamedModel& operator=(StreamedModel&&) = default;
  StreamedModel(const StreamedModel&) = delete;
  StreamedModel& operator=(const StreamedModel&) = delete;
  ~StreamedModel() = default;

 private:
  friend class NgramSorter;
  friend class StreamedRows;

  explicit StreamedModel(EstimatedModel about) : EstimatedModel(std::move(about)) {}

  WordList words_;
  std::uint64_t memory_ = 0;
  std::shared_ptr<SpillFolder> folder_;
  std::vector<std::unique_ptr<SpillFile>> levels_;  // of each order: n-grams and adjusted counts in suffix order
};

// Computes the probabilities of a model and writes its ARPA file.
class StreamedRows {
 public:
  explicit StreamedRows(const StreamedModel& model);
  // The lines of n-grams from begin to end, to be called from the first to the last.
  std::string rows(int order, std::size_t begin, std::size_t end);

 private:
  void next_order();
  std::unique_ptr<ByteSorter> sort_shares(int order);
  void add_row(std::string& out, std::string_view record);

  const StreamedModel& model_;
  std::uint64_t sort_memory_;
  int order_ = 0;
  std::size_t at_ = 0;
  // N-grams of this order and of the next one in suffix order, with their shares and what is left to suffixes.
  std::unique_ptr<ByteSorter> shares_, next_shares_;
  std::unique_ptr<NgramNumbers> suffix_probs_, probs_, backoffs_;
};

// Sorts the n-grams of a text.
class NgramSorter {
 public:
  NgramSorter(const KneserNeyOptions& options, std::string folder);
  void push(std::uint32_t word);  // <s> begins a sentence
  void limit(std::uint64_t memory);
  // Without the words themselves, what is needed at least.
  static std::uint64_t least_memory(std::size_t words) noexcept;
  // Throws DiscountError.
  StreamedModel finish(EstimatedModel about, WordList words, const NgramFilter& filter);

 private:
  void count(StreamedModel& model, const NgramFilter& filter, std::vector<CountsOfCounts>& counts_of_counts);

  int order_;
  std::optional<Discounts> fallback_;
  std::uint64_t memory_ = 0;
  std::shared_ptr<SpillFolder> folder_;
  ByteSorter ngrams_;
  std::vector<std::uint32_t> window_;  // the latest words, the last one first
  std::string buffer_;
};

}  // namespace smt
