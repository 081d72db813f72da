// Scores of many sentences at a time.
//
// The text is cut into batches of words, across sentences. A batch is scored order by order: all look-ups of one order
// are prefetched before the first is read, and only words whose shorter n-gram exists, in a context that longer n-grams
// extend, go on to the next order. So a batch waits for memory once per order, not once per look-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lm/lm.hpp"

namespace smt {

// The results: log10 probabilities and numbers of unknown words.
struct SentenceScores {
  double* probs;
  std::int32_t* unknown;
};

// This many bytes after the last sentence's text must be readable.
constexpr std::size_t kTextPadding = 8;

// `sentences` of them; sentence i is [offsets[i], offsets[i + 1]) of the words or of the text. Ids are of the model.
// Throws std::invalid_argument if the model lacks a requested marker.
void score_ids(const LanguageModel& lm, const WordId* ids, const std::int64_t* offsets, std::size_t sentences, bool bos,
               bool eos, int threads, SentenceScores scores);
void score_texts(const LanguageModel& lm, const char* text, const std::int64_t* offsets, std::size_t sentences,
                 bool bos, bool eos, int threads, SentenceScores scores);

// The ids of concatenated words; `text` with padding as above.
void find_words(const LanguageModel& lm, const char* text, const std::int64_t* offsets, std::size_t words, WordId* ids);

}  // namespace smt
