// Moses' compact reordering tables (.minlexr).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "compact/huffman.hpp"
#include "compact/packed_strings.hpp"
#include "compact/phrase_index.hpp"

namespace smt::compact {

class ReorderingTable {
 public:
  // The table refers to the file's bytes. Throws BadTable.
  explicit ReorderingTable(std::string_view file);
  std::size_t size() const noexcept { return index_.size(); }
  std::size_t scores() const noexcept { return scores_; }
  unsigned fingerprint_bits() const noexcept { return index_.fingerprint_bits(); }
  // Write the scores of a phrase, or a pair of them, that ends with " ||| "; false if it is not there. Throws BadTable.
  bool find(std::string_view key, std::span<float> scores) const;

 private:
  PhraseIndex index_;
  std::size_t scores_ = 0;
  std::vector<Huffman<float>> codes_;  // one for each score, or for all
  PackedStrings entries_;
};

}  // namespace smt::compact
