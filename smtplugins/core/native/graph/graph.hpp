// The hypergraph that inference reads: nodes in topological order with the edges into each, the goal last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/forest.hpp"

namespace smt {

class Graph {
 public:
  Graph() = default;
  // Throws std::invalid_argument unless the offsets run up to the ends and every tail lies below its head.
  Graph(std::vector<std::int64_t> edge_offsets, Parts<std::int32_t> tails);

  std::size_t nodes() const noexcept { return edge_offsets_.size() - 1; }
  std::size_t edges() const noexcept { return tails_.size(); }
  bool empty() const noexcept { return nodes() == 0; }
  std::size_t first(std::size_t node) const noexcept { return static_cast<std::size_t>(edge_offsets_[node]); }
  std::size_t last(std::size_t node) const noexcept { return static_cast<std::size_t>(edge_offsets_[node + 1]); }
  // Whether a node is a start node, without edges.
  bool is_start(std::size_t node) const noexcept { return first(node) == last(node); }
  std::span<const std::int32_t> tails(std::size_t edge) const noexcept { return tails_[edge]; }

  // The first two tails of each edge, nodes() for a missing one, so that sums over tails need no branch.
  const std::int32_t* pairs() const noexcept { return pairs_.data(); }
  // Edges with more than two tails, ascending.
  const std::vector<std::int64_t>& wide() const noexcept { return wide_; }

  const std::vector<std::int64_t>& edge_offsets() const noexcept { return edge_offsets_; }
  const Parts<std::int32_t>& all_tails() const noexcept { return tails_; }

 private:
  std::vector<std::int64_t> edge_offsets_{0};
  Parts<std::int32_t> tails_;
  std::vector<std::int32_t> pairs_;
  std::vector<std::int64_t> wide_;
};

// Edges grouped by head and tails: those into node v are groups [nodes[v], nodes[v + 1]), in lexical order of their
// tails; group b has the edges edges[b], ascending.
struct Bundles {
  std::vector<std::int64_t> nodes{0};
  Parts<std::int64_t> edges;
};
Bundles bundles_of(const Graph& graph);

// A graph made of parts of another one.
struct GraphPart {
  Graph graph;
  std::vector<std::int32_t> nodes;  // the original of each node
  std::vector<std::int64_t> edges;  // the original of each edge
};
// The graph of the kept edges, without nodes that have no derivation or do not lead to the goal. A node that loses all
// its edges is dropped; it does not become a start node. keep holds a byte for each edge.
GraphPart restricted(const Graph& graph, std::span<const std::uint8_t> keep, std::size_t goal);

}  // namespace smt
