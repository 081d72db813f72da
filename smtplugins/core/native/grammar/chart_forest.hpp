// A chart, and the forest of the derivations in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/chart.hpp"

namespace smt {

// What a parser finds: nodes with bundles of edges. A node is complete before edges use it as a tail.
struct Chart {
  struct Node {
    std::int32_t label;
    std::int32_t first;
    std::int32_t last;
    std::int32_t first_bundle;
    std::int32_t last_bundle;
    std::int32_t number;  // in the forest, -1 if not there
  };
  // The edges with the rules of a bin; the bundles of a node are a list.
  struct Bundle {
    std::int32_t next;  // or -1
    std::int32_t grammar;
    std::int32_t bin;
    std::int32_t chain;
    std::int32_t tails;
    std::int32_t arity;
  };

  std::vector<Node> nodes;
  std::vector<Bundle> bundles;
  std::vector<std::int32_t> tails;   // of the bundles
  std::vector<std::int32_t> sorted;  // the nodes in topological order
  std::int32_t goal = -1;

  std::span<const std::int32_t> tails_of(const Bundle& bundle) const noexcept {
    return {tails.data() + bundle.tails, static_cast<std::size_t>(bundle.arity)};
  }
};

// Makes the forest of a complete chart with the rules in use; `parsed` has the links of its chains. The forest has the
// nodes below the goal and a node above it, or, if the input has no goal, all nodes.
void make_forest(const ChartInput& input, Chart& chart, ParsedForest& parsed);

}  // namespace smt
