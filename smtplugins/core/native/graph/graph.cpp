#include "graph/graph.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace smt {
namespace {

bool are_offsets(const std::vector<std::int64_t>& offsets, std::size_t end) {
  return !offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
         offsets.back() == static_cast<std::int64_t>(end);
}

}  // namespace

Graph::Graph(std::vector<std::int64_t> edge_offsets, Parts<std::int32_t> tails)
    : edge_offsets_(std::move(edge_offsets)), tails_(std::move(tails)) {
  if (!are_offsets(tails_.offsets, tails_.values.size())) {
    throw std::invalid_argument("the offsets of tails must run from 0 to their number");
  }
  if (!are_offsets(edge_offsets_, tails_.size())) {
    throw std::invalid_argument("the offsets of edges must run from 0 to their number");
  }
  if (nodes() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) ||
      edges() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::invalid_argument("a graph of 2^31 nodes or edges");
  }
  const auto none = static_cast<std::int32_t>(nodes());
  pairs_.resize(2 * edges(), none);
  for (std::size_t v = 0; v < nodes(); ++v) {
    for (std::size_t e = first(v); e < last(v); ++e) {
      const auto below = tails_[e];
      for (const std::int32_t t : below) {
        if (t < 0 || static_cast<std::size_t>(t) >= v) {
          throw std::invalid_argument("a tail must be a node below its edge's head");
        }
      }
      std::copy_n(below.begin(), std::min<std::size_t>(below.size(), 2), pairs_.begin() + static_cast<std::ptrdiff_t>(2 * e));
      if (below.size() > 2) wide_.push_back(static_cast<std::int64_t>(e));
    }
  }
}

Bundles bundles_of(const Graph& graph) {
  Bundles bundles;
  std::vector<std::int64_t>& order = bundles.edges.values;
  order.resize(graph.edges());
  std::iota(order.begin(), order.end(), 0);
  const auto tails = [&](std::int64_t e) { return graph.tails(static_cast<std::size_t>(e)); };
  for (std::size_t v = 0; v < graph.nodes(); ++v) {
    const auto begin = order.begin() + graph.edge_offsets()[v];
    const auto end = order.begin() + graph.edge_offsets()[v + 1];
    std::sort(begin, end, [&](std::int64_t a, std::int64_t b) {
      const auto x = tails(a), y = tails(b);
      const auto [p, q] = std::mismatch(x.begin(), x.end(), y.begin(), y.end());
      if (p != x.end() && q != y.end()) return *p < *q;
      return x.size() != y.size() ? x.size() < y.size() : a < b;
    });
    for (auto at = begin; at != end; ++at) {
      if (at + 1 == end || !std::ranges::equal(tails(*at), tails(at[1]))) {
        bundles.edges.offsets.push_back(at + 1 - order.begin());
      }
    }
    bundles.nodes.push_back(static_cast<std::int64_t>(bundles.edges.size()));
  }
  return bundles;
}

GraphPart restricted(const Graph& graph, std::span<const std::uint8_t> keep, std::size_t goal) {
  GraphPart part;
  if (graph.empty()) return part;
  // Bottom-up: nodes with a derivation.
  std::vector<std::uint8_t> derived(graph.nodes(), 0);
  std::vector<std::uint8_t> usable(keep.begin(), keep.end());
  for (std::size_t v = 0; v <= goal; ++v) {
    derived[v] = graph.is_start(v);
    for (std::size_t e = graph.first(v); e < graph.last(v); ++e) {
      const auto below = graph.tails(e);
      usable[e] = usable[e] != 0 && std::all_of(below.begin(), below.end(), [&](std::int32_t t) {
                    return derived[static_cast<std::size_t>(t)] != 0;
                  });
      derived[v] |= usable[e];
    }
  }
  if (derived[goal] == 0) return part;
  // Top-down: nodes that lead to the goal.
  std::vector<std::uint8_t> reached(graph.nodes(), 0);
  reached[goal] = 1;
  for (std::size_t v = goal + 1; v-- > 0;) {
    if (reached[v] == 0) continue;
    for (std::size_t e = graph.first(v); e < graph.last(v); ++e) {
      if (usable[e] == 0) continue;
      for (const std::int32_t t : graph.tails(e)) reached[static_cast<std::size_t>(t)] = 1;
    }
  }
  std::vector<std::int32_t> number(graph.nodes(), -1);
  std::vector<std::int64_t> edge_offsets{0};
  Parts<std::int32_t> tails;
  for (std::size_t v = 0; v <= goal; ++v) {
    if (reached[v] == 0) continue;
    number[v] = static_cast<std::int32_t>(part.nodes.size());
    part.nodes.push_back(static_cast<std::int32_t>(v));
    for (std::size_t e = graph.first(v); e < graph.last(v); ++e) {
      if (usable[e] == 0) continue;
      for (const std::int32_t t : graph.tails(e)) tails.values.push_back(number[static_cast<std::size_t>(t)]);
      tails.end_part();
      part.edges.push_back(static_cast<std::int64_t>(e));
    }
    edge_offsets.push_back(static_cast<std::int64_t>(part.edges.size()));
  }
  part.graph = Graph(std::move(edge_offsets), std::move(tails));
  return part;
}

}  // namespace smt
