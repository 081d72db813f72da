// Dynamic programs over a graph whose edges have scores: natural logarithms, -inf for impossible edges.
//
// A derivation is a tree of edges from the goal down; its score is the sum of the edges' scores. A node without edges
// is a start node, with one derivation of score 0. All sums are doubles, in the order of the edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/forest.hpp"
#include "graph/graph.hpp"

namespace smt {

enum class Semiring { kLog, kMax };

// The target sides of edges: `rules` by edge, -1 for an edge without a rule, whose words are those of its tails.
struct Targets {
  std::span<const std::int32_t> rules;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> symbols;  // words, or -1 - k for tail k

  std::span<const std::int32_t> of(std::int32_t rule) const noexcept {
    const auto at = static_cast<std::size_t>(rule);
    return symbols.subspan(static_cast<std::size_t>(offsets[at]), static_cast<std::size_t>(offsets[at + 1] - offsets[at]));
  }
};

// The edges of each derivation in preorder from the goal, tails in order.
struct Derivations {
  std::vector<double> scores;
  Parts<std::int32_t> edges;
};
// Tails may share nodes below them, so a derivation may be exponentially larger than the graph. Functions that write
// derivations throw std::length_error beyond this size.
constexpr std::size_t kMaxDerivation = std::size_t{1} << 24U;

// inside: for each node the sum (kLog) or maximum (kMax) over its derivations. A value for each node, and one more: 0.
void inside(const Graph& graph, std::span<const double> scores, Semiring semiring, std::span<double> values);
// outside: the same over the contexts of a node. A tail counts by its position, not by its node.
void outside(const Graph& graph, std::span<const double> scores, std::span<const double> inner, Semiring semiring,
             std::span<double> values);

// Probabilities of edges and nodes, the expected number of times they occur; given the inside sums.
void edge_posteriors(const Graph& graph, std::span<const double> scores, std::span<const double> inner,
                     std::span<double> edges, std::span<double> nodes);
// The best score of a derivation with an edge in it; given inside and outside maxima.
void max_marginals(const Graph& graph, std::span<const double> scores, std::span<const double> inner,
                   std::span<const double> outer, std::span<double> edges);

double count_paths(const Graph& graph);

Derivations viterbi(const Graph& graph, std::span<const double> scores);

// The k best derivations, lazily: algorithm 3 of L. Huang and D. Chiang, "Better k-best Parsing" (2005). With targets,
// only the best of derivations with equal words; pruned at each node, too, which loses none.
Derivations kbest(const Graph& graph, std::span<const double> scores, std::size_t k, const Targets* targets);

// Samples of derivations by their probabilities; the same seed gives the same sample on all machines.
Derivations sample(const Graph& graph, std::span<const double> scores, std::size_t count, std::uint64_t seed);

// The words of derivations.
Parts<std::int32_t> spell(const Graph& graph, const Parts<std::int32_t>& derivations, const Targets& targets);

// The mean of a sum of edge values, and its covariance with other sums. J. Eisner and Z. Li, "First- and Second-Order
// Expectation Semirings" (2009), computed with probabilities and conditional means: no signed logarithms, no vectors on
// nodes. `coefficients`, if wanted, has one number for each edge: the dot product with other edge values is the
// covariance. `means` are the means below each node.
struct Moments {
  double log_z;
  double mean;
};
Moments moments(const Graph& graph, std::span<const double> scores, std::span<const double> values,
                std::span<double> means, std::span<double> coefficients);

// An acceptor of word sequences without empty arcs; state 0 is its start.
struct Acceptor {
  std::vector<std::int64_t> offsets{0};  // arcs from state i are [offsets[i], offsets[i + 1])
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> targets;
  std::vector<double> weights;
  std::vector<double> finals;  // of each state, -inf for one that is not final

  std::size_t states() const noexcept { return finals.size(); }
};

struct Product {
  GraphPart part;                      // original nodes and edges, -1 for a new edge or node on top
  std::vector<std::int32_t> states;    // the states before and after each node's words
  std::vector<double> weights;         // summed over the arcs of each edge
};
// The derivations whose words the acceptor accepts, once for each path. Throws std::invalid_argument if a rule does not
// use each tail once, std::length_error if more than max_edges edges arise.
Product intersect(const Graph& graph, const Targets& targets, const Acceptor& acceptor, std::size_t max_edges);

}  // namespace smt
