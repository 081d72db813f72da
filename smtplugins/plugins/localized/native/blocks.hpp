// Occurrences of blocks in sentence pairs, and which of them are neighbours.
//
// C. Tillmann and T. Zhang, "A Localized Prediction Model for Statistical Machine Translation" (ACL 2005), section 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace smt::localized {

constexpr std::int32_t kUnknown = -1;   // a word that no block has
constexpr std::int32_t kBoundary = -2;  // before the first word of a sentence

enum Orientation : std::uint8_t { kNeutral = 0, kLeft = 1, kRight = 2 };

// Sequences of word numbers: sequence i is items[offsets[i]:offsets[i + 1]].
struct Runs {
  std::span<const std::int32_t> items;
  std::span<const std::int64_t> offsets;

  std::size_t size() const noexcept { return offsets.size() - 1; }
  std::span<const std::int32_t> operator[](std::size_t i) const noexcept {
    return items.subspan(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
  }
};

// Numbers the distinct sequences in order of first use; `kinds` gets the position where each comes first.
std::vector<std::int32_t> number_phrases(Runs phrases, std::vector<std::int64_t>& kinds);

// Maps sequences of words to their numbers.
class PhraseIndex {
 public:
  PhraseIndex(Runs phrases, const char* what);  // throws std::invalid_argument for duplicates
  std::int32_t find(std::span<const std::int32_t> words) const noexcept;  // -1 if there is none
  std::size_t longest() const noexcept { return longest_; }

 private:
  Runs phrases_;
  std::size_t longest_ = 0;
  std::uint64_t mask_ = 0;
  std::vector<std::int32_t> slots_;
};

// A block in a sentence pair: source words [first, last), target words [begin, end).
struct Occurrence {
  std::int32_t begin, end, first, last, block;
};

// The events of some sentence pairs. Neutral events have the two preceding target words instead of a predecessor.
struct Events {
  std::vector<std::int64_t> bigrams;  // number in each sentence pair
  std::vector<std::int64_t> neutrals;
  std::vector<std::int64_t> occurrences;
  std::vector<std::int32_t> predecessor;
  std::vector<std::int32_t> successor;
  std::vector<std::uint8_t> orientation;
  std::vector<std::int32_t> neutral;
  std::vector<std::int32_t> before;  // two words for each neutral event, in text order
};

struct Link {
  std::int32_t source, target;
};

class BlockFinder {
 public:
  // Block i has source phrase p if starts[p] <= i < starts[p + 1], and target phrase target_of[i].
  BlockFinder(std::vector<std::string_view> words, Runs sources, Runs targets, std::span<const std::int64_t> starts,
              std::span<const std::int32_t> target_of);

  // With links only consistent blocks count: at least one link inside, and none from inside to outside. Throws
  // std::invalid_argument for a link to a missing word.
  void collect(std::string_view source, std::string_view target, const std::span<const Link>* links, Events& events);
  // Each block's number of occurrences so far.
  const std::vector<std::int64_t>& counts() const noexcept { return counts_; }

 private:
  void find_words(std::string_view text, std::vector<std::int32_t>& found) const;
  void find_occurrences(const std::span<const Link>* links);
  bool agrees(const Occurrence& one) const noexcept;

  std::unordered_map<std::string_view, std::int32_t> words_;
  PhraseIndex sources_;
  PhraseIndex targets_;
  std::span<const std::int64_t> starts_;
  std::span<const std::int32_t> target_of_;
  std::vector<std::int64_t> counts_;

  struct Place {
    std::int32_t begin, end, next;
  };
  struct Extent {
    std::int32_t low, high;
  };
  // The current sentence pair:
  std::vector<std::int32_t> source_, target_;
  std::vector<std::int32_t> first_place_;  // by target phrase: its first place, -1 if none
  std::vector<Place> places_;
  std::vector<std::int32_t> present_;  // target phrases in the sentence
  std::vector<Occurrence> occurrences_;
  std::vector<Extent> source_links_, target_links_;
  std::vector<std::int32_t> ending_;  // by target end: the first entry of by_end_
  std::vector<std::int32_t> by_end_;
};

}  // namespace smt::localized
