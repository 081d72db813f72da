// Cost-sensitive examples, and linear classifiers learnt from them in passes: a perceptron and a logistic model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sequences.hpp"

namespace smt::searn {

// Weights, their sum with each change times the number of the example, and that number (H. Daume III, 2006, 2.1.1).
struct Averaged {
  std::span<double> weights;
  std::span<double> total;
  std::uint64_t count = 1;
};

struct Descent {
  bool logistic = false;
  double rate = 1.0;
};

// What a pass came to: examples on which another action than a cheapest one was best, and the sum of what it cost more.
struct Passed {
  std::uint64_t wrong = 0;
  double cost = 0.0;
};

// Items of sequences with the histories in which they stood: features are those of the item and its history, an action
// is a label with weights of its own. `costs` by item and label; empty if the right label costs 0 and any other 1.
struct ItemExamples {
  const Sequences* sequences = nullptr;
  std::span<const std::int32_t> history;
  std::span<const double> costs;
};

Passed pass(const ItemExamples& examples, std::span<const std::uint32_t> order, const Descent& descent,
            Averaged& averaged);

// Examples of any task: actions of example i are rows groups[i] to before groups[i + 1], each with features and a cost.
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
