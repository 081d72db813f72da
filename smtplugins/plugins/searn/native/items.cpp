#include "items.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace smt::searn {
namespace {

std::size_t at(std::int32_t place) noexcept { return static_cast<std::size_t>(place); }

void widen(Window& window, const Window& other) noexcept {
  window.first_source = std::min(window.first_source, other.first_source);
  window.end_source = std::max(window.end_source, other.end_source);
  window.first_target = std::min(window.first_target, other.first_target);
  window.end_target = std::max(window.end_target, other.end_target);
}

}  // namespace

std::size_t ItemFinder::root(std::size_t word) noexcept {
  while (parents_[word] != word) {
    parents_[word] = parents_[parents_[word]];
    word = parents_[word];
  }
  return word;
}

void ItemFinder::find(std::int32_t sources, std::int32_t targets, std::span<const Point> links) {
  items_.clear();
  parts_.clear();
  if (links.empty()) return;
  link(sources, targets, links);
  close();
  attach(targets);
  find_simple();
  emit(sources);
}

// Group words that are linked to each other.
void ItemFinder::link(std::int32_t sources, std::int32_t targets, std::span<const Point> links) {
  parents_.resize(at(sources) + at(targets));
  std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  for (const Point& point : links) {
    if (point.source < 0 || point.source >= sources || point.target < 0 || point.target >= targets) {
      throw std::invalid_argument("expected links inside the sentences");
    }
    parents_[root(at(sources) + at(point.target))] = root(at(point.source));
  }
  groups_.clear();
  source_group_.assign(at(sources), -1);
  target_group_.assign(at(targets), -1);
  std::vector<std::int32_t> numbers(parents_.size(), -1);
  for (const Point& point : links) {
    std::int32_t& number = numbers[root(at(point.source))];
    const Window here{point.source, point.source + 1, point.target, point.target + 1};
    if (number < 0) {
      number = static_cast<std::int32_t>(groups_.size());
      groups_.push_back(here);
    }
    widen(groups_[at(number)], here);
    source_group_[at(point.source)] = target_group_[at(point.target)] = number;
  }
}

// Blocks: merge groups with overlapping spans until none overlap.
void ItemFinder::close() {
  blocks_.clear();
  for (const Window& group : groups_) blocks_.push_back({group, 1});
  bool merged = true;
  while (merged) {
    merged = merge_overlaps(false);
    merged = merge_overlaps(true) || merged;
  }
}

bool ItemFinder::merge_overlaps(bool by_source) {
  const auto first = [by_source](const Group& group) {
    return by_source ? group.window.first_source : group.window.first_target;
  };
  const auto end = [by_source](const Group& group) {
    return by_source ? group.window.end_source : group.window.end_target;
  };
  std::sort(blocks_.begin(), blocks_.end(), [&](const Group& a, const Group& b) { return first(a) < first(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < blocks_.size(); ++i) {
    if (first(blocks_[i]) < end(blocks_[kept])) {
      widen(blocks_[kept].window, blocks_[i].window);
      blocks_[kept].members += blocks_[i].members;
    } else {
      blocks_[++kept] = blocks_[i];
    }
  }
  const bool merged = kept + 1 < blocks_.size();
  blocks_.resize(kept + 1);
  return merged;
}

// Attach target words between blocks to the block before, those at the beginning to the first.
void ItemFinder::attach(std::int32_t targets) {
  covers_.clear();
  for (const Group& block : blocks_) covers_.push_back(block.window);
  std::vector<std::size_t> by_target(covers_.size());
  std::iota(by_target.begin(), by_target.end(), std::size_t{0});
  std::sort(by_target.begin(), by_target.end(),
            [&](std::size_t a, std::size_t b) { return covers_[a].first_target < covers_[b].first_target; });
  covers_[by_target.front()].first_target = 0;
  for (std::size_t i = 0; i < by_target.size(); ++i) {
    covers_[by_target[i]].end_target = i + 1 < by_target.size() ? covers_[by_target[i + 1]].first_target : targets;
  }
}

// Find simple permutations of blocks: the shortest top of the stack that covers a contiguous target interval, if it has
// four or more entries.
void ItemFinder::find_simple() {
  stack_.clear();
  simple_.clear();
  for (std::size_t block = 0; block < covers_.size(); ++block) {
    stack_.push_back({block, block, at(covers_[block].first_target), at(covers_[block].end_target)});
    bool reduced = true;
    while (reduced) {
      reduced = false;
      Entry whole = stack_.back();
      std::size_t words = whole.high - whole.low;
      for (std::size_t deep = 2; deep <= stack_.size(); ++deep) {
        const Entry& next = stack_[stack_.size() - deep];
        whole = {next.first_block, whole.last_block, std::min(whole.low, next.low), std::max(whole.high, next.high)};
        words += next.high - next.low;
        if (whole.high - whole.low != words) continue;
        stack_.resize(stack_.size() - deep);
        stack_.push_back(whole);
        reduced = true;
        if (deep == 2) break;
        while (!simple_.empty() && simple_.back().first >= whole.first_block) simple_.pop_back();
        simple_.emplace_back(whole.first_block, whole.last_block);
        break;
      }
    }
  }
}

// The smallest enclosing window whose groups lie inside it on both sides.
Window ItemFinder::closure(Window window) const {
  Window seen{window.first_source, window.first_source, window.first_target, window.first_target};
  const auto take = [&](std::int32_t group) {
    if (group >= 0) widen(window, groups_[at(group)]);
  };
  while (seen != window) {
    while (seen.first_source > window.first_source) take(source_group_[at(--seen.first_source)]);
    while (seen.end_source < window.end_source) take(source_group_[at(seen.end_source++)]);
    while (seen.first_target > window.first_target) take(target_group_[at(--seen.first_target)]);
    while (seen.end_target < window.end_target) take(target_group_[at(seen.end_target++)]);
  }
  return window;
}

// The blocks inside a block, disregarding the groups that reach around others.
void ItemFinder::add_inner(const Group& block) {
  if (block.members == 1) return;
  const std::size_t begin = parts_.size();
  std::int32_t last = -1;
  for (std::int32_t word = block.window.first_source; word < block.window.end_source; ++word) {
    const std::int32_t group = source_group_[at(word)];
    if (group < 0 || group == last) continue;
    last = group;
    const Window inner = closure(groups_[at(group)]);
    if (inner != block.window) parts_.push_back(inner);
  }
  std::sort(parts_.begin() + static_cast<std::ptrdiff_t>(begin), parts_.end());
  parts_.erase(std::unique(parts_.begin() + static_cast<std::ptrdiff_t>(begin), parts_.end()), parts_.end());
}

void ItemFinder::emit(std::int32_t sources) {
  std::int32_t word = 0;
  const auto add_unaligned = [&](std::int32_t end) {
    for (; word < end; ++word) items_.push_back({{word, word + 1, 0, 0}, ItemKind::kUnaligned});
  };
  auto simple = simple_.begin();
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    Window window = covers_[block];
    add_unaligned(window.first_source);
    ItemKind kind = blocks_[block].members == 1 ? ItemKind::kLinked : ItemKind::kCrossing;
    if (simple != simple_.end() && simple->first == block) {
      kind = ItemKind::kSimple;
      for (std::size_t inside = block; inside <= simple->second; ++inside) {
        widen(window, covers_[inside]);
        parts_.push_back(covers_[inside]);
        add_inner(blocks_[inside]);
      }
      block = simple->second;
      ++simple;
    } else {
      add_inner(blocks_[block]);
    }
    items_.push_back({window, kind});
    word = window.end_source;
  }
  add_unaligned(sources);
}

std::size_t Labeller::label(std::span<const Window> items, std::vector<std::int32_t>& labels) {
  stack_.clear();
  std::string name;
  for (const Window& item : items) {
    stack_.push_back(item);
    name = "S";
    while (stack_.size() > 1) {
      Window& left = stack_[stack_.size() - 2];
      const Window right = stack_.back();
      const bool left_empty = left.first_target == left.end_target;
      const bool right_empty = right.first_target == right.end_target;
      if (left_empty || right_empty || left.end_target == right.first_target) {
        name += ",R+";
      } else if (right.end_target == left.first_target) {
        name += ",R-";
      } else {
        break;
      }
      if (left_empty) {
        left = right;
      } else if (!right_empty) {
        widen(left, right);
      }
      stack_.pop_back();
    }
    const auto known = numbers_.find(name);
    if (known != numbers_.end()) {
      labels.push_back(known->second);
      continue;
    }
    labels.push_back(static_cast<std::int32_t>(names_.size()));
    numbers_.emplace(name, labels.back());
    names_.push_back(name);
  }
  return stack_.size();
}

}  // namespace smt::searn
