// Sequences of items that get labels, features of an item and of the labels before it, and policies at work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt::searn {

// Columns of items, and rows of the features of their histories. Rows are -1 where there is no feature; an empty span
// of rows is a template that is not used. The label behind the last one is that of no label.
struct SequenceColumns {
  std::span<const std::int64_t> offsets;  // of the items of each sequence
  std::span<const std::int32_t> gold;
  std::span<const std::int64_t> starts;  // of the features of each item
  std::span<const std::int32_t> ids;
  std::span<const double> values;     // empty if all are 1
  std::span<const std::int32_t> last;  // the last word that an item adds, -1 if none; may be empty without `fragment`
  std::size_t labels = 0;
  std::span<const std::int32_t> label;     // by last label
  std::span<const std::int32_t> label2;    // by the label before the last and the last
  std::span<const std::int32_t> depth;     // by number of fragments
  std::span<const std::int32_t> fragment;  // by word; behind them that of an empty fragment, and of no fragment
  std::span<const std::int64_t> operation_starts;
  std::span<const std::uint8_t> operations;  // of each label: whether reductions are in order
};

enum class Decide { kOptimal, kVote, kDraw };

// Policies (weights by policy, row and label) with their shares: of the optimal policy first, and of each when the
// optimal one is left out.
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
  // How many features of the history an item has.
  std::size_t width() const noexcept { return width_; }
  const SequenceColumns& columns() const noexcept { return columns_; }

  // Labels of the items of sequences first to before last, chosen one after another. `history` gets the rows of the
  // features of each item's history, `width` of them. Both begin at the first item of these sequences.
  void follow(std::size_t first, std::size_t last, const Mixture& mixture, Decide decide, std::uint64_t key,
              std::int32_t* taken, std::int32_t* history) const;

  // Behind the labels taken before each item, each label is tried there and the sequence completed by the mixture: how
  // many labels are wrong from the item on, the mean of some samples. By item and label.
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

// The first of the highest.
template <class T>
inline std::size_t highest(const T* values, std::size_t count) noexcept {
  std::size_t at = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (values[i] > values[at]) at = i;
  }
  return at;
}

// Adds a row of weights, times a value.
template <class W>
inline void add_row(double* scores, const W* row, double value, std::size_t labels) noexcept {
  for (std::size_t l = 0; l < labels; ++l) scores[l] += static_cast<double>(row[l]) * value;
}

}  // namespace smt::searn
