// Reads the target phrases of a ProbingPT folder, TargetColl.dat, into columns. The format is described in
// smtformats/grammar/moses_probing.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "growing.hpp"
#include "strings.hpp"

namespace smt {

struct ProbingRows {
  Growing<std::int64_t> starts;    // the byte of each block of target phrases
  Growing<std::int64_t> ends;      // the number of rows up to the end of each block
  Growing<std::int64_t> places;    // the byte of each row
  Growing<std::uint32_t> points;   // two numbers of alignments per row: of words, of gaps
  Growing<float> scores;           // equally many per row
  Growing<std::uint32_t> words;    // by the numbers of the file
  Growing<std::int64_t> word_ends; // the number of words up to the end of each row
  const char* expected = nullptr;  // what an unreadable file lacks
  std::int64_t fault = -1;         // and at which byte
};

// Reads the block at `at`, which becomes the byte after it. False if it has a fault.
bool probing_block(std::string_view data, std::size_t scores, std::size_t& at, ProbingRows& rows);

// Reads blocks to the end of the file, or to the first fault.
ProbingRows probing_rows(std::string_view data, std::size_t scores);

// The keys of phrase pairs, `source ||| target`. A phrase is a range of numbers of words.
struct ProbingPhrases {
  std::span<const std::int32_t> words;
  std::span<const std::int64_t> offsets;
};
Texts probing_keys(std::string_view blob, std::span<const std::int64_t> words, const ProbingPhrases& sources,
                   const ProbingPhrases& targets);

// Converts stored scores to logarithms of at least -100: of probabilities by their shortest decimal, as a text table has
// them; of logarithms as they are, but for the mark of a logarithm of 0. Returns the first bad one, or -1.
std::int64_t probing_logarithms(float* scores, std::size_t count, bool are_logarithms);

}  // namespace smt
