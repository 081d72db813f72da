// Left-to-right beam search with a stack of fragments: each option of the next words is pushed on the stack, and its
// label, chosen by a policy, says how the topmost fragments are reduced.
//
// D. Zhang, L. Sun and W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (2008), section 5.
// Hypotheses share the stack below their topmost fragment (a graph-structured stack), so that all derivations form a
// forest, as in L. Huang and K. Sagae, "Dynamic Programming for Linear-Time Incremental Parsing" (2010).
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
  std::int64_t stack_size = 100;  // hypotheses kept per number of source words; 0: all
  double beam = std::numeric_limits<double>::infinity();  // maximum score below the stack's best
  std::size_t labels = 1;         // labels tried for each option; 0: all
  Decide decide = Decide::kVote;
  std::uint64_t seed = 1;    // seed of random draws
  bool logs = false;         // compute the columns of label log-probabilities
  bool strings = false;      // recombine only fragments with the same words
  bool all_edges = true;     // false: only the best derivation
  std::int64_t max_edges = std::int64_t{1} << 28U;
};

// Columns after those of the scorers: a label's log-probability, whether a step is R-, whether it is a final reduction
// that no label asked for.
inline constexpr std::size_t kLabelColumns = 3;

struct AmasisGraph {
  struct Edge {
    std::int32_t rule;  // of the forest, whose last rule is the goal's, or count + 0 for R+, + 1 for R-
    std::int32_t first;
    std::int32_t last;
    double score;
  };
  struct Item {
    std::int32_t rule;
    std::int32_t first;
    std::int32_t last;
    std::int32_t label;
    std::int32_t applied;  // reductions made; fewer than the label's if the stack was too low
  };
  std::vector<std::int64_t> node_edges{0};  // node v has edges [node_edges[v], node_edges[v + 1]), best first
  std::vector<Edge> edges;
  Parts<std::int32_t> tails;  // node numbers, by edge
  std::size_t components = 0;
  std::vector<float> values;        // edges x components: scorers', then kLabelColumns
  std::vector<std::int32_t> path;   // edges of the best derivation, in preorder
  std::vector<std::int32_t> words;  // of the best derivation
  std::vector<Item> items;          // of the best derivation
  double score = 0.0;
  std::int64_t made = 0;   // hypotheses created, including recombined ones
  std::int64_t asked = 0;  // edges scored by stateful features
};

// A single-threaded searcher that reuses its buffers. Weights are those of the scorer, then of the label columns.
class AmasisSearcher {
 public:
  AmasisSearcher(std::shared_ptr<Scorer> scorer, std::vector<double> weights, LabelModel model,
                 const AmasisOptions& options);

  // `sums` are static label scores (the forest's edges x policies x labels); `fragments` the feature row of each rule's
  // last target word, -1 for none, -2 without words; `key` seeds the sentence's draws. Throws SearchLimit beyond
  // max_edges hypotheses.
  AmasisGraph run(const SearchForest& input, std::span<const double> sums, std::span<const std::int32_t> fragments,
                  std::uint64_t key);

 private:
  static constexpr std::int32_t none = -1;
  static constexpr std::int32_t empty = -2;  // in place of a last word: no words
  static constexpr std::size_t kChunk = 256;

  enum class Root : std::uint8_t { kNone, kInOrder, kReversed };
  struct Option {
    std::int32_t rule;
    std::int64_t edge;
    std::int32_t first;
    std::int32_t last;
    std::int32_t fragment;  // row of the last word, or `empty`
    std::int32_t string;
    double inside;
    std::vector<std::int32_t> ranked;  // labels, if independent of the history
    std::vector<double> logs;          // their log-probabilities
  };
  // A way to reach a hypothesis: an option pushed on another hypothesis.
  struct Arc {
    std::int32_t tail;  // `none` for the empty stack
    std::int32_t option;
    std::int32_t label;
    std::int32_t count;  // number of reductions
    std::uint32_t operations;
    double log;
    double inside;
    std::int32_t next;  // another arc, or `none`
  };
  // A hypothesis: the fragment on top of a stack.
  struct Node {
    std::uint64_t hash;
    double inside;  // score of the fragment's best derivation
    double total;   // including the fragments below
    std::int64_t state;
    std::int32_t below;
    std::int32_t first;
    std::int32_t last;
    std::int32_t depth;
    std::int32_t label;
    std::int32_t before;
    std::int32_t fragment;
    std::int32_t string;
    std::int32_t arcs;  // list of arcs, best first
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
  // Apply the reductions of candidates, in rounds over the k-th reduction of each. Calls `step(i, score, values)` for
  // each reduction and `done(i)` after a candidate's last; `ending`: final reductions that no label asked for.
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
  // The end of a sentence: final reductions, then the goal.
  struct Ending {
    std::int32_t node;
    double total;
    std::vector<double> scores;
    std::vector<float> values;  // components of each
  };
  std::vector<Ending> endings();
  std::vector<std::vector<std::int32_t>> needed(const std::vector<Ending>& ends);
  void emit(AmasisGraph& graph, std::span<const std::int32_t> level);
  void emit_ends(AmasisGraph& graph, const std::vector<Ending>& ends);
  struct Made {
    AmasisGraph::Edge edge;
    std::int32_t left, right;  // nodes, or `none`
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
  bool exact_labels_;  // several labels per option: only eager ones

  // Layout of a record that scorers write.
  std::size_t state_bytes_, state_at_, stride_;

  // State of the sentence.
  std::uint64_t key_ = 0;
  std::int32_t positions_ = 0;
  std::span<const double> sums_;
  TargetRules rules_;
  std::int32_t plus_ = 0;  // scorers' number of R+; R- and the goal rule follow
  std::vector<Option> choices_;
  std::vector<std::vector<std::int32_t>> beginning_;  // options by first position
  std::vector<std::uint64_t> leaves_;  // scorers' records of options
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

  // State of a batch.
  std::vector<std::uint64_t> out_[2];
  std::vector<std::int32_t> batch_rules_, batch_offsets_;
  std::vector<const std::byte*> batch_tails_;
  std::vector<std::uint8_t> batch_begins_;
  std::vector<std::size_t> active_, next_;
  std::vector<std::uint64_t> tried_;

  // State of the graph.
  std::vector<std::int32_t> node_numbers_, leaf_numbers_;
};

}  // namespace smt::searn
