// The phrases of tables that a sentence or a lattice has: where each begins and ends, and over which arcs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chart.hpp"
#include "trie.hpp"

namespace smt {

struct PhraseTable {
  const Trie* trie;
  std::int32_t first_rule;  // what its rules' numbers begin with
};

// Match i is the rule rules[i] over the path paths[i], from position firsts[i] to lasts[i]. Path k is the arcs
// path_arcs[path_offsets[k], path_offsets[k + 1]), by their places in the input. Ordered by first, last and rule, one
// rule over several paths by the order in which those are walked.
struct PhraseMatches {
  std::vector<std::int32_t> firsts;
  std::vector<std::int32_t> lasts;
  std::vector<std::int32_t> rules;
  std::vector<std::int32_t> paths;
  std::vector<std::int64_t> path_offsets{0};
  std::vector<std::int32_t> path_arcs;
  bool complete = true;  // false: there are more than allowed
};

// Rules without gaps alone, of any left-hand side, over at most `max_arcs` arcs, those without a word included.
// `max_paths` bounds the paths, those walked in vain too, and the matches. Arcs are sorted by their first position.
PhraseMatches match_phrases(std::span<const PhraseTable> tables, std::span<const Arc> arcs, std::int32_t positions,
                            std::int32_t max_arcs, std::int64_t max_paths);

}  // namespace smt
