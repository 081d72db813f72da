// A back-off n-gram language model, and what fills it.
//
// K. Heafield, "KenLM: Faster and Smaller Language Model Queries" (2011), describes the tables and the state
// used here: one open-addressing table for each order, keyed by a hash that grows from the last word backwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smt {

using WordId = std::int32_t;

constexpr WordId kUnknown = 0;
constexpr int kMaxOrder = 16;
constexpr float kUnknownProb = -100.0F;  // log10, of an <unk> that the file does not give; KenLM's value

// Words and their ids. Id 0 is <unk>, also spelt <UNK>.
class LmVocabulary {
 public:
  LmVocabulary();
  // The id of a word; kUnknown if it is not there.
  WordId find(std::string_view word) const noexcept;
  // The new id, or -1 if the word is there already.
  WordId add(std::string_view word);
  std::string_view word(WordId id) const;
  std::size_t size() const noexcept { return offsets_.size() - 1; }
  static bool is_unknown(std::string_view word) noexcept { return word == "<unk>" || word == "<UNK>"; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    WordId id = kUnknown;
  };
  void grow();

  std::vector<Slot> slots_;
  std::string text_;
  std::vector<std::uint64_t> offsets_;
};

// log10 values. A back-off of -0.0 says that no longer n-gram begins with these words: a state need not keep
// them. When one does, a zero back-off is stored as +0.0.
struct Weights {
  float prob;
  float backoff;
};

// The n-grams of one order. 64-bit keys stand for the words; a clash of two n-grams is not looked for.
class NgramTable {
 public:
  explicit NgramTable(std::size_t expected);
  const Weights* find(std::uint64_t key) const noexcept;
  Weights* find(std::uint64_t key) noexcept;
  // False if the key is there already.
  bool insert(std::uint64_t key, Weights weights);

 private:
  struct Slot {
    std::uint64_t key = 0;  // 0 is an empty slot
    Weights weights{};
  };
  void grow();

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

struct WordScore {
  double prob;  // log10
  int length;   // words of the n-gram that matched
  bool unknown;
};

struct SentenceScore {
  double prob = 0.0;  // log10, summed in word order
  std::int32_t unknown = 0;
};

class LanguageModel {
 public:
  // The words before the next one, the latest first: as many as a longer n-gram may still use.
  struct State {
    int length = 0;
    WordId words[kMaxOrder - 1];
    float backoff[kMaxOrder - 1];
  };

  int order() const noexcept { return static_cast<int>(counts_.size()); }
  // n-grams of each order, as the file's header has them.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  const LmVocabulary& vocabulary() const noexcept { return vocabulary_; }

  // Throws std::invalid_argument if bos or eos asks for a marker that the model does not have.
  State begin(bool bos) const;
  WordId end_marker() const;
  WordScore step(const State& state, WordId word, State& next) const noexcept;

  // Words are parted by spaces and tabs, by nothing else.
  SentenceScore score(std::string_view sentence, bool bos, bool eos) const;
  SentenceScore score(const WordId* words, std::size_t count, bool bos, bool eos) const;
  std::vector<WordScore> full_scores(std::string_view sentence, bool bos, bool eos) const;

 private:
  friend class LmBuilder;

  std::vector<std::uint64_t> counts_;
  LmVocabulary vocabulary_;
  std::vector<Weights> unigrams_;   // by id
  std::vector<NgramTable> tables_;  // orders 2 and up
  WordId begin_ = kUnknown;
  WordId end_ = kUnknown;
};

// Fills a model, the short n-grams first.
class LmBuilder {
 public:
  void set_counts(std::vector<std::uint64_t> counts);
  // False if the word is there already.
  bool add_unigram(std::string_view word, Weights weights);
  void end_unigrams();
  // False if the n-gram is there already.
  bool add(const WordId* words, int order, Weights weights);
  bool has_unknown() const noexcept { return has_unknown_; }
  const LanguageModel& model() const noexcept { return model_; }
  LanguageModel finish() && { return std::move(model_); }

 private:
  Weights& require(const WordId* words, int order);

  LanguageModel model_;
  bool has_unknown_ = false;
};

}  // namespace smt
