// Dynamic programs over a graph whose edges have scores: natural logarithms, -inf for what cannot be.
//
// A derivation is a tree of edges from the goal down; its score is the sum of theirs. A node without edges is a
// start: it has one derivation, of score 0. All sums are doubles and run in the order of the edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/forest.hpp"
#include "graph/graph.hpp"

namespace smt {

enum class Semiring { kLog, kMax };

// The target sides that derivations are spelt with: `rules` by edge, -1 for none; such an edge has its tails' words.
struct Targets {
  std::span<const std::int32_t> rules;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> symbols;  // words, or -1 - k for tail k

  std::span<const std::int32_t> of(std::int32_t rule) const noexcept {
    const auto at = static_cast<std::size_t>(rule);
    return symbols.subspan(static_cast<std::size_t>(offsets[at]), static_cast<std::size_t>(offsets[at + 1] - offsets[at]));
  }
};

// Edges of each from the goal down, an edge before those of its tails, tails in their order.
struct Derivations {
  std::vector<double> scores;
  Parts<std::int32_t> edges;
};
// Tails may share what is below them, so a derivation may be exponentially larger than the graph. Functions that
// write derivations throw std::length_error beyond this.
constexpr std::size_t kMaxDerivation = std::size_t{1} << 24U;

// inside: for each node the sum (kLog) or maximum (kMax) over its derivations. A value for each node, and one more: 0.
void inside(const Graph& graph, std::span<const double> scores, Semiring semiring, std::span<double> values);
// outside: the same over what is around a node. A tail's share is taken by its position, not by its node.
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
// only the best of those that are spelt alike; among the derivations of each node, too, which loses none.
Derivations kbest(const Graph& graph, std::span<const double> scores, std::size_t k, const Targets* targets);

// Derivations drawn with their probabilities; the same for the same seed everywhere.
Derivations sample(const Graph& graph, std::span<const double> scores, std::size_t count, std::uint64_t seed);

// The words of derivations.
Parts<std::int32_t> spell(const Graph& graph, const Parts<std::int32_t>& derivations, const Targets& targets);

// Means of a sum over edges' values, and its covariance with others. J. Eisner and Z. Li, "First- and Second-Order
// Expectation Semirings" (2009), as probabilities and conditional means: no signs beside logarithms, no vectors on
// nodes. `coefficients`, if asked for, are one for each edge: their product with another value's edges is the
// covariance. `means` are those below each node.
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
  GraphPart part;                      // nodes and edges of the graph it comes from, -1 for an edge (a node) on top
  std::vector<std::int32_t> states;    // of each node, before and after its words
  std::vector<double> weights;         // of the arcs in each edge
};
// The derivations whose words the acceptor takes, once for each way it does. Throws std::invalid_argument if a rule
// does not use each tail once, std::length_error when there are more than max_edges edges on the way.
Product intersect(const Graph& graph, const Targets& targets, const Acceptor& acceptor, std::size_t max_edges);

}  // namespace smt
