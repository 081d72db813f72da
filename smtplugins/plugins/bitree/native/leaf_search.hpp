// The line search of a leaf: the change of its parameter that minimises the risk over its examples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace smt::bitree {

// exp(-y h) and weight of each example of a leaf, by label.
struct LeafExamples {
  std::vector<double> odds[2], weights[2];

  void clear() {
    for (int k = 0; k < 2; ++k) {
      odds[k].clear();
      weights[k].clear();
    }
  }
  void add(bool positive, double odd, double weight) {
    odds[positive ? 1 : 0].push_back(odd);
    weights[positive ? 1 : 0].push_back(weight);
  }
};

struct Slope {
  double first = 0, second = 0;  // Derivatives of the loss by the parameter.
};

// Sums of w and of w (1 - w), with odds multiplied by a factor; summed in a fixed order.
inline Slope sum_of_slopes(const std::vector<double>& odds, const std::vector<double>& weights, double factor) {
  constexpr std::size_t kLanes = 4;
  double first[kLanes] = {}, second[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= odds.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double x = odds[i + k] * factor;
      const double rest = 1.0 / (1.0 + x);
      const double w = weights[i + k] * (1.0 - rest);
      first[k] += w;
      second[k] += w * rest;
    }
  }
  for (; i < odds.size(); ++i) {
    const double rest = 1.0 / (1.0 + odds[i] * factor);
    const double w = weights[i] * (1.0 - rest);
    first[0] += w;
    second[0] += w * rest;
  }
  return {(first[0] + first[1]) + (first[2] + first[3]), (second[0] + second[1]) + (second[2] + second[3])};
}

inline Slope slope_at(const LeafExamples& leaf, double change) {
  const double factor = std::exp(change);
  const Slope positive = sum_of_slopes(leaf.odds[1], leaf.weights[1], 1.0 / factor);
  const Slope negative = sum_of_slopes(leaf.odds[0], leaf.weights[0], factor);
  return {negative.first - positive.first, negative.second + positive.second};
}

// sum of weight * ln((1 + odds * factor) / (1 + odds))
inline double loss_change(const std::vector<double>& odds, const std::vector<double>& weights, double factor) {
  double total = 0;
  for (std::size_t i = 0; i < odds.size(); ++i) {
    // (1 + fx) / (1 + x) = 1 + (f - 1) x / (1 + x), exact for small changes.
    total += weights[i] * std::log1p((factor - 1.0) * (odds[i] / (1.0 + odds[i])));
  }
  return total;
}

inline double loss_change(const LeafExamples& leaf, double change) {
  return loss_change(leaf.odds[1], leaf.weights[1], std::exp(-change)) +
         loss_change(leaf.odds[0], leaf.weights[0], std::exp(change));
}

// argmin over d of loss(d) + lambda |value + d|: test the kink at -value, then search the side of the minimum by
// Newton's method within a bracket.
inline double best_change(const LeafExamples& leaf, double value, double lambda) {
  constexpr double kFarthest = 80;
  constexpr int kMost = 200;
  const Slope kink = slope_at(leaf, -value);
  if (std::fabs(kink.first) <= lambda) return -value;
  // At the minimum, the slope of the loss is -lambda for a positive parameter, +lambda for a negative one.
  const double wanted = kink.first < 0 ? -lambda : lambda;
  double low = kink.first < 0 ? -value : -value - kFarthest;
  double high = kink.first < 0 ? -value + kFarthest : -value;
  double at = low < 0 && 0 < high ? 0 : -value;
  for (int k = 0; k < kMost; ++k) {
    const Slope slope = slope_at(leaf, at);
    const double off = slope.first - wanted;
    if (off == 0) return at;
    (off < 0 ? low : high) = at;
    double next = slope.second > 0 ? at - off / slope.second : high + 1;
    // Bisect if Newton's step leaves the bracket.
    if (!(next > low && next < high)) next = low + (high - low) / 2;
    if (std::fabs(next - at) <= 1e-13 * std::max(1.0, std::fabs(at))) return next;
    at = next;
  }
  return at;
}

}  // namespace smt::bitree
