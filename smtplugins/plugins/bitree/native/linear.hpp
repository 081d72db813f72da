// Linear classifiers of the classes of a problem over binary atoms, one for each class against the rest:
// log-linear with an l2 penalty, and support vector machines that see example after example.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trees.hpp"

namespace smt::bitree {

// Rows have one more atom, the one that is always true; its weight is the last one.

// Minimises sum ln(1 + exp(-y w.x)) + penalty * |w|^2 from where the weights are, by Newton's method with conjugate
// gradients. Rows of class `right` have y = 1, all others y = -1. Stops when the gradient is at most `tolerance`
// times what it is at w = 0, or after so many steps; returns how many were made.
int fit_loglinear(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right, double penalty,
                  double tolerance, int steps, std::span<double> weights);

struct SupportVectors {
  std::size_t count = 0;
  double violation = 0;  // The greatest by which the conditions of the optimum are missed.
};

// A support vector machine, min |w|^2 / 2 + cost * sum max(0, 1 - y w.x), trained online as LaSVM is: each new row is
// PROCESSed, then one of those that had weight is REPROCESSed; in the end those with weight again and again, until
// none misses its condition by more than `tolerance`, at most `finish` times. Rows come in the order given.
SupportVectors fit_online_svm(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right,
                              std::span<const std::int32_t> order, double cost, double tolerance, int finish,
                              std::uint64_t seed, std::span<double> weights);

}  // namespace smt::bitree
