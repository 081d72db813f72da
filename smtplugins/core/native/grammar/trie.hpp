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

// Rules in borrowed columns. Symbols are words, or -1 - label. `words` and `labels` map the columns' own ids to shared
// ones; without them ids are the same.
struct RuleColumns {
  std::span<const std::int32_t> lhs;
  std::span<const std::uint8_t> level;  // empty: all are 0
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

// The maps from shared ids of words and labels to the trie's own, where they differ, and back for labels.
struct TrieNumbers {
  static constexpr std::int32_t none = -1;

  std::vector<std::int32_t> own_words;   // by shared id, or none; empty: the ids are the same
  std::vector<std::int32_t> own_labels;  // the same for labels
  std::vector<std::int32_t> labels;      // by the trie's id
};

// Rules of a level above 0 and rules without a source side are left out. Unary rules, whose source side is a single
// gap, are kept beside the trie: walking it would apply them endlessly.
class Trie {
 public:
  using Node = std::int32_t;
  static constexpr Node root = 0;
  static constexpr Node none = -1;

  // The rules with one source side and one left-hand side: order()[first, last), ascending.
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
  // Level by level, so that the children of a node are adjacent: gaps, then words, each by id; the children and bins of
  // a node end where those of the next node begin.
  struct Place {
    std::int32_t first;
    std::int32_t first_word;
    std::int32_t first_bin;
  };
  struct Arrays {
    std::span<const Place> places;  // one more than there are nodes
    std::span<const std::int32_t> symbols;
    std::span<const Bin> bins;  // of the nodes, then of the unary rules
    std::span<const Unary> unaries;
    std::span<const std::int32_t> order;
  };

  // In shared ids. There must be fewer than 2^31 rules and source symbols. The bins of a source side are in the order
  // of the columns' own labels; of labels with one shared id, the first counts.
  explicit Trie(const RuleColumns& rules);
  // Borrowed arrays of such a trie, in ids of its own.
  Trie(const Arrays& arrays, TrieNumbers numbers)
      : arrays_(arrays), numbers_(std::make_shared<const TrieNumbers>(std::move(numbers))) {}
  Trie(const Trie&) = delete;
  Trie& operator=(const Trie&) = delete;

  // Whether all offsets, rules and labels in the arrays are within range.
  static bool is_sound(const Arrays& arrays, std::size_t rules, std::size_t labels);

  // Keeps only the `limit` rules (1 or more) with the highest estimates of each source side, whatever their left-hand
  // sides; of equal estimates the earlier rules. The order stays. There must be an estimate for each rule, none NaN.
  // The result uses arrays of this trie, which must outlive it.
  std::unique_ptr<Trie> limited(std::span<const float> estimates, std::int32_t limit) const;

  Range gaps(Node node) const noexcept { return {at(node).first, at(node).first_word}; }
  Range words(Node node) const noexcept { return {at(node).first_word, at(node + 1).first}; }
  Range bins(Node node) const noexcept { return {at(node).first_bin, at(node + 1).first_bin}; }
  // The child for a shared id of a word or a label, or none.
  Node behind_word(Node node, std::int32_t word) const noexcept {
    return find(words(node), own(numbers_->own_words, word));
  }
  Node behind_gap(Node node, std::int32_t label) const noexcept {
    const std::int32_t own_label = own(numbers_->own_labels, label);
    return own_label < 0 ? none : find(gaps(node), -1 - own_label);
  }

  const Bin& bin(std::int32_t i) const noexcept { return arrays_.bins[static_cast<std::size_t>(i)]; }
  // The shared id of the label of a bin or a unary rule.
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
    const auto place = std::lower_bound(begin + among.first, begin + among.last, symbol);
    if (place == begin + among.last || *place != symbol) return none;
    return static_cast<Node>(place - begin);
  }
  static std::int32_t own(const std::vector<std::int32_t>& numbers, std::int32_t outside) noexcept {
    if (numbers.empty()) return outside;
    return static_cast<std::size_t>(outside) < numbers.size() ? numbers[static_cast<std::size_t>(outside)] : none;
  }
  // From now on the arrays are those below.
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
