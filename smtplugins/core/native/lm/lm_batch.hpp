// Scores of many sentences at a time.
//
// The text is cut into batches of words without regard to sentences. A batch is scored order by order: all look-ups of
// one order are asked for before the first is waited for, and only words whose shorter n-gram was found, in a context
// that longer ones begin with, go on to the next. So memory is waited for once in a batch, not once in a look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lm/lm.hpp"

namespace smt {

// Where the results go: log10 probabilities, and numbers of unknown words.
struct SentenceScores {
  double* probs;
  std::int32_t* unknown;
};

// What follows the last sentence's text must be readable for this many bytes.
constexpr std::size_t kTextPadding = 8;

// `sentences` of them; sentence i is [offsets[i], offsets[i + 1]) of the words or of the text. Ids are of the model.
// Throws std::invalid_argument if the model lacks a marker that is asked for.
void score_ids(const LanguageModel& lm, const WordId* ids, const std::int64_t* offsets, std::size_t sentences, bool bos,
               bool eos, int threads, SentenceScores scores);
void score_texts(const LanguageModel& lm, const char* text, const std::int64_t* offsets, std::size_t sentences,
                 bool bos, bool eos, int threads, SentenceScores scores);

// The ids of words that stand one behind the other; `text` with padding as above.
void find_words(const LanguageModel& lm, const char* text, const std::int64_t* offsets, std::size_t words, WordId* ids);

}  // namespace smt
