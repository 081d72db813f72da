// The states of stateful features in a phrase-based search. Equal states have equal numbers, and the move from a state
// by a phrase is computed once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "search/forest.hpp"
#include "search/lm_scorer.hpp"
#include "search/scorer.hpp"

namespace smt {

// A word after a state of a language model.
struct LmMove {
  std::uint64_t key = 0;  // of the state and the word; 0 for none
  float prob = 0.0F;      // log10
  std::int32_t next = 0;
};

// A language model's states, numbered. Scores are cached from sentence to sentence.
class LmStates {
 public:
  static constexpr std::int32_t empty = 0;  // without context
  static constexpr std::int32_t begun = 1;  // after <s>

  explicit LmStates(std::shared_ptr<AnyLmScorer> scorer);
  LmStates(const LmStates&) = delete;
  LmStates& operator=(const LmStates&) = delete;
  virtual ~LmStates() = default;
  static std::unique_ptr<LmStates> make(std::shared_ptr<AnyLmScorer> scorer);

  // Takes the rules of a sentence, and scores the words of each by themselves.
  void start(const TargetRules& rules);
  // The score of a rule's words by themselves, and after a state: log10 times scale.
  double scale() const noexcept { return scale_; }
  double alone(std::int32_t rule) const noexcept { return scale_ * alone_[static_cast<std::size_t>(rule)]; }
  double move(std::int32_t state, std::int32_t rule, std::int32_t& next);
  double finish(std::int32_t state) { return scale_ * static_cast<double>(step(state, end_).prob); }

 protected:
  const AnyLmScorer& scorer() const noexcept { return *scorer_; }
  virtual void reset() = 0;  // drops all states but the first two
  virtual std::size_t states() const noexcept = 0;
  virtual LmMove work_out(std::int32_t state, WordId word) = 0;

 private:
  struct Word {
    WordId word;
    std::int32_t state;  // after the word, if the rule stood alone
    double rest;         // log10 of the words after it then
  };

  const LmMove& step(std::int32_t state, WordId word);
  void grow();

  std::shared_ptr<AnyLmScorer> scorer_;
  double scale_;
  WordId end_;
  std::vector<LmMove> moves_;
  std::size_t used_ = 0;
  Parts<Word> words_;  // of the rules
  std::vector<double> alone_;
};

// A stateful feature, and a weight for each of its components.
struct WeightedScorer {
  std::shared_ptr<Scorer> scorer;
  std::vector<double> weights;
};

// A translation option: a rule of the forest over a span.
struct PhraseOption {
  std::int32_t rule;
  std::int32_t first;
  std::int32_t last;
  double score;     // of the rule
  double estimate;  // with estimates of stateful features and the order of phrases
  double alone;     // the estimate of stateful features
};

class PhraseStates {
 public:
  struct Move {
    double score = 0.0;
    std::int32_t next = unknown;
  };
  static constexpr std::int32_t unknown = -1;

  explicit PhraseStates(std::vector<WeightedScorer> parts);

  std::size_t components() const noexcept { return components_; }
  // Whether there are features other than language models, which are cheaper for many moves at once and may distinguish
  // equal rules on different spans.
  bool costly() const noexcept {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.stored != nullptr; });
  }
  // The score of a nat of language models: the sum of their weights, 0 without any.
  double lm_nat() const noexcept;
  // Starts a sentence: adds to the estimates of its options, and returns the state of the empty hypothesis.
  std::int32_t start(const TargetRules& rules, std::vector<PhraseOption>& options);
  // Whether no feature forbids an option to the left of the previous phrase.
  bool may_go_left(std::int32_t option) const {
    return std::all_of(parts_.begin(), parts_.end(), [option](const Part& part) {
      return part.stored == nullptr || part.stored->scorer->may_go_left(1 + option);
    });
  }
  // Computes moves (state, option) in advance, in one call for each feature.
  void ask(std::span<const std::pair<std::int32_t, std::int32_t>> wanted);
  // The moves from a state by the options with these numbers.
  void moves(std::int32_t state, std::span<const std::int32_t> numbers, Move* results);
  double finish(std::int32_t state);
  // The values added to the score, by component.
  void values(std::int32_t state, std::int32_t option, float* values);
  void finish_values(std::int32_t state, float* values);
  std::int64_t asked() const noexcept { return asked_; }

 private:
  // A scorer other than a language model: states are bytes, concatenated.
  struct Stored {
    std::shared_ptr<Scorer> scorer;
    std::vector<std::uint64_t> states;
    std::size_t stride = 0;  // in units of eight bytes
    std::int32_t count = 0;
    std::unordered_multimap<std::uint64_t, std::int32_t> numbers;  // by hash
    std::unordered_map<std::uint64_t, std::int64_t> moves;         // the index of a move, by state and option
    std::vector<std::int32_t> next;
    std::vector<float> values;

    const std::byte* state(std::int32_t number) const noexcept {
      return reinterpret_cast<const std::byte*>(states.data() + static_cast<std::size_t>(number) * stride);
    }
    std::int32_t number(const std::byte* state);
  };
  struct Part {
    std::unique_ptr<LmStates> lm;  // or
    std::unique_ptr<Stored> stored;
    std::vector<double> weights;
    std::size_t component = 0;
  };

  std::int32_t joint(std::span<const std::int32_t> states);
  std::span<const std::int32_t> states_of(std::int32_t joint) const noexcept {
    return {joints_.data() + static_cast<std::size_t>(joint) * parts_.size(), parts_.size()};
  }
  void work_out(Stored& part, std::span<const std::pair<std::int32_t, std::int32_t>> wanted);
  std::int64_t place(const Stored& part, std::int32_t state, std::int32_t option) const;

  std::vector<Part> parts_;
  std::size_t components_ = 0;
  LmStates* only_ = nullptr;  // the language model if it is the only part: its states are the joint states
  double only_weight_ = 0.0;
  std::int64_t asked_ = 0;

  // For the sentence.
  const std::vector<PhraseOption>* options_ = nullptr;
  TargetRules steps_;
  std::vector<std::int32_t> joints_;
  std::unordered_multimap<std::uint64_t, std::int32_t> joint_numbers_;
  std::vector<std::pair<std::int32_t, std::int32_t>> own_, fresh_;
};

}  // namespace smt
