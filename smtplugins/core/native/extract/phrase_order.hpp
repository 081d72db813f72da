// The order of the lines of tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/word_list.hpp"

namespace smt {

using WordSpan = std::span<const std::uint32_t>;

// The ranks of words in the order that `LC_ALL=C sort` gives lines "word word ||| ...": no word contains a blank, so
// lines compare as sequences of words, each with a final blank; ||| is one of the words. Words added later never change
// the order of earlier ones.
struct ByteRanks {
  ByteRanks() = default;
  explicit ByteRanks(const WordList& words);
  std::vector<std::uint32_t> rank;
  std::uint32_t bars = 0;  // the rank of |||
};

// -1, 0 or 1: compares "a ||| " with "b ||| ".
int compare(WordSpan a, WordSpan b, const ByteRanks& ranks) noexcept;

// Bytes that compare like the phrase with its |||; no key is a prefix of another.
void append_key(std::string& out, WordSpan words, const ByteRanks& ranks);

}  // namespace smt
