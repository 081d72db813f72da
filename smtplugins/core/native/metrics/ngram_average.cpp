#include "metrics/ngram_average.hpp"

#include <algorithm>

namespace smt {

void NgramAverage::add(NgramIndex::Symbols text, double weight) {
  if (weight == 0) return;
  for (std::size_t n = 1; n <= std::min(totals_.size(), text.size()); ++n) {
    totals_[n - 1] += weight * static_cast<double>(text.size() - n + 1);
  }
  index_.add(text, [&](std::int32_t node) {
    const auto number = static_cast<std::size_t>(node);
    if (number >= counts_.size()) {
      counts_.resize(number + 1);
      counts_[number].length = index_.length(node);
    }
    counts_[number].mean += weight;
  });
}

void NgramAverage::match(NgramIndex::Symbols text, double* matches) {
  ++round_;
  index_.find(text, [&](std::int32_t node) {
    Count& count = counts_[static_cast<std::size_t>(node)];
    if (count.round != round_) {
      count.round = round_;
      count.seen = 0.0;
    }
    matches[count.length - 1] += std::clamp(count.mean - count.seen, 0.0, 1.0);
    count.seen += 1.0;
  });
}

}  // namespace smt
