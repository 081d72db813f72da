// The formulas of interpolated modified Kneser-Ney, and the lines of ARPA files: what estimation in memory and on disk
// have in common.
//
// S. Chen and J. Goodman, "An Empirical Study of Smoothing Techniques for Language Modeling" (1998), has the
// estimates; K. Heafield, I. Pouzyrevsky, J. Clark and P. Koehn, "Scalable Modified Kneser-Ney Language Model
// Estimation" (2013), the treatment of <s>, <unk> and pruning used here.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace smt {

inline constexpr std::uint32_t kUnkId = 0, kBosId = 1, kEosId = 2;  // of estimated models

using Discounts = std::array<float, 3>;          // for adjusted counts of 1, 2, and 3 or more
using CountsOfCounts = std::array<std::uint64_t, 5>;  // by adjusted count

struct KneserNeyOptions {
  int order = 3;
  std::vector<std::uint64_t> prune;  // for each order: n-grams with at most this count are left out
  std::optional<Discounts> fallback;
  std::uint64_t memory = 0;           // bytes
  std::uint64_t vocabulary_size = 0;  // keep the n-grams of this many most frequent words; 0: of all
};

// A text that no model can be estimated from.
struct TextError : std::runtime_error {
  TextError(std::uint64_t line_, std::string expected_, std::string found_);
  std::uint64_t line;  // 0: the text as a whole
  std::string expected, found;
};

// The counts of counts allow no discounts.
struct DiscountError : std::runtime_error {
  DiscountError(int order_, std::string reason_);
  int order;
  std::string reason;
};

// The model would need more memory than allowed.
struct MemoryLimitError : std::runtime_error {
  MemoryLimitError(std::uint64_t needed_, std::uint64_t allowed_);
  std::uint64_t needed, allowed;
};

// An estimated model without its n-grams.
struct EstimatedModel {
  std::vector<std::uint64_t> counts;  // n-grams of each order
  std::vector<Discounts> discounts;   // of each order
  std::vector<int> fallen_back;       // orders with fallback discounts
  std::uint64_t sentences = 0, words = 0, peak_bytes = 0;  // words without </s>

  int order() const noexcept { return static_cast<int>(counts.size()); }
  // Adds the discounts of the next order. Throws DiscountError if none follow and there is no fallback.
  void add_discounts(const CountsOfCounts& counts_of_counts, const std::optional<Discounts>& fallback);
};

// Sums over the one-word extensions of an n-gram.
template <class Count>
struct ContextSums {
  Count total = 0;                // of adjusted counts
  Count pruned = 0;               // the part of n-grams left out
  std::array<Count, 3> kept{};    // n-grams with adjusted counts of 1, 2, 3 or more

  void add(Count adjusted, bool keep) noexcept {
    total += adjusted;
    if (!keep) {
      pruned += adjusted;
    } else if (adjusted > 0) {
      ++kept[std::min<Count>(adjusted, 3) - 1];
    }
  }
  // The mass for shorter contexts.
  float left(const Discounts& discounts) const noexcept {
    if (total == 0) return 1.0F;
    float mass = 0.0F;
    for (std::size_t j = 0; j < 3; ++j) mass += discounts[j] * static_cast<float>(kept[j]);
    return (mass + static_cast<float>(pruned)) / static_cast<float>(total);
  }
  // The probability of an extension before interpolation.
  float share(Count adjusted, const Discounts& discounts) const noexcept {
    const float own =
        adjusted == 0 ? 0.0F : static_cast<float>(adjusted) - discounts[std::min<Count>(adjusted, 3) - 1];
    return own / static_cast<float>(total);
  }
};

// Which n-grams a model keeps.
struct NgramFilter {
  std::vector<std::uint64_t> prune;  // for each order
  std::vector<bool> allowed;         // by word; empty: all

  bool keeps(const std::uint32_t* words, int order, std::uint64_t seen) const noexcept {
    if (order == 1 && *words == kEosId) return true;
    if (seen <= prune[static_cast<std::size_t>(order - 1)]) return false;
    return allowed.empty() || std::all_of(words, words + order, [this](std::uint32_t id) { return allowed[id]; });
  }
};

// The probability of unigrams before any count: <unk> is a word to draw, <s> is not.
inline float uniform(std::uint64_t unigrams) noexcept { return 1.0F / static_cast<float>(unigrams - 1); }

// Rounding may lift a probability above 1.
inline float arpa_log(float prob) noexcept {
  constexpr float kLogZero = -99.0F;  // log10 of 0 in ARPA files
  return prob > 0.0F ? std::min(0.0F, std::log10(prob)) : kLogZero;
}

// The fewest digits that read back as this number.
void append_number(std::string& out, float number);

}  // namespace smt
