// Parsing a sentence or a lattice with synchronous grammars, on the source side: the forest of all derivations.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "search/forest.hpp"
#include "grammar/trie.hpp"

namespace smt {

// A grammar as a parser applies it.
struct ChartGrammar {
  static constexpr std::int32_t no_limit = std::numeric_limits<std::int32_t>::max();

  const RuleColumns* rules;
  const Trie* trie;
  std::span<const float> scores;     // of its rules; none: 0
  std::int32_t limit = no_limit;     // the longest span of a rule: arcs on the shortest path, this number included
  bool from_start = false;           // rules apply to spans that begin at position 0 alone
  bool to_unknown_arcs_only = false;  // rules of one word each, for arcs over whose span no other grammar has a rule
};

struct Arc {
  static constexpr std::int32_t epsilon = -1;
  static constexpr std::int32_t plain = -1;

  std::int32_t from;
  std::int32_t to;        // above `from`
  std::int32_t word;      // or epsilon, which rules skip anywhere
  std::int32_t features;  // a number of its features, or plain
};

struct ChartInput {
  std::vector<ChartGrammar> grammars;
  std::span<const Arc> arcs;  // by their first position
  std::int32_t positions;     // from 0; the last one is where derivations end
  std::span<const double> feature_scores;
  std::int32_t labels;  // all are below this
  static constexpr std::int32_t no_goal = -1;  // then all nodes are wanted, and none is above them
  std::int32_t goal;
  std::int32_t top;  // the label of the node above the goal
  std::int64_t max_edges;
};

// The rules of a forest have numbers of its own, those of a bundle one after the other, and two bundles have the same
// rules or none in common: what a search prepares for the rules of a bundle, it finds by the first one's number.
struct ParsedForest {
  Forest forest;
  TargetRules rules;
  // What a rule of the forest is: a number that runs through all grammars, one behind the other, the last of all for
  // the rule above the goal; and the features of the arcs its words stand for, a chain of links or -1 for none.
  std::vector<std::int32_t> origins;
  std::vector<std::int32_t> chains;
  struct Link {
    std::int32_t before;  // or -1
    std::int32_t features;
  };
  std::vector<Link> links;
  bool complete = true;  // false: there are more edges than allowed, and no forest
};

// Rules are applied as cdec applies them. Spans are built by their start from right to left, and for each start a
// grammar's trie is walked once, without items that are stored (Sennrich 2014, "A CYK+ Variant for SCFG Decoding
// Without a Dot Chart"). What no derivation of the whole uses is left out.
ParsedForest parse(const ChartInput& input);

}  // namespace smt
