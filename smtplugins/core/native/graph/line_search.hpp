// Summed statistics of a corpus metric between thresholds along lines through weight space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace smt {

// Sums of statistics along directions: direction d has the intervals [offsets[d], offsets[d + 1]), interval i begins at
// starts[i], the first of a direction at minus infinity, and has the sums of row i.
struct Surfaces {
  std::vector<std::int64_t> offsets{0};
  std::vector<double> starts;
  std::vector<double> sums;
  std::vector<double> present;  // the sums at t = 0, of the first of equally good hypotheses, if known
};

// Statistics, a row for each hypothesis.
struct Rows {
  std::span<const double> values;
  std::size_t width;

  const double* operator[](std::size_t i) const noexcept { return values.data() + i * width; }
};

// Adds a direction: concatenated envelopes, item k in [items[k], items[k + 1]), with the start and the row of
// statistics of each line. Intervals that begin at the same place are merged.
void add_surface(std::span<const std::int64_t> items, std::span<const double> starts,
                 std::span<const std::int64_t> rows, const Rows& stats, Surfaces& to);

// N-best lists with dense features, for searches along lines through weight space.
class ListSearch {
 public:
  // Hypotheses of list k are [lists[k], lists[k + 1]), none empty. The table has a row of them for each feature; it
  // and the statistics must outlive this.
  ListSearch(std::vector<std::int64_t> lists, std::span<const double> table, std::size_t features, const Rows& stats);

  std::size_t features() const noexcept { return features_; }

  // The summed statistics of all lists from weights along each direction. What is out of the direction's reach counts
  // as what is at its end. Throws std::overflow_error if scores overflow.
  Surfaces surfaces(std::span<const double> weights, std::span<const double> directions,
                    std::span<const double> low, std::span<const double> high) const;

 private:
  std::size_t size() const noexcept { return static_cast<std::size_t>(lists_.back()); }
  void combine(const double* weights, std::size_t first, std::size_t count, double* to) const;

  std::vector<std::int64_t> lists_;
  std::span<const double> table_;
  std::size_t features_;
  Rows stats_;
  std::vector<double> most_;  // the greatest absolute value of each feature
};

}  // namespace smt
