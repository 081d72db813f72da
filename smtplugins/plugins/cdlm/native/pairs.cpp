#include "pairs.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace smt::cdlm {
namespace {

constexpr std::uint64_t kRangeWork = std::uint64_t{1} << 17U;  // pairs per range, duplicates included

std::array<std::int32_t, 2> turn_key(std::uint32_t side, std::uint32_t order) noexcept {
  return {static_cast<std::int32_t>(side), static_cast<std::int32_t>(order)};
}

}  // namespace

RankedSides::RankedSides(const SideTable& sides, const WordTexts& words) : ranks_(sides.size()) {
  std::vector<std::uint32_t> order(words.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return words.word(static_cast<std::int32_t>(a)) < words.word(static_cast<std::int32_t>(b));
  });
  std::vector<std::uint32_t> word_ranks(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) word_ranks[order[i]] = i;
  const auto key = [&](std::int32_t one) {  // 0 is the end of a side
    if (one >= 0) return word_ranks[static_cast<std::size_t>(one)] + 1;
    return static_cast<std::uint32_t>(word_ranks.size()) + static_cast<std::uint32_t>(-one);
  };
  struct Place {
    std::uint64_t head;  // the first two symbols
    std::uint32_t id;
  };
  std::vector<Place> places(sides.size());
  std::size_t symbols = 0;
  for (std::uint32_t id = 0; id < places.size(); ++id) {
    const Symbols side = sides.side(id);
    const std::uint64_t first = side.empty() ? 0 : key(side[0]), second = side.size() < 2 ? 0 : key(side[1]);
    places[id] = {first << 32U | second, id};
    symbols += side.size();
  }
  std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    if (a.head != b.head) return a.head < b.head;
    return std::ranges::lexicographical_compare(sides.side(a.id), sides.side(b.id), {}, key, key);
  });
  symbols_.reserve(symbols);
  offsets_.reserve(places.size() + 1);
  for (std::uint32_t rank = 0; rank < places.size(); ++rank) {
    const Symbols side = sides.side(places[rank].id);
    symbols_.insert(symbols_.end(), side.begin(), side.end());
    offsets_.push_back(symbols_.size());
    ranks_[places[rank].id] = rank;
  }
}

Pairs::Pairs(Confused& confused, const WordTexts& words, bool wordless, std::uint64_t memory)
    : confused_(confused), memory_(memory) {
  orders_.add({});
  SideTable& sides = confused_.sides();
  const auto collected = static_cast<std::uint32_t>(sides.size());
  for (std::uint32_t id = 0; id < collected; ++id) order_.push_back(order_of(sides.side(id)));
  turn_groups();
  // Sides without outputs are not inputs; they only have a rank.
  for (std::uint32_t id = 0; id < collected; ++id) input_.push_back(order_[id] == 0 ? id : turned(id, order_[id]));
  ranked_ = RankedSides(sides, words);
  for (std::uint32_t& one : turned_) one = ranked_.rank(one);
  for (std::uint32_t& one : input_) {
    one = can_be_input(sides.side(one), wordless) ? ranked_.rank(one) : kHeader;
  }
  count_entries();
}

// The number of a side's gap order.
std::uint32_t Pairs::order_of(Symbols side) {
  std::vector<std::int32_t> order;
  for (const std::int32_t one : side) {
    if (one < 0) order.push_back(-1 - one);
  }
  return std::ranges::is_sorted(order) ? 0 : orders_.add(order);
}

// Renumbers a side's gaps by a gap order, so that a side with that order becomes increasing.
std::uint32_t Pairs::turned(std::uint32_t side, std::uint32_t order) {
  const std::uint32_t number = turns_.add(turn_key(side, order));
  if (number == turned_.size()) {
    SideTable& sides = confused_.sides();
    const Symbols from = sides.side(side), places = orders_.side(order);
    std::vector<std::int32_t> symbols(from.begin(), from.end());
    for (std::int32_t& one : symbols) {
      if (one < 0) one = -1 - static_cast<std::int32_t>(std::ranges::find(places, -1 - one) - places.begin());
    }
    turned_.push_back(sides.add(symbols));
  }
  return turned_[number];
}

void Pairs::turn_groups() {
  const std::span<const Member> groups = confused_.groups();
  std::vector<std::uint32_t> orders;
  for (std::size_t at = 0; at < groups.size(); at += groups[at].times + 1) {
    const std::span<const Member> members = groups.subspan(at + 1, groups[at].times);
    orders.clear();
    for (const Member& one : members) {
      if (order_[one.side] != 0) orders.push_back(order_[one.side]);
    }
    std::ranges::sort(orders);
    orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
    for (const std::uint32_t order : orders) {
      for (const Member& one : members) turned(one.side, order);
    }
  }
}

bool Pairs::can_be_input(Symbols side, bool wordless) const noexcept {
  if (std::ranges::any_of(side, [](std::int32_t one) { return one >= 0; })) return true;
  return wordless && side.size() > 1;
}

void Pairs::count_entries() {
  entries_.assign(ranked_.size(), 0);
  work_.assign(ranked_.size(), 0);
  const std::span<const Member> groups = confused_.groups();
  for (std::size_t at = 0; at < groups.size(); at += groups[at].times + 1) {
    const std::uint32_t size = groups[at].times;
    for (const Member& one : groups.subspan(at + 1, size)) {
      const std::uint32_t input = input_[one.side];
      if (input == kHeader) {
        without_input_ += confused_.choices().identity ? size : size - 1;
        continue;
      }
      ++entries_[input];
      work_[input] += size;
    }
  }
  if (confused_.choices().same_rule) return;
  less_.assign(ranked_.size(), 0);
  for (std::uint32_t id = 0; id < input_.size(); ++id) {
    if (input_[id] != kHeader) less_[input_[id]] += confused_.same_rule(id);
  }
}

Pairs::Index Pairs::index(std::uint32_t first) const {
  Index made{first, first, {}, {}};
  std::uint64_t size = 0;
  made.offsets.push_back(0);
  while (made.last < entries_.size()) {
    size += entries_[made.last];
    if (made.last > first && (size + made.offsets.size()) * sizeof(std::uint64_t) > memory_) break;
    made.offsets.push_back(size);
    ++made.last;
  }
  made.places.resize(made.offsets.back());
  std::vector<std::uint64_t> next(made.offsets.begin(), made.offsets.end() - 1);
  const std::span<const Member> groups = confused_.groups();
  for (std::size_t at = 0; at < groups.size();) {
    const std::size_t end = at + groups[at].times + 1;
    for (++at; at < end; ++at) {
      const std::uint32_t input = input_[groups[at].side];
      if (input >= first && input < made.last) made.places[next[input - first]++] = at;
    }
  }
  return made;
}

Pairs::Range Pairs::next() {
  const auto end = static_cast<std::uint32_t>(entries_.size());
  if (at_ < end && (at_ < index_.first || at_ >= index_.last)) {
    index_ = {};  // free memory before the next index is built
    index_ = index(at_);
  }
  Range range{&index_, at_, at_};
  for (std::uint64_t work = 0; range.last < index_.last && work < kRangeWork; ++range.last) work += work_[range.last];
  at_ = range.last;
  return range;
}

std::span<const Output> Pairs::Counter::of(const Index& index, std::uint32_t input) {
  outputs_.clear();
  touched_.clear();
  const std::span<const Member> groups = pairs_.confused_.groups();
  const std::size_t row = input - index.first;
  for (std::uint64_t i = index.offsets[row]; i < index.offsets[row + 1]; ++i) {
    std::size_t at = index.places[i];
    const Member own = groups[at];
    const std::uint32_t order = pairs_.order_[own.side];
    while (groups[at].side != kHeader) --at;
    for (const Member& one : groups.subspan(at + 1, groups[at].times)) {
      const std::uint32_t output = order == 0 ? pairs_.ranked_.rank(one.side)
                                              : pairs_.turned_[pairs_.turns_.find(turn_key(one.side, order))];
      add(output, std::uint64_t{own.times} * one.times);
    }
  }
  if (touched_.empty()) return {};
  if (!pairs_.confused_.choices().identity) {
    times_[input] = 0;
  } else if (!pairs_.less_.empty()) {
    times_[input] -= pairs_.less_[input];
  }
  std::ranges::sort(touched_);
  for (const std::uint32_t output : touched_) {
    if (times_[output] != 0) outputs_.push_back({output, std::exchange(times_[output], 0)});
  }
  return outputs_;
}

}  // namespace smt::cdlm
