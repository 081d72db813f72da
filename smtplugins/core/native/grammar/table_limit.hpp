// What a table's rules are worth to a language model before any of them is applied: by this tables are limited.
#pragma once

#include <cstdint>
#include <span>

#include "lm/lm.hpp"

namespace smt {

// Target sides of a table: words, or gaps below 0; `words` says which word of the model each of them is.
struct TargetSides {
  std::span<const std::int32_t> symbols;
  std::span<const std::int64_t> offsets;  // one more than sides
  std::span<const WordId> words;
};

// log10 of each side's words, those between two gaps without any context. With `markers` a <s> that such a piece begins
// with is where the sentence begins, and costs nothing; the model must have it then.
void fragment_scores(const LanguageModel& lm, const TargetSides& sides, bool markers, int threads, float* scores);

}  // namespace smt
