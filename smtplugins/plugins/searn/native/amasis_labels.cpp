#include "amasis_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace smt::searn {

LabelChooser::LabelChooser(LabelModel model, Decide decide, bool all, bool logs)
    : model_(std::move(model)),
      decide_(decide),
      all_(all),
      logs_(logs),
      sums_(model_.shares.size() * model_.labels),
      mixed_(model_.labels) {}

void LabelChooser::add(std::int32_t row) {
  if (row == LabelModel::none) return;
  const std::size_t labels = model_.labels;
  for (std::size_t p = 0; p < model_.shares.size(); ++p) {
    const float* const weights = model_.weights.data() + (p * model_.rows + static_cast<std::size_t>(row)) * labels;
    double* const sums = sums_.data() + p * labels;
    for (std::size_t l = 0; l < labels; ++l) sums[l] += static_cast<double>(weights[l]);
  }
}

// Each policy votes for its highest-scoring label, the first on ties.
std::int32_t LabelChooser::decided(double draw) const {
  const std::size_t labels = model_.labels;
  const std::size_t policies = model_.shares.size();
  const auto best_of = [&](std::size_t p) {
    const double* const first = sums_.data() + p * labels;
    return static_cast<std::int32_t>(std::max_element(first, first + labels) - first);
  };
  if (decide_ == Decide::kLast || policies == 1) return best_of(policies - 1);
  if (decide_ == Decide::kDraw) {
    counted_.resize(policies);
    std::partial_sum(model_.shares.begin(), model_.shares.end(), counted_.begin());
    const auto chosen = std::upper_bound(counted_.begin(), counted_.end(), draw * counted_.back());
    return best_of(std::min(static_cast<std::size_t>(chosen - counted_.begin()), policies - 1));
  }
  std::vector<double>& votes = counted_;
  votes.assign(labels, 0.0);
  for (std::size_t p = 0; p < policies; ++p) votes[static_cast<std::size_t>(best_of(p))] += model_.shares[p];
  return static_cast<std::int32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
}

void LabelChooser::choose(const double* sums, const Situation& situation, double draw) {
  std::copy_n(sums, sums_.size(), sums_.begin());
  const auto row = [](const std::vector<std::int32_t>& rows, std::int32_t i) {
    return rows[static_cast<std::size_t>(i)];
  };
  if (!model_.label_rows.empty()) add(row(model_.label_rows, situation.label));
  if (!model_.pair_rows.empty()) {
    add(row(model_.pair_rows, situation.before * static_cast<std::int32_t>(model_.labels + 1) + situation.label));
  }
  if (!model_.depth_rows.empty()) {
    add(row(model_.depth_rows, std::min(situation.depth, static_cast<std::int32_t>(model_.depth_rows.size()) - 1)));
  }
  if (model_.fragments) add(situation.fragment);

  const std::int32_t first = decided(draw);
  ranked_.assign(1, first);
  if (!all_ && !logs_) return;
  const std::size_t labels = model_.labels;
  std::fill(mixed_.begin(), mixed_.end(), 0.0);
  for (std::size_t p = 0; p < model_.shares.size(); ++p) {
    for (std::size_t l = 0; l < labels; ++l) mixed_[l] += model_.shares[p] * sums_[p * labels + l];
  }
  if (logs_) {
    const double most = *std::max_element(mixed_.begin(), mixed_.end());
    double sum = 0.0;
    for (const double score : mixed_) sum += std::exp(score - most);
    normaliser_ = most + std::log(sum);
  }
  if (!all_) return;
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(labels); ++l) {
    if (l != first) ranked_.push_back(l);
  }
  std::stable_sort(ranked_.begin() + 1, ranked_.end(), [&](std::int32_t a, std::int32_t b) {
    return mixed_[static_cast<std::size_t>(a)] > mixed_[static_cast<std::size_t>(b)];
  });
}

}  // namespace smt::searn
