#include "metrics/ngram_index.hpp"

#include <bit>
#include <limits>
#include <stdexcept>

namespace smt {
namespace {

constexpr std::size_t kMostNodes = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) / 4;

}  // namespace

std::int32_t NgramIndex::make(std::size_t slot, std::int32_t node, std::int32_t symbol, std::int32_t suffix) {
  const auto number = static_cast<std::int32_t>(nodes_.size());
  slots_[slot] = {key_of(node, symbol), number};
  const std::int32_t length = nodes_[at(node)].length + 1;
  Node& made = nodes_.emplace_back();
  made.suffix = suffix;
  made.length = length;
  if (2 * nodes_.size() > slots_.size()) grow();
  return number;
}

void NgramIndex::grow() {
  if (nodes_.size() > kMostNodes) throw std::length_error("the references are too long");
  std::vector<Slot> old(2 * slots_.size(), Slot{kFree, kNone});
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.key == kFree) continue;
    std::size_t slot = home(entry.key);
    while (slots_[slot].key != kFree) slot = (slot + 1) & mask_;
    slots_[slot] = entry;
  }
}

void NgramIndex::clear(std::size_t order, std::size_t expected_nodes) {
  order_ = order;
  const std::size_t slots = std::bit_ceil(2 * std::max<std::size_t>(expected_nodes, 1));
  slots_.assign(slots, Slot{kFree, kNone});
  mask_ = slots - 1;
  nodes_.assign(1, Node{});
}

void NgramIndex::build(std::span<const Symbols> texts, std::size_t order) {
  std::size_t most = 1;
  for (const Symbols text : texts) most += text.size() * std::min(order, text.size());
  if (most > kMostNodes) throw std::length_error("a reference is too long");
  clear(order, most);
  nodes_.reserve(most);
  for (const Symbols text : texts) {
    ++round_;
    add(text, [&](std::int32_t number) {
      Node& node = nodes_[at(number)];
      node.seen = node.round == round_ ? node.seen + 1 : 1;
      node.round = round_;
      node.most = std::max(node.most, node.seen);
    });
  }
}

}  // namespace smt
