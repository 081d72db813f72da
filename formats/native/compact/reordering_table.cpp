#include "compact/reordering_table.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace smt::compact {

ReorderingTable::ReorderingTable(std::string_view file) {
  Cursor cursor(file);
  index_ = PhraseIndex::read(cursor);
  const auto scores = cursor.number<std::uint64_t>("the number of scores");
  constexpr std::uint64_t kMost = 64;
  if (scores < 1 || scores > kMost) {
    throw BadTable("1 to " + std::to_string(kMost) + " scores of each phrase", std::to_string(scores));
  }
  scores_ = scores;
  const std::size_t codes = cursor.flag("whether each score has its own codes") ? scores_ : 1;
  for (std::size_t i = 0; i < codes; ++i) codes_.push_back(Huffman<float>::read(cursor, "scores"));
  entries_ = PackedStrings::read<std::uint64_t>(cursor, "entries of phrases");
}

bool ReorderingTable::find(std::string_view key, std::span<float> scores) const {
  const std::optional<std::uint64_t> number = index_.find(key);
  if (!number || *number >= entries_.size()) return false;
  Bits bits(entries_[*number]);
  for (std::size_t i = 0; i < scores_; ++i) scores[i] = codes_[codes_.size() > 1 ? i : 0].next(bits);
  return true;
}

}  // namespace smt::compact
