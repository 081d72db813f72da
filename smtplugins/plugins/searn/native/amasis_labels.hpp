// Labels of items: what a policy chooses when some of its features are of what was chosen before.
//
// D. Zhang, L. Sun and W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (2008), 4 and 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt::searn {

// A policy, or several with shares. Weights are policies x rows x labels; rows of features that are not there are none.
struct LabelModel {
  static constexpr std::int32_t none = -1;

  std::size_t labels = 0;
  std::vector<double> shares;
  std::vector<std::uint32_t> operations;  // of each label: bit k is 1 if reduction k keeps the order
  std::vector<std::int32_t> reductions;   // and how many there are
  std::span<const float> weights;
  std::size_t rows = 0;
  // Rows of features of the history; empty if there are none of their kind. One more label than there are is no label.
  std::vector<std::int32_t> label_rows;
  std::vector<std::int32_t> pair_rows;
  std::vector<std::int32_t> depth_rows;
  bool fragments = false;
  std::int32_t fragment_begin = none;  // the row of an empty stack
  std::int32_t fragment_empty = none;  // and of a fragment without words

  bool looks_back() const noexcept {
    return !label_rows.empty() || !pair_rows.empty() || !depth_rows.empty() || fragments;
  }
};

enum class Decide : std::uint8_t { kVote, kDraw, kLast };

// What features of the history look at: the last two labels, the fragments on the stack, the row of the top one's word.
struct Situation {
  std::int32_t label;
  std::int32_t before;
  std::int32_t depth;
  std::int32_t fragment;
};

// Works out choices; keeps its memory.
class LabelChooser {
 public:
  // `all`: all labels are ranked, not only the best one found; `logs`: probabilities are wanted.
  LabelChooser(LabelModel model, Decide decide, bool all, bool logs);

  const LabelModel& model() const noexcept { return model_; }
  std::size_t columns() const noexcept { return model_.shares.size() * model_.labels; }

  // `sums`: what each policy gives to each label for the item itself; `draw` is from 0 to below 1, for Decide::kDraw.
  // The first label is the policy's decision; the others follow by the scores summed by share.
  void choose(const double* sums, const Situation& situation, double draw);
  const std::vector<std::int32_t>& ranked() const noexcept { return ranked_; }
  // The logarithm of a label's probability: a softmax of the scores summed by share. 0 if nobody wants them.
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
