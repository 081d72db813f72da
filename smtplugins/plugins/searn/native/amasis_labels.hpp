// Choice of labels by a policy whose features may depend on earlier choices.
//
// D. Zhang, L. Sun and W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (2008), 4 and 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt::searn {

// A mixture of policies. Weights are policies x rows x labels; the row of a missing feature is `none`.
struct LabelModel {
  static constexpr std::int32_t none = -1;

  std::size_t labels = 0;
  std::vector<double> shares;
  std::vector<std::uint32_t> operations;  // by label: bit k is 1 if reduction k keeps the order
  std::vector<std::int32_t> reductions;   // by label: the number of reductions
  std::span<const float> weights;
  std::size_t rows = 0;
  // Rows of history features, empty if the template is not used. The label after the last stands for no label.
  std::vector<std::int32_t> label_rows;
  std::vector<std::int32_t> pair_rows;
  std::vector<std::int32_t> depth_rows;
  bool fragments = false;
  std::int32_t fragment_begin = none;  // row of an empty stack
  std::int32_t fragment_empty = none;  // row of a fragment without words

  bool looks_back() const noexcept {
    return !label_rows.empty() || !pair_rows.empty() || !depth_rows.empty() || fragments;
  }
};

enum class Decide : std::uint8_t { kVote, kDraw, kLast };

// The state of history features: the last two labels, the stack depth, the row of the topmost fragment's last word.
struct Situation {
  std::int32_t label;
  std::int32_t before;
  std::int32_t depth;
  std::int32_t fragment;
};

// Computes choices, reusing its buffers.
class LabelChooser {
 public:
  // `all`: rank all labels, not just find the best; `logs`: compute probabilities.
  LabelChooser(LabelModel model, Decide decide, bool all, bool logs);

  const LabelModel& model() const noexcept { return model_; }
  std::size_t columns() const noexcept { return model_.shares.size() * model_.labels; }

  // `sums` are the static scores of the item by policy and label; `draw` is a number in [0, 1) for Decide::kDraw.
  // The first ranked label is the policy's decision; the others follow by mean score.
  void choose(const double* sums, const Situation& situation, double draw);
  const std::vector<std::int32_t>& ranked() const noexcept { return ranked_; }
  // A label's log-probability: a log-softmax of the policies' mean scores by share; 0 without `logs`.
  double log_probability(std::int32_t label) const noexcept {
    return logs_ ? mixed_[static_cast<std::size_t>(label)] - normaliser_ : 0.0;
  }

 private:
  void add(std::int32_t row);
  std::int32_t decided(double draw) const;

  LabelModel model_;
  Decide decide_;
  bool all_;
  bool logs_;
  std::vector<double> sums_, mixed_;
  mutable std::vector<double> counted_;
  double normaliser_ = 0.0;
  std::vector<std::int32_t> ranked_;
};

}  // namespace smt::searn
