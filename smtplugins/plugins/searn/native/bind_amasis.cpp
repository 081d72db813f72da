// Python bindings of the search of amasis; use decoding/decoder.py.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "amasis_search.hpp"
#include "bind/arrays.hpp"
#include "bind/cycles.hpp"
#include "bind/options.hpp"
#include "bindings.hpp"
#include "search/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::searn {
namespace {

using Weights = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

constexpr auto kMoved = nb::rv_policy::move;
constexpr const char* kCleared = "the searcher is being taken apart";

// A policy's labels and weights; keeps the weight array alive.
struct KeptLabels {
  KeptLabels(Weights given, Input<double> shares, Input<std::int32_t> reductions, Input<std::uint32_t> operations,
             Input<std::int32_t> label_rows, Input<std::int32_t> pair_rows, Input<std::int32_t> depth_rows,
             bool fragments, std::int32_t fragment_begin, std::int32_t fragment_empty)
      : weights(std::move(given)) {
    const std::size_t policies = weights.shape(0);
    model.rows = weights.shape(1);
    model.labels = weights.shape(2);
    check(policies != 0 && model.labels != 0, "expected a policy with labels and a share");
    check(shares.shape(0) == policies, "expected a share for each policy");
    check(reductions.shape(0) == model.labels && operations.shape(0) == model.labels, "expected reductions of labels");
    model.weights = {weights.data(), policies * model.rows * model.labels};
    model.shares = values_of(shares);
    model.reductions = values_of(reductions);
    model.operations = values_of(operations);
    model.label_rows = values_of(label_rows);
    model.pair_rows = values_of(pair_rows);
    model.depth_rows = values_of(depth_rows);
    model.fragments = fragments;
    model.fragment_begin = fragment_begin;
    model.fragment_empty = fragment_empty;
    for (const std::int32_t count : model.reductions) {
      check(count >= 0 && count <= 32, "expected at most 32 reductions of a label");
    }
    const std::size_t some = model.labels + 1;
    check(model.label_rows.empty() || model.label_rows.size() == some, "expected a row for each label");
    check(model.pair_rows.empty() || model.pair_rows.size() == some * some, "expected a row for each pair of labels");
    for (const auto* rows : {&model.label_rows, &model.pair_rows, &model.depth_rows}) {
      for (const std::int32_t row : *rows) check_row(row);
    }
    check_row(fragment_begin);
    check_row(fragment_empty);
  }

  void check_row(std::int32_t row) const {
    check(row >= LabelModel::none && row < static_cast<std::int32_t>(model.rows), "expected rows of the weights");
  }

  Weights weights;
  LabelModel model;
};

Decide decide_of(const std::string& name) {
  check(name == "vote" || name == "draw" || name == "last", "expected vote, draw or last");
  return name == "vote" ? Decide::kVote : (name == "draw" ? Decide::kDraw : Decide::kLast);
}

const char* name_of(Decide decide) {
  return decide == Decide::kVote ? "vote" : (decide == Decide::kDraw ? "draw" : "last");
}

// The searcher reuses its buffers: one call at a time.
class LockedAmasis {
 public:
  LockedAmasis(std::shared_ptr<Scorer> scorer, Input<double> weights, std::shared_ptr<KeptLabels> labels,
               const AmasisOptions& options)
      : scorer_(std::move(scorer)), labels_(std::move(labels)) {
    check(options.stack_size >= 0 && options.beam >= 0.0 && options.max_edges >= 1,
          "limits must not be negative, max_edges not 0");
    std::vector<double> weighed = values_of(weights);
    check(weighed.size() == scorer_->components() + kLabelColumns, "a weight for each component and column of labels");
    check(std::all_of(weighed.begin(), weighed.end(), [](double w) { return std::isfinite(w); }),
          "weights must be finite");
    searcher_ = std::make_unique<AmasisSearcher>(scorer_, std::move(weighed), labels_->model, options);
  }

  int traverse(visitproc visit, void* arg) const { return visit_shared(scorer_, visit, arg); }
  void clear() {
    searcher_.reset();
    scorer_.reset();
  }

  AmasisGraph search(const SearchForest& input, Input<double> sums, Input<std::int32_t> fragments,
                     std::uint64_t key) {
    const std::size_t rules = input.rules.scores.size();
    const LabelModel& model = labels_->model;
    check(sums.shape(0) == input.forest.edges() * model.shares.size() * model.labels,
          "sums are by edge, policy and label");
    check(fragments.shape(0) == rules, "each rule has a last word");
    for (std::size_t i = 0; i < rules; ++i) {
      check(fragments(i) >= -2 && fragments(i) < static_cast<std::int32_t>(model.rows), "expected rows of the weights");
    }
    check(input.forest.tails.values.empty(), "expected options without gaps");
    const std::span<const double> given(sums.data(), sums.shape(0));
    const std::span<const std::int32_t> last(fragments.data(), fragments.shape(0));
    bool limited = false;
    AmasisGraph graph;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (searcher_ == nullptr) throw std::runtime_error(kCleared);
      try {
        graph = searcher_->run(input, given, last, key);
      } catch (const SearchLimit&) {
        limited = true;
      }
    }
    if (limited) {
      PyErr_SetString(nb::module_::import_("smtplugins.core.search.stateful_search").attr("SearchLimit").ptr(), "too many hypotheses");
      throw nb::python_error();
    }
    return graph;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<AmasisSearcher> searcher_;
  std::shared_ptr<Scorer> scorer_;
  std::shared_ptr<KeptLabels> labels_;
};

template <class T, class Records, class Get>
auto of_records(Records records, Get get) {
  return [records, get](const AmasisGraph& graph) {
    std::vector<T> values;
    values.reserve((graph.*records).size());
    for (const auto& record : graph.*records) values.push_back(get(record));
    return column(std::move(values));
  };
}

}  // namespace

void bind_amasis(nb::module_& m) {
  using Graph = AmasisGraph;
  const auto edge = [](auto get) { return of_records<std::int32_t>(&Graph::edges, get); };
  const auto item = [](auto get) { return of_records<std::int32_t>(&Graph::items, get); };
  nb::class_<Graph>(m, "AmasisGraph", "A search graph: fragments as nodes, the goal last.")
      .def_prop_ro("nodes", [](const Graph& graph) { return graph.node_edges.size() - 1; })
      .def_prop_ro("node_edges", [](const Graph& graph) { return column(graph.node_edges); }, kMoved)
      .def_prop_ro("rules", edge([](const auto& record) { return record.rule; }), kMoved,
                   "Rule numbers: the forest's, the last of them the goal's, then R+ and R-.")
      .def_prop_ro("firsts", edge([](const auto& record) { return record.first; }), kMoved)
      .def_prop_ro("lasts", edge([](const auto& record) { return record.last; }), kMoved)
      .def_prop_ro("scores", of_records<double>(&Graph::edges, [](const auto& record) { return record.score; }), kMoved,
                   "The score of each edge alone.")
      .def_prop_ro("tails", [](const Graph& graph) { return column(graph.tails.values); }, kMoved)
      .def_prop_ro("tail_offsets", [](const Graph& graph) { return column(graph.tails.offsets); }, kMoved)
      .def_prop_ro("values", [](const Graph& graph) { return column(graph.values); }, kMoved,
                   "Values of each edge: those of stateful features, then the label columns.")
      .def_prop_ro("path", [](const Graph& graph) { return column(graph.path); }, kMoved,
                   "The edges of the best derivation in preorder.")
      .def_prop_ro("words", [](const Graph& graph) { return column(graph.words); }, kMoved, "The target words.")
      .def_prop_ro("item_rules", item([](const auto& record) { return record.rule; }), kMoved,
                   "The items of the best derivation, from left to right.")
      .def_prop_ro("item_firsts", item([](const auto& record) { return record.first; }), kMoved)
      .def_prop_ro("item_lasts", item([](const auto& record) { return record.last; }), kMoved)
      .def_prop_ro("item_labels", item([](const auto& record) { return record.label; }), kMoved)
      .def_prop_ro("item_reductions", item([](const auto& record) { return record.applied; }), kMoved,
                   "The number of reductions made by each label.")
      .def_ro("score", &Graph::score, "The score of the best derivation.")
      .def_ro("made", &Graph::made, "The number of hypotheses created.")
      .def_ro("asked", &Graph::asked, "The number of edges scored by stateful features.");

  nb::class_<KeptLabels>(m, "Labels", "A policy prepared for the search.")
      .def(nb::init<Weights, Input<double>, Input<std::int32_t>, Input<std::uint32_t>, Input<std::int32_t>,
                    Input<std::int32_t>, Input<std::int32_t>, bool, std::int32_t, std::int32_t>(),
           "weights"_a, "shares"_a, "reductions"_a, "operations"_a, "label_rows"_a, "pair_rows"_a, "depth_rows"_a,
           "fragments"_a, "fragment_begin"_a, "fragment_empty"_a);
  bind_options<AmasisOptions>(m, "AmasisOptions", "The options of the search with a stack of fragments.")
      .def_rw("stack_size", &AmasisOptions::stack_size, "Hypotheses kept for each number of source words, 0 for all.")
      .def_rw("beam", &AmasisOptions::beam, "How far a hypothesis may score below the best of its stack.")
      .def_rw("labels", &AmasisOptions::labels, "Labels tried for each option, 0 for all.")
      .def_prop_rw("decide", [](const AmasisOptions& options) { return name_of(options.decide); },
                   [](AmasisOptions& options, const std::string& name) { options.decide = decide_of(name); },
                   "vote, draw or last.")
      .def_rw("seed", &AmasisOptions::seed, "Of draws.")
      .def_rw("logs", &AmasisOptions::logs, "Give the columns of labels.")
      .def_rw("strings", &AmasisOptions::strings, "Recombine only fragments of the same words.")
      .def_rw("all_edges", &AmasisOptions::all_edges, "Keep all derivations, not the best alone.")
      .def_rw("max_edges", &AmasisOptions::max_edges, "Hypotheses above which the search raises SearchLimit.");
  nb::class_<LockedAmasis>(m, "Amasis", cycle_slots<LockedAmasis>(),
                           "Beam search with a stack of fragments, sentence by sentence.")
      .def(nb::init<std::shared_ptr<Scorer>, Input<double>, std::shared_ptr<KeptLabels>, const AmasisOptions&>(),
           "scorer"_a, "weights"_a, "labels"_a, "options"_a)
      .def("search", &LockedAmasis::search, "forest"_a, "sums"_a, "fragments"_a, "key"_a);
}

}  // namespace smt::searn
