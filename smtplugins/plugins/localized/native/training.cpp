#include "training.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "training_parts.hpp"

namespace smt::localized {

namespace {

// Numbers keys in order of first use.
class Interner {
 public:
  Interner() : slots_(1024, -1) {}
  // Returns the key's number, and whether it is new.
  std::pair<std::uint32_t, bool> number(std::uint64_t key) {
    if (2 * keys_.size() >= slots_.size()) grow();
    std::uint64_t at = place(key);
    for (; slots_[at] >= 0; at = (at + 1) & (slots_.size() - 1)) {
      if (keys_[static_cast<std::size_t>(slots_[at])] == key) return {static_cast<std::uint32_t>(slots_[at]), false};
    }
    slots_[at] = static_cast<std::int32_t>(keys_.size());
    keys_.push_back(key);
    return {static_cast<std::uint32_t>(slots_[at]), true};
  }

 private:
  std::uint64_t place(std::uint64_t key) const noexcept {
    const std::uint64_t hash = key * 0x9E3779B97F4A7C15ULL;
    return (hash ^ (hash >> 32U)) & (slots_.size() - 1);
  }
  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      std::uint64_t at = place(keys_[i]);
      while (slots_[at] >= 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::int32_t> slots_;
};

std::uint64_t joined(std::int32_t high, std::int32_t low) noexcept {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32U) | static_cast<std::uint32_t>(low);
}

}  // namespace

Bigrams count_bigrams(std::span<const std::int32_t> predecessor, std::span<const std::int32_t> successor,
                      std::int64_t threshold) {
  std::vector<std::uint64_t> keys(successor.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = joined(predecessor[i], successor[i]);
  std::ranges::sort(keys);
  Bigrams found;
  for (std::size_t i = 0; i < keys.size();) {
    std::size_t stop = i + 1;
    while (stop < keys.size() && keys[stop] == keys[i]) ++stop;
    if (static_cast<std::int64_t>(stop - i) > threshold) {
      found.first.push_back(static_cast<std::int32_t>(keys[i] >> 32U));
      found.second.push_back(static_cast<std::int32_t>(keys[i] & 0xFFFFFFFFU));
      found.count.push_back(static_cast<std::int64_t>(stop - i));
    }
    i = stop;
  }
  return found;
}

Training::Training(const EventColumns& events, std::span<const std::int32_t> context,
                   std::span<const std::int64_t> starts, std::int64_t keep, const BlockColumns& blocks,
                   const Bigrams& bigrams) {
  build(events, context, starts, keep, bigrams);
  fill(blocks, starts, keep);
}

void Training::build(const EventColumns& events, std::span<const std::int32_t> context,
                     std::span<const std::int64_t> starts, std::int64_t keep, const Bigrams& bigrams) {
  const auto block_count = static_cast<std::size_t>(starts.back());
  std::vector<std::int32_t> start_of(block_count);  // by block: the first block of its source phrase
  std::vector<std::int32_t> kept(block_count);      // by first block: number of alternatives
  for (std::size_t p = 0; p + 1 < starts.size(); ++p) {
    const auto first = static_cast<std::size_t>(starts[p]);
    const auto last = static_cast<std::size_t>(starts[p + 1]);
    for (std::size_t b = first; b < last; ++b) start_of[b] = static_cast<std::int32_t>(first);
    if (last > first) kept[first] = static_cast<std::int32_t>(std::min<std::int64_t>(keep, starts[p + 1] - starts[p]));
  }
  Interner contexts;
  std::vector<std::uint32_t> links;
  std::vector<std::uint32_t> bits;
  std::size_t width = 0;
  // Appends a link of a history, with the features of the history and each of its blocks.
  const auto link = [&](std::int32_t history, std::int32_t first, std::int32_t count, std::uint32_t right) {
    const std::int32_t known = context[static_cast<std::size_t>(history)];
    const auto [row, unknown] = contexts.number(joined(known, first));
    if (unknown) wanted_.push_back({known, first, count});
    rows_.push_back(row);
    links.push_back(static_cast<std::uint32_t>(first));
    links.push_back(2 * static_cast<std::uint32_t>(count) + right);
    const auto from = std::ranges::equal_range(bigrams.first, history);
    const auto at = static_cast<std::size_t>(from.begin() - bigrams.first.begin());
    const auto second = std::span(bigrams.second).subspan(at, from.size());
    for (auto one = std::ranges::lower_bound(second, first); one != second.end() && *one < first + count; ++one) {
      bits.push_back(static_cast<std::uint32_t>(at + static_cast<std::size_t>(one - second.begin())));
      bits.push_back(static_cast<std::uint32_t>(width + static_cast<std::size_t>(*one - first)));
    }
    width += static_cast<std::size_t>(count);
  };
  events_.resize(events.block.size());
  std::vector<std::uint32_t> order;
  const auto orientation = [&](std::uint32_t e) {
    return events.orientation.empty() ? std::uint8_t{kLeft} : events.orientation[e];
  };
  for (std::size_t s = 0; s + 1 < events.sentences.size(); ++s) {
    order.clear();
    for (std::int64_t e = events.sentences[s]; e < events.sentences[s + 1]; ++e) {
      order.push_back(static_cast<std::uint32_t>(e));
    }
    const auto key = [&](std::uint32_t e) { return std::tuple(events.history[e], orientation(e), events.block[e]); };
    std::ranges::sort(order, {}, [&](std::uint32_t e) { return std::tuple(key(e), e); });
    for (std::size_t i = 0; i < order.size();) {
      const std::int32_t history = events.history[order[i]];
      const auto group = static_cast<std::uint32_t>(groups_.size());
      links.clear();
      bits.clear();
      width = 0;
      std::size_t distinct = 0;
      std::size_t members = 0;
      // The current links: to the first blocks of the current source phrase, and to the last block after these.
      std::uint8_t side = kNeutral;
      std::int32_t start = -1;
      std::size_t start_at = 0;
      std::int32_t last = -1;
      for (; i < order.size() && events.history[order[i]] == history; ++i, ++members) {
        const std::uint32_t e = order[i];
        const std::int32_t block = events.block[e];
        const std::int32_t own = start_of[static_cast<std::size_t>(block)];
        const std::int32_t count = kept[static_cast<std::size_t>(own)];
        const std::uint32_t bit = orientation(e) == kRight ? 1U : 0U;
        if (side != orientation(e) || start != own) {
          side = orientation(e);
          start = own;
          start_at = width;
          last = -1;
          link(history, own, count, bit);
        }
        std::size_t right = start_at + static_cast<std::size_t>(block - own);
        if (last != block) ++distinct;
        if (block >= own + count) {
          if (last != block) link(history, block, 1, bit);
          right = width - 1;
        }
        last = block;
        events_[e] = {group, static_cast<std::uint32_t>(right)};
      }
      groups_.push_back(static_cast<std::uint32_t>(links.size() / 2));
      groups_.push_back(static_cast<std::uint32_t>(width));
      groups_.push_back(static_cast<std::uint32_t>(bits.size() / 2));
      groups_.insert(groups_.end(), links.begin(), links.end());
      groups_.resize(groups_.size() + width);
      groups_.insert(groups_.end(), bits.begin(), bits.end());
      if (groups_.size() >= std::numeric_limits<std::uint32_t>::max()) {
        throw std::invalid_argument("expected fewer events, found more than 32-bit numbers can tell apart");
      }
      widest_ = std::max(widest_, width);
      alternatives_ += members * width;
      successors_ += members * distinct;
    }
  }
  groups_.shrink_to_fit();
}

void Training::fill(const BlockColumns& blocks, std::span<const std::int64_t> starts, std::int64_t keep) {
  tiles_.resize(kColumns * static_cast<std::size_t>(starts.back()) + kLanes);
  const std::span<const float> columns[kColumns] = {blocks.unigram, blocks.left, blocks.right, blocks.rest,
                                                    blocks.lexical};
  const auto tile = [&](std::size_t first, std::size_t count) {
    for (std::size_t c = 0; c < kColumns; ++c) {
      for (std::size_t k = 0; k < count; ++k) tiles_[kColumns * first + c * count + k] = columns[c][first + k];
    }
  };
  for (std::size_t p = 0; p + 1 < starts.size(); ++p) {
    const auto first = static_cast<std::size_t>(starts[p]);
    const auto last = static_cast<std::size_t>(starts[p + 1]);
    const std::size_t count = std::min(static_cast<std::size_t>(keep), last - first);
    tile(first, count);
    for (std::size_t b = first + count; b < last; ++b) tile(b, 1);
  }
}

void Training::set_scores(std::span<const float> scores) {
  std::vector<std::size_t> places{0};
  for (const Wanted& one : wanted_) places.push_back(places.back() + static_cast<std::size_t>(one.count));
  if (scores.size() != places.back()) throw std::invalid_argument("expected a score for each wanted first word");
  std::size_t row = 0;
  for (std::uint32_t at = 0; at < groups_.size();) {
    const Group group = group_of({at, 0});
    std::uint32_t* out = groups_.data() + (group.score - groups_.data());
    for (std::size_t k = 0; k < group.links; ++k, ++row) {
      const float* const from = scores.data() + places[rows_[row]];
      for (std::uint32_t i = 0; i < group.link[2 * k + 1] >> 1U; ++i) *out++ = std::bit_cast<std::uint32_t>(from[i]);
    }
    at = static_cast<std::uint32_t>(group.bit + 2 * group.bits - groups_.data());
  }
  wanted_ = {};
  rows_ = {};
}

std::size_t Training::memory() const noexcept {
  return events_.size() * sizeof(Event) + groups_.size() * sizeof(std::uint32_t) + tiles_.size() * sizeof(float) +
         wanted_.size() * sizeof(Wanted) + rows_.size() * sizeof(std::uint32_t);
}

void Training::gather(const Group& group, Gathered& gathered) const noexcept {
  float* const unigram = gathered.column(0);
  float* const orientation = gathered.column(1);
  float* const first_word = gathered.column(2);
  float* const rest = gathered.column(3);
  float* const lexical = gathered.column(4);
  std::size_t at = 0;
  for (std::size_t k = 0; k < group.links; ++k) {
    const float* const from = tile(group.link[2 * k]);
    const std::size_t count = group.link[2 * k + 1] >> 1U;
    const std::size_t side = (group.link[2 * k + 1] & 1U) != 0 ? kRightColumn : kLeftColumn;
    // Four at a time; the next link overwrites the excess.
    for (std::size_t i = 0; i < count; i += kLanes) {
      std::memcpy(unigram + at + i, from + kUnigram * count + i, kLanes * sizeof(float));
      std::memcpy(orientation + at + i, from + side * count + i, kLanes * sizeof(float));
      std::memcpy(rest + at + i, from + kRest * count + i, kLanes * sizeof(float));
      std::memcpy(lexical + at + i, from + kLexical * count + i, kLanes * sizeof(float));
    }
    at += count;
  }
  std::memcpy(first_word, group.score, group.width * sizeof(float));
}

Rows Training::rows(std::size_t first, std::size_t last) const {
  Rows found;
  Gathered gathered(widest_);
  for (std::size_t e = first; e < last; ++e) {
    const Group group = group_of(events_[e]);
    gather(group, gathered);
    std::size_t bit = 0;
    std::size_t link = 0;
    std::size_t begun = 0;  // position of the link's first block
    for (std::size_t k = 0; k < group.width; ++k) {
      if (k == begun + (group.link[2 * link + 1] >> 1U)) begun += group.link[2 * link++ + 1] >> 1U;
      for (std::size_t f = 0; f < kFloats; ++f) {
        found.ids.push_back(static_cast<std::int64_t>(f));
        found.values.push_back(static_cast<double>(gathered.column(f)[k]));
      }
      for (; bit < group.bits && group.bit[2 * bit + 1] == k; ++bit) {
        found.ids.push_back(static_cast<std::int64_t>(kFloats + group.bit[2 * bit]));
        found.values.push_back(1.0);
      }
      found.offsets.push_back(static_cast<std::int64_t>(found.ids.size()));
      found.block.push_back(static_cast<std::int32_t>(group.link[2 * link] + (k - begun)));
      found.orientation.push_back((group.link[2 * link + 1] & 1U) != 0 ? kRight : kLeft);
    }
    found.groups.push_back(static_cast<std::int64_t>(found.block.size()));
    found.right.push_back(static_cast<std::int64_t>(events_[e].right));
  }
  return found;
}

}  // namespace smt::localized
