// Sequence labelling by policies with features of an item and of the labels before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt::searn {

// Columns of items, and rows of history features. A row of -1 is no feature; an empty span of rows is an unused
// template. The label after the last stands for no label.
struct SequenceColumns {
  std::span<const std::int64_t> offsets;  // items, by sequence
  std::span<const std::int32_t> gold;
  std::span<const std::int64_t> starts;  // features, by item
  std::span<const std::int32_t> ids;
  std::span<const double> values;     // empty if all are 1
  std::span<const std::int32_t> last;  // last target word by item, -1 if none; may be empty without `fragment`
  std::size_t labels = 0;
  std::span<const std::int32_t> label;     // by last label
  std::span<const std::int32_t> label2;    // by the last two labels
  std::span<const std::int32_t> depth;     // by number of fragments
  std::span<const std::int32_t> fragment;  // by word; then of an empty fragment, and of no fragment
  std::span<const std::int64_t> operation_starts;
  std::span<const std::uint8_t> operations;  // by label: whether each reduction is in order
};

enum class Decide { kOptimal, kVote, kDraw };

// Policies (weights by policy, row and label); `shares` begin with that of the optimal policy, `voting` leaves it out.
struct Mixture {
  std::span<const float> weights;
  std::span<const double> shares;
  std::span<const double> voting;
};

class Sequences {
 public:
  explicit Sequences(const SequenceColumns& columns);

  std::size_t size() const noexcept { return columns_.offsets.size() - 1; }
  std::size_t items() const noexcept { return columns_.gold.size(); }
  std::size_t labels() const noexcept { return columns_.labels; }
  // The number of history features of an item.
  std::size_t width() const noexcept { return width_; }
  const SequenceColumns& columns() const noexcept { return columns_; }

  // Label the items of sequences [first, last) from left to right. Writes `width` rows of history features per item to
  // `history`. Both outputs begin at the first item of these sequences.
  void follow(std::size_t first, std::size_t last, const Mixture& mixture, Decide decide, std::uint64_t key,
              std::int32_t* taken, std::int32_t* history) const;

  // Try each label at each item, after the labels `taken` before it, and complete the sequence by the mixture: the
  // number of wrong labels from the item on, averaged over samples, by item and label.
  void complete(std::size_t first, std::size_t last, const Mixture& mixture, Decide decide, std::size_t samples,
                std::uint64_t key, const std::int32_t* taken, double* costs) const;

 private:
  struct State;
  struct Scratch;

  void begin(State& state) const;
  void rows(const State& state, std::int32_t* history) const noexcept;
  void advance(State& state, std::size_t item, std::int32_t label) const;
  void score(std::size_t item, const std::int32_t* history, const float* weights, double* scores) const noexcept;
  std::int32_t best(std::size_t item, const std::int32_t* history, const Mixture& mixture, std::size_t policy,
                    Scratch& scratch) const;
  std::int32_t choose(std::size_t item, const std::int32_t* history, const Mixture& mixture, Decide decide,
                      std::uint64_t key, Scratch& scratch) const;

  SequenceColumns columns_;
  std::size_t width_;
};

// The index of the highest value, the first on ties.
template <class T>
inline std::size_t highest(const T* values, std::size_t count) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (values[i] > values[at]) at = i;
  }
  return at;
}

// Add a row of weights times a value to the scores.
template <class W>
inline void add_row(double* scores, const W* row, double value, std::size_t labels) noexcept {
  for (std::size_t l = 0; l < labels; ++l) scores[l] += static_cast<double>(row[l]) * value;
}

}  // namespace smt::searn
