// Lexical weights of blocks, from the counts of single-word blocks (Tillmann and Zhang, 2005, section 3.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blocks.hpp"

namespace smt::localized {

// What p(s | t) of a word pair is relative to: all pairs of the source word, as the paper prints it, or of the target
// word, as P. Koehn, F. J. Och and D. Marcu (2003) have it.
enum class Relative { kSource, kTarget };

// p(S | T) of each block: for each source word the mean of those p(s | t) that are above 0, `floor` if none is.
std::vector<double> lexical_weights(Runs sources, Runs targets, std::span<const std::int64_t> starts,
                                    std::span<const std::int32_t> target_of, std::span<const std::int64_t> counts,
                                    Relative relative, double floor);

}  // namespace smt::localized
