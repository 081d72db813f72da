// Counts of a part of a text as bytes, which another process adds to its own.
#pragma once

#include <string>
#include <string_view>

#include "extract/bitext.hpp"
#include "extract/lexical.hpp"
#include "extract/pairs.hpp"

namespace smt {

// All pairs must be in memory.
std::string pack_counts(const Bitext& bitext, const LexicalCounts& lexical, const PairCounter& pairs);

// As if the lines of the packed counts were fed here. Throws std::invalid_argument for other bytes.
void add_packed(std::string_view packed, Bitext& bitext, LexicalCounts& lexical, PairCounter& pairs);

}  // namespace smt
