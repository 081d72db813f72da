// Parses a sentence or a lattice with the source sides of synchronous grammars into the forest of all derivations.
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
  std::span<const float> scores;     // of its rules; empty: 0
  std::int32_t limit = no_limit;     // the longest span of a rule, in arcs on the shortest path
  bool from_start = false;           // rules apply only to spans that begin at position 0
  bool to_unknown_arcs_only = false;  // rules of one word each, for arcs over whose span no other grammar has a rule
};

struct Arc {
  static constexpr std::int32_t epsilon = -1;
  static constexpr std::int32_t plain = -1;

  std::int32_t from;
  std::int32_t to;        // above `from`
  std::int32_t word;      // or epsilon, which rules skip anywhere
  std::int32_t features;  // the number of its features, or plain
};

struct ChartInput {
  std::vector<ChartGrammar> grammars;
  std::span<const Arc> arcs;  // by their first position
  std::int32_t positions;     // from 0; the last one is where derivations end
  std::span<const double> feature_scores;
  std::int32_t labels;  // all are below this
  static constexpr std::int32_t no_goal = -1;  // then all nodes are kept, without one above them
  std::int32_t goal;
  std::int32_t top;  // the label of the node above the goal
  std::int64_t max_edges;
};

// A forest numbers its rules itself: the rules of a bundle consecutively, and two bundles share all their rules or
// none. So a search finds what it prepared for the rules of a bundle by the number of the first.
struct ParsedForest {
  Forest forest;
  TargetRules rules;
  // The origin of a rule of the forest: its number counted through all grammars, the highest for the rule above the
  // goal; and the features of the arcs that its words cover, a chain of links or -1 for none.
  std::vector<std::int32_t> origins;
  std::vector<std::int32_t> chains;
  struct Link {
    std::int32_t before;  // or -1
    std::int32_t features;
  };
  std::vector<Link> links;
  bool complete = true;  // false: more edges than allowed, no forest
};

// Applies rules as cdec does. Spans are built by start, from right to left, and for each start each grammar's trie is
// walked once, without stored items (Sennrich 2014, "A CYK+ Variant for SCFG Decoding Without a Dot Chart"). Nodes and
// rules that no complete derivation uses are left out.
ParsedForest parse(const ChartInput& input);

}  // namespace smt
