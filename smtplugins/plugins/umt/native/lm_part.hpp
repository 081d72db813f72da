// A language model while a tree grows: what is known of the words on both sides of each open place.
//
// The target side of a growing tree is pieces of text with open places between them; what is around the tree is one
// more open place, as long as its head is open, so that pieces and places take turns on a ring. A piece keeps what a
// language model has to know of both of its ends, and a candidate's score depends on the two pieces beside its place
// alone: an edge that was put there can change what is known at the next place on either side, and nowhere beyond.
#pragma once

#include <memory>

#include "search/lm_scorer.hpp"
#include "part.hpp"

namespace smt::umt {

enum class LmMode {
  kDelta,     // the change of the sum of all pieces' scores, each with an unknown left context
  kRescored,  // the scores of the edge's words, and anew those of up to order - 1 words behind it
  kSplit,     // those of kRescored by how many words of context they have: sums, then counts, then means
};

// One component; three for each length of context from 0 to the order less one if they are split.
std::shared_ptr<Part> make_lm_part(std::shared_ptr<AnyLmScorer> scorer, LmMode mode);

}  // namespace smt::umt
