// Looks up source phrases in a ProbingPT folder: the files of large tables stay mapped, only vocabularies and
// alignments are read. The format is described in smtformats/grammar/moses_probing.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bad_table.hpp"
#include "probing/rows.hpp"

namespace smt {

// The bytes of the files; they must outlive the table.
struct ProbingFiles {
  std::string_view sources;     // source_vocabids
  std::string_view targets;     // TargetVocab.dat
  std::string_view alignments;  // Alignments.dat
  std::string_view hashes;      // probing_hash.dat
  std::string_view rows;        // TargetColl.dat
};

using ProbingWords = std::span<const std::string_view>;

class ProbingLookup {
 public:
  // Throws BadTable that names a file which is not as the tool writes it.
  ProbingLookup(const ProbingFiles& files, std::size_t scores, std::size_t others, bool are_logarithms);

  std::size_t source_words() const noexcept { return known_count_; }
  std::size_t target_words() const noexcept { return targets_.size() - 1; }
  std::size_t entries() const noexcept { return files_.hashes.size() / 16; }
  // Whether a source word is a gap, `[X][Y]`, or the first target side ends in a label.
  bool has_rules() const noexcept { return has_rules_; }
  std::string_view target_word(std::uint32_t number) const { return targets_[number]; }
  // Two numbers of words for each alignment point.
  std::span<const std::int16_t> points(std::uint32_t alignment) const;

  // The byte of a phrase's block; nothing if the table does not have it. Throws BadTable.
  std::optional<std::size_t> find(ProbingWords source) const;
  // Adds the rows of a block, with their numbers checked. Throws BadTable.
  void read(std::size_t block, ProbingRows& rows) const;
  // Converts scores to logarithms. Throws BadTable.
  void convert(std::span<float> scores) const;
  std::size_t width() const noexcept { return scores_ + others_; }
  std::size_t scores() const noexcept { return scores_; }

  // Finds the scores of phrase pairs, those of one source phrase after the other.
  class Pairs {
   public:
    Pairs(const ProbingLookup& table, std::size_t first) : table_(table), first_(first) {}
    // False if the table does not have the pair. If it has it twice, the later counts. Throws BadTable.
    bool find(ProbingWords source, ProbingWords target, std::span<float> scores);

   private:
    const ProbingLookup& table_;
    std::size_t first_;
    std::vector<std::string> source_;
    bool is_there_ = false;
    ProbingRows rows_;
    std::unordered_map<std::string, std::size_t> places_;  // of rows by the numbers of their words
  };

 private:
  void read_sources();
  void read_targets();
  void read_alignments();
  bool is_known(std::uint64_t hash) const noexcept;
  std::optional<std::uint32_t> target_number(std::string_view word) const;

  ProbingFiles files_;
  std::size_t scores_;
  std::size_t others_;
  bool are_logarithms_;
  bool has_rules_ = false;
  std::vector<std::uint64_t> known_;  // hashes of source words, with open addressing
  std::size_t known_count_ = 0;
  bool knows_zero_ = false;
  std::vector<std::string_view> targets_;
  std::vector<std::int16_t> points_;
  std::vector<std::size_t> point_starts_, point_ends_;  // by the number of the alignment
  mutable std::once_flag numbered_;
  mutable std::unordered_map<std::string_view, std::uint32_t> target_numbers_;
};

}  // namespace smt
