// Python bindings of linear classifiers; use boosting/linear.py.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>

#include "bind/arrays.hpp"
#include "bindings.hpp"
#include "linear.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::bitree {

namespace {

using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Rows with their classes; checked against the weights, a row for each class.
struct Problem {
  RowsOfAtoms rows;
  std::span<const std::int32_t> classes;

  Problem(const Input<std::int64_t>& offsets, const Input<std::int32_t>& ids, const Input<std::int32_t>& given,
          const Matrix& weights)
      : classes(view(given)) {
    check(weights.shape(1) > 0, "expected weights with a column for the bias");
    rows = {view(offsets), view(ids), weights.shape(1) - 1};
    const auto ends = rows.offsets;
    check(!ends.empty() && ends.front() == 0 && ends.back() == static_cast<std::int64_t>(rows.ids.size()) &&
               std::is_sorted(ends.begin(), ends.end()),
           "expected offsets that increase from 0 to the number of ids");
    check(classes.size() == rows.size(), "expected a class for each row");
    for (const std::int32_t id : rows.ids) {
      check(id >= 0 && static_cast<std::size_t>(id) < rows.atoms, "expected atoms that have a weight");
    }
  }
};

std::span<double> row_of(const Matrix& weights, std::size_t row) {
  return {weights.data() + row * weights.shape(1), weights.shape(1)};
}

std::int64_t loglinear(Input<std::int64_t> offsets, Input<std::int32_t> ids, Input<std::int32_t> classes,
                       Matrix weights, double penalty, double tolerance, int steps) {
  const Problem problem(offsets, ids, classes, weights);
  check(penalty > 0 && tolerance > 0 && steps >= 0, "expected a penalty and a tolerance above 0");
  nb::gil_scoped_release unlocked;
  std::int64_t made = 0;
  for (std::size_t right = 0; right < weights.shape(0); ++right) {
    made += fit_loglinear(problem.rows, problem.classes, static_cast<std::int32_t>(right), penalty, tolerance, steps,
                          row_of(weights, right));
  }
  return made;
}

std::tuple<std::int64_t, double> online_svm(Input<std::int64_t> offsets, Input<std::int32_t> ids,
                                            Input<std::int32_t> classes, Matrix weights, Input<std::int32_t> order,
                                            double cost, double tolerance, int finish, std::uint64_t seed) {
  const Problem problem(offsets, ids, classes, weights);
  check(cost > 0 && tolerance > 0 && finish >= 0, "expected a cost and a tolerance above 0");
  for (const std::int32_t row : view(order)) {
    check(row >= 0 && static_cast<std::size_t>(row) < problem.rows.size(), "expected an order of existing rows");
  }
  nb::gil_scoped_release unlocked;
  std::int64_t count = 0;
  double violation = 0;
  for (std::size_t right = 0; right < weights.shape(0); ++right) {
    const SupportVectors vectors =
        fit_online_svm(problem.rows, problem.classes, static_cast<std::int32_t>(right), view(order), cost, tolerance,
                       finish, seed + right, row_of(weights, right));
    count += static_cast<std::int64_t>(vectors.count);
    violation = std::max(violation, vectors.violation);
  }
  return {count, violation};
}

}  // namespace

void bind_linear(nb::module_& m) {
  m.def("fit_loglinear", &loglinear, "offsets"_a, "ids"_a, "classes"_a, "weights"_a, "penalty"_a, "tolerance"_a,
        "steps"_a, "Fit each class against the rest, writing weights in place; return the number of Newton steps.");
  m.def("fit_online_svm", &online_svm, "offsets"_a, "ids"_a, "classes"_a, "weights"_a, "order"_a, "cost"_a,
        "tolerance"_a, "finish"_a, "seed"_a,
        "Fit each class against the rest, writing weights in place; return the support vectors and worst violation.");
}

}  // namespace smt::bitree
