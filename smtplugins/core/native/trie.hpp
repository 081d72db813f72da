// The source sides of a grammar's rules as a trie, for parsers that walk it along a sentence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

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

// Symbols and labels are those outside. Left out are rules of a level above 0 and those without a source side. Rules
// whose source side is one gap alone are beside the trie: walking it would apply them without end.
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

  // There must be fewer than 2^31 rules, and symbols in the source sides.
  explicit Trie(const RuleColumns& rules);

  // With the `limit` rules (1 or more) of each source side alone that have the highest estimate, the earlier ones of
  // equal estimates, whatever their left-hand sides are; they stay in their order. There must be an estimate for each
  // rule, all of them numbers.
  Trie limited(std::span<const float> estimates, std::int32_t limit) const;

  Range gaps(Node node) const noexcept { return {at(node).first, at(node).first_word}; }
  Range words(Node node) const noexcept { return {at(node).first_word, at(node + 1).first}; }
  Range bins(Node node) const noexcept { return {at(node).first_bin, at(node + 1).first_bin}; }
  std::int32_t symbol(Node node) const noexcept { return symbols_[static_cast<std::size_t>(node)]; }
  Node find(Range among, std::int32_t symbol) const noexcept {
    const auto begin = symbols_.begin();
    const auto found = std::lower_bound(begin + among.first, begin + among.last, symbol);
    if (found == begin + among.last || *found != symbol) return none;
    return static_cast<Node>(found - begin);
  }

  const Bin& bin(std::int32_t i) const noexcept { return bins_[static_cast<std::size_t>(i)]; }
  std::span<const Unary> unaries() const noexcept { return unaries_; }
  std::span<const std::int32_t> order() const noexcept { return order_; }
  std::size_t nodes() const noexcept { return symbols_.size(); }
  std::size_t bins() const noexcept { return bins_.size(); }

 private:
  Trie() = default;

  // Level by level, so that the children of a node follow each other: gaps, then words, each by number; and the
  // children and bins of a node end where those of the next one begin.
  struct Place {
    std::int32_t first;
    std::int32_t first_word;
    std::int32_t first_bin;
  };
  const Place& at(Node node) const noexcept { return places_[static_cast<std::size_t>(node)]; }

  std::vector<Place> places_;
  std::vector<std::int32_t> symbols_;
  std::vector<Bin> bins_;  // those of the nodes, then those of the unaries
  std::vector<Unary> unaries_;
  std::vector<std::int32_t> order_;
};

}  // namespace smt
