// Cost-sensitive examples, and passes of linear classifiers over them: a perceptron and a logistic model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sequences.hpp"

namespace smt::searn {

// Weights, the sum of their changes times the example number, and that number (H. Daume III, 2006, 2.1.1).
struct Averaged {
  std::span<double> weights;
  std::span<double> total;
  std::uint64_t count = 1;
};

struct Descent {
  bool logistic = false;
  double rate = 1.0;
};

// Errors of a pass: examples whose best action was not a cheapest one, and the sum of the extra costs.
struct Passed {
  std::uint64_t wrong = 0;
  double cost = 0.0;
};

// Items of sequences with the histories of a roll-in: features are those of the item and its history, an action is a
// label with its own weights. `costs` by item and label; empty if the gold label costs 0 and any other 1.
struct ItemExamples {
  const Sequences* sequences = nullptr;
  std::span<const std::int32_t> history;
  std::span<const double> costs;
};

Passed pass(const ItemExamples& examples, std::span<const std::uint32_t> order, const Descent& descent,
            Averaged& averaged);

// Examples of any task: the actions of example i are the rows [groups[i], groups[i + 1]), with features and costs.
struct RowExamples {
  std::span<const std::int64_t> groups;
  std::span<const std::int64_t> starts;
  std::span<const std::int32_t> ids;
  std::span<const double> values;
  std::span<const double> costs;
};

Passed pass(const RowExamples& examples, std::span<const std::uint32_t> order, const Descent& descent,
            Averaged& averaged);

}  // namespace smt::searn
