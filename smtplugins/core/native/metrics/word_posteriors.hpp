// Posterior probabilities of words at their positions, by Levenshtein alignments of the texts of an n-best list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt {

// Texts as word ids: text i is words[offsets[i], offsets[i + 1]).
struct WordTexts {
  std::span<const std::int32_t> words;
  std::span<const std::int64_t> offsets;

  std::size_t size() const noexcept { return offsets.size() - 1; }
  std::span<const std::int32_t> operator[](std::size_t i) const noexcept {
    return words.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

// For each word the summed probability of the texts that have the same word where a Levenshtein alignment puts it. The
// alignment has the fewest insertions, deletions and substitutions; from the end backwards it prefers a match or
// substitution, then leaves a word of the text unaligned, then one of the other text.
std::vector<double> word_posteriors(const WordTexts& texts, std::span<const double> probabilities);

}  // namespace smt
