// A grammar's trie as a Python object, for bindings that take one.
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

// A grammar's trie with the columns it was made from.
class RuleTrie {
 public:
  // The int32 arrays of a trie: places, symbols, bins, unaries, order.
  using Index = std::array<Input<std::int32_t>, 5>;

  RuleTrie(Input<std::int32_t> lhs, Input<std::uint8_t> level, Input<std::int32_t> source,
           Input<std::int64_t> source_offsets, Input<std::int32_t> target, Input<std::int64_t> target_offsets,
           Input<std::int32_t> words, Input<std::int32_t> labels);
  // With the index that `rule_index` made of them.
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
  Index index_;  // the arrays of the trie, if it does not own them
  RuleColumns rules_;
  std::shared_ptr<const Trie> whole_;  // the trie whose arrays a limited trie uses
  std::shared_ptr<const Trie> trie_;
  std::int32_t labels_ = 0;
};

}  // namespace smt
