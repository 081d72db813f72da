#include "metrics/ngram_index.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

namespace smt {

std::int32_t NgramIndex::add(std::int32_t node, std::int32_t symbol, std::int32_t suffix) {
  const std::uint64_t key = key_of(node, symbol);
  std::size_t slot = home(key);
  for (; slots_[slot].key != kFree; slot = (slot + 1) & mask_) {
    if (slots_[slot].key == key) return slots_[slot].node;
  }
  const auto number = static_cast<std::int32_t>(nodes_.size());
  slots_[slot] = {key, number};
  Node& made = nodes_.emplace_back();
  made.suffix = suffix;
  made.length = nodes_[at(node)].length + 1;
  return number;
}

void NgramIndex::build(std::span<const Symbols> texts, std::size_t order) {
  order_ = order;
  std::size_t most = 1;
  for (const Symbols text : texts) most += text.size() * std::min(order, text.size());
  if (most > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) / 4) {
    throw std::length_error("a reference is too long");
  }
  const std::size_t slots = std::bit_ceil(2 * most);
  slots_.assign(slots, Slot{kFree, kNone});
  mask_ = slots - 1;
  nodes_.assign(1, Node{});
  nodes_.reserve(most);
  for (const Symbols text : texts) {
    ++round_;
    level_.assign(text.size() + 1, kRoot);  // the n-grams of one length, by start
    for (std::size_t n = 1; n <= std::min(order, text.size()); ++n) {
      const std::size_t count = text.size() - n + 1;
      next_.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t number = add(level_[i], text[i + n - 1], n == 1 ? kRoot : level_[i + 1]);
        next_[i] = number;
        Node& node = nodes_[at(number)];
        node.seen = node.round == round_ ? node.seen + 1 : 1;
        node.round = round_;
        node.most = std::max(node.most, node.seen);
      }
      level_.swap(next_);
    }
  }
}

}  // namespace smt
