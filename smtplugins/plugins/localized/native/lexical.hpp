// Lexical weights of blocks, from the counts of single-word blocks (Tillmann and Zhang, 2005, section 3.4).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blocks.hpp"

namespace smt::localized {

// The denominator of p(s | t): the count of the source word, as printed in the paper, or of the target word, as in
// P. Koehn, F. J. Och and D. Marcu (2003).
enum class Relative { kSource, kTarget };

// p(S | T) of each block: the product over source words of the mean of the positive p(s | t), `floor` if there is none.
std::vector<double> lexical_weights(Runs sources, Runs targets, std::span<const std::int64_t> starts,
                                    std::span<const std::int32_t> target_of, std::span<const std::int64_t> counts,
                                    Relative relative, double floor);

}  // namespace smt::localized
