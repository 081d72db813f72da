// Python bindings of sequence labelling and of learning from examples; use learning/sequences.py and learning/searn.py.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bindings.hpp"
#include "draws.hpp"
#include "examples.hpp"
#include "sequences.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::searn {
namespace {

using Numbers = Input<std::int32_t>;
using Offsets = Input<std::int64_t>;
using Result = std::tuple<std::uint64_t, std::uint64_t, double>;

Decide decide_of(const std::string& name) {
  if (name == "optimal") return Decide::kOptimal;
  if (name == "policy") return Decide::kVote;
  if (name == "sampled") return Decide::kDraw;
  throw nb::value_error("expected optimal, policy or sampled");
}

Averaged averaged_of(const InOut<double>& weights, const InOut<double>& total, std::uint64_t count) {
  check(weights.shape(0) == total.shape(0), "expected as many sums as weights");
  return {{weights.data(), weights.shape(0)}, {total.data(), total.shape(0)}, count};
}

// Sequences together with the arrays they refer to, which it keeps alive.
class KeptSequences {
 public:
  KeptSequences(Offsets offsets, Numbers gold, Offsets starts, Numbers ids, std::optional<Input<double>> values,
                Numbers last, std::size_t labels, std::size_t rows, Numbers label, Numbers label2, Numbers depth,
                Numbers fragment, Offsets operation_starts, Input<std::uint8_t> operations)
      : offsets_(std::move(offsets)),
        starts_(std::move(starts)),
        operation_starts_(std::move(operation_starts)),
        gold_(std::move(gold)),
        ids_(std::move(ids)),
        last_(std::move(last)),
        label_(std::move(label)),
        label2_(std::move(label2)),
        depth_(std::move(depth)),
        fragment_(std::move(fragment)),
        values_(std::move(values)),
        operations_(std::move(operations)),
        rows_(rows),
        sequences_(checked(labels)) {}

  std::size_t size() const { return sequences_.size(); }
  std::size_t items() const { return sequences_.items(); }
  std::size_t width() const { return sequences_.width(); }

  auto follow(std::size_t first, std::size_t last, const Input<float>& weights, const Input<double>& shares,
              const Input<double>& voting, const std::string& decide, std::uint64_t key) const {
    const Mixture mixture = mixture_of(weights, shares, voting);
    const Decide how = decide_of(decide);
    const std::size_t count = between(first, last);
    if (how != Decide::kVote && shares(0) > 0.0) check_gold(static_cast<std::size_t>(offsets_(last)));
    if (how == Decide::kOptimal || voting.shape(0) == 0) check_gold(static_cast<std::size_t>(offsets_(last)));
    std::vector<std::int32_t> taken(count), history(count * width());
    {
      nb::gil_scoped_release unlocked;
      sequences_.follow(first, last, mixture, how, key, taken.data(), history.data());
    }
    return std::tuple(column(std::move(taken)), table(std::move(history), count, width()));
  }

  auto complete(std::size_t first, std::size_t last, const Input<float>& weights, const Input<double>& shares,
                const Input<double>& voting, const std::string& decide, std::size_t samples, std::uint64_t key,
                const Numbers& taken) const {
    const Mixture mixture = mixture_of(weights, shares, voting);
    const Decide how = decide_of(decide);
    const std::size_t count = between(first, last), labels = sequences_.labels();
    check(taken.shape(0) == count, "expected a label for each item");
    check_numbers(view(taken), 0, labels, "expected existing labels");
    check(samples >= 1, "expected samples of 1 or more");
    check_gold(static_cast<std::size_t>(offsets_(last)));
    std::vector<double> costs(count * labels);
    {
      nb::gil_scoped_release unlocked;
      sequences_.complete(first, last, mixture, how, samples, key, taken.data(), costs.data());
    }
    return table(std::move(costs), count, labels);
  }

  Result learn(const Numbers& history, const std::optional<Input<double>>& costs, const Input<std::uint32_t>& order,
               bool logistic, double rate, InOut<double> weights, InOut<double> total, std::uint64_t count) const {
    std::size_t known = width() > 0 ? history.shape(0) / width() : items();
    if (costs) known = std::min(known, costs->shape(0) / sequences_.labels());
    check_numbers(view(history), -1, rows_, "expected existing rows of history features");
    check_numbers(view(order), 0, std::min(known, items()), "expected items with a history and costs");
    check_gold(known);
    check(weights.shape(0) == rows_ * sequences_.labels(), "expected a weight for each feature and label");
    Averaged averaged = averaged_of(weights, total, count);
    const ItemExamples examples{&sequences_, view(history),
                                costs ? view(*costs) : std::span<const double>()};
    nb::gil_scoped_release unlocked;
    const Passed passed = pass(examples, view(order), {logistic, rate}, averaged);
    return {averaged.count, passed.wrong, passed.cost};
  }

 private:
  SequenceColumns checked(std::size_t labels) const {
    check(labels > 0, "expected labels");
    check_offsets(view(offsets_), gold_.shape(0), "expected offsets that increase from 0 to the number of items");
    check_numbers(view(gold_), -1, labels, "expected existing labels");
    check_offsets(view(starts_), ids_.shape(0), "expected starts that increase from 0 to the number of features");
    check(starts_.shape(0) == gold_.shape(0) + 1, "expected a start for each item");
    check_numbers(view(ids_), 0, rows_, "expected existing features");
    check(!values_ || values_->shape(0) == ids_.shape(0), "expected a value for each feature");
    check_offsets(view(operation_starts_), operations_.shape(0), "expected starts of operations that increase");
    check(operation_starts_.shape(0) == labels + 1, "expected a start of operations for each label");
    for (const Numbers* rows : {&label_, &label2_, &depth_, &fragment_}) {
      check_numbers(view(*rows), -1, rows_, "expected existing rows of history features");
    }
    const std::size_t own = labels + 1;
    check(label_.shape(0) == 0 || label_.shape(0) == own, "expected a row for each label and none");
    check(label2_.shape(0) == 0 || label2_.shape(0) == own * own, "expected a row for each pair of labels");
    check(fragment_.shape(0) != 1, "expected rows of words, of an empty fragment and of none");
    if (fragment_.shape(0) > 0) {
      check(last_.shape(0) == gold_.shape(0), "expected a last word for each item");
      check_numbers(view(last_), -1, fragment_.shape(0) - 2, "expected existing words");
    }
    return {view(offsets_), view(gold_),   view(starts_),  view(ids_),
            values_ ? view(*values_) : std::span<const double>(),
            fragment_.shape(0) > 0 ? view(last_) : std::span<const std::int32_t>(),
            labels,         view(label_),  view(label2_), view(depth_), view(fragment_), view(operation_starts_),
            view(operations_)};
  }

  // An unknown gold label is never right: such items are evaluated, but not learnt from.
  void check_gold(std::size_t until) const {
    for (std::size_t item = 0; item < until; ++item) check(gold_(item) >= 0, "expected items with gold labels");
  }

  Mixture mixture_of(const Input<float>& weights, const Input<double>& shares, const Input<double>& voting) const {
    check(weights.shape(0) == voting.shape(0) * rows_ * sequences_.labels(),
          "expected a weight for each policy, feature and label");
    check(shares.shape(0) == voting.shape(0) + 1, "expected shares of the optimal policy and of each other");
    return {view(weights), view(shares), view(voting)};
  }

  std::size_t between(std::size_t first, std::size_t last) const {
    check(first <= last && last <= size(), "expected existing sequences");
    return static_cast<std::size_t>(offsets_(last) - offsets_(first));
  }

  Offsets offsets_, starts_, operation_starts_;
  Numbers gold_, ids_, last_, label_, label2_, depth_, fragment_;
  std::optional<Input<double>> values_;
  Input<std::uint8_t> operations_;
  std::size_t rows_;
  Sequences sequences_;
};

void check_rows(const Offsets& starts, const Numbers& ids, const Input<double>& values, std::size_t names) {
  check_offsets(view(starts), ids.shape(0), "expected starts that increase from 0 to the number of features");
  check(values.shape(0) == ids.shape(0), "expected a value for each feature");
  check_numbers(view(ids), 0, names, "expected existing features");
}

Result learn_rows(const Offsets& groups, const Offsets& starts, const Numbers& ids, const Input<double>& values,
                  const Input<double>& costs, const Input<std::uint32_t>& order, bool logistic, double rate,
                  InOut<double> weights, InOut<double> total, std::uint64_t count) {
  check_rows(starts, ids, values, weights.shape(0));
  check_offsets(view(groups), starts.shape(0) - 1, "expected groups that increase from 0 to the number of rows");
  check(costs.shape(0) + 1 == starts.shape(0), "expected a cost for each row");
  check_numbers(view(order), 0, groups.shape(0) - 1, "expected existing examples");
  Averaged averaged = averaged_of(weights, total, count);
  const RowExamples examples{view(groups), view(starts), view(ids), view(values), view(costs)};
  nb::gil_scoped_release unlocked;
  const Passed passed = pass(examples, view(order), {logistic, rate}, averaged);
  return {averaged.count, passed.wrong, passed.cost};
}

auto score_rows(const Offsets& starts, const Numbers& ids, const Input<double>& values, const Input<float>& weights,
                std::size_t policies) {
  check(policies > 0 && weights.shape(0) % policies == 0, "expected a weight for each policy and feature");
  const std::size_t names = weights.shape(0) / policies, rows = starts.shape(0) - 1;
  check_rows(starts, ids, values, names);
  std::vector<double> scores(policies * rows);
  for (std::size_t p = 0; p < policies; ++p) {
    const float* const own = weights.data() + p * names;
    for (std::size_t row = 0; row < rows; ++row) {
      for (auto k = static_cast<std::size_t>(starts(row)); k < static_cast<std::size_t>(starts(row + 1)); ++k) {
        scores[p * rows + row] += static_cast<double>(own[ids(k)]) * values(k);
      }
    }
  }
  return table(std::move(scores), policies, rows);
}

}  // namespace

void bind_sequences(nb::module_& m) {
  nb::class_<KeptSequences>(m, "Sequences", "Sequences of items with gold labels, to be labelled by policies.")
      .def(nb::init<Offsets, Numbers, Offsets, Numbers, std::optional<Input<double>>, Numbers, std::size_t, std::size_t,
                    Numbers, Numbers, Numbers, Numbers, Offsets, Input<std::uint8_t>>(),
           "offsets"_a, "gold"_a, "starts"_a, "ids"_a, "values"_a.none(), "last"_a, "labels"_a, "rows"_a, "label"_a,
           "label2"_a, "depth"_a, "fragment"_a, "operation_starts"_a, "operations"_a)
      .def("__len__", &KeptSequences::size)
      .def_prop_ro("items", &KeptSequences::items, "The number of items of all sequences.")
      .def_prop_ro("width", &KeptSequences::width, "The number of history features of an item.")
      .def("follow", &KeptSequences::follow, "first"_a, "last"_a, "weights"_a, "shares"_a, "voting"_a, "decide"_a,
           "key"_a, "Label items from left to right by a mixture; return labels and history features of each item.")
      .def("complete", &KeptSequences::complete, "first"_a, "last"_a, "weights"_a, "shares"_a, "voting"_a, "decide"_a,
           "samples"_a, "key"_a, "taken"_a,
           "The cost of each label for each item: wrong labels from there on, completed by the mixture.")
      .def("learn", &KeptSequences::learn, "history"_a, "costs"_a.none(), "order"_a, "logistic"_a, "rate"_a,
           "weights"_a, "total"_a, "count"_a,
           "Train on items; return the next example number, the number of errors and their cost.");
  m.def("learn_rows", &learn_rows, "groups"_a, "starts"_a, "ids"_a, "values"_a, "costs"_a, "order"_a, "logistic"_a,
        "rate"_a, "weights"_a, "total"_a, "count"_a,
        "Train on examples; return the next example number, the number of errors and their cost.");
  m.def("score_rows", &score_rows, "starts"_a, "ids"_a, "values"_a, "weights"_a, "policies"_a,
        "The score of each row by each policy (policies x rows).");
  m.def("chained", &chained, "key"_a, "number"_a, "Derive a new key from a key and a number.");
  m.def("uniform", &uniform, "key"_a, "The random number in [0, 1) of a key.");
}

}  // namespace smt::searn
