// A grammar's trie as Python holds it, for what is bound to Python and takes one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "bind/arrays.hpp"
#include "grammar/trie.hpp"

namespace smt {

// A grammar's trie, and the columns it was made from.
class RuleTrie {
 public:
  // The arrays of a trie, of 32-bit numbers: places, symbols, bins, unaries, order.
  using Index = std::array<Input<std::int32_t>, 5>;

  RuleTrie(Input<std::int32_t> lhs, Input<std::uint8_t> level, Input<std::int32_t> source,
           Input<std::int64_t> source_offsets, Input<std::int32_t> target, Input<std::int64_t> target_offsets,
           Input<std::int32_t> words, Input<std::int32_t> labels);
  // With the trie that `rule_index` made of them.
  RuleTrie(Input<std::int32_t> lhs, Input<std::uint8_t> level, Input<std::int32_t> source,
           Input<std::int64_t> source_offsets, Input<std::int32_t> target, Input<std::int64_t> target_offsets,
           Input<std::int32_t> words, Input<std::int32_t> labels, const Index& index);

  RuleTrie limited(Input<float> estimates, std::int32_t limit) const;

  const RuleColumns& rules() const noexcept { return rules_; }
  const Trie& trie() const noexcept { return *trie_; }
  std::int32_t labels() const noexcept { return labels_; }

 private:
  RuleTrie(const RuleTrie& other, std::shared_ptr<const Trie> trie);

  void validate();
  std::optional<TrieNumbers> numbers() const;
  bool targets_fit() const;
  bool targets_fit(const Trie::Bin& bin, std::int32_t gaps) const;

  std::tuple<Input<std::int32_t>, Input<std::uint8_t>, Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>,
             Input<std::int64_t>, Input<std::int32_t>, Input<std::int32_t>>
      arrays_;
  Index index_;  // the arrays that the trie has, if it did not make them
  RuleColumns rules_;
  std::shared_ptr<const Trie> whole_;  // what a limited trie is a part of
  std::shared_ptr<const Trie> trie_;
  std::int32_t labels_ = 0;
};

}  // namespace smt
