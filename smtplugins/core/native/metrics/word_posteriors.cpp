#include "metrics/word_posteriors.hpp"

#include <algorithm>

namespace smt {
namespace {

using Text = std::span<const std::int32_t>;

class Alignment {
 public:
  // Calls `match` with each position of `text` that is aligned to an equal word of `other`.
  template <class Match>
  void matches(Text text, Text other, Match match) {
    // Equal words at the end are aligned by the preferences alone.
    while (!text.empty() && !other.empty() && text.back() == other.back()) {
      match(text.size() - 1);
      text = text.first(text.size() - 1);
      other = other.first(other.size() - 1);
    }
    if (text.empty() || other.empty()) return;
    fill(text, other);
    const std::size_t width = other.size() + 1;
    for (std::size_t i = text.size(), j = other.size(); i > 0 && j > 0;) {
      const std::int32_t cost = costs_[i * width + j];
      const bool equal = text[i - 1] == other[j - 1];
      if (cost == costs_[(i - 1) * width + j - 1] + !equal) {
        if (equal) match(i - 1);
        --i;
        --j;
      } else if (cost == costs_[(i - 1) * width + j] + 1) {
        --i;
      } else {
        --j;
      }
    }
  }

 private:
  // The edit distances of all pairs of prefixes.
  void fill(Text text, Text other) {
    const std::size_t width = other.size() + 1;
    costs_.resize((text.size() + 1) * width);
    for (std::size_t j = 0; j < width; ++j) costs_[j] = static_cast<std::int32_t>(j);
    for (std::size_t i = 1; i <= text.size(); ++i) {
      const std::int32_t* const above = costs_.data() + (i - 1) * width;
      std::int32_t* const row = costs_.data() + i * width;
      row[0] = static_cast<std::int32_t>(i);
      for (std::size_t j = 1; j < width; ++j) {
        const std::int32_t through = above[j - 1] + (text[i - 1] != other[j - 1]);
        row[j] = std::min(through, std::min(above[j], row[j - 1]) + 1);
      }
    }
  }

  std::vector<std::int32_t> costs_;
};

}  // namespace

std::vector<double> word_posteriors(const WordTexts& texts, std::span<const double> probabilities) {
  std::vector<double> sums(texts.words.size());
  Alignment alignment;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    double* const own = sums.data() + texts.offsets[i];
    for (std::size_t k = 0; k < texts.size(); ++k) {
      alignment.matches(texts[i], texts[k], [&](std::size_t at) { own[at] += probabilities[k]; });
    }
  }
  return sums;
}

}  // namespace smt
