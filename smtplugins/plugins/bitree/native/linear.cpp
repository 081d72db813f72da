#include "linear.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace smt::bitree {

namespace {

double dot(std::span<const double> first, std::span<const double> second) {
  double sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += first[i] * second[i];
  return sum;
}

double score(std::span<const std::int32_t> row, std::span<const double> weights) {
  double sum = weights.back();
  for (const std::int32_t id : row) sum += weights[static_cast<std::size_t>(id)];
  return sum;
}

void add(std::span<const std::int32_t> row, double much, std::span<double> weights) {
  weights.back() += much;
  for (const std::int32_t id : row) weights[static_cast<std::size_t>(id)] += much;
}

// ln(1 + exp(-margin)) without overflow.
double loss_of(double margin) { return std::log1p(std::exp(-std::fabs(margin))) + std::max(-margin, 0.0); }
double weight_of(double margin) {
  const double power = std::exp(-std::fabs(margin));
  return margin >= 0 ? power / (1 + power) : 1 / (1 + power);
}

class LogLinear {
 public:
  LogLinear(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right, double penalty)
      : rows_(rows), classes_(classes), right_(right), penalty_(penalty), scores_(rows.size()), moved_(rows.size()),
        curvature_(rows.size()), slopes_(rows.atoms + 1), way_(rows.atoms + 1), rest_(rows.atoms + 1),
        next_(rows.atoms + 1), product_(rows.atoms + 1) {}

  int fit(double tolerance, int steps, std::span<double> weights) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    const std::vector<double> nothing(weights.size());
    const double least = tolerance * slope(nothing);
    for (std::size_t i = 0; i < rows_.size(); ++i) scores_[i] = score(rows_[i], weights);
    int made = 0;
    while (made < steps && slope(weights) > least) {
      find_way();
      if (!step(weights)) break;
      ++made;
    }
    return made;
  }

 private:
  double sign(std::size_t row) const { return classes_[row] == right_ ? 1.0 : -1.0; }

  // Compute the gradient; return its norm.
  double slope(std::span<const double> weights) {
    for (std::size_t f = 0; f < weights.size(); ++f) slopes_[f] = 2 * penalty_ * weights[f];
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double off = weight_of(sign(i) * scores_[i]);
      curvature_[i] = off * (1 - off);
      add(rows_[i], -sign(i) * off, slopes_);
    }
    return std::sqrt(dot(slopes_, slopes_));
  }

  // Newton direction by conjugate gradients, up to a residual of a tenth of the gradient.
  void find_way() {
    std::fill(way_.begin(), way_.end(), 0.0);
    std::fill(moved_.begin(), moved_.end(), 0.0);
    for (std::size_t f = 0; f < slopes_.size(); ++f) next_[f] = rest_[f] = -slopes_[f];
    double left = dot(rest_, rest_);
    const double enough = 0.01 * left;
    for (int round = 0; round < 50 && left > enough; ++round) {
      for (std::size_t f = 0; f < product_.size(); ++f) product_[f] = 2 * penalty_ * next_[f];
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        add(rows_[i], curvature_[i] * score(rows_[i], next_), product_);
      }
      const double length = left / dot(next_, product_);
      for (std::size_t f = 0; f < way_.size(); ++f) {
        way_[f] += length * next_[f];
        rest_[f] -= length * product_[f];
      }
      const double now = dot(rest_, rest_);
      for (std::size_t f = 0; f < next_.size(); ++f) next_[f] = rest_[f] + now / left * next_[f];
      left = now;
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) moved_[i] = score(rows_[i], way_);
  }

  // Backtracking line search along the direction.
  bool step(std::span<double> weights) {
    const double down = dot(slopes_, way_);
    const double own = dot(weights, weights), both = dot(weights, way_), far = dot(way_, way_);
    const double before = value(0, own, both, far);
    for (double length = 1; length > 1e-10; length /= 2) {
      if (value(length, own, both, far) <= before + 1e-4 * length * down) {
        for (std::size_t f = 0; f < weights.size(); ++f) weights[f] += length * way_[f];
        for (std::size_t i = 0; i < rows_.size(); ++i) scores_[i] += length * moved_[i];
        return true;
      }
    }
    return false;
  }

  double value(double length, double own, double both, double far) const {
    double sum = penalty_ * (own + 2 * length * both + length * length * far);
    for (std::size_t i = 0; i < rows_.size(); ++i) sum += loss_of(sign(i) * (scores_[i] + length * moved_[i]));
    return sum;
  }

  const RowsOfAtoms& rows_;
  std::span<const std::int32_t> classes_;
  std::int32_t right_;
  double penalty_;
  std::vector<double> scores_, moved_, curvature_, slopes_, way_, rest_, next_, product_;
};

class OnlineSvm {
 public:
  OnlineSvm(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right, double cost,
            std::span<double> weights)
      : rows_(rows), classes_(classes), right_(right), cost_(cost), weights_(weights), shares_(rows.size()) {}

  // Optimise a row's dual variable with all others fixed; return by how much its KKT condition was violated.
  double visit(std::size_t row) {
    const double sign = classes_[row] == right_ ? 1.0 : -1.0;
    const double slope = 1 - sign * score(rows_[row], weights_);
    const double share = shares_[row];
    if ((share <= 0 && slope <= 0) || (share >= cost_ && slope >= 0)) return 0;
    const double length = static_cast<double>(rows_[row].size() + 1);
    const double best = std::clamp(share + slope / length, 0.0, cost_);
    shares_[row] = best;
    add(rows_[row], sign * (best - share), weights_);
    return std::fabs(slope);
  }

  bool has_weight(std::size_t row) const { return shares_[row] > 0; }

 private:
  const RowsOfAtoms& rows_;
  std::span<const std::int32_t> classes_;
  std::int32_t right_;
  double cost_;
  std::span<double> weights_;
  std::vector<double> shares_;
};

}  // namespace

int fit_loglinear(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right, double penalty,
                  double tolerance, int steps, std::span<double> weights) {
  return LogLinear(rows, classes, right, penalty).fit(tolerance, steps, weights);
}

SupportVectors fit_online_svm(const RowsOfAtoms& rows, std::span<const std::int32_t> classes, std::int32_t right,
                              std::span<const std::int32_t> order, double cost, double tolerance, int finish,
                              std::uint64_t seed, std::span<double> weights) {
  std::fill(weights.begin(), weights.end(), 0.0);
  OnlineSvm machine(rows, classes, right, cost, weights);
  std::mt19937_64 draw(seed);
  std::vector<std::size_t> vectors;
  for (const std::int32_t number : order) {
    const auto row = static_cast<std::size_t>(number);
    const bool before = machine.has_weight(row);
    machine.visit(row);
    if (!before && machine.has_weight(row)) vectors.push_back(row);
    if (vectors.empty()) continue;
    const std::size_t again = draw() % vectors.size();
    machine.visit(vectors[again]);
    if (!machine.has_weight(vectors[again])) {
      vectors[again] = vectors.back();
      vectors.pop_back();
    }
  }
  SupportVectors result;
  for (int round = 0; round < finish; ++round) {
    result.violation = 0;
    for (const std::size_t row : vectors) result.violation = std::max(result.violation, machine.visit(row));
    if (result.violation <= tolerance) break;
  }
  result.count = static_cast<std::size_t>(
      std::count_if(vectors.begin(), vectors.end(), [&](std::size_t row) { return machine.has_weight(row); }));
  return result;
}

}  // namespace smt::bitree
