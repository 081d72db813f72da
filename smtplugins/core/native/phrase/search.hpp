// Phrase-based search: hypotheses with a coverage of source words, in stacks by the number of covered words.
//
// P. Koehn, F. J. Och and D. Marcu, "Statistical Phrase-Based Translation" (2003), and P. Koehn, "Pharaoh" (2004):
// stacks, future costs, recombination. L. Huang and D. Chiang, "Forest Rescoring" (2007): cube pruning of stacks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "phrase/coverage.hpp"
#include "phrase/reordering.hpp"
#include "phrase/states.hpp"
#include "search/forest.hpp"

namespace smt {

struct PhraseSearchOptions {
  bool cube = false;             // else each hypothesis is extended by all possible phrases
  std::int64_t stack_size = 200;  // hypotheses kept per stack; 0: all
  double beam = std::numeric_limits<double>::infinity();  // how far one may score below the best of its stack
  double lm_beam = std::numeric_limits<double>::infinity();  // the same with cube pruning, in nats of language models
  std::int64_t pop_limit = 1000;  // hypotheses created per stack, with cube pruning
  std::int64_t stack_diversity = 0;  // minimum number kept per coverage
  std::int64_t cube_diversity = 0;   // minimum number created per coverage
  double option_beam = std::numeric_limits<double>::infinity();  // how far below the best of its span
  double early_discarding = std::numeric_limits<double>::infinity();  // the beam before words are scored
  std::int32_t distortion_limit = -1;  // negative: none
  PhraseOrder order = PhraseOrder::kFree;
  std::vector<std::int32_t> walls;  // positions that no phrase may skip past, as in Barriers
  std::vector<std::int32_t> zones;  // pairs of positions [first, last), as in Barriers
  bool all_edges = true;  // false: only the best derivation
  std::int64_t max_edges = std::int64_t{1} << 28U;
};

// Hypotheses and the steps between them; the first hypothesis covers nothing, the last is the goal. A step's rule is
// one of the forest's, the last for steps to the goal.
struct PhraseGraph {
  struct Node {
    std::int32_t covered;  // positions
    double best;           // score of the best derivation
  };
  struct Edge {
    std::int32_t tail;
    std::int32_t rule;
    std::int32_t first;
    std::int32_t last;
    double score;
  };
  std::vector<Node> nodes;
  std::vector<std::int64_t> node_edges{0};  // those into node v are [node_edges[v], node_edges[v + 1]), best first
  std::vector<Edge> edges;
  std::size_t components = 0;
  std::vector<float> values;       // edges times components
  std::vector<std::int32_t> path;  // the edges of the best derivation
  std::int64_t made = 0;           // hypotheses
  std::int64_t asked = 0;          // of stateful features
};

// One search after another, in one thread; reuses its memory and caches language model scores.
class PhraseSearcher {
 public:
  PhraseSearcher(std::vector<WeightedScorer> scorers, std::vector<OrderFeature> orders);

  // Components of scorers, then of orders.
  std::size_t components() const noexcept { return states_.components() + orders_.components(); }
  // `rows` has, for each reordering model, the scores of each rule of the forest. Without a derivation the graph has no
  // nodes. Throws SearchLimit beyond max_edges.
  PhraseGraph run(const SearchForest& input, std::span<const std::vector<float>> rows,
                  std::span<const std::int32_t> distances, const PhraseSearchOptions& options);

 private:
  static constexpr std::int32_t none = -1;

  // A step to a hypothesis.
  struct Arc {
    std::int32_t tail;
    std::int32_t option;  // none for a step to the goal
    double score;         // of the best derivation that ends with it
    std::int32_t next;    // another step to the same hypothesis, or none
  };
  struct Hypothesis {
    double score;
    double total;  // with the future cost estimate
    std::int32_t coverage;
    std::int32_t state;
    std::int32_t first;  // the last phrase; `first` is none if it does not matter
    std::int32_t last;
    std::int32_t row;   // forward reordering scores of the last phrase
    std::int32_t rule;  // of the last phrase
    std::int32_t arcs;  // the best step first
    bool kept;
  };
  struct Stack {
    std::vector<std::int32_t> kept;
    double best = -std::numeric_limits<double>::infinity();
    double floor = -std::numeric_limits<double>::infinity();
    std::vector<std::int32_t> grids;
    std::size_t crowded = 0;  // the size at which it is pruned
  };
  // A hypothesis before it is created.
  struct Candidate {
    double score;
    double total;
    std::int32_t tail;
    std::int32_t option;
    std::int32_t state;
    std::int32_t coverage;
  };
  // Cube pruning: hypotheses that differ only in their states, times the options of a span.
  struct Group {
    std::int32_t begin;  // in members_
    std::int32_t end;
  };
  struct Grid {
    std::int32_t group;
    std::span<const std::int32_t> options;
    std::int32_t coverage;
    double future;
    double jump;  // the score of the phrase order, without the option's part
    Orientation orientation;
    bool full;
    std::int32_t made = 0;
  };
  struct Point {
    double score;  // without stateful features
    std::int32_t grid;
    std::int32_t tail;
    std::int32_t option;
    std::int32_t row;
    std::int32_t column;
    std::int32_t candidate;  // none until these are computed
  };
  // How much better phrases score after others than by themselves.
  struct Surprise {
    double sum = 0.0;
    double squares = 0.0;
    double count = 0.0;

    void add(double value) noexcept {
      sum += value;
      squares += value * value;
      count += 1.0;
    }
    // A bound that few exceed.
    double usual() const noexcept {
      if (count == 0.0) return 0.0;
      const double mean = sum / count;
      return mean + kSpread * std::sqrt(std::max(0.0, squares / count - mean * mean));
    }
  };
  static constexpr double kSpread = 0.25;
  // The best in front; of equal ones the earlier.
  struct Waiting {
    double total;
    std::int32_t point;
    bool operator<(const Waiting& other) const noexcept {
      return total < other.total || (total == other.total && point > other.point);
    }
  };
  struct Keyed {
    std::uint64_t place;
    std::uint64_t row;
    std::int32_t hypothesis;
    bool operator<(const Keyed& other) const noexcept {
      return place < other.place || (place == other.place && row < other.row);
    }
  };

  void start(const SearchForest& input, std::span<const std::vector<float>> rows,
             std::span<const std::int32_t> distances);
  // The reordering scores of a phrase between others in the order of the source.
  double usual(std::int32_t rule) const noexcept {
    return orders_.before(rule, Orientation::kMonotone) + orders_.behind(rule, Orientation::kMonotone);
  }
  void list_options();
  // The options of a span that may extend a hypothesis with this coverage, as numbers.
  std::span<const std::int32_t> options_of(std::int32_t span, std::int32_t coverage) const noexcept {
    const auto [begin, end] = coverages_.has_gap(coverage) ? fillers_[static_cast<std::size_t>(span)]
                                                           : std::pair{spans_[static_cast<std::size_t>(span)].begin,
                                                                       spans_[static_cast<std::size_t>(span)].end};
    return std::span(listed_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }
  void ask_all(const Stack& stack);
  void expand(std::int32_t hypothesis);
  void expand_cubes(Stack& stack);
  void pop_cubes(Stack& stack);
  void add_point(std::int32_t grid, std::int32_t row, std::int32_t column, const Stack& stack);
  bool ask_first();
  void sink_first();
  Point pop_point(const Stack& stack);
  double total_of(const Candidate& candidate);
  void offer(const Candidate& candidate, Stack& stack);
  void prune(Stack& stack, bool last);
  Candidate candidate_of(std::int32_t tail, std::int32_t option, const PhraseStates::Move& move, double jump,
                         Orientation orientation, std::int32_t coverage);
  Orientation orientation_of(const Hypothesis& before, std::int32_t first, std::int32_t last) const noexcept;
  double jump_of(const Hypothesis& before, std::int32_t first, Orientation orientation) const noexcept;
  bool reaches(const Hypothesis& before, std::int32_t first) const noexcept;
  std::size_t slot_of(const Hypothesis& like) const noexcept;
  void grow_slots();
  bool same(const Hypothesis& left, const Hypothesis& right) const noexcept;
  PhraseGraph finish(const SearchForest& input);

  PhraseStates states_;
  OrderScores orders_;

  // For the sentence.
  PhraseSearchOptions options_;
  std::int32_t positions_ = 0;
  Coverages coverages_;
  std::vector<PhraseSpan> spans_;
  std::vector<PhraseOption> choices_;
  std::vector<std::int32_t> listed_;  // numbers of all options, then of each span's options that may fill a gap
  std::vector<std::pair<std::int32_t, std::int32_t>> fillers_;  // the latter, by span
  std::vector<std::uint8_t> fills_;                             // whether a span has such options
  std::vector<double> best_of_span_;
  std::vector<std::pair<std::int32_t, std::int32_t>> wanted_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<Arc> arcs_;
  std::vector<Stack> stacks_;
  std::vector<std::int32_t> slots_;
  std::int64_t made_ = 0;

  // For the stack being expanded: the moves of each state by all options.
  std::vector<std::int32_t> move_row_;  // by state, or none
  std::vector<std::int32_t> rowed_;     // states with a row
  std::vector<PhraseStates::Move> moves_;

  std::vector<Keyed> keyed_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> members_;
  std::vector<Grid> grids_;
  std::vector<Point> points_;
  std::vector<Candidate> candidates_;
  Surprise surprise_;
  double usual_surprise_ = 0.0;  // as estimated when a stack starts
  std::vector<Waiting> heap_;
};

}  // namespace smt
