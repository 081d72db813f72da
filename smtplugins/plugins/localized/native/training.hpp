// Events of the block model with their alternatives, and stochastic gradient descent over them.
//
// C. Tillmann and T. Zhang (ACL 2005), sections 3.2 and 4. Features are not stored by event: the features of a block
// alone are stored with the other blocks of its source phrase, and the features that depend on the history are stored
// once for all events of that history in a sentence, which have the same alternatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "blocks.hpp"
#include "large.hpp"

namespace smt::localized {

constexpr std::size_t kFloats = 5;  // unigram, orientation, first word, other words, lexical weight

struct BlockColumns {  // by block
  std::span<const float> unigram, left, right, rest, lexical;
};

// The pairs of neighbours that are features, sorted; `first` is the predecessor.
struct Bigrams {
  std::vector<std::int32_t> first, second;
  std::vector<std::int64_t> count;
};
Bigrams count_bigrams(std::span<const std::int32_t> predecessor, std::span<const std::int32_t> successor,
                      std::int64_t threshold);

struct EventColumns {
  std::span<const std::int64_t> sentences;  // the first event of each sentence, then the number of events
  std::span<const std::int32_t> history;
  std::span<const std::int32_t> block;
  std::span<const std::uint8_t> orientation;  // empty: all are neutral
};

struct Weights {
  double floats[kFloats];
  std::span<float> bigrams;
};

enum class Update { kMaxent, kPerceptron };

struct Rule {
  Update update = Update::kMaxent;
  double rate = 0.0;
  // The learning rate after i events is rate / (1 + decay * i).
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
  // Histories are blocks or other contexts; context[h] is the language model context of history h. Block i has source
  // phrase p if starts[p] <= i < starts[p + 1]; the first `keep` blocks of a phrase are alternatives to each other.
  Training(const EventColumns& events, std::span<const std::int32_t> context, std::span<const std::int64_t> starts,
           std::int64_t keep, const BlockColumns& blocks, const Bigrams& bigrams);

  std::size_t size() const noexcept { return events_.size(); }
  std::size_t alternatives() const noexcept { return alternatives_; }  // summed over events
  std::size_t successors() const noexcept { return successors_; }
  std::size_t memory() const noexcept;

  // The language model scores needed: first words of blocks [first, first + count) after each context.
  struct Wanted {
    std::int32_t context, first, count;
  };
  const std::vector<Wanted>& wanted() const noexcept { return wanted_; }
  void set_scores(std::span<const float> scores);  // in the order of `wanted`

  // Makes a step for each event of `order`, after `done` earlier steps; returns the sum of the losses before each step.
  double descend(std::span<const std::uint32_t> order, const Rule& rule, std::uint64_t done, Weights& weights);
  // Returns the sum of all events' losses; `best` gets the number of events whose right alternative scores strictly
  // highest.
  double loss(const Weights& weights, std::size_t& best) const;
  Rows rows(std::size_t first, std::size_t last) const;

 private:
  // A group is all events of a history in a sentence, packed in 32-bit words: the numbers of links, alternatives and
  // bits; for each link, a range of blocks, its first block and 2 * length + (1 if on the right); for each alternative
  // the score of its first word; for each bit a binary feature and the alternative's position in the group.
  struct Event {
    std::uint32_t group;  // offset of the group
    std::uint32_t right;  // position of the right alternative
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
  // Blocks that are alternatives to each other form a tile, stored by column: all unigrams, then the next column ..
  std::vector<float, Large<float>> tiles_;
  std::vector<Wanted> wanted_;
  std::vector<std::uint32_t> rows_;  // by link: its index in `wanted`, until the scores are set
  std::size_t widest_ = 0;           // maximum number of alternatives of an event
  std::size_t alternatives_ = 0;
  std::size_t successors_ = 0;
};

// Stochastic gradient descent over rows: event i has rows [groups[i], groups[i + 1]), of which right[i] is right.
struct AnyRows {
  std::span<const std::int64_t> groups, right, offsets, ids;
  std::span<const double> values;
};
double descend(const AnyRows& rows, std::span<const std::uint32_t> order, const Rule& rule, std::uint64_t done,
               std::span<double> weights, std::span<const std::uint8_t> fixed);

}  // namespace smt::localized
