// Where the words of a text end: the one answer of word alignment, extraction, language models and decoders.
#pragma once

#include <array>

namespace smt {

// The ASCII blanks of `words` in smtformats/tokens.py, and NUL. Other spaces of Unicode are parts of words.
constexpr std::array<bool, 256> word_ends() noexcept {
  std::array<bool, 256> ends{};
  for (const unsigned char byte : {'\0', '\t', '\n', '\v', '\f', '\r', '\x1C', '\x1D', '\x1E', '\x1F', ' '}) {
    ends[byte] = true;
  }
  return ends;
}
inline constexpr std::array<bool, 256> kWordEnds = word_ends();

inline bool ends_word(char byte) noexcept { return kWordEnds[static_cast<unsigned char>(byte)]; }

}  // namespace smt
