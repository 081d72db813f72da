// The source sides of a grammar's rules as a trie, for parsers that walk it along a sentence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/large_vector.hpp"

namespace smt {

// Rules in columns that belong to somebody else. Symbols are words, or -1 - label. `words` and `labels` say which
// number each of the columns' own has outside; without them it is the same.
struct RuleColumns {
  std::span<const std::int32_t> lhs;
  std::span<const std::uint8_t> level;  // none: all are 0
  std::span<const std::int32_t> source;
  std::span<const std::int64_t> source_offsets;
  std::span<const std::int32_t> target;
  std::span<const std::int64_t> target_offsets;
  std::span<const std::int32_t> words;
  std::span<const std::int32_t> labels;

  std::size_t size() const noexcept { return lhs.size(); }
  std::int32_t word(std::int32_t own) const noexcept {
    return words.empty() ? own : words[static_cast<std::size_t>(own)];
  }
  std::int32_t label(std::int32_t own) const noexcept {
    return labels.empty() ? own : labels[static_cast<std::size_t>(own)];
  }
};

// What words and labels outside a trie are in it, where these are other numbers, and its labels outside.
struct TrieNumbers {
  static constexpr std::int32_t none = -1;

  std::vector<std::int32_t> own_words;   // by the number outside, or none; no words: they are the same
  std::vector<std::int32_t> own_labels;  // the same for labels
  std::vector<std::int32_t> labels;      // by the trie's number
};

// Left out are rules of a level above 0 and those without a source side. Rules whose source side is one gap alone are
// beside the trie: walking it would apply them without end.
class Trie {
 public:
  using Node = std::int32_t;
  static constexpr Node root = 0;
  static constexpr Node none = -1;

  // The rules with one source side and one left-hand side: order()[first, last), by their numbers.
  struct Bin {
    std::int32_t label;
    std::int32_t first;
    std::int32_t last;
    std::int32_t size() const noexcept { return last - first; }
  };
  struct Unary {
    std::int32_t gap;
    std::int32_t bin;
  };
  struct Range {
    std::int32_t first;
    std::int32_t last;
    bool empty() const noexcept { return first == last; }
    std::int32_t size() const noexcept { return last - first; }
  };
  // Level by level, so that the children of a node follow each other: gaps, then words, each by number; and the
  // children and bins of a node end where those of the next one begin.
  struct Place {
    std::int32_t first;
    std::int32_t first_word;
    std::int32_t first_bin;
  };
  struct Arrays {
    std::span<const Place> places;  // one more than nodes
    std::span<const std::int32_t> symbols;
    std::span<const Bin> bins;  // those of the nodes, then those of the unaries
    std::span<const Unary> unaries;
    std::span<const std::int32_t> order;
  };

  // In the numbers outside. There must be fewer than 2^31 rules, and symbols in the source sides. The bins of a source
  // side are in the order of the columns' own labels; of those that are one outside, the first counts.
  explicit Trie(const RuleColumns& rules);
  // Arrays of such a trie, which somebody else keeps, in numbers of its own.
  Trie(const Arrays& arrays, TrieNumbers numbers)
      : arrays_(arrays), numbers_(std::make_shared<const TrieNumbers>(std::move(numbers))) {}
  Trie(const Trie&) = delete;
  Trie& operator=(const Trie&) = delete;

  // Whether nothing in arrays leads out of them, or of so many rules and labels.
  static bool is_sound(const Arrays& arrays, std::size_t rules, std::size_t labels);

  // With the `limit` rules (1 or more) of each source side alone that have the highest estimate, the earlier ones of
  // equal estimates, whatever their left-hand sides are; they stay in their order. There must be an estimate for each
  // rule, all of them numbers. It has arrays of this one, which must outlive it.
  std::unique_ptr<Trie> limited(std::span<const float> estimates, std::int32_t limit) const;

  Range gaps(Node node) const noexcept { return {at(node).first, at(node).first_word}; }
  Range words(Node node) const noexcept { return {at(node).first_word, at(node + 1).first}; }
  Range bins(Node node) const noexcept { return {at(node).first_bin, at(node + 1).first_bin}; }
  // The child behind a word or a label, as they are numbered outside, or none.
  Node behind_word(Node node, std::int32_t word) const noexcept {
    return find(words(node), own(numbers_->own_words, word));
  }
  Node behind_gap(Node node, std::int32_t label) const noexcept {
    const std::int32_t found = own(numbers_->own_labels, label);
    return found < 0 ? none : find(gaps(node), -1 - found);
  }

  const Bin& bin(std::int32_t i) const noexcept { return arrays_.bins[static_cast<std::size_t>(i)]; }
  // A label of a bin or a unary, as it is outside.
  std::int32_t label(std::int32_t own) const noexcept {
    return numbers_->labels.empty() ? own : numbers_->labels[static_cast<std::size_t>(own)];
  }
  std::span<const Unary> unaries() const noexcept { return arrays_.unaries; }
  std::span<const std::int32_t> order() const noexcept { return arrays_.order; }
  std::size_t nodes() const noexcept { return arrays_.symbols.size(); }
  std::size_t bins() const noexcept { return arrays_.bins.size(); }
  const Arrays& arrays() const noexcept { return arrays_; }

 private:
  friend class TrieBuilder;

  explicit Trie(std::shared_ptr<const TrieNumbers> numbers) : numbers_(std::move(numbers)) {}

  const Place& at(Node node) const noexcept { return arrays_.places[static_cast<std::size_t>(node)]; }
  Node find(Range among, std::int32_t symbol) const noexcept {
    const auto begin = arrays_.symbols.begin();
    const auto found = std::lower_bound(begin + among.first, begin + among.last, symbol);
    if (found == begin + among.last || *found != symbol) return none;
    return static_cast<Node>(found - begin);
  }
  static std::int32_t own(const std::vector<std::int32_t>& numbers, std::int32_t outside) noexcept {
    if (numbers.empty()) return outside;
    return static_cast<std::size_t>(outside) < numbers.size() ? numbers[static_cast<std::size_t>(outside)] : none;
  }
  // The arrays are those below from now on.
  void keep();

  Arrays arrays_;
  std::shared_ptr<const TrieNumbers> numbers_;
  LargeVector<Place> places_;
  LargeVector<std::int32_t> symbols_;
  LargeVector<Bin> bins_;
  LargeVector<Unary> unaries_;
  LargeVector<std::int32_t> order_;
};

}  // namespace smt
