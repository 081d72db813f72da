// The parts of KenLM's trie files: sorted vocabulary, bins, unigrams, bit-packed tables.
#pragma once

#include <cstdint>
#include <vector>

#include "lm/kenlm_parts.hpp"
#include "lm/tables.hpp"

namespace smt {

struct TrieKind {
  bool quantised = false;   // values are numbers of bins (build_binary -q -b)
  bool compressed = false;  // higher bits of pointers are arrays (build_binary -a)
};

// Takes a trie from a file, all but the words' spellings. `counts`: n-grams of each order. Throws KenlmFileError.
void read_trie(FileParts& parts, const std::vector<std::uint64_t>& counts, const TrieKind& kind, LmTables& tables);

}  // namespace smt
