// A back-off n-gram language model, and what fills it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/lm_state.hpp"
#include "base/memory.hpp"
#include "lm/probing.hpp"

namespace smt {

inline bool is_unknown(std::string_view word) noexcept { return word == "<unk>" || word == "<UNK>"; }
constexpr float kUnknownProb = -100.0F;  // log10, of an <unk> that the file does not give; KenLM's value

struct WordScore {
  float prob;  // log10
  int length;  // words of the n-gram that matched
  bool unknown;
};

class LanguageModel {
 public:
  using State = RightState<kMaxOrder>;

  LanguageModel() = default;
  LanguageModel(LanguageModel&&) = default;
  LanguageModel& operator=(LanguageModel&&) = default;
  LanguageModel(const LanguageModel&) = delete;
  LanguageModel& operator=(const LanguageModel&) = delete;
  ~LanguageModel() = default;

  int order() const noexcept { return tables_.order; }
  // n-grams of each order, as the file's header has them.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  const LmTables& tables() const noexcept { return tables_; }

  // Id 0 is <unk>, also spelt <UNK>.
  std::size_t words() const noexcept { return static_cast<std::size_t>(tables_.words); }
  WordId find(std::string_view word) const noexcept;
  // A file may come without the words' spellings.
  bool has_spellings() const noexcept { return !offsets_.empty(); }
  std::string_view word(WordId id) const noexcept;

  // Throw std::invalid_argument if they ask for a marker that the model does not have.
  State begin(bool bos) const;
  WordId end_marker() const;

  // Words are parted by spaces and tabs, by nothing else.
  std::vector<WordScore> full_scores(std::string_view sentence, bool bos, bool eos) const;

 private:
  friend class LmBuilder;
  friend class KenlmFile;

  std::vector<std::uint64_t> counts_;
  LmTables tables_;
  std::vector<Memory> memory_;          // what the tables lie in
  std::vector<Weights> unigrams_;       // unless they lie in a file
  std::vector<char> text_;              // the words, a NUL behind each, unless they lie in a file
  const char* spellings_ = nullptr;     // the same wherever they lie
  std::vector<std::uint64_t> offsets_;  // of each word there, and the end
};

// Calls visit(word) for each word of a sentence.
template <class Visit>
void for_each_word(std::string_view sentence, Visit visit) {
  const char* at = sentence.data();
  const char* const end = at + sentence.size();
  while (at != end) {
    if (*at == ' ' || *at == '\t') {
      ++at;
      continue;
    }
    const char* stop = at;
    while (stop != end && *stop != ' ' && *stop != '\t') ++stop;
    visit(std::string_view(at, static_cast<std::size_t>(stop - at)));
    at = stop;
  }
}

// How many slots KenLM gives a table.
inline std::uint64_t buckets(std::uint64_t entries, float multiplier) noexcept {
  const auto wide = static_cast<std::uint64_t>(multiplier * static_cast<float>(entries));
  return wide > entries + 1 ? wide : entries + 1;
}
constexpr float kMultiplier = 1.5F;

// A table that is being filled.
template <class Table>
class TableBuilder {
 public:
  explicit TableBuilder(std::uint64_t expected);
  Table view() const noexcept { return Table(memory_.data(), slots_.divisor()); }
  void prefetch(std::uint64_t key) const noexcept { Table::prefetch_from(memory_.data() + slots_(key) * Table::kSlot); }
  // The value's place; null if the key is not there, or for insert(), is there already.
  std::byte* find(std::uint64_t key) noexcept;
  std::byte* insert(std::uint64_t key);
  // Exactly as many slots as KenLM gives the entries of the header, or if there are more, all that are there.
  std::uint64_t settle();
  Memory release() noexcept { return std::move(memory_); }

 private:
  void resize(std::uint64_t entries);
  bool crowded() const noexcept;
  std::byte* free_slot(std::uint64_t key) noexcept;

  std::uint64_t expected_;
  std::uint64_t sized_for_ = 0;
  std::uint64_t used_ = 0;
  Modulo slots_;
  Memory memory_;
};

// Fills a model, the short n-grams first.
class LmBuilder {
 public:
  enum class Added { kYes, kTwice, kAboveOne };
  // What a longer n-gram does with one.
  enum Mark : unsigned { kEnding = 1, kBeginning = 2 };

  void set_counts(std::vector<std::uint64_t> counts);
  WordId find(std::string_view word) const noexcept { return model_.find(word); }
  std::string_view word(WordId id) const noexcept {
    const auto i = static_cast<std::size_t>(id);
    return {model_.text_.data() + model_.offsets_[i], model_.offsets_[i + 1] - model_.offsets_[i] - 1};
  }
  bool add_unigram(std::string_view word, Weights weights);  // false if the word is there already
  void end_unigrams();
  // Asks for the memory that add() will look at.
  void prefetch(const WordId* words, int order) const noexcept;
  // kAboveOne: the file lacks a shorter n-gram, and what backing off gives it is no probability.
  Added add(const WordId* words, int order, Weights weights);
  bool has_unknown() const noexcept { return has_unknown_; }
  LanguageModel finish() &&;

 private:
  // The entry of an n-gram that a longer one ends or begins with, marked so; the model gets it if it has none.
  Weights require(const WordId* words, int order, unsigned marks);

  LanguageModel model_;
  std::vector<TableBuilder<WordTable>> vocabulary_;  // one
  std::vector<TableBuilder<MiddleTable>> middles_;
  std::vector<TableBuilder<LongestTable>> longest_;  // one, or none for order 1
  struct Asked {
    std::uint64_t key = 0;
    int order = 0;
    unsigned marks = 0;
    bool operator==(const Asked&) const = default;
  };
  Asked ending_;  // by the n-gram before
  Asked beginning_;
  bool has_unknown_ = false;
  bool above_one_ = false;
};

}  // namespace smt
