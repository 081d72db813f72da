// An automaton of the n-grams of some texts, with the maximum count of each in one text.
//
// A node is an n-gram, the root the empty one. Reading a text, the current node is the longest n-gram of the index that
// ends there; shorter ones are its suffixes, so a symbol costs about one look-up, whatever the order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt {

class NgramIndex {
 public:
  using Symbols = std::span<const std::int32_t>;
  static constexpr std::int32_t kRoot = 0;
  static constexpr std::int32_t kNone = -1;

  // Symbols are numbers from 0; n-grams are no longer than `order`, at least 1.
  void build(std::span<const Symbols> texts, std::size_t order);

  // Begins an index without texts; add() calls visit(node) for each occurrence of each n-gram of a text.
  void clear(std::size_t order, std::size_t expected_nodes = 512);
  template <class Visit>
  void add(Symbols text, Visit visit) {
    level_.assign(text.size() + 1, kRoot);  // the n-grams of one length, by start
    for (std::size_t n = 1; n <= std::min(order_, text.size()); ++n) {
      const std::size_t count = text.size() - n + 1;
      next_.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        next_[i] = insert(level_[i], text[i + n - 1], n == 1 ? kRoot : level_[i + 1]);
        visit(next_[i]);
      }
      level_.swap(next_);
    }
  }

  std::size_t nodes() const noexcept { return nodes_.size(); }
  std::int32_t suffix(std::int32_t node) const noexcept { return nodes_[at(node)].suffix; }
  std::size_t length(std::int32_t node) const noexcept { return static_cast<std::size_t>(nodes_[at(node)].length); }

  // The n-gram extended by a symbol, or kNone. Negative symbols are in no n-gram.
  std::int32_t child(std::int32_t node, std::int32_t symbol) const noexcept {
    const std::uint64_t key = key_of(node, symbol);
    for (std::size_t slot = home(key);; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return slots_[slot].node;
      if (slots_[slot].key == kFree) return kNone;
    }
  }

  // The longest n-gram, of at most `longest` symbols, that ends after one more symbol.
  std::int32_t step(std::int32_t node, std::int32_t symbol, std::size_t longest) const noexcept {
    if (symbol < 0) return kRoot;
    if (length(node) >= longest) node = suffix(node);
    for (;;) {
      const std::int32_t next = child(node, symbol);
      if (next != kNone) return next;
      if (node == kRoot) return kRoot;
      node = suffix(node);
    }
  }

  // Calls visit(node) for each occurrence in a text of an n-gram of the index.
  template <class Visit>
  void find(Symbols text, Visit visit) const {
    std::int32_t node = kRoot;
    for (const std::int32_t symbol : text) {
      node = step(node, symbol, order_);
      for (std::int32_t ngram = node; ngram != kRoot; ngram = suffix(ngram)) visit(ngram);
    }
  }

  // Adds to matches[n - 1] the clipped number of n-grams of a text that are in the index.
  template <class Count>
  void count(Symbols text, Count* matches) {
    ++round_;
    std::int32_t node = kRoot;
    for (const std::int32_t symbol : text) {
      node = step(node, symbol, order_);
      for (std::int32_t ngram = node; ngram != kRoot;) {
        Node& entry = nodes_[at(ngram)];
        const std::int32_t seen = entry.round == round_ ? entry.seen : 0;
        entry.round = round_;
        entry.seen = seen + 1;
        matches[entry.length - 1] += static_cast<Count>(seen < entry.most ? 1 : 0);
        ngram = entry.suffix;
      }
    }
  }

 private:
  struct Node {
    std::int32_t suffix = kRoot;
    std::int32_t length = 0;
    std::int32_t most = 0;
    std::int32_t seen = 0;
    std::uint64_t round = 0;
  };
  struct Slot {
    std::uint64_t key;
    std::int32_t node;
  };
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  static std::size_t at(std::int32_t node) noexcept { return static_cast<std::size_t>(node); }
  static std::uint64_t key_of(std::int32_t node, std::int32_t symbol) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) << 32U | static_cast<std::uint32_t>(symbol);
  }
  std::size_t home(std::uint64_t key) const noexcept {
    key *= 0x9E3779B97F4A7C15U;
    return (key ^ key >> 32U) & mask_;
  }
  std::int32_t insert(std::int32_t node, std::int32_t symbol, std::int32_t suffix) {
    const std::uint64_t key = key_of(node, symbol);
    std::size_t slot = home(key);
    for (; slots_[slot].key != kFree; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return slots_[slot].node;
    }
    return make(slot, node, symbol, suffix);
  }
  std::int32_t make(std::size_t slot, std::int32_t node, std::int32_t symbol, std::int32_t suffix);
  void grow();

  std::size_t order_ = 1;
  std::vector<Node> nodes_;
  std::vector<Slot> slots_;  // a power of two, at least half of them free
  std::size_t mask_ = 0;
  std::uint64_t round_ = 0;
  std::vector<std::int32_t> level_, next_;
};

}  // namespace smt
