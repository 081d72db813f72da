// N-grams in the layout of KenLM's trie files, so that a file can be used as mapped.
//
// K. Heafield, "KenLM: Faster and Smaller Language Model Queries" (2011). The trie holds n-grams backwards: the children
// of an n-gram are the words that may come before it, in ascending order of their ids, which are the ranks of the words'
// hashes. Entries are packed bit by bit; an entry ends with the index of its first child in the table of the next
// order, and its children end where those of the next entry begin.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "lm/probing.hpp"

namespace smt {

// What a look-up returns. Values are log10.
struct Entry {
  float prob = 0.0F;
  float backoff = -0.0F;
  float rest = 0.0F;        // the probability's estimate while the words before are not known
  bool independent = true;  // a further word to the left would not change the probability
};

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64U);
}

// Finds a number among the ascending numbers at(low) .. at(high - 1), which are spread evenly: span(difference) is how
// many of them are expected between two that differ so. `guess`: where to look first. kNowhere if it is missing.
template <class At, class Span>
std::uint64_t find_even(std::uint64_t low, std::uint64_t high, std::uint64_t guess, std::uint64_t wanted, At at,
                        Span span) noexcept {
  constexpr std::uint64_t kNear = 8;
  for (int tries = 0; high - low > kNear && tries < 4; ++tries) {
    const std::uint64_t there = at(guess);
    if (there == wanted) return guess;
    if (there < wanted) {
      low = guess + 1;
      guess = low + std::min(span(wanted - there), high - low - (high != low ? 1 : 0));
    } else {
      high = guess;
      guess = high - std::min(span(there - wanted) + 1, high - low);
    }
  }
  // Numbers before `low` are less than the wanted one, those from low + left on are not.
  for (std::uint64_t left = high - low; left > 0;) {
    const std::uint64_t half = left / 2;
    const bool below = at(low + half) < wanted;
    low = below ? low + half + 1 : low;
    left = below ? left - half - 1 : half;
  }
  return low < high && at(low) == wanted ? low : kNowhere;
}

// The words' hashes in ascending order. The id of a word is its rank + 1.
class SortedWords {
 public:
  SortedWords() = default;
  SortedWords(const std::byte* hashes, std::uint64_t count) noexcept : hashes_(hashes), count_(count) {}

  // The first place of the search for a hash.
  std::uint64_t home(std::uint64_t hash) const noexcept { return high_product(hash, count_); }
  void prefetch(std::uint64_t place) const noexcept { __builtin_prefetch(hashes_ + place * sizeof(std::uint64_t)); }
  WordId find_from(std::uint64_t place, std::uint64_t hash) const noexcept {
    const std::uint64_t rank = find_even(
        0, count_, place, hash, [this](std::uint64_t i) { return load<std::uint64_t>(hashes_ + i * 8); },
        [this](std::uint64_t difference) { return high_product(difference, count_); });
    return rank == kNowhere ? kUnknown : static_cast<WordId>(rank + 1);
  }

 private:
  const std::byte* hashes_ = nullptr;
  std::uint64_t count_ = 0;
};

// An n-gram: its index in the table of its order (a word's id for one word), and those of its children in the next.
struct TrieNode {
  std::uint64_t key;
  std::uint64_t begin;
  std::uint64_t end;
};

// How the values of a table are kept: as they are, or as numbers of bins.
struct TrieValues {
  const std::byte* probs = nullptr;  // the bins' probabilities; null if values are kept as they are
  const std::byte* backoffs = nullptr;
  unsigned prob_bits = 31;
  unsigned backoff_bits = 32;
};

// Where a table's entries keep the higher bits of their first children: number i + 1 is the index of the first entry
// whose first child has at least (i + 1) << bits. Without numbers the entries have all bits.
struct TrieOffsets {
  const std::byte* firsts = nullptr;
  std::uint64_t count = 0;
};

// The n-grams of one order.
class TrieTable {
 public:
  struct Shape {
    std::uint64_t words = 0;      // the model's
    unsigned word_bits = 0;       // of an entry: first the word
    unsigned next_bits = 0;       // and last the first child
    std::uint64_t next_size = 0;  // entries of the next order
  };

  TrieTable() = default;
  // `longest`: entries have no back-off and no children.
  TrieTable(const std::byte* entries, const Shape& shape, const TrieValues& values, const TrieOffsets& offsets,
            bool longest) noexcept
      : entries_(entries),
        offsets_(offsets),
        values_(values),
        inverse_(~std::uint64_t{0} / std::max<std::uint64_t>(shape.words, 1)),
        next_size_(shape.next_size),
        word_mask_(mask(shape.word_bits)),
        next_mask_(mask(shape.next_bits)),
        word_bits_(shape.word_bits),
        next_bits_(shape.next_bits),
        value_bits_(values.prob_bits + (longest ? 0 : values.backoff_bits)),
        bits_(word_bits_ + value_bits_ + next_bits_) {}

  unsigned bits() const noexcept { return bits_; }  // of an entry

  // The first place of the search for a word among a node's children.
  std::uint64_t home(const TrieNode& node, WordId before) const noexcept {
    return node.begin + high_product(static_cast<std::uint64_t>(before) * inverse_, node.end - node.begin);
  }
  void prefetch(std::uint64_t place) const noexcept { __builtin_prefetch(entries_ + place * bits_ / 8); }

  // The index of the child; kNowhere if it is missing.
  std::uint64_t find_from(std::uint64_t place, const TrieNode& node, WordId before) const noexcept {
    const std::uint64_t width = node.end - node.begin;
    return find_even(
        node.begin, node.end, place, static_cast<std::uint64_t>(before),
        [this](std::uint64_t i) { return read(i * bits_) & word_mask_; },
        [this, width](std::uint64_t difference) { return high_product(difference * inverse_, width); });
  }

  // The entry of an index and its node.
  Entry entry(std::uint64_t index, TrieNode& node) const noexcept {
    node = this->node(index);
    Entry found = weights(index);
    found.independent = node.begin == node.end;
    return found;
  }
  // Without looking whether longer n-grams exist.
  Entry weights(std::uint64_t index) const noexcept {
    const std::uint64_t at = index * bits_ + word_bits_;
    Entry found;
    if (values_.probs == nullptr) {
      found.prob = log10_prob(std::bit_cast<float>(static_cast<std::uint32_t>(read(at))));
      found.backoff = std::bit_cast<float>(static_cast<std::uint32_t>(read(at + values_.prob_bits)));
    } else {
      const std::uint64_t bins = read(at);
      found.backoff = load<float>(values_.backoffs + (bins & mask(values_.backoff_bits)) * sizeof(float));
      found.prob = binned_prob(bins >> values_.backoff_bits);
    }
    found.rest = found.prob;
    return found;
  }
  // Of the longest n-grams.
  float prob(std::uint64_t index) const noexcept {
    const std::uint64_t value = read(index * bits_ + word_bits_);
    return values_.probs == nullptr ? log10_prob(std::bit_cast<float>(static_cast<std::uint32_t>(value)))
                                    : binned_prob(value);
  }
  TrieNode node(std::uint64_t index) const noexcept {
    const std::uint64_t at = index * bits_ + word_bits_ + value_bits_;
    std::uint64_t begin = read(at) & next_mask_;
    std::uint64_t end = read(at + bits_) & next_mask_;
    if (offsets_.firsts != nullptr) add_high_bits(index, begin, end);
    // A damaged file may have any.
    end = std::min(end, next_size_);
    return {index, std::min(begin, end), end};
  }

 private:
  static constexpr std::uint64_t mask(unsigned bits) noexcept { return (std::uint64_t{1} << bits) - 1; }
  // 57 bits or more, from a bit on.
  std::uint64_t read(std::uint64_t bit) const noexcept {
    return smt::load<std::uint64_t>(entries_ + (bit >> 3U)) >> (bit & 7U);
  }
  float binned_prob(std::uint64_t bin) const noexcept {
    return log10_prob(load<float>(values_.probs + (bin & mask(values_.prob_bits)) * sizeof(float)));
  }
  std::uint64_t first(std::uint64_t i) const noexcept { return load<std::uint64_t>(offsets_.firsts + i * 8); }
  // The last number, from `low` on, that is not above an index.
  std::uint64_t last_not_above(std::uint64_t low, std::uint64_t index) const noexcept {
    for (std::uint64_t left = offsets_.count - low; left > 1;) {
      const std::uint64_t half = left / 2;
      low = first(low + half) <= index ? low + half : low;
      left -= half;
    }
    return low;
  }
  void add_high_bits(std::uint64_t index, std::uint64_t& begin, std::uint64_t& end) const noexcept {
    const std::uint64_t high = last_not_above(0, index);
    begin |= high << next_bits_;
    const bool same = high + 1 == offsets_.count || first(high + 1) > index + 1;
    end |= (same ? high : last_not_above(high + 1, index + 1)) << next_bits_;
  }

  const std::byte* entries_ = nullptr;
  TrieOffsets offsets_;
  TrieValues values_;
  std::uint64_t inverse_ = 0;
  std::uint64_t next_size_ = 0;
  std::uint64_t word_mask_ = 0;
  std::uint64_t next_mask_ = 0;
  unsigned word_bits_ = 0;
  unsigned next_bits_ = 0;
  unsigned value_bits_ = 0;
  unsigned bits_ = 0;
};

// A unigram of a trie: Weights and its first child.
constexpr std::size_t kTrieUnigram = 16;

struct Trie {
  SortedWords words;
  TrieTable tables[kMaxOrder - 1];  // tables[n - 2] is that of order n
};

}  // namespace smt
