#include "examples.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace smt::searn {
namespace {

// Prefetch distances in items, which are visited in random order.
constexpr std::size_t kIdsAhead = 16, kRowsAhead = 6;

// Prefetch the weight rows of an item.
void fetch_rows(const SequenceColumns& columns, std::size_t item, const double* weights) {
  const std::size_t labels = columns.labels;
  const auto stop = static_cast<std::size_t>(columns.starts[item + 1]);
  for (auto k = static_cast<std::size_t>(columns.starts[item]); k < stop; ++k) {
    const double* const row = weights + static_cast<std::size_t>(columns.ids[k]) * labels;
    for (std::size_t l = 0; l < labels; l += 8) __builtin_prefetch(row + l);
  }
}

// The highest-scoring action, the highest-scoring of the cheapest actions, and the range of costs.
struct Judged {
  std::size_t best, right;
  double least, most;
};

Judged judge(const double* scores, const double* costs, std::size_t actions) {
  Judged judged{0, 0, costs[0], costs[0]};
  for (std::size_t a = 1; a < actions; ++a) {
    if (scores[a] > scores[judged.best]) judged.best = a;
    if (costs[a] < judged.least || (costs[a] == judged.least && scores[a] > scores[judged.right])) judged.right = a;
    judged.least = std::min(judged.least, costs[a]);
    judged.most = std::max(judged.most, costs[a]);
  }
  return judged;
}

// rate * (range of costs) * (probability among the cheapest - probability among all), for each action.
void slopes(std::vector<double>& scores, const double* costs, const Judged& judged, double rate) {
  const std::size_t actions = scores.size();
  const double highest = scores[judged.best], right = scores[judged.right];
  double all = 0.0, cheapest = 0.0;
  for (std::size_t a = 0; a < actions; ++a) {
    all += std::exp(scores[a] - highest);
    if (costs[a] == judged.least) cheapest += std::exp(scores[a] - right);
  }
  const double step = rate * (judged.most - judged.least);
  for (std::size_t a = 0; a < actions; ++a) {
    const double wanted = costs[a] == judged.least ? std::exp(scores[a] - right) / cheapest : 0.0;
    scores[a] = step * (wanted - std::exp(scores[a] - highest) / all);
  }
}

// Learn from an example: `move(action, step)` adds step times the features of an action to the weights.
template <class Move>
void learn(std::vector<double>& scores, const double* costs, const Descent& descent, Passed& passed, Move&& move) {
  const Judged judged = judge(scores.data(), costs, scores.size());
  const double more = costs[judged.best] - judged.least;
  if (more > 0.0) {
    ++passed.wrong;
    passed.cost += more;
  }
  if (descent.logistic) {
    if (judged.most == judged.least) return;
    slopes(scores, costs, judged, descent.rate);
    for (std::size_t a = 0; a < scores.size(); ++a) move(a, scores[a]);
  } else if (more > 0.0) {
    move(judged.right, more);
    move(judged.best, -more);
  }
}

}  // namespace

Passed pass(const ItemExamples& examples, std::span<const std::uint32_t> order, const Descent& descent,
            Averaged& averaged) {
  const SequenceColumns& columns = examples.sequences->columns();
  const std::size_t labels = columns.labels, width = examples.sequences->width();
  double* const weights = averaged.weights.data();
  double* const total = averaged.total.data();
  std::vector<double> scores(labels), ones(labels);
  Passed passed;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t item = order[i];
    if (i + kIdsAhead < order.size()) {
      const std::uint32_t later = order[i + kIdsAhead];
      __builtin_prefetch(&columns.starts[later]);
      __builtin_prefetch(columns.ids.data() + static_cast<std::size_t>(columns.starts[later]));
      __builtin_prefetch(&columns.gold[later]);
      __builtin_prefetch(examples.history.data() + later * width);
    }
    if (i + kRowsAhead < order.size()) fetch_rows(columns, order[i + kRowsAhead], weights);
    const auto start = static_cast<std::size_t>(columns.starts[item]);
    const auto stop = static_cast<std::size_t>(columns.starts[item + 1]);
    const std::int32_t* const history = examples.history.data() + item * width;
    std::fill(scores.begin(), scores.end(), 0.0);
    const auto each = [&](auto&& use) {
      for (std::size_t k = start; k < stop; ++k) {
        use(static_cast<std::size_t>(columns.ids[k]) * labels, columns.values.empty() ? 1.0 : columns.values[k]);
      }
      for (std::size_t h = 0; h < width; ++h) {
        if (history[h] >= 0) use(static_cast<std::size_t>(history[h]) * labels, 1.0);
      }
    };
    each([&](std::size_t row, double value) { add_row(scores.data(), weights + row, value, labels); });
    const auto gold = static_cast<std::size_t>(columns.gold[item]);
    const auto count = static_cast<double>(averaged.count++);
    if (examples.costs.empty() && !descent.logistic) {
      // A single gold label and unit costs: a fast path of the general case.
      const std::size_t best = highest(scores.data(), labels);
      if (best == gold) continue;
      ++passed.wrong;
      passed.cost += 1.0;
      each([&](std::size_t row, double value) {
        weights[row + gold] += value;
        total[row + gold] += count * value;
        weights[row + best] -= value;
        total[row + best] -= count * value;
      });
      continue;
    }
    const double* costs = examples.costs.data() + item * labels;
    if (examples.costs.empty()) {
      std::fill(ones.begin(), ones.end(), 1.0);
      ones[gold] = 0.0;
      costs = ones.data();
    }
    learn(scores, costs, descent, passed, [&](std::size_t action, double step) {
      each([&](std::size_t row, double value) {
        weights[row + action] += step * value;
        total[row + action] += count * (step * value);
      });
    });
  }
  return passed;
}

Passed pass(const RowExamples& examples, std::span<const std::uint32_t> order, const Descent& descent,
            Averaged& averaged) {
  std::vector<double> scores;
  Passed passed;
  for (const std::uint32_t example : order) {
    const auto first = static_cast<std::size_t>(examples.groups[example]);
    const auto last = static_cast<std::size_t>(examples.groups[example + 1]);
    scores.assign(last - first, 0.0);
    const auto each = [&](std::size_t action, auto&& use) {
      const auto stop = static_cast<std::size_t>(examples.starts[first + action + 1]);
      for (auto k = static_cast<std::size_t>(examples.starts[first + action]); k < stop; ++k) {
        use(static_cast<std::size_t>(examples.ids[k]), examples.values[k]);
      }
    };
    for (std::size_t a = 0; a < scores.size(); ++a) {
      each(a, [&](std::size_t id, double value) { scores[a] += averaged.weights[id] * value; });
    }
    const auto count = static_cast<double>(averaged.count++);
    if (scores.empty()) continue;
    learn(scores, examples.costs.data() + first, descent, passed, [&](std::size_t action, double step) {
      each(action, [&](std::size_t id, double value) {
        averaged.weights[id] += step * value;
        averaged.total[id] += count * (step * value);
      });
    });
  }
  return passed;
}

}  // namespace smt::searn
