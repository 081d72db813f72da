#include "training.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "exponential.hpp"

namespace smt::localized {

namespace {

// Numbers keys in order of their first use.
class Interner {
 public:
  Interner() : slots_(1024, -1) {}
  // The key's number, and whether it is new.
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

// Columns of a tile; the unused first one is that of the other orientation.
enum Column : std::size_t { kUnigram, kLeftColumn, kRightColumn, kRest, kLexical, kColumns };
constexpr std::size_t kLanes = 4;
constexpr std::size_t kHead = 3;     // words of a group before its links
constexpr std::size_t kBehind = 96;  // words behind the last group

// Four at a time, which every machine of 64 bits has.
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using Bits = std::uint32_t __attribute__((vector_size(kLanes * sizeof(float))));

inline Lanes load(const float* from) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline void store(float* to, Lanes lanes) noexcept { std::memcpy(to, &lanes, sizeof lanes); }
inline double sum_of(Lanes lanes) noexcept { return static_cast<double>((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])); }

constexpr float kFar = 80.0F;        // e to this is still far from the largest float
constexpr double kMostSum = 5e34;    // about e to this: a sum below is not of what counted as the nearest
constexpr double kMostProduct = 1e200;

// e^x, to about 1e-7 of its value, for x from -80 to 80; what is outside counts as the nearest of these.
inline Lanes exponentials(Lanes given) noexcept {
  const Lanes low = given > -kFar ? given : Lanes{} - kFar;
  const Lanes x = low < kFar ? low : Lanes{} + kFar;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  const Lanes shifted = x * 1.44269504F + kRound;
  const Lanes n = shifted - kRound;
  const Lanes r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  Lanes p = Lanes{} + 1.0F / 5040.0F;
  p = p * r + 1.0F / 720.0F;
  p = p * r + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  return p * std::bit_cast<Lanes>((std::bit_cast<Bits>(shifted) + 127U) << 23U);
}

std::size_t padded(std::size_t size) noexcept { return (size + kLanes - 1) / kLanes * kLanes; }

// The alternative that a wrong perceptron mistakes for the right one; `right` if it is not wrong.
template <class Score>
std::size_t mistaken(const Score* scores, std::size_t size, std::size_t right) noexcept {
  std::size_t worst = right;
  for (std::size_t i = 0; i < size; ++i) {
    if (i != right && scores[i] >= scores[right] && (worst == right || scores[i] > scores[worst])) worst = i;
  }
  return worst;
}

double rate_of(const Rule& rule, std::uint64_t done) noexcept {
  return rule.decay == 0.0 ? rule.rate : rule.rate / (1.0 + rule.decay * static_cast<double>(done));
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
  std::vector<std::int32_t> start_of(block_count);  // by block: the first of its source phrase
  std::vector<std::int32_t> kept(block_count);      // by such a first one: how many are alternatives
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
  // A link of a history, and the features of the history and one of its blocks.
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
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
    for (std::size_t i = 0; i < order.size();) {
      const std::int32_t history = events.history[order[i]];
      const auto group = static_cast<std::uint32_t>(groups_.size());
      links.clear();
      bits.clear();
      width = 0;
      std::size_t distinct = 0;
      std::size_t members = 0;
      // The links so far: to the first ones of the source phrase at hand, and to the last one behind these.
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
  used_ = groups_.size();
  groups_.resize(used_ + kBehind);  // reading ahead of the last group must not fault
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

struct Training::Group {
  std::size_t links, width, bits;
  const std::uint32_t* link;  // two numbers each
  const std::uint32_t* score;
  const std::uint32_t* bit;  // two numbers each
};

Training::Group Training::group_of(const Event& event) const noexcept {
  const std::uint32_t* const at = groups_.data() + event.group;
  const std::uint32_t* const score = at + kHead + 2 * std::size_t{at[0]};
  return {at[0], at[1], at[2], at + kHead, score, score + at[1]};
}

const float* Training::tile(std::uint32_t first) const noexcept { return tiles_.data() + kColumns * std::size_t{first}; }

void Training::set_scores(std::span<const float> scores) {
  std::vector<std::size_t> places{0};
  for (const Wanted& one : wanted_) places.push_back(places.back() + static_cast<std::size_t>(one.count));
  if (scores.size() != places.back()) throw std::invalid_argument("expected a score for each that is wanted");
  std::size_t row = 0;
  for (std::uint32_t at = 0; at < used_;) {
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
  return events_.size() * sizeof(Event) + used_ * sizeof(std::uint32_t) + tiles_.size() * sizeof(float) +
         wanted_.size() * sizeof(Wanted) + rows_.size() * sizeof(std::uint32_t);
}

// The features of a group's alternatives, side by side; what is behind the last is 0 or some block's.
class Training::Gathered {
 public:
  explicit Gathered(std::size_t widest) : room_(padded(widest) + kLanes), values_((kFloats + 2) * room_) {}
  std::size_t room() const noexcept { return room_; }  // from one column to the next
  float* column(std::size_t f) noexcept { return values_.data() + f * room_; }
  float* scores() noexcept { return column(kFloats); }
  float* shares() noexcept { return column(kFloats + 1); }

 private:
  std::size_t room_;
  std::vector<float> values_;
};

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
    // Four at a time; what is too many is written over by the next link.
    for (std::size_t i = 0; i < count; i += kLanes) {
      std::memcpy(unigram + at + i, from + kUnigram * count + i, sizeof(Lanes));
      std::memcpy(orientation + at + i, from + side * count + i, sizeof(Lanes));
      std::memcpy(rest + at + i, from + kRest * count + i, sizeof(Lanes));
      std::memcpy(lexical + at + i, from + kLexical * count + i, sizeof(Lanes));
    }
    at += count;
  }
  std::memcpy(first_word, group.score, group.width * sizeof(float));
}

// Asks for what later events of the order need, in the order in which it is found. Inline, as a function that does
// nothing else is taken for one that does nothing.
[[gnu::always_inline]] inline void Training::prefetch(std::span<const std::uint32_t> order, std::size_t at,
                                                      const float* weights) const noexcept {
  constexpr std::size_t kEvent = 40, kGroup = 24, kTiles = 12, kBits = 6;
  constexpr std::size_t kLine = 16;  // words
  if (at + kEvent >= order.size()) return;
  __builtin_prefetch(&events_[order[at + kEvent]]);
  const std::uint32_t* const words = groups_.data() + events_[order[at + kGroup]].group;
  for (std::size_t k = 0; k < 5 * kLine; k += kLine) __builtin_prefetch(words + k);
  const Group tiles = group_of(events_[order[at + kTiles]]);
  for (std::size_t k = 0; k < tiles.links; ++k) {
    const float* const from = tile(tiles.link[2 * k]);
    const std::size_t last = kColumns * (tiles.link[2 * k + 1] >> 1U) - 1;
    __builtin_prefetch(from);
    __builtin_prefetch(from + std::min(last, kLine));
    __builtin_prefetch(from + std::min(last, 2 * kLine));
    __builtin_prefetch(from + last);
  }
  const Group bits = group_of(events_[order[at + kBits]]);
  for (std::size_t k = 0; k < bits.bits; ++k) __builtin_prefetch(weights + bits.bit[2 * k]);
}

// The shares of a group's alternatives, not yet normalised, in place of their scores less a shift; and the sums over
// them of the shares and of each feature with its share.
struct Training::Shares {
  double sum;
  double expected[kFloats];
};

Training::Shares Training::share(Gathered& gathered, std::size_t wide, float shift) {
  float* const scores = gathered.scores();
  const float* const columns = gathered.column(0);
  const std::size_t room = gathered.room();
  Lanes sums{};
  Lanes expected[kFloats] = {};
  for (std::size_t k = 0; k < wide; k += kLanes) {
    const Lanes shares = exponentials(load(scores + k) - shift);
    sums += shares;
    for (std::size_t f = 0; f < kFloats; ++f) expected[f] += shares * load(columns + f * room + k);
    store(gathered.shares() + k, shares);
  }
  Shares found{sum_of(sums), {}};
  for (std::size_t f = 0; f < kFloats; ++f) found.expected[f] = sum_of(expected[f]);
  return found;
}

double Training::descend(std::span<const std::uint32_t> order, const Rule& rule, std::uint64_t done,
                         Weights& weights) {
  Gathered gathered(widest_);
  float* const scores = gathered.scores();
  float* const shares = gathered.shares();
  const float* const columns = gathered.column(0);
  const std::size_t room = gathered.room();
  double total = 0.0;
  double product = 1.0;  // of sums whose logarithms are to be added
  double learnt[kFloats];
  for (std::size_t f = 0; f < kFloats; ++f) learnt[f] = rule.learn_float[f] ? 1.0 : 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    prefetch(order, i, weights.bigrams.data());
    const Event& event = events_[order[i]];
    const Group group = group_of(event);
    const std::size_t wide = padded(group.width);
    gather(group, gathered);
    Lanes w[kFloats];
    for (std::size_t f = 0; f < kFloats; ++f) w[f] = Lanes{} + static_cast<float>(weights.floats[f]);
    for (std::size_t k = 0; k < wide; k += kLanes) {
      Lanes x[kFloats];
      for (std::size_t f = 0; f < kFloats; ++f) x[f] = w[f] * load(columns + f * room + k);
      store(scores + k, (x[0] + x[1]) + (x[2] + x[3]) + x[4]);
    }
    for (std::size_t k = 0; k < group.bits; ++k) {
      scores[group.bit[2 * k + 1]] += weights.bigrams[group.bit[2 * k]];
    }
    for (std::size_t k = group.width; k < wide; ++k) scores[k] = -std::numeric_limits<float>::infinity();
    // Less the right one's score; if that leads too far, less the largest.
    float shift = scores[event.right];
    Shares found = share(gathered, wide, shift);
    if (!(found.sum < kMostSum)) {
      shift = *std::max_element(scores, scores + group.width);
      found = share(gathered, wide, shift);
    }
    total += static_cast<double>(shift) - static_cast<double>(scores[event.right]);
    product *= found.sum;
    if (product > kMostProduct) {
      total += std::log(product);
      product = 1.0;
    }
    double factor = 1.0 / found.sum;
    if (rule.update == Update::kPerceptron) {
      const std::size_t worst = mistaken(scores, group.width, event.right);
      if (worst == event.right) continue;
      std::fill(shares, shares + wide, 0.0F);
      shares[worst] = 1.0F;
      for (std::size_t f = 0; f < kFloats; ++f) found.expected[f] = static_cast<double>(columns[f * room + worst]);
      factor = 1.0;
    }
    const double rate = rate_of(rule, done + i);
    for (std::size_t f = 0; f < kFloats; ++f) {
      const auto right = static_cast<double>(columns[f * room + event.right]);
      weights.floats[f] += learnt[f] * rate * (right - factor * found.expected[f]);
    }
    if (!rule.learn_bigrams) continue;
    for (std::size_t k = 0; k < group.bits; ++k) {
      const std::size_t place = group.bit[2 * k + 1];
      float& weight = weights.bigrams[group.bit[2 * k]];
      const double gain = (place == event.right ? 1.0 : 0.0) - factor * static_cast<double>(shares[place]);
      weight = static_cast<float>(static_cast<double>(weight) + rate * gain);
    }
  }
  return total + std::log(product);
}

double Training::loss(const Weights& weights, std::size_t& best) const {
  Gathered gathered(widest_);
  std::vector<double> scores(widest_);
  double total = 0.0;
  best = 0;
  for (const Event& event : events_) {
    const Group group = group_of(event);
    gather(group, gathered);
    for (std::size_t k = 0; k < group.width; ++k) {
      scores[k] = 0.0;
      for (std::size_t f = 0; f < kFloats; ++f) {
        scores[k] += weights.floats[f] * static_cast<double>(gathered.column(f)[k]);
      }
    }
    for (std::size_t k = 0; k < group.bits; ++k) {
      scores[group.bit[2 * k + 1]] += static_cast<double>(weights.bigrams[group.bit[2 * k]]);
    }
    best += mistaken(scores.data(), group.width, event.right) == event.right ? 1 : 0;
    total += log_sum(scores.data(), group.width) - scores[event.right];
  }
  return total;
}

Rows Training::rows(std::size_t first, std::size_t last) const {
  Rows found;
  Gathered gathered(widest_);
  for (std::size_t e = first; e < last; ++e) {
    const Group group = group_of(events_[e]);
    gather(group, gathered);
    std::size_t bit = 0;
    std::size_t link = 0;
    std::size_t begun = 0;  // where the link's blocks begin
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

double descend(const AnyRows& rows, std::span<const std::uint32_t> order, const Rule& rule, std::uint64_t done,
               std::span<double> weights, std::span<const std::uint8_t> fixed) {
  std::vector<double> scores;
  double total = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto first = static_cast<std::size_t>(rows.groups[order[i]]);
    const auto count = static_cast<std::size_t>(rows.groups[order[i] + 1]) - first;
    const auto right = static_cast<std::size_t>(rows.right[order[i]]);
    scores.assign(count, 0.0);
    for (std::size_t k = 0; k < count; ++k) {
      const auto stop = static_cast<std::size_t>(rows.offsets[first + k + 1]);
      for (auto at = static_cast<std::size_t>(rows.offsets[first + k]); at < stop; ++at) {
        scores[k] += weights[static_cast<std::size_t>(rows.ids[at])] * rows.values[at];
      }
    }
    const double most = largest(scores.data(), count);
    const std::size_t worst = mistaken(scores.data(), count, right);
    total += most - scores[right];
    for (double& one : scores) one = fast_exp(one - most);
    double factor = std::accumulate(scores.begin(), scores.end(), 0.0);
    total += std::log(factor);
    factor = 1.0 / factor;
    if (rule.update == Update::kPerceptron) {
      if (worst == right) continue;
      scores.assign(count, 0.0);
      scores[worst] = 1.0;
      factor = 1.0;
    }
    const double rate = rate_of(rule, done + i);
    for (std::size_t k = 0; k < count; ++k) {
      const double gain = rate * ((k == right ? 1.0 : 0.0) - factor * scores[k]);
      const auto stop = static_cast<std::size_t>(rows.offsets[first + k + 1]);
      for (auto at = static_cast<std::size_t>(rows.offsets[first + k]); at < stop; ++at) {
        const auto id = static_cast<std::size_t>(rows.ids[at]);
        if (fixed[id] == 0) weights[id] += gain * rows.values[at];
      }
    }
  }
  return total;
}

}  // namespace smt::localized
