// Events of the block model with their alternatives, and stochastic gradient descent over them.
//
// C. Tillmann and T. Zhang (ACL 2005), sections 3.2 and 4. Features are not stored by event: what an alternative has of
// its own lies beside the other blocks of its source phrase, and what it has of its history is kept once for all events
// of this history in a sentence, which have the same alternatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "blocks.hpp"
#include "large.hpp"

namespace smt::localized {

constexpr std::size_t kFloats = 5;  // unigram, orientation, first word, further words, lexical weight

struct BlockColumns {  // by block
  std::span<const float> unigram, left, right, rest, lexical;
};

// Pairs of neighbours that are features, ordered; `first` is the predecessor.
struct Bigrams {
  std::vector<std::int32_t> first, second;
  std::vector<std::int64_t> count;
};
Bigrams count_bigrams(std::span<const std::int32_t> predecessor, std::span<const std::int32_t> successor,
                      std::int64_t threshold);

struct EventColumns {
  std::span<const std::int64_t> sentences;  // where each one's events begin, and the end
  std::span<const std::int32_t> history;
  std::span<const std::int32_t> block;
  std::span<const std::uint8_t> orientation;  // empty: none has any
};

struct Weights {
  double floats[kFloats];
  std::span<float> bigrams;
};

enum class Update { kMaxent, kPerceptron };

struct Rule {
  Update update = Update::kMaxent;
  double rate = 0.0;
  // The rate behind i events is rate / (1 + decay * i).
  double decay = 0.0;
  bool learn_float[kFloats] = {true, true, true, true, true};
  bool learn_bigrams = true;
};

// The events as rows: row r is values[offsets[r]:offsets[r + 1]] of features ids[..], bigram k being kFloats + k.
struct Rows {
  std::vector<std::int64_t> groups{0};
  std::vector<std::int64_t> right;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int64_t> ids;
  std::vector<double> values;
  std::vector<std::int32_t> block;
  std::vector<std::uint8_t> orientation;
};

class Training {
 public:
  // Histories are blocks or whatever else; context[h] is what the language model knows of one. Block i is of source
  // phrase p if starts[p] <= i < starts[p + 1]; the first `keep` of them are alternatives to each other.
  Training(const EventColumns& events, std::span<const std::int32_t> context, std::span<const std::int64_t> starts,
           std::int64_t keep, const BlockColumns& blocks, const Bigrams& bigrams);

  std::size_t size() const noexcept { return events_.size(); }
  std::size_t alternatives() const noexcept { return alternatives_; }  // of all events together
  std::size_t successors() const noexcept { return successors_; }
  std::size_t memory() const noexcept;

  // Language model scores that are needed: of the first words of blocks [first, first + count) behind a context each.
  struct Wanted {
    std::int32_t context, first, count;
  };
  const std::vector<Wanted>& wanted() const noexcept { return wanted_; }
  void set_scores(std::span<const float> scores);  // in the order of `wanted`

  // One step for each event of `order`, `done` having been made before; gives the sum of their losses before the step.
  double descend(std::span<const std::uint32_t> order, const Rule& rule, std::uint64_t done, Weights& weights);
  // The sum of the losses of all events; and in how many of them no other alternative scores as high.
  double loss(const Weights& weights, std::size_t& best) const;
  Rows rows(std::size_t first, std::size_t last) const;

 private:
  // A group is all events of a history in a sentence. It lies in words of 32 bits: how many links, alternatives and
  // bits it has; a link for blocks that stand together, the first of them and 2 * how many + 1 if to the right; a score of
  // the first word of each alternative; the bits, a feature and an alternative's place in the group.
  struct Event {
    std::uint32_t group;  // where it begins
    std::uint32_t right;  // the place of the right alternative
  };
  struct Group;
  class Gathered;
  struct Shares;

  Group group_of(const Event& event) const noexcept;
  void build(const EventColumns& events, std::span<const std::int32_t> context, std::span<const std::int64_t> starts,
             std::int64_t keep, const Bigrams& bigrams);
  void fill(const BlockColumns& blocks, std::span<const std::int64_t> starts, std::int64_t keep);
  const float* tile(std::uint32_t first) const noexcept;
  void prefetch(std::span<const std::uint32_t> order, std::size_t at, const float* weights) const noexcept;
  void gather(const Group& group, Gathered& gathered) const noexcept;
  static Shares share(Gathered& gathered, std::size_t wide, float shift);

  std::vector<Event, Large<Event>> events_;
  std::vector<std::uint32_t, Large<std::uint32_t>> groups_;
  // The columns of blocks that are alternatives to each other stand together: all unigrams, all of the next column ..
  std::vector<float, Large<float>> tiles_;
  std::vector<Wanted> wanted_;
  std::vector<std::uint32_t> rows_;  // by link: which of `wanted` it is, until the scores are there
  std::size_t widest_ = 0;           // alternatives of an event
  std::size_t alternatives_ = 0;
  std::size_t successors_ = 0;
};

// The same for any rows: event i has rows groups[i] to before groups[i + 1], of which right[i] is the right one.
struct AnyRows {
  std::span<const std::int64_t> groups, right, offsets, ids;
  std::span<const double> values;
};
double descend(const AnyRows& rows, std::span<const std::uint32_t> order, const Rule& rule, std::uint64_t done,
               std::span<double> weights, std::span<const std::uint8_t> fixed);

}  // namespace smt::localized
