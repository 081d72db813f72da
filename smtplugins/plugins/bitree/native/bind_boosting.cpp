// Python bindings of boosted trees; use boosting/boosting.py and boosting/boosted_model.py.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "bind/arrays.hpp"
#include "bindings.hpp"
#include "boosting.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::bitree {
namespace {

using Longs = Input<std::int64_t>;
using Ints = Input<std::int32_t>;
using Doubles = Input<double>;
// lambdas, nodes, splits, others, values
using Path = std::tuple<Column<double>, Column<std::int64_t>, Column<std::int32_t>, Column<std::int32_t>, Column<double>>;

RowsOfAtoms rows_of(const Longs& offsets, const Ints& ids, std::size_t atoms) {
  const RowsOfAtoms rows{view(offsets), view(ids), atoms};
  check_offsets(rows.offsets, rows.ids.size(), "expected offsets that increase from 0 to the number of ids");
  check(rows.size() < std::numeric_limits<std::uint32_t>::max(), "expected fewer than 2^32 - 1 rows");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::int64_t last = -1;
    for (const std::int32_t id : rows[r]) {
      check(id > last && static_cast<std::size_t>(id) < atoms, "expected the atoms of a row in ascending order");
      last = id;
    }
  }
  return rows;
}

Forest forest_of(const Longs& starts, const Doubles& lambdas, const Longs& nodes, const Ints& splits,
                 const Ints& others, const Doubles& values) {
  check_offsets(view(starts), lambdas.shape(0), "expected starts that increase from 0 to the number of trees");
  check(nodes.shape(0) == lambdas.shape(0) + 1, "expected nodes of each tree");
  check_offsets(view(nodes), splits.shape(0), "expected nodes that rise from 0 to their number");
  check(others.shape(0) == splits.shape(0) && values.shape(0) == splits.shape(0), "expected arrays of one length");
  return {view(starts), view(nodes), view(splits), view(others), view(values)};
}

void check_trees(const Forest& forest, std::size_t first, std::size_t end, std::size_t atoms) {
  for (std::size_t t = first; t < end; ++t) check(is_sound(forest.tree(t), atoms), "expected trees, found other nodes");
}

Path path_of(const TreeStore& trees) {
  return {column(trees.lambdas), column(trees.nodes), column(trees.splits), column(trees.others), column(trees.values)};
}

BoostOptions checked(double eta, double epsilon, std::size_t trees, std::size_t depth) {
  check(eta > 0 && eta < 1, "expected an eta between 0 and 1");
  check(epsilon >= 0, "expected an epsilon of 0 or more");
  return {eta, epsilon, trees, depth};
}

// Owns a copy of its examples.
class Boosted {
 public:
  Boosted(const Longs& offsets, const Ints& ids, std::size_t atoms, const Input<std::int8_t>& labels,
          const std::optional<Doubles>& weights)
      : atoms_(atoms) {
    const RowsOfAtoms rows = rows_of(offsets, ids, atoms);
    check(labels.shape(0) == rows.size(), "expected a label for each row");
    for (const std::int8_t label : view(labels)) check(label == 1 || label == -1, "expected labels 1 and -1");
    std::vector<double> own;
    if (weights) {
      check(weights->shape(0) == rows.size(), "expected a weight for each row");
      for (const double weight : view(*weights)) {
        check(weight >= 0 && weight < std::numeric_limits<double>::infinity(), "expected weights of 0 or more");
      }
      own.assign(weights->data(), weights->data() + weights->shape(0));
    }
    const nb::gil_scoped_release release;
    boosting_ = std::make_unique<Boosting>(
        std::make_shared<const Incidence>(rows),
        std::vector<std::int8_t>(labels.data(), labels.data() + labels.shape(0)), std::move(own));
  }

  bool advance(double least, double eta, double epsilon, std::size_t trees, std::size_t depth) {
    const BoostOptions options = checked(eta, epsilon, trees, depth);
    const nb::gil_scoped_release release;
    return boosting_->advance(least, options);
  }

  void replay(const Doubles& lambdas, const Longs& nodes, const Ints& splits, const Ints& others,
              const Doubles& values, double lambda) {
    check(boosting_->trees().size() == 0, "expected no trees so far");
    check(nodes.shape(0) == lambdas.shape(0) + 1, "expected nodes of each tree");
    check_offsets(view(nodes), splits.shape(0), "expected nodes that rise from 0 to their number");
    check(others.shape(0) == splits.shape(0) && values.shape(0) == splits.shape(0), "expected arrays of one length");
    TreeStore trees;
    trees.lambdas.assign(lambdas.data(), lambdas.data() + lambdas.shape(0));
    trees.nodes.assign(nodes.data(), nodes.data() + nodes.shape(0));
    trees.splits.assign(splits.data(), splits.data() + splits.shape(0));
    trees.others.assign(others.data(), others.data() + others.shape(0));
    trees.values.assign(values.data(), values.data() + values.shape(0));
    for (std::size_t t = 0; t < trees.size(); ++t) {
      check(is_sound(trees.tree(t), atoms_), "expected trees, found other nodes");
    }
    const nb::gil_scoped_release release;
    boosting_->replay(trees, lambda);
  }

  const Boosting& get() const { return *boosting_; }
  Path path() const { return path_of(boosting_->trees()); }
  Column<double> scores() const { return column(boosting_->scores()); }
  Column<double> gradients() const { return column(boosting_->gradients(atoms_)); }

 private:
  std::size_t atoms_;
  std::unique_ptr<Boosting> boosting_;
};

using Given = std::tuple<Longs, Ints, std::size_t, Ints, std::size_t>;

std::tuple<Column<std::int64_t>, Path> boost_problems(const std::vector<Given>& given, double least, double ratio,
                                                      double eta, double epsilon, std::size_t trees, std::size_t depth,
                                                      std::size_t threads) {
  check(least >= 0 && ratio >= 0 && (least > 0 || ratio > 0), "expected the path to end above 0");
  const BoostOptions options = checked(eta, epsilon, trees, depth);
  std::vector<BoostProblem> problems;
  for (const auto& [offsets, ids, atoms, classes, count] : given) {
    problems.push_back({rows_of(offsets, ids, atoms), view(classes), count});
    check(classes.shape(0) == problems.back().rows.size(), "expected a class for each row");
  }
  TreeStore all;
  std::vector<std::int64_t> starts = {0};
  {
    const nb::gil_scoped_release release;
    std::vector<TreeStore> grown = boost(problems, options, least, ratio, threads);
    for (TreeStore& own : grown) {
      all.lambdas.insert(all.lambdas.end(), own.lambdas.begin(), own.lambdas.end());
      const std::int64_t before = all.nodes.back();
      for (std::size_t t = 1; t < own.nodes.size(); ++t) all.nodes.push_back(before + own.nodes[t]);
      all.splits.insert(all.splits.end(), own.splits.begin(), own.splits.end());
      all.others.insert(all.others.end(), own.others.begin(), own.others.end());
      all.values.insert(all.values.end(), own.values.begin(), own.values.end());
      starts.push_back(static_cast<std::int64_t>(all.size()));
      own = {};
    }
  }
  return {column(std::move(starts)), path_of(all)};
}

Table<double> evaluate_trees(const Longs& starts, const Doubles& lambdas, const Longs& nodes, const Ints& splits,
                     const Ints& others, const Doubles& values, std::size_t first, const Longs& counts,
                     const Longs& offsets, const Ints& ids, std::size_t atoms, std::size_t threads) {
  const Forest forest = forest_of(starts, lambdas, nodes, splits, others, values);
  const std::size_t width = counts.shape(0);
  check(first + width < forest.starts.size(), "expected numbers of existing classifiers");
  for (std::size_t k = 0; k < width; ++k) {
    const std::int64_t begin = forest.starts[first + k], end = forest.starts[first + k + 1];
    check(counts.data()[k] >= 0 && counts.data()[k] <= end - begin, "expected no more trees than there are");
    check_trees(forest, static_cast<std::size_t>(begin), static_cast<std::size_t>(end), atoms);
  }
  const RowsOfAtoms rows = rows_of(offsets, ids, atoms);
  std::vector<double> scores(rows.size() * width);
  {
    const nb::gil_scoped_release release;
    evaluate(forest, first, view(counts), rows, threads, scores);
  }
  return table(std::move(scores), rows.size(), width);
}

std::tuple<Column<std::int64_t>, Column<std::int32_t>, Column<double>> tree_parameters(
    const Longs& starts, const Doubles& lambdas, const Longs& nodes, const Ints& splits, const Ints& others,
    const Doubles& values, std::size_t classifier, std::size_t count) {
  const Forest forest = forest_of(starts, lambdas, nodes, splits, others, values);
  check(classifier + 1 < forest.starts.size(), "expected the number of an existing classifier");
  const auto first = static_cast<std::size_t>(forest.starts[classifier]);
  check(first + count <= static_cast<std::size_t>(forest.starts[classifier + 1]), "expected no more trees than there are");
  check_trees(forest, first, first + count, std::numeric_limits<std::int32_t>::max() / 2);
  Parameters nonzero = parameters(forest, classifier, count);
  return {column(std::move(nonzero.offsets)), column(std::move(nonzero.literals)), column(std::move(nonzero.values))};
}

}  // namespace

void bind_boosting(nb::module_& m) {
  nb::class_<Boosted>(m, "Boosting", "A classifier that follows the regularisation path of lambda.")
      .def(nb::init<const Longs&, const Ints&, std::size_t, const Input<std::int8_t>&, const std::optional<Doubles>&>(),
           "offsets"_a, "ids"_a, "atoms"_a, "labels"_a, "weights"_a = nb::none())
      .def("advance", &Boosted::advance, "least"_a, "eta"_a, "epsilon"_a, "trees"_a, "depth"_a,
           "Follow the path until lambda falls below `least`; False if it ends before.")
      .def("replay", &Boosted::replay, "lambdas"_a, "nodes"_a, "splits"_a, "others"_a, "values"_a, "penalty"_a,
           "Add trees of an earlier run, and continue at its lambda.")
      .def("first_penalty", [](const Boosted& b, double eta) { return b.get().first_lambda(eta); }, "eta"_a)
      .def_prop_ro("penalty", [](const Boosted& b) { return b.get().lambda(); }, "Lambda.")
      .def_prop_ro("loss", [](const Boosted& b) { return b.get().loss(); })
      .def_prop_ro("risk", [](const Boosted& b) { return b.get().risk(); })
      .def_prop_ro("count", [](const Boosted& b) { return b.get().trees().size(); }, "The number of trees.")
      .def_prop_ro("tries", [](const Boosted& b) { return b.get().tries(); }, "The number of trees grown.")
      .def_prop_ro("parameters", [](const Boosted& b) { return b.get().parameters(); },
                   "The number of non-zero parameters.")
      .def("path", &Boosted::path, "The trees as lambdas, nodes, splits, others, values.")
      .def("scores", &Boosted::scores, "The confidence of each row.")
      .def("gradients", &Boosted::gradients, "-dL/dTheta of the empty conjunction and of each atom.");
  m.def("boost_problems", &boost_problems, "problems"_a, "least"_a, "ratio"_a, "eta"_a, "epsilon"_a, "trees"_a,
        "depth"_a, "threads"_a,
        "Boost each class of each problem (offsets, ids, atoms, classes, number of classes); return starts and trees.");
  m.def("evaluate_trees", &evaluate_trees, "starts"_a, "lambdas"_a, "nodes"_a, "splits"_a, "others"_a, "values"_a,
        "first"_a, "counts"_a, "offsets"_a, "ids"_a, "atoms"_a, "threads"_a,
        "The summed outputs of some classifiers' first trees for each row.");
  m.def("tree_parameters", &tree_parameters, "starts"_a, "lambdas"_a, "nodes"_a, "splits"_a, "others"_a, "values"_a,
        "classifier"_a, "count"_a, "The parameters of a classifier's first trees: offsets, literals, values.");
}

}  // namespace smt::bitree
