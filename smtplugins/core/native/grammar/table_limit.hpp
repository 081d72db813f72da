// Language model scores of a table's target sides out of context, used to limit tables.
#pragma once

#include <cstdint>
#include <span>

#include "lm/lm.hpp"

namespace smt {

// Target sides of a table: words, or gaps below 0; `words` has the model's id of each word.
struct TargetSides {
  std::span<const std::int32_t> symbols;
  std::span<const std::int64_t> offsets;  // one more than there are sides
  std::span<const WordId> words;
};

// log10 probability of each side's words, summed over runs between gaps without context. With `markers`, a <s> at the
// start of a run begins the sentence and costs nothing; the model must have it then.
void fragment_scores(const LanguageModel& lm, const TargetSides& sides, bool markers, int threads, float* scores);

}  // namespace smt
