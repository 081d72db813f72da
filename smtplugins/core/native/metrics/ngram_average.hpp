// Mean counts of the n-grams of weighted texts: the references of a segment aggregated into one.
//
// J. DeNero, D. Chiang and K. Knight, "Fast Consensus Decoding over Translation Forests" (2009); J. Vamvas and
// R. Sennrich, "Linear-time Minimum Bayes Risk Decoding with Reference Aggregation" (2024).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "metrics/ngram_index.hpp"

namespace smt {

class NgramAverage {
 public:
  // N-grams are no longer than `order`, at least 1.
  explicit NgramAverage(std::size_t order) : totals_(order, 0.0) { index_.clear(order); }

  // The weights of all texts sum to one; texts of weight 0 change nothing.
  void add(NgramIndex::Symbols text, double weight);

  // The mean number of n-grams of length n, from 1 to the order.
  double total(std::size_t n) const noexcept { return totals_[n - 1]; }

  // Adds to matches[n - 1] the matches of n-grams of length n: the smaller of the count in the text and the mean count.
  void match(NgramIndex::Symbols text, double* matches);

 private:
  struct Count {
    double mean = 0.0;
    double seen = 0.0;        // in the text of the last round
    std::uint64_t round = 0;  // the last text with this n-gram
    std::size_t length = 0;
  };

  NgramIndex index_;
  std::vector<Count> counts_;  // by node
  std::vector<double> totals_;
  std::uint64_t round_ = 0;
};

}  // namespace smt
