// Searches with stateful features: cube pruning on bundles, and exact intersection.
//
// L. Huang and D. Chiang, "Forest Rescoring" (2007): cube pruning. A. Gesmundo and J. Henderson, "Faster Cube Pruning"
// (2010): each grid point is reached from one predecessor only, so no look-up is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "search/forest.hpp"
#include "search/ranked_rules.hpp"
#include "search/scorer.hpp"

namespace smt {

struct SearchOptions {
  bool exact = false;            // all combinations, in no particular order; ignores the next three
  std::int64_t pop_limit = 30;   // for each node; negative: none
  double adapt = 0.5;            // limit *= exp(-adapt * distance of the node's max-marginal to the best)
  double beam = std::numeric_limits<double>::infinity();  // how far a popped edge may score below the node's best
  bool early_begin = true;       // <s> is applied where the first words are chosen, not only at the goal
  bool all_edges = true;         // false: only the best edge of each node, and only nodes of the best derivation
  std::int64_t max_edges = std::int64_t{1} << 28U;  // evaluated; more is a SearchLimit
};

struct SearchLimit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SearchCounts {
  std::int64_t pops = 0;
  std::int64_t evaluated = 0;  // edges given to the scorer
  std::int64_t nodes = 0;      // before nodes that the goal does not need are dropped
};

// A forest whose nodes have states of stateful features, with the original of each node and edge.
struct Refined {
  Forest forest;
  std::vector<std::int32_t> node_of;  // of each node
  std::vector<double> best;           // score of each node's best derivation
  std::vector<std::int64_t> edge_of;  // of each edge, in the order of forest.rules
  std::vector<double> scores;         // of each edge by itself: rule and weighted values
  std::size_t components = 0;
  std::vector<float> values;  // of stateful features: edges times components
  SearchCounts counts;
};

// The nodes of a search in the order they were found, each with its edges.
struct Found {
  std::vector<std::int32_t> node_of;
  std::vector<double> best;
  std::vector<std::int64_t> node_edges{0};
  std::vector<std::int64_t> edge_of;
  std::vector<std::int32_t> rules;
  std::vector<double> scores;
  std::vector<std::int64_t> tail_offsets{0};
  std::vector<std::int32_t> tails;
  std::vector<float> values;

  void clear();
};

// The part below the last node.
Refined keep_reachable(const Forest& forest, const Found& result, std::size_t components);

// An edge of a derivation; its children follow it, tail by tail.
struct Derivation {
  std::vector<std::int64_t> edges;  // of the refined forest
  std::vector<std::int32_t> words;
  double score = 0.0;  // summed over the edges
};
// The best derivation; empty if there is no parse.
Derivation best_derivation(const Refined& refined, const TargetRules& rules);

// One search after another, in one thread; reuses its memory. There is a weight for each of the scorer's components.
// The forest's tails are below their heads, and a rule's gaps are among its bundle's tails.
class AnySearcher {
 public:
  AnySearcher() = default;
  AnySearcher(const AnySearcher&) = delete;
  AnySearcher& operator=(const AnySearcher&) = delete;
  virtual ~AnySearcher() = default;
  virtual Refined run(const Forest& forest, const TargetRules& rules, std::span<const double> weights,
                      const SearchOptions& options) = 0;
};
// A single language model has a search of its own, with its code inlined.
std::unique_ptr<AnySearcher> make_searcher(std::shared_ptr<Scorer> scorer);

// S is a final scorer, or Scorer itself.
template <class S>
class Searcher final : public AnySearcher {
 public:
  explicit Searcher(std::shared_ptr<S> scorer) : scorer_(std::move(scorer)) {}
  Refined run(const Forest& forest, const TargetRules& rules, std::span<const double> weights,
              const SearchOptions& options) override;

 private:
  // A point of a bundle's grid: the rank of the rule, then of each tail's state. In memory: Point, ranks, values,
  // state.
  struct Point {
    double score;       // of the best derivation that ends with it
    double edge_score;  // of the edge alone
    std::int32_t bundle;
    std::int32_t dims;
  };
  struct Unique {
    double score;
    std::int64_t best;  // point
    std::uint64_t hash;
  };
  struct Link {
    std::int32_t unique;
    std::int64_t point;
  };
  struct Slot {
    std::uint32_t stamp = 0;
    std::int32_t unique = 0;
  };

  void start(const Forest& forest, const TargetRules& rules, std::span<const double> weights,
             const SearchOptions& options);
  void find_leading();
  void find_gaps();
  std::int64_t limit_of(std::size_t v) const;

  void cube(std::size_t v);
  void enumerate(std::size_t v);
  void settle(std::size_t v);

  std::byte* record(std::int64_t i) noexcept {
    return reinterpret_cast<std::byte*>(points_.data()) + static_cast<std::size_t>(i) * stride_;
  }
  Point& point(std::int64_t i) noexcept { return *reinterpret_cast<Point*>(record(i)); }
  std::int32_t* ranks(std::int64_t i) noexcept { return reinterpret_cast<std::int32_t*>(record(i) + ranks_at_); }
  float* values(std::int64_t i) noexcept { return reinterpret_cast<float*>(record(i) + values_at_); }
  std::byte* state(std::int64_t i) noexcept { return record(i) + state_at_; }
  std::byte* node_state(std::int32_t node) noexcept {
    return reinterpret_cast<std::byte*>(states_.data()) + static_cast<std::size_t>(node) * state_bytes_;
  }
  std::span<const std::int32_t> tails_of(std::int32_t bundle) const noexcept {
    return forest_->tails[static_cast<std::size_t>(bundle)];
  }
  bool possible(std::size_t bundle) const noexcept;
  std::int64_t add_point(std::int32_t bundle);
  void evaluate(std::int64_t first, std::int64_t last);
  void take(std::int64_t i);
  std::int32_t add_unique(std::int64_t i);
  void grow_slots();
  void push(std::int64_t i);
  void emit(std::int64_t i);

  const Forest* forest_ = nullptr;
  std::shared_ptr<S> scorer_;
  std::span<const double> weights_;
  SearchOptions options_;
  RankedRules ranked_;
  std::vector<float> estimates_;
  std::vector<double> inside_, outside_;
  std::vector<std::uint8_t> needed_, leading_;
  double best_stateless_ = 0.0;

  // Nodes with states: those of node v are first_[v] to before first_[v] + count_[v], best first.
  std::vector<std::int32_t> first_, count_;
  std::vector<std::uint64_t> states_;
  Found found_;
  SearchCounts counts_;

  // For the current node.
  bool at_goal_ = false;
  bool begun_ = false;
  bool node_leads_ = false;
  std::size_t dims_ = 0, state_bytes_ = 0, ranks_at_ = 0, values_at_ = 0, state_at_ = 0, stride_ = 0;
  std::vector<std::uint64_t> points_;
  std::int64_t used_ = 0;
  std::vector<std::pair<double, std::int64_t>> heap_;
  std::vector<Unique> uniques_;
  std::vector<Link> links_;
  std::vector<Slot> slots_;
  std::uint32_t stamp_ = 0;
  std::vector<std::int32_t> order_;
  std::vector<std::int64_t> starts_, sorted_;

  // For a batch.
  std::vector<std::int32_t> batch_rules_, batch_offsets_;
  std::vector<const std::byte*> batch_tails_;
  std::vector<std::uint8_t> batch_begins_;
};

}  // namespace smt
