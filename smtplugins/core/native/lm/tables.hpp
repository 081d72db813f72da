// The tables of a model, and the look-ups that its scores are made of, for each layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lm/probing.hpp"
#include "lm/trie.hpp"

namespace smt {

enum class LmLayout : std::uint8_t { kProbing, kRestProbing, kTrie };

// The parts of a model, borrowed.
struct LmTables {
  int order = 0;
  WordId words = 0;  // ids are 0 .. words - 1
  WordId begin = kUnknown;
  WordId end = kUnknown;
  LmLayout layout = LmLayout::kProbing;
  const std::byte* unigrams = nullptr;  // by id: Weights, RestWeights or kTrieUnigram bytes
  WordTable vocabulary;
  MiddleTable middles[kMaxOrder - 1];  // middles[n - 2] is that of order n, 2 <= n < order
  RestTable rests[kMaxOrder - 1];      // with rest costs, instead of them
  LongestTable longest;                // of a model of order 2 or more
  Trie trie;                           // instead of these tables

  float backoff(WordId id) const noexcept {
    const std::size_t size = layout == LmLayout::kTrie          ? kTrieUnigram
                             : layout == LmLayout::kRestProbing ? sizeof(RestWeights)
                                                                : sizeof(Weights);
    return load<Weights>(unigrams + static_cast<std::size_t>(id) * size).backoff;
  }
};

// Look-ups grow an n-gram from its last word backwards. A Node is the n-gram so far; its key, 64 bits, identifies it
// among those of its order. A Level is the table of an order: home() gives the place where a search begins, of a node's
// n-gram with the word before it; read() ends the search.

inline Entry entry_of(const Weights& weights) noexcept {
  const float prob = log10_prob(weights.prob);
  return {prob, weights.backoff, prob, independent_of_left(weights.prob)};
}
inline Entry entry_of(const RestWeights& weights) noexcept {
  return {log10_prob(weights.prob), weights.backoff, weights.rest, independent_of_left(weights.prob)};
}
inline Entry entry_of(float longest) noexcept {
  const float prob = log10_prob(longest);
  return {prob, -0.0F, prob, true};
}

template <class Value, class Table>
class ProbingLevel {
 public:
  using Node = std::uint64_t;  // the key
  using Place = const std::byte*;

  explicit ProbingLevel(const Table& table) noexcept : table_(table) {}
  Place home(Node& node, WordId before) const noexcept {
    node = extend(node, before);
    return table_.home(node);
  }
  void prefetch(Place place) const noexcept { Table::prefetch_from(place); }
  bool read(Place place, Node& node, WordId /*before*/, Entry& entry) const noexcept {
    const std::byte* const slot = table_.slot_from(place, node);
    entry = entry_of(load<Value>(slot + sizeof node));
    return load<std::uint64_t>(slot) == node;
  }

 private:
  const Table& table_;
};

template <bool WithRest>
class ProbingLookup {
 public:
  static constexpr bool kRest = WithRest;
  using Value = std::conditional_t<WithRest, RestWeights, Weights>;
  using Table = std::conditional_t<WithRest, RestTable, MiddleTable>;
  using Node = std::uint64_t;
  using Place = const std::byte*;

  explicit ProbingLookup(const LmTables& lm) noexcept : lm_(lm) {}
  int order() const noexcept { return lm_.order; }
  static std::uint64_t key(Node node) noexcept { return node; }
  Node node(int /*n*/, std::uint64_t key) const noexcept { return key; }

  Place word_home(std::uint64_t hash) const noexcept { return lm_.vocabulary.home(hash); }
  void prefetch_word(Place place) const noexcept { WordTable::prefetch_from(place); }
  WordId word_from(Place place, std::uint64_t hash) const noexcept {
    const std::byte* const slot = lm_.vocabulary.find_from(place, hash);
    return slot == nullptr ? kUnknown : load<WordId>(slot);
  }

  Entry unigram(WordId word, Node& node) const noexcept {
    node = static_cast<std::uint64_t>(word);
    return entry_of(load<Value>(lm_.unigrams + static_cast<std::size_t>(word) * sizeof(Value)));
  }
  ProbingLevel<Value, Table> middle(int n) const noexcept {
    if constexpr (WithRest) {
      return ProbingLevel<Value, Table>(lm_.rests[n - 2]);
    } else {
      return ProbingLevel<Value, Table>(lm_.middles[n - 2]);
    }
  }
  ProbingLevel<float, LongestTable> longest() const noexcept { return ProbingLevel<float, LongestTable>(lm_.longest); }
  // Of an n-gram of the model that is shorter than the longest.
  Entry entry(int n, std::uint64_t key) const noexcept {
    Node node = key;
    if (n == 1) return unigram(static_cast<WordId>(key), node);
    const Table* const tables = [this] {
      if constexpr (WithRest) {
        return lm_.rests;
      } else {
        return lm_.middles;
      }
    }();
    return entry_of(load<Value>(tables[n - 2].find(key)));
  }

 private:
  const LmTables& lm_;
};

template <bool Longest>
class TrieLevel {
 public:
  using Node = TrieNode;
  using Place = std::uint64_t;

  explicit TrieLevel(const TrieTable& table) noexcept : table_(table) {}
  Place home(const Node& node, WordId before) const noexcept { return table_.home(node, before); }
  void prefetch(Place place) const noexcept { table_.prefetch(place); }
  bool read(Place place, Node& node, WordId before, Entry& entry) const noexcept {
    const std::uint64_t index = table_.find_from(place, node, before);
    if (index == kNowhere) return false;
    if constexpr (Longest) {
      node.key = index;
      entry.prob = entry.rest = table_.prob(index);
    } else {
      entry = table_.entry(index, node);
    }
    return true;
  }

 private:
  const TrieTable& table_;
};

class TrieLookup {
 public:
  static constexpr bool kRest = false;
  using Node = TrieNode;
  using Place = std::uint64_t;

  explicit TrieLookup(const LmTables& lm) noexcept : lm_(lm) {}
  int order() const noexcept { return lm_.order; }
  static std::uint64_t key(const Node& node) noexcept { return node.key; }
  Node node(int n, std::uint64_t key) const noexcept { return n == 1 ? first_node(key) : table(n).node(key); }

  Place word_home(std::uint64_t hash) const noexcept { return lm_.trie.words.home(hash); }
  void prefetch_word(Place place) const noexcept { lm_.trie.words.prefetch(place); }
  WordId word_from(Place place, std::uint64_t hash) const noexcept { return lm_.trie.words.find_from(place, hash); }

  Entry unigram(WordId word, Node& node) const noexcept {
    node = first_node(static_cast<std::uint64_t>(word));
    const auto weights = load<Weights>(lm_.unigrams + node.key * kTrieUnigram);
    const float prob = log10_prob(weights.prob);
    return {prob, weights.backoff, prob, node.begin == node.end};
  }
  TrieLevel<false> middle(int n) const noexcept { return TrieLevel<false>(table(n)); }
  TrieLevel<true> longest() const noexcept { return TrieLevel<true>(table(lm_.order)); }
  Entry entry(int n, std::uint64_t key) const noexcept {
    Node node;
    return n == 1 ? unigram(static_cast<WordId>(key), node) : table(n).weights(key);
  }

 private:
  const TrieTable& table(int n) const noexcept { return lm_.trie.tables[n - 2]; }
  // The reader has checked that these lie in the table.
  Node first_node(std::uint64_t word) const noexcept {
    const std::byte* const at = lm_.unigrams + word * kTrieUnigram + sizeof(Weights);
    return {word, load<std::uint64_t>(at), load<std::uint64_t>(at + kTrieUnigram)};
  }

  const LmTables& lm_;
};

// Calls work(lookup) with the look-ups of a model's layout.
template <class Work>
decltype(auto) with_lookup(const LmTables& lm, Work&& work) {
  if (lm.layout == LmLayout::kProbing) return work(ProbingLookup<false>(lm));
  if (lm.layout == LmLayout::kRestProbing) return work(ProbingLookup<true>(lm));
  return work(TrieLookup(lm));
}

}  // namespace smt
