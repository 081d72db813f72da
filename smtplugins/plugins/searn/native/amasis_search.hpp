// Translation from left to right with a stack of fragments: each option of the next words is put on the stack, and the
// label that a policy gives it says how the fragments on top are combined.
//
// D. Zhang, L. Sun and W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (2008), section 5.
// Hypotheses share what is below their top fragment, so that all derivations are one forest, as in L. Huang and K.
// Sagae, "Dynamic Programming for Linear-Time Incremental Parsing" (2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "amasis_labels.hpp"
#include "search/forest.hpp"
#include "search/scorer.hpp"

namespace smt::searn {

struct AmasisOptions {
  std::int64_t stack_size = 100;  // hypotheses that are kept for each number of source words; 0: all
  double beam = std::numeric_limits<double>::infinity();  // what one may lack against the best of its stack
  std::size_t labels = 1;         // tried for each option; 0: all
  Decide decide = Decide::kVote;
  std::uint64_t seed = 1;    // of draws
  bool logs = false;         // the columns of labels are wanted
  bool strings = false;      // fragments are alike if their words are, too
  bool all_edges = true;     // false: the best derivation alone
  std::int64_t max_edges = std::int64_t{1} << 28U;
};

// Of labels, beside the values of scorers: the logarithm of a label's probability, whether a step is R-, whether it is
// one of those at the end that no label made.
inline constexpr std::size_t kLabelColumns = 3;

struct AmasisGraph {
  struct Edge {
    std::int32_t rule;  // of the forest, or count + 0 for R+, + 1 for R-; the last of the forest leads to the goal
    std::int32_t first;
    std::int32_t last;
    double score;
  };
  struct Item {
    std::int32_t rule;
    std::int32_t first;
    std::int32_t last;
    std::int32_t label;
    std::int32_t applied;  // reductions; fewer than the label has if the stack was too low
  };
  std::vector<std::int64_t> node_edges{0};  // those into node v are [node_edges[v], node_edges[v + 1]), best first
  std::vector<Edge> edges;
  Parts<std::int32_t> tails;  // of edges
  std::size_t components = 0;
  std::vector<float> values;        // edges times components: of scorers, then kLabelColumns
  std::vector<std::int32_t> path;   // edges of the best derivation; children follow, source order
  std::vector<std::int32_t> words;  // of the best derivation
  std::vector<Item> items;          // of the best derivation
  double score = 0.0;
  std::int64_t made = 0;   // hypotheses, recombined ones included
  std::int64_t asked = 0;  // edges that stateful features scored
};

// One search after another, in one thread; keeps its memory. Weights are those of the scorer, then of label columns.
class AmasisSearcher {
 public:
  AmasisSearcher(std::shared_ptr<Scorer> scorer, std::vector<double> weights, LabelModel model,
                 const AmasisOptions& options);

  // `sums`: what each policy gives to each label without the history (the forest's edges x policies x labels);
  // `fragments`, by rule, the row of the last target word as a feature, -1 for none, -2 if there are no words. `key`
  // tells the draws of sentences apart. More hypotheses than allowed are a SearchLimit.
  AmasisGraph run(const SearchForest& input, std::span<const double> sums, std::span<const std::int32_t> fragments,
                  std::uint64_t key);

 private:
  static constexpr std::int32_t none = -1;
  static constexpr std::int32_t empty = -2;  // as a fragment's last word: there are no words
  static constexpr std::size_t kChunk = 256;

  enum class Root : std::uint8_t { kNone, kInOrder, kReversed };
  struct Option {
    std::int32_t rule;
    std::int64_t edge;
    std::int32_t first;
    std::int32_t last;
    std::int32_t fragment;  // row of the last word, or empty
    std::int32_t string;
    double inside;
    std::vector<std::int32_t> ranked;  // labels, if they do not depend on the history
    std::vector<double> logs;          // of them
  };
  // The way to a hypothesis: an option put on another one.
  struct Arc {
    std::int32_t tail;  // or none: the empty stack
    std::int32_t option;
    std::int32_t label;
    std::int32_t count;  // reductions
    std::uint32_t operations;
    double log;
    double inside;
    std::int32_t next;  // another way, or none
  };
  // A fragment on top of a stack.
  struct Node {
    std::uint64_t hash;
    double inside;  // of the fragment's best derivation
    double total;   // with those below
    std::int64_t state;
    std::int32_t below;
    std::int32_t first;
    std::int32_t last;
    std::int32_t depth;
    std::int32_t label;
    std::int32_t before;
    std::int32_t fragment;
    std::int32_t string;
    std::int32_t arcs;  // the best one first
    Root root;
    bool kept;
  };
  struct Candidate {
    Arc arc;
    std::int32_t under;
    std::int32_t fragment;
    std::int32_t string;
    Root root;
    const std::byte* state;
  };
  struct Stack {
    std::vector<std::int32_t> kept;
    std::vector<Candidate> spare;
    double floor = -std::numeric_limits<double>::infinity();
    std::size_t crowded = 0;
  };
  void start(const SearchForest& input, std::span<const double> sums, std::span<const std::int32_t> fragments);
  void score_leaves();
  void expand(std::int32_t hypothesis, std::int32_t position);
  void propose(std::int32_t hypothesis, std::int32_t option);
  bool eager(std::int32_t hypothesis, const Option& option, std::int32_t count, std::uint32_t operations) const;
  void push(std::int32_t hypothesis, std::int32_t option, std::int32_t label, std::int32_t count,
            std::uint32_t operations, double log);
  void flush();
  // Applies the reductions of candidates, all those that are the k-th of their label at once. `step(i, score, values)`
  // is told of each, `done(i)` when a candidate has no more; `ending`: no label made them.
  template <class OnStep, class OnDone>
  void reduce(std::span<Candidate> batch, bool ending, OnStep step, OnDone done);
  void combine(std::vector<std::uint64_t>& out);
  double weighed(const float* values) const noexcept;
  void offer(const Candidate& candidate);
  std::uint64_t hash_of(const Candidate& candidate) const;
  bool same(const Node& node, const Candidate& candidate) const;
  void grow_slots();
  void settle(Stack& stack);
  void prune(Stack& stack, bool last);
  std::int32_t joined(std::int32_t left, std::int32_t right);
  std::int32_t string_of(std::span<const std::int32_t> words);
  double drawn(std::int32_t rank, std::int32_t option) const noexcept;

  AmasisGraph finish(const SearchForest& input);
  // The end of a sentence: reductions that no label made, then the goal.
  struct Ending {
    std::int32_t node;
    double total;
    std::vector<double> scores;
    std::vector<float> values;  // components for each
  };
  std::vector<Ending> endings();
  std::vector<std::vector<std::int32_t>> needed(const std::vector<Ending>& ends);
  void emit(AmasisGraph& graph, std::span<const std::int32_t> level);
  void emit_ends(AmasisGraph& graph, const std::vector<Ending>& ends);
  struct Made {
    AmasisGraph::Edge edge;
    std::int32_t left, right;  // nodes, or none
    const float* values;
    float columns[kLabelColumns];
  };
  void put(AmasisGraph& graph, const Made& made) const;
  std::int32_t close(AmasisGraph& graph) const;
  void tell_best(AmasisGraph& graph, std::int32_t node) const;

  const std::byte* state_of(std::int64_t place) const noexcept {
    return reinterpret_cast<const std::byte*>(states_.data() + place);
  }
  std::int64_t keep_state(const std::byte* state);
  std::size_t width() const noexcept { return components_ + kLabelColumns; }

  std::shared_ptr<Scorer> scorer_;
  std::vector<double> weights_;
  std::size_t components_;
  LabelChooser chooser_;
  AmasisOptions options_;
  bool exact_labels_;  // more than one label for each option: only those of eager reduction

  // Of a record that scorers write.
  std::size_t state_bytes_, state_at_, stride_;

  // Of the sentence.
  std::uint64_t key_ = 0;
  std::int32_t positions_ = 0;
  std::span<const double> sums_;
  TargetRules rules_;
  std::int32_t plus_ = 0;  // as scorers number rules; then R-, then the goal's
  std::vector<Option> choices_;
  std::vector<std::vector<std::int32_t>> beginning_;  // options by their first position
  std::vector<std::uint64_t> leaves_;  // what scorers made of options
  std::vector<std::uint64_t> states_;
  std::vector<Node> nodes_;
  std::vector<Arc> arcs_;
  std::vector<Stack> stacks_;
  std::vector<std::int32_t> slots_;
  std::int64_t made_ = 0, asked_ = 0;
  std::int32_t rank_ = 0;
  std::vector<Candidate> waiting_;

  Parts<std::int32_t> strings_;
  std::vector<std::int32_t> string_slots_;
  std::vector<std::int32_t> text_;

  // Of a batch.
  std::vector<std::uint64_t> out_[2];
  std::vector<std::int32_t> batch_rules_, batch_offsets_;
  std::vector<const std::byte*> batch_tails_;
  std::vector<std::uint8_t> batch_begins_;
  std::vector<std::size_t> active_, next_;
  std::vector<std::uint64_t> tried_;

  // Of the graph.
  std::vector<std::int32_t> node_numbers_, leaf_numbers_;
};

}  // namespace smt::searn
