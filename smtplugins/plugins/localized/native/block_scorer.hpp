// Block features in a phrase decoder: (a) to (f) and those of neutral blocks (Tillmann and Zhang, 2005).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "lm/tables.hpp"
#include "search/scorer.hpp"

namespace smt::localized {

// Columns by block, with an extra last row for phrase pairs that are not blocks.
struct BlockValues {
  std::vector<float> unigram, left, right, rest, lexical;
  std::vector<std::uint8_t> no_left;  // whether the block is too rare on the left
};

struct BigramValues {
  std::vector<std::int32_t> first, second;  // sorted
  std::vector<float> weights;
};

// The state shared by all threads. Block numbers index the arrays; the last is for all other phrase pairs.
class BlockModel {
 public:
  BlockModel(std::vector<std::string_view> words, Runs sources, Runs targets, std::span<const std::int64_t> starts,
             std::span<const std::int32_t> target_of, BlockValues values, BigramValues bigrams);

  std::int32_t word(std::string_view text) const noexcept;
  std::int32_t source(std::span<const std::int32_t> words) const noexcept { return sources_.find(words); }
  std::int32_t target(std::span<const std::int32_t> words) const noexcept { return targets_.find(words); }
  std::int32_t block(std::int32_t source, std::int32_t target) const noexcept;
  std::int32_t none() const noexcept { return static_cast<std::int32_t>(values_.unigram.size()) - 1; }
  const BlockValues& values() const noexcept { return values_; }
  float bigram(std::int32_t first, std::int32_t second) const noexcept;
  // Whether a block affects the score of its successors.
  bool matters(std::int32_t block) const noexcept;

 private:
  static std::uint64_t key(std::int32_t high, std::int32_t low) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32U | static_cast<std::uint32_t>(low);
  }

  std::unordered_map<std::string_view, std::int32_t> words_;
  PhraseIndex sources_;
  PhraseIndex targets_;
  std::unordered_map<std::uint64_t, std::int32_t> blocks_;
  BlockValues values_;
  BigramValues bigrams_;
};

enum Component : std::size_t {
  kUnigramOf,
  kOrientationOf,
  kFirstOf,
  kRestOf,
  kLexicalOf,
  kBigramOf,
  kNeutralUnigram,
  kNeutralFirst,
  kNeutralRest,
  kNeutralLexical,
  kNoLeft,
  kComponents
};

// Scores one sentence after another. Target words have two ids: the block model's and the language model's.
class AnyBlockScorer : public Scorer {
 public:
  explicit AnyBlockScorer(std::shared_ptr<const BlockModel> model) : model_(std::move(model)) {}
  void set_words(std::vector<std::int32_t> blocks, std::vector<WordId> lm) {
    block_words_ = std::move(blocks);
    lm_words_ = std::move(lm);
  }
  void set_sentence(const std::vector<std::string>& words);
  // Whether searches must forbid blocks on the left that are too rare there.
  void forbid_left(bool forbidden) noexcept { forbids_left_ = forbidden; }

 protected:
  bool forbids_left() const noexcept { return forbids_left_; }
  const BlockModel& model() const noexcept { return *model_; }
  std::int32_t block_of(std::span<const std::int32_t> target, std::int32_t first, std::int32_t last) const;
  WordId lm_word(std::int32_t symbol) const noexcept {
    const auto i = static_cast<std::size_t>(symbol);
    return i < lm_words_.size() ? lm_words_[i] : kUnknown0;
  }

 private:
  static constexpr WordId kUnknown0 = 0;
  std::shared_ptr<const BlockModel> model_;
  std::vector<std::int32_t> block_words_;
  std::vector<WordId> lm_words_;
  std::vector<std::int32_t> sentence_;
  bool forbids_left_ = false;
};

// `lm` must outlive the scorer. With `end` the sentence end is scored as a first word.
std::shared_ptr<AnyBlockScorer> make_block_scorer(std::shared_ptr<const BlockModel> model, const LmTables& lm,
                                                  bool end);

}  // namespace smt::localized
