// One-against-rest linear classifiers over binary atoms: log-linear with an l2 penalty, and online support vector
// machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trees.hpp"

namespace smt::bitree {

// Each row has an implicit bias atom, whose weight is the last.

// Minimise sum ln(1 + exp(-y w.x)) + penalty * |w|^2, starting at the given weights, by Newton's method with conjugate
// gradients. Rows of class `right` have y = 1, all others y = -1. Stop when the gradient's norm is at most `tolerance`
// times that at w = 0, or after `steps`; return the number of steps.
int fit_loglinear(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right, double penalty,
                  double tolerance, int steps, std::span<double> weights);

struct SupportVectors {
  std::size_t count = 0;
  double violation = 0;  // Largest violation of a KKT condition.
};

// Train a support vector machine, min |w|^2 / 2 + cost * sum max(0, 1 - y w.x), online as LaSVM does: PROCESS each row
// in the given order and then REPROCESS a support vector; finally iterate over the support vectors until no KKT
// violation exceeds `tolerance`, at most `finish` times.
SupportVectors fit_online_svm(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right,
                              std::span<const std::int32_t> order, double cost, double tolerance, int finish,
                              std::uint64_t seed, std::span<double> weights);

}  // namespace smt::bitree
