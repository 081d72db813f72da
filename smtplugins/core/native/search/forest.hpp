// The forest between parsers and searches: a sentence's forest without stateful features, and its rules.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt {

// Concatenated parts; part i is values[offsets[i], offsets[i + 1]).
template <class T>
struct Parts {
  std::vector<std::int64_t> offsets{0};
  std::vector<T> values;

  std::size_t size() const noexcept { return offsets.size() - 1; }
  std::span<const T> operator[](std::size_t i) const noexcept {
    return {values.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  void end_part() { offsets.push_back(static_cast<std::int64_t>(values.size())); }
};

// Nodes in topological order, the goal last; no nodes if the sentence has no parse. The edges into a node are grouped
// in bundles with the same tails, an edge for each rule. Tail k fills the k-th gap of a rule's source side.
struct Forest {
  struct Node {
    std::int32_t label;
    std::int32_t first;  // words, or positions of a lattice, from here
    std::int32_t last;   // to before here
  };
  std::vector<Node> nodes;
  std::vector<std::int64_t> node_bundles{0};  // those into node v are [node_bundles[v], node_bundles[v + 1])
  Parts<std::int32_t> tails;                  // of each bundle
  Parts<std::int32_t> rules;                  // of each bundle; numbers of rules as in TargetRules

  std::size_t bundles() const noexcept { return tails.size(); }
  std::size_t edges() const noexcept { return rules.values.size(); }
};

// The rules of a grammar, then those minted for a sentence (unknown words, mark-up, arcs of a lattice with features).
// A target side holds ids of words, or -1 - k for the k-th gap of the source side.
struct TargetRules {
  Parts<std::int32_t> targets;
  std::vector<float> scores;  // weighted feature sums without stateful features
  // The source words [first, last) that a rule itself translates, in phrase-based derivations; else empty.
  std::vector<std::int32_t> firsts;
  std::vector<std::int32_t> lasts;
};

// The number of tails that a target side needs.
inline std::int64_t gaps_of(std::span<const std::int32_t> target) noexcept {
  std::int64_t gaps = 0;
  for (const std::int64_t symbol : target) gaps = std::max(gaps, -symbol);
  return gaps;
}

// Both, as passed from Python to searches.
struct SearchForest {
  Forest forest;
  TargetRules rules;
};

}  // namespace smt
