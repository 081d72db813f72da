// Aligned sentence pairs from text: word ids, links, and errors of lines.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/packed.hpp"
#include "base/word_list.hpp"

namespace smt {

struct Link {
  std::uint16_t source = 0, target = 0;  // positions in the sentences
  friend bool operator==(const Link&, const Link&) = default;
};

struct SentencePair {
  std::uint64_t line = 0;
  std::vector<std::uint32_t> source, target;  // ids in the word lists of the bitext
  std::vector<Link> links;                    // as in the file: in any order, perhaps repeated
};

// Tables take words in brackets for gaps.
inline bool in_brackets(std::string_view word) noexcept { return word.starts_with('[') && word.ends_with(']'); }

// The ids that words of another bitext have in this one.
struct WordIds {
  std::vector<std::uint32_t> source, target;
};

// An invalid line.
struct BitextError : std::runtime_error {
  BitextError(int side_, std::uint64_t line_, std::string expected_, std::string found_);
  int side;  // 0 source, 1 target, 2 alignment
  std::uint64_t line;
  std::string expected, found;
};

class Bitext {
 public:
  // With `skip_bad`, links outside the sentences are no error.
  explicit Bitext(bool skip_bad);

  // Takes whole lines, equally many of each side, and calls visit(pair, sound) for each pair. A pair is not sound if a
  // side is empty or (with skip_bad) a link is outside and was left out: its words are counted, but it has no phrases.
  template <class Visit>
  void parse(std::string_view source, std::string_view target, std::string_view links, Visit visit) {
    while (!source.empty() || !target.empty() || !links.empty()) {
      const bool sound = read(cut_line(source), cut_line(target), cut_line(links));
      visit(static_cast<const SentencePair&>(pair_), sound);
    }
  }

  // The words and numbers of pairs, for another bitext to add to its own.
  void pack(std::string& out) const;
  WordIds add_packed(PackedReader& packed);

  const WordList& source_words() const noexcept { return words_[0]; }
  const WordList& target_words() const noexcept { return words_[1]; }
  WordList& source_words() noexcept { return words_[0]; }
  WordList& target_words() noexcept { return words_[1]; }
  std::uint64_t sentences() const noexcept { return pair_.line; }
  std::uint64_t empty() const noexcept { return empty_; }      // pairs with an empty side
  std::uint64_t skipped() const noexcept { return skipped_; }  // pairs with links outside

 private:
  static std::string_view cut_line(std::string_view& text) noexcept;
  bool read(std::string_view source, std::string_view target, std::string_view links);
  void read_words(int side, std::string_view line, std::vector<std::uint32_t>& words);
  bool read_links(std::string_view line);

  bool skip_bad_;
  WordList words_[2];
  SentencePair pair_;
  std::uint64_t empty_ = 0, skipped_ = 0;
};

// Moses' name of the word that unaligned words are linked with; the first of both word lists.
inline constexpr std::uint32_t kNullWord = 0;

}  // namespace smt
