// What stateful features know of the hypotheses of a phrase decoder. Their states are numbers here, the same number
// for equal states, and a move from one by a phrase is worked out once.
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

// A word behind a state of a language model.
struct LmMove {
  std::uint64_t key = 0;  // of the state and the word; 0 for none
  float prob = 0.0F;      // log10
  std::int32_t next = 0;
};

// A language model's states, numbered. What was worked out is kept from sentence to sentence.
class LmStates {
 public:
  static constexpr std::int32_t empty = 0;  // nothing is known of what comes before
  static constexpr std::int32_t begun = 1;  // <s> comes before

  explicit LmStates(std::shared_ptr<AnyLmScorer> scorer);
  LmStates(const LmStates&) = delete;
  LmStates& operator=(const LmStates&) = delete;
  virtual ~LmStates() = default;
  static std::unique_ptr<LmStates> make(std::shared_ptr<AnyLmScorer> scorer);

  // Takes the rules of a sentence, whose words it scores each by itself.
  void start(const TargetRules& rules);
  // The words of a rule by themselves, and behind a state: log10 times scale.
  double scale() const noexcept { return scale_; }
  double alone(std::int32_t rule) const noexcept { return scale_ * alone_[static_cast<std::size_t>(rule)]; }
  double move(std::int32_t state, std::int32_t rule, std::int32_t& next);
  double finish(std::int32_t state) { return scale_ * static_cast<double>(step(state, end_).prob); }

 protected:
  const AnyLmScorer& scorer() const noexcept { return *scorer_; }
  virtual void reset() = 0;  // forgets all states but the first two
  virtual std::size_t states() const noexcept = 0;
  virtual LmMove work_out(std::int32_t state, WordId word) = 0;

 private:
  struct Word {
    WordId word;
    std::int32_t state;  // behind it, if the rule stood alone
    double rest;         // log10 of the words behind it then
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

// A phrase that may be put behind a hypothesis: a rule of the forest over a span.
struct PhraseOption {
  std::int32_t rule;
  std::int32_t first;
  std::int32_t last;
  double score;     // of the rule
  double estimate;  // with guesses at what stateful features and the order of phrases add
  double alone;     // the former of them
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
  // Whether there are features that are asked through a call, which many moves at once make cheaper, and that may tell
  // equal rules on different spans apart.
  bool costly() const noexcept {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.stored != nullptr; });
  }
  // What a language model's nat adds to a score, the weights of all of them added up; 0 without any.
  double lm_nat() const noexcept;
  // Begins a sentence: adds to the estimates of its options, and gives the state of the empty hypothesis.
  std::int32_t start(const TargetRules& rules, std::vector<PhraseOption>& options);
  // Whether no feature forbids that an option stands to the left of the phrase before it.
  bool may_go_left(std::int32_t option) const {
    return std::all_of(parts_.begin(), parts_.end(), [option](const Part& part) {
      return part.stored == nullptr || part.stored->scorer->may_go_left(1 + option);
    });
  }
  // Asks about moves, states and options, that will be wanted soon: in one call for each feature.
  void ask(std::span<const std::pair<std::int32_t, std::int32_t>> wanted);
  // From a state by options: those of `options` at these numbers.
  void moves(std::int32_t state, std::span<const std::int32_t> numbers, Move* found);
  double finish(std::int32_t state);
  // What was added to score, component by component.
  void values(std::int32_t state, std::int32_t option, float* values);
  void finish_values(std::int32_t state, float* values);
  std::int64_t asked() const noexcept { return asked_; }

 private:
  // A scorer of its own kind: states are bytes, kept one behind the other.
  struct Stored {
    std::shared_ptr<Scorer> scorer;
    std::vector<std::uint64_t> states;
    std::size_t stride = 0;  // in units of eight bytes
    std::int32_t count = 0;
    std::unordered_multimap<std::uint64_t, std::int32_t> numbers;  // by hash
    std::unordered_map<std::uint64_t, std::int64_t> moves;         // of state and option: where they are
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
  LmStates* only_ = nullptr;  // a language model that is the only part: its states are those of all
  double only_weight_ = 0.0;
  std::int64_t asked_ = 0;

  // Of the sentence.
  const std::vector<PhraseOption>* options_ = nullptr;
  TargetRules steps_;
  std::vector<std::int32_t> joints_;
  std::unordered_multimap<std::uint64_t, std::int32_t> joint_numbers_;
  std::vector<std::pair<std::int32_t, std::int32_t>> own_, fresh_;
};

}  // namespace smt
