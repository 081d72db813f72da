#include "phrase/reordering.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "lm/lm_state.hpp"

namespace smt {

// The class of an orientation in a reordering model.
std::size_t OrderFeature::class_of(Orientation orientation) const noexcept {
  switch (kind) {
    case ReorderingKind::kMsd:
      return orientation == Orientation::kMonotone ? 0 : (orientation == Orientation::kSwap ? 1 : 2);
    case ReorderingKind::kMslr:
      return static_cast<std::size_t>(orientation);
    case ReorderingKind::kMonotonicity:
      return orientation == Orientation::kMonotone ? 0 : 1;
    case ReorderingKind::kLeftRight:
      return orientation == Orientation::kMonotone || orientation == Orientation::kRight ? 0 : 1;
  }
  return 0;
}

std::size_t OrderFeature::classes() const noexcept {
  if (!reordering) return 0;
  return kind == ReorderingKind::kMsd ? 3 : (kind == ReorderingKind::kMslr ? 4 : 2);
}

OrderScores::OrderScores(std::vector<OrderFeature> features) : features_(std::move(features)) {
  for (const OrderFeature& order : features_) {
    components_ += order.components();
    if (order.weights.size() != order.components()) throw std::invalid_argument("a weight for each component");
    if (!order.reordering) distortion_ += order.weights[0];
    forward_ |= order.reordering && order.forward;
    reordering_ |= order.reordering;
  }
}

void OrderScores::start(std::span<const std::vector<float>> rows, std::size_t rules) {
  rows_ = rows;
  row_of_.assign(rules, none);
  if (reordering_) weigh(rules);
  if (forward_) number_rows(rules);
}

// The reordering scores of each rule for each orientation.
void OrderScores::weigh(std::size_t rules) {
  before_.assign(rules * kOrientations, 0.0);
  behind_.assign(rules * kOrientations, 0.0);
  std::size_t model = 0;
  for (const OrderFeature& order : features_) {
    if (!order.reordering) continue;
    const std::vector<float>& values = rows_[model++];
    const std::size_t classes = order.classes();
    const std::size_t columns = order.columns();
    if (values.size() != rules * columns) throw std::invalid_argument("a reordering model has a row for each rule");
    for (std::size_t o = 0; o < kOrientations; ++o) {
      const std::size_t c = order.class_of(static_cast<Orientation>(o));
      const std::size_t ahead = order.backward ? classes : 0;
      for (std::size_t r = 0; r < rules; ++r) {
        const float* const row = values.data() + r * columns;
        if (order.backward) {
          before_[r * kOrientations + o] += order.weights[order.collapse ? 0 : c] * static_cast<double>(row[c]);
        }
        if (order.forward) {
          const std::size_t weight = order.collapse ? (order.backward ? 1 : 0) : ahead + c;
          behind_[r * kOrientations + o] += order.weights[weight] * static_cast<double>(row[ahead + c]);
        }
      }
    }
  }
}

// Equal rows of forward scores get the number of the first rule with such a row.
void OrderScores::number_rows(std::size_t rules) {
  const auto each = [&](std::size_t rule, auto visit) {
    std::size_t model = 0;
    for (const OrderFeature& order : features_) {
      if (!order.reordering) continue;
      const std::vector<float>& values = rows_[model++];
      if (!order.forward) continue;
      const std::size_t first = rule * order.columns() + (order.backward ? order.classes() : 0);
      for (std::size_t c = 0; c < order.classes(); ++c) visit(values[first + c]);
    }
  };
  row_slots_.assign(std::bit_ceil(2 * rules + 1), none);
  const std::size_t mask = row_slots_.size() - 1;
  std::vector<float> own;
  std::vector<float> other;
  for (std::size_t r = 0; r < rules; ++r) {
    own.clear();
    each(r, [&](float value) { own.push_back(value); });
    std::uint64_t hash = 0;
    for (const float value : own) hash = mix(hash, std::bit_cast<std::uint32_t>(value));
    std::size_t slot = hash & mask;
    for (; row_slots_[slot] != none; slot = (slot + 1) & mask) {
      other.clear();
      each(static_cast<std::size_t>(row_slots_[slot]), [&](float value) { other.push_back(value); });
      if (own == other) break;
    }
    if (row_slots_[slot] == none) row_slots_[slot] = static_cast<std::int32_t>(r);
    row_of_[r] = row_slots_[slot];
  }
}

void OrderScores::values(std::int32_t before, std::int32_t rule, Orientation orientation, std::int32_t jump,
                         float* values) const {
  std::size_t model = 0;
  for (const OrderFeature& order : features_) {
    if (!order.reordering) {
      *values++ = -static_cast<float>(jump);
      continue;
    }
    const std::vector<float>& rows = rows_[model++];
    const std::size_t columns = order.columns();
    const auto row = [&](std::int32_t number) { return rows.data() + static_cast<std::size_t>(number) * columns; };
    const std::size_t c = order.class_of(orientation);
    std::fill_n(values, order.components(), 0.0F);
    std::size_t place = 0;
    if (order.backward) {
      values[order.collapse ? 0 : c] = row(rule)[c];
      place = order.collapse ? 1 : order.classes();
    }
    if (order.forward && before != none) {
      const std::size_t ahead = order.backward ? order.classes() : 0;
      values[order.collapse ? place : place + c] = row(before)[ahead + c];
    }
    values += order.components();
  }
}

}  // namespace smt
