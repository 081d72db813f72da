// The scorer of a plugin's stateful feature, a table of C functions (smt_feature.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/scorer.hpp"
#include "smt_feature.h"

namespace smt {

// A feature's function failed, or broke the contract of the header.
struct FeatureFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The words of target sides' ids, for features in C. Words can be added and never move; readers in other threads are
// not blocked meanwhile.
class WordTexts : public std::enable_shared_from_this<WordTexts> {
 public:
  WordTexts();
  WordTexts(const WordTexts&) = delete;
  WordTexts& operator=(const WordTexts&) = delete;

  const smt_vocabulary_v1& table() const noexcept { return table_; }
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }
  // Adds words with the numbers from `first` on; numbers that have a word are skipped.
  void add(std::size_t first, std::span<const std::string_view> words);

 private:
  struct Entry {
    const char* text;
    std::size_t length;
  };
  // Chunk c has kFirst << c entries, so none ever moves.
  static constexpr std::size_t kFirst = 256;
  static constexpr std::size_t kChunks = 24;
  static std::pair<std::size_t, std::size_t> place_of(std::size_t number) noexcept;
  static const char* word(const smt_vocabulary_v1* vocabulary, std::int32_t number, std::size_t* length);
  static std::int32_t find(const smt_vocabulary_v1* vocabulary, const char* text, std::size_t length);

  smt_vocabulary_v1 table_;
  std::atomic<std::size_t> size_{0};
  std::array<std::atomic<Entry*>, kChunks> chunks_{};
  std::vector<std::unique_ptr<Entry[]>> owned_;
  std::vector<std::unique_ptr<char[]>> texts_;
  mutable std::shared_mutex mutex_;  // guards what follows, and adding
  std::unordered_map<std::string_view, std::int32_t> numbers_;
};

// A sentence as features in C see one.
class SentenceTexts {
 public:
  SentenceTexts(std::string id, std::vector<std::string> tokens, std::vector<std::string> names,
                std::vector<std::string> values, std::shared_ptr<const WordTexts> words);
  SentenceTexts(const SentenceTexts&) = delete;
  SentenceTexts& operator=(const SentenceTexts&) = delete;
  const smt_sentence_v1& record() const noexcept { return record_; }

 private:
  std::string id_;
  std::vector<std::string> tokens_, names_, values_;
  std::vector<const char*> token_texts_, name_texts_, value_texts_;
  std::shared_ptr<const WordTexts> words_;
  smt_sentence_v1 record_;
};

// A clone at work.
class TableScorer final : public Scorer {
 public:
  // `prototype` keeps the table alive, and is released after the clone. Throws
  // std::invalid_argument if the host cannot use the table.
  TableScorer(std::string name, std::shared_ptr<const smt_feature_v1> prototype);
  ~TableScorer() override;

  // The next prepare() starts this sentence.
  void start(std::shared_ptr<const SentenceTexts> sentence);
  // Names of the components: the feature's own, else its name, or NAME[0], NAME[1] and so on.
  std::vector<std::string> names() const;

  std::size_t components() const noexcept override { return components_; }
  std::size_t state_bytes() const noexcept override { return state_bytes_; }
  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override;
  void combine(const Batch& batch) override;
  void finish(const std::byte* state, bool begun, float* values) override;
  std::uint64_t hash(const std::byte* state) const noexcept override;
  bool equal(const std::byte* a, const std::byte* b) const noexcept override;

 private:
  smt_error_v1* fresh_error() noexcept;
  void check(int code, const char* function);
  double* fresh_scores(std::size_t items);
  // One item's scores as floats.
  void read_scores(const double* scores, float* values, const char* function) const;

  std::string name_;
  std::shared_ptr<const smt_feature_v1> prototype_;
  smt_feature_v1* clone_ = nullptr;
  std::size_t components_ = 0;
  std::size_t state_bytes_ = 0;

  std::mutex mutex_;  // guards `next_`
  std::shared_ptr<const SentenceTexts> next_;
  std::shared_ptr<const SentenceTexts> sentence_;
  bool started_ = false;

  // For each rule of the sentence: its target side with children in target order, and their gaps.
  Parts<std::int32_t> targets_;
  Parts<std::int32_t> gaps_;

  // For a batch.
  smt_error_v1 error_;
  std::vector<std::int32_t> target_;
  std::vector<std::int64_t> target_offsets_, tail_offsets_;
  std::vector<const void*> tails_;
  std::vector<double> scores_;
  std::vector<float> finished_;
  std::vector<std::uint64_t> states_;
};

}  // namespace smt
