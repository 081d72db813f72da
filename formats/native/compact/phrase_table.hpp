// Moses' compact phrase tables (.minphr).
//
// M. Junczys-Dowmunt, "Phrasal Rank-Encoding: Exploiting Phrase Redundancy and Translational Relations for Phrase Table
// Compression" (2012). The translations of a source phrase are one entry of Huffman codes: words, scores and alignment
// points of each. A word may be written as the rank of a translation of a source word (REnc), several words as the rank
// of a translation of a part of the source phrase (PREnc), whose alignment they then have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compact/huffman.hpp"
#include "compact/packed_strings.hpp"
#include "compact/phrase_index.hpp"

namespace smt::compact {

// Positions of a source and a target word, sorted.
using Points = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Translation {
  std::vector<std::uint32_t> words;  // numbers of target words
  std::vector<float> scores;
  Points points;
};
using Translations = std::vector<Translation>;

class PhraseTable {
 public:
  enum class Coding : std::uint32_t { none, ranks, phrase_ranks };

  // The table refers to the file's bytes. Throws BadTable.
  explicit PhraseTable(std::string_view file);
  std::size_t size() const noexcept { return index_.size(); }
  std::size_t scores() const noexcept { return scores_; }
  std::size_t longest() const noexcept { return longest_; }
  Coding coding() const noexcept { return coding_; }
  bool has_alignments() const noexcept { return alignments_.has_value(); }
  unsigned fingerprint_bits() const noexcept { return index_.fingerprint_bits(); }
  std::string_view target_word(std::uint32_t number) const;

 private:
  friend class PhraseLookup;

  PhraseIndex index_;
  Coding coding_ = Coding::none;
  std::size_t scores_ = 0;
  std::size_t most_ranks_ = 0;  // translations of a phrase that others refer to; 0: all
  std::size_t longest_ = 0;
  // REnc: the words of the source language, where their translations begin, and the translations as pairs.
  PackedStrings source_words_;
  Packed<std::uint64_t> lexicon_starts_;
  Packed<std::uint64_t> lexicon_;
  PackedStrings target_words_;
  std::optional<Huffman<std::uint32_t>> symbols_;
  std::vector<Huffman<float>> score_codes_;
  std::optional<Huffman<std::uint16_t>> alignments_;
  PackedStrings entries_;
};

// Looks up phrases and keeps what others refer to. Throws BadTable.
class PhraseLookup {
 public:
  explicit PhraseLookup(const PhraseTable& table) : table_(table) {}
  // Null if the phrase is not there.
  std::shared_ptr<const Translations> find(const std::vector<std::string_view>& words) {
    return find(words, 0, words.size(), true);
  }

 private:
  using Words = std::vector<std::string_view>;

  struct Phrase {
    const Words& words;
    std::size_t first;
    std::size_t last;
    std::size_t size() const noexcept { return last - first; }
  };

  std::shared_ptr<const Translations> find(const Words& words, std::size_t first, std::size_t last, bool whole);
  bool decode(const Phrase& phrase, std::string_view entry, bool whole, Translations& found);
  bool add_symbol(std::uint32_t symbol, const Phrase& phrase, const Translations& before, Translation& made);
  bool add_ranked(std::uint32_t symbol, const Phrase& phrase, Translation& made);
  bool add_part(std::uint32_t symbol, const Phrase& phrase, const Translations& before, Translation& made);

  const PhraseTable& table_;
  std::uint64_t made_ = 0;  // words and points of a look-up, to bound hostile files
  std::map<std::string, std::shared_ptr<const Translations>, std::less<>> parts_;
};

}  // namespace smt::compact
