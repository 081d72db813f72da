// Stochastic gradient descent over events: equation 9 of Tillmann and Zhang (2005), and the perceptron.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/exponential.hpp"
#include "training.hpp"
#include "training_parts.hpp"

namespace smt::localized {

namespace {

// SIMD vectors of four floats, which every 64-bit machine has.
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using Bits = std::uint32_t __attribute__((vector_size(kLanes * sizeof(float))));

inline Lanes load(const float* from) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}
inline void store(float* to, Lanes lanes) noexcept { std::memcpy(to, &lanes, sizeof lanes); }
inline double sum_of(Lanes lanes) noexcept {
  return static_cast<double>((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
}

constexpr float kFar = 80.0F;        // e^80 is well below the largest float
constexpr double kMostSum = 5e34;    // about e^80: in a sum below it no exponent was clamped from above
constexpr double kMostProduct = 1e200;

// Computes e^x with a relative error of about 1e-7; x is clamped to [-80, 80].
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

// The highest-scored wrong alternative if it scores at least as high as the right one, else `right`.
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

// Prefetches the data of later events, in the order of their indirections. Always inlined, because compilers drop calls
// to functions without visible effects.
[[gnu::always_inline]] inline void Training::prefetch(std::span<const std::uint32_t> order, std::size_t at,
                                                      const float* weights) const noexcept {
  constexpr std::size_t kEvent = 40, kGroup = 24, kTiles = 12, kBits = 6;
  constexpr std::size_t kLine = 16;  // words in a cache line
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

// Replaces the scores of a group's alternatives by exp(score - shift); keeps their sum, and the sum of each feature
// weighted by them.
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
  double product = 1.0;  // product of sums, to take a single logarithm
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
    // Shift by the right alternative's score; if that overflows, by the highest.
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
