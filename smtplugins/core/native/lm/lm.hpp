// A back-off n-gram language model, and its builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/lm_state.hpp"
#include "base/memory.hpp"
#include "lm/tables.hpp"

namespace smt {

inline bool is_unknown(std::string_view word) noexcept { return word == "<unk>" || word == "<UNK>"; }
constexpr float kUnknownProb = -100.0F;  // log10 probability of <unk> if the file has none; KenLM's value

struct WordScore {
  float prob;  // log10
  int length;  // words of the matched n-gram
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
  // The number of n-grams of each order, from the file's header.
  const std::vector<std::uint64_t>& counts() const noexcept { return counts_; }
  const LmTables& tables() const noexcept { return tables_; }
  // The kind of KenLM file that it is, or would be.
  const char* kind() const noexcept { return kind_; }

  // Id 0 is <unk>, also spelt <UNK>.
  std::size_t words() const noexcept { return static_cast<std::size_t>(tables_.words); }
  WordId find(std::string_view word) const noexcept;
  // A file may lack the words' spellings.
  bool has_spellings() const noexcept { return !offsets_.empty(); }
  std::string_view word(WordId id) const noexcept;

  // Throw std::invalid_argument if the model lacks a requested marker.
  State begin(bool bos) const;
  WordId end_marker() const;

  // Words are separated by spaces and tabs only.
  std::vector<WordScore> full_scores(std::string_view sentence, bool bos, bool eos) const;

 private:
  friend class LmBuilder;
  friend class KenlmFile;

  std::vector<std::uint64_t> counts_;
  const char* kind_ = "probing";
  LmTables tables_;
  std::vector<Memory> memory_;          // the memory of the tables
  std::vector<Weights> unigrams_;       // unless they are mapped from a file
  std::vector<char> text_;              // the words, each with a final NUL, unless mapped from a file
  const char* spellings_ = nullptr;     // the words, wherever they are
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

// The number of slots that KenLM gives a table.
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
  // The place of the value; null if the key is missing, or for insert(), exists already.
  std::byte* find(std::uint64_t key) noexcept;
  std::byte* insert(std::uint64_t key);
  // Exactly as many slots as KenLM allocates for the header's entries, or if there are more, for all entries.
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
  // How a longer n-gram uses this one.
  enum Mark : unsigned { kEnding = 1, kBeginning = 2 };

  void set_counts(std::vector<std::uint64_t> counts);
  WordId find(std::string_view word) const noexcept { return model_.find(word); }
  std::string_view word(WordId id) const noexcept {
    const auto i = static_cast<std::size_t>(id);
    return {model_.text_.data() + model_.offsets_[i], model_.offsets_[i + 1] - model_.offsets_[i] - 1};
  }
  bool add_unigram(std::string_view word, Weights weights);  // false if the word exists already
  void end_unigrams();
  // Prefetches the memory that add() reads.
  void prefetch(const WordId* words, int order) const noexcept;
  // kAboveOne: the file lacks a shorter n-gram, and backing off gives it more than 1.
  Added add(const WordId* words, int order, Weights weights);
  bool has_unknown() const noexcept { return has_unknown_; }
  LanguageModel finish() &&;

 private:
  // The entry of a prefix or suffix of a longer n-gram, marked as such; added if missing.
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
