// A language model for growing trees: the state of the known words on both sides of each open place.
//
// The target side of a growing tree consists of pieces of text with open places between them. As long as the tree's
// head is open, the outside of the tree is another open place, so that pieces and places alternate on a ring. A piece
// keeps the language model state of both its ends. A candidate's score depends only on the two pieces beside its place,
// so an edge can change the scores at the next place on either side, but no further.
#pragma once

#include <memory>

#include "search/lm_scorer.hpp"
#include "part.hpp"

namespace smt::umt {

enum class LmMode {
  kDelta,     // the change of the summed scores of all pieces, each with unknown left context
  kRescored,  // the scores of the edge's words, and of the up to order - 1 words after it, rescored
  kSplit,     // kRescored by context length: sums, then counts, then means
};

// A single component; with kSplit three for each context length from 0 to order - 1.
std::shared_ptr<Part> make_lm_part(std::shared_ptr<AnyLmScorer> scorer, LmMode mode);

}  // namespace smt::umt
