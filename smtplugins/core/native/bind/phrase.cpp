// Phrase-based search, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "bind/cycles.hpp"
#include "bind/options.hpp"
#include "phrase/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

constexpr auto kMoved = nb::rv_policy::move;
constexpr const char* kCleared = "the searcher is being taken apart";

OrderFeature make_order(const std::string& kind, bool backward, bool forward, bool collapse, Input<double> weights) {
  OrderFeature order;
  order.weights.assign(weights.data(), weights.data() + weights.shape(0));
  for (const double weight : order.weights) {
    if (!std::isfinite(weight)) throw nb::value_error("weights must be finite");
  }
  if (kind != "jump") {
    order.reordering = true;
    order.backward = backward;
    order.forward = forward;
    order.collapse = collapse;
    if (!backward && !forward) throw nb::value_error("expected a reordering model with a direction");
    if (kind == "msd") {
      order.kind = ReorderingKind::kMsd;
    } else if (kind == "mslr") {
      order.kind = ReorderingKind::kMslr;
    } else if (kind == "monotonicity") {
      order.kind = ReorderingKind::kMonotonicity;
    } else if (kind == "leftright") {
      order.kind = ReorderingKind::kLeftRight;
    } else {
      throw nb::value_error("expected jump, msd, mslr, monotonicity or leftright");
    }
  }
  if (order.weights.size() != order.components()) {
    throw nb::value_error(("expected " + std::to_string(order.components()) + " weights, found " +
                           std::to_string(order.weights.size()))
                              .c_str());
  }
  return order;
}

PhraseOrder order_of(const std::string& name) {
  if (name == "free") return PhraseOrder::kFree;
  if (name == "window") return PhraseOrder::kWindow;
  if (name == "monotone") return PhraseOrder::kMonotone;
  if (name == "swap") return PhraseOrder::kSwap;
  throw nb::value_error("expected the order free, window, monotone or swap");
}

const char* name_of(PhraseOrder order) {
  switch (order) {
    case PhraseOrder::kWindow: return "window";
    case PhraseOrder::kMonotone: return "monotone";
    case PhraseOrder::kSwap: return "swap";
    default: return "free";
  }
}

void check_options(const PhraseSearchOptions& options) {
  // Written so that NaN is refused.
  for (const double lack : {options.beam, options.lm_beam, options.option_beam, options.early_discarding}) {
    if (!(lack >= 0)) throw nb::value_error("beam, lm_beam, option_beam and early_discarding must be numbers from 0");
  }
  if (options.stack_size < 0 || options.pop_limit < 1) {
    throw nb::value_error("limits must not be negative, pop_limit not 0");
  }
}

// A search reuses its memory: one call at a time.
class LockedPhraseSearcher {
 public:
  LockedPhraseSearcher(const std::vector<std::pair<std::shared_ptr<Scorer>, Input<double>>>& scorers,
                       std::vector<OrderFeature> orders) {
    std::vector<WeightedScorer> weighted;
    for (const auto& [scorer, weights] : scorers) {
      if (weights.shape(0) != scorer->components()) throw nb::value_error("expected a weight for each component");
      weighted.push_back({scorer, {weights.data(), weights.data() + weights.shape(0)}});
      for (const double weight : weighted.back().weights) {
        if (!std::isfinite(weight)) throw nb::value_error("weights must be finite");
      }
      scorers_.push_back(scorer);
    }
    for (const OrderFeature& order : orders) {
      if (order.reordering) columns_.push_back(order.columns());
    }
    searcher_ = std::make_unique<PhraseSearcher>(std::move(weighted), std::move(orders));
  }

  int traverse(visitproc visit, void* arg) const {
    for (const std::shared_ptr<Scorer>& scorer : scorers_) {
      if (const int stop = visit_shared(scorer, visit, arg)) return stop;
    }
    return 0;
  }
  void clear() {
    searcher_.reset();
    scorers_.clear();
  }

  PhraseGraph search(const SearchForest& input, const std::vector<Input<float>>& rows,
                     std::optional<Input<std::int32_t>> distances, PhraseSearchOptions options) {
    check_options(options);
    const std::size_t rules = input.rules.scores.size();
    if (rows.size() != columns_.size()) throw nb::value_error("expected rows for each reordering model");
    std::vector<std::vector<float>> copies;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].shape(0) != rules * columns_[i]) {
        throw nb::value_error("expected a row for each rule of each reordering model");
      }
      copies.emplace_back(rows[i].data(), rows[i].data() + rows[i].shape(0));
      if (!std::all_of(copies.back().begin(), copies.back().end(), [](float v) { return std::isfinite(v); })) {
        throw nb::value_error("values of reordering models must be finite");
      }
    }
    std::vector<std::int32_t> between;
    if (distances.has_value()) {
      between.assign(distances->data(), distances->data() + distances->shape(0));
      std::int32_t most = 0;
      for (const Forest::Node& node : input.forest.nodes) most = std::max(most, node.last);
      const auto side = static_cast<std::size_t>(most) + 1;
      if (between.size() != side * side) throw nb::value_error("expected the distances of all positions");
    }
    for (const Forest::Node& node : input.forest.nodes) {
      if (node.first < 0 || node.first >= node.last) throw nb::value_error("a phrase must have source words");
    }
    if (!input.forest.tails.values.empty()) throw nb::value_error("expected phrases, found rules with gaps");
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (searcher_ == nullptr) throw std::runtime_error(kCleared);
    return searcher_->run(input, copies, between, options);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<PhraseSearcher> searcher_;
  std::vector<std::shared_ptr<Scorer>> scorers_;
  std::vector<std::size_t> columns_;
};

template <class T, class Get>
auto of_edges(Get get) {
  return [get](const PhraseGraph& graph) {
    std::vector<T> values;
    values.reserve(graph.edges.size());
    for (const PhraseGraph::Edge& edge : graph.edges) values.push_back(get(edge));
    return column(std::move(values));
  };
}

}  // namespace

void bind_phrase(nb::module_& m) {
  nb::class_<OrderFeature>(m, "OrderFeature", "A feature of the order of phrases: distortion, or a reordering model.")
      .def(nb::new_(&make_order), "kind"_a, "backward"_a, "forward"_a, "collapse"_a, "weights"_a)
      .def_prop_ro("components", &OrderFeature::components)
      .def_prop_ro("columns", &OrderFeature::columns, "The number of scores of a phrase pair in the model.");

  using Options = PhraseSearchOptions;
  bind_options<Options>(m, "PhraseSearchOptions", "The options of phrase-based search; beams are in nats.")
      .def_rw("cube", &Options::cube, "Cube pruning; else each hypothesis is extended with all phrases that may follow.")
      .def_rw("stack_size", &Options::stack_size, "Hypotheses kept in a stack, 0 for all.")
      .def_rw("beam", &Options::beam, "How far a hypothesis may score below the best of its stack.")
      .def_rw("lm_beam", &Options::lm_beam, "The same with cube pruning, in nats of language models.")
      .def_rw("pop_limit", &Options::pop_limit, "Hypotheses that cube pruning makes for a stack.")
      .def_rw("stack_diversity", &Options::stack_diversity, "Hypotheses kept for each coverage, whatever their score.")
      .def_rw("cube_diversity", &Options::cube_diversity, "Hypotheses that cube pruning makes for each coverage.")
      .def_rw("option_beam", &Options::option_beam, "How far a phrase may score below the best of its span.")
      .def_rw("early_discarding", &Options::early_discarding, "The beam before words are scored.")
      .def_rw("distortion_limit", &Options::distortion_limit, "Longest jump, negative for any.")
      .def_rw("walls", &Options::walls, "Words of the sentence behind which stands a wall.")
      .def_rw("zones", &Options::zones, "Words that must be finished once begun: the first, and the one behind the last.")
      .def_prop_rw("order", [](const Options& options) { return name_of(options.order); },
                   [](Options& options, const std::string& name) { options.order = order_of(name); },
                   "free, window, monotone or swap.")
      .def_rw("all_edges", &Options::all_edges, "Keep all derivations, not the best alone.")
      .def_rw("max_edges", &Options::max_edges, "Hypotheses above which the search raises SearchLimit.");

  nb::class_<PhraseGraph>(m, "PhraseGraph", "Hypotheses and the steps between them, the goal last.")
      .def_prop_ro("covered",
                   [](const PhraseGraph& graph) {
                     std::vector<std::int32_t> values;
                     for (const auto& node : graph.nodes) values.push_back(node.covered);
                     return column(std::move(values));
                   },
                   kMoved,
                   "The number of source positions that each node covers.")
      .def_prop_ro("best",
                   [](const PhraseGraph& graph) {
                     std::vector<double> values;
                     for (const auto& node : graph.nodes) values.push_back(node.best);
                     return column(std::move(values));
                   },
                   kMoved,
                   "The score of each node's best derivation.")
      .def_prop_ro("node_edges", [](const PhraseGraph& graph) { return column(graph.node_edges); }, kMoved)
      .def_prop_ro("tails", of_edges<std::int32_t>([](const auto& edge) { return edge.tail; }), kMoved)
      .def_prop_ro("rules", of_edges<std::int32_t>([](const auto& edge) { return edge.rule; }), kMoved)
      .def_prop_ro("firsts", of_edges<std::int32_t>([](const auto& edge) { return edge.first; }), kMoved)
      .def_prop_ro("lasts", of_edges<std::int32_t>([](const auto& edge) { return edge.last; }), kMoved)
      .def_prop_ro("scores", of_edges<double>([](const auto& edge) { return edge.score; }), kMoved,
                   "The score of each edge by itself.")
      .def_prop_ro("values", [](const PhraseGraph& graph) { return column(graph.values); }, kMoved,
                   "The values of stateful features, edge by edge.")
      .def_prop_ro("path", [](const PhraseGraph& graph) { return column(graph.path); }, kMoved,
                   "The edges of the best derivation, the first step first.")
      .def_prop_ro("nodes", [](const PhraseGraph& graph) { return graph.nodes.size(); })
      .def_ro("made", &PhraseGraph::made, "The number of hypotheses created.")
      .def_ro("asked", &PhraseGraph::asked, "The number of steps scored by stateful features.");

  nb::class_<LockedPhraseSearcher>(m, "PhraseSearcher", cycle_slots<LockedPhraseSearcher>(),
                                   "Phrase-based search of one sentence after another.")
      .def(nb::init<const std::vector<std::pair<std::shared_ptr<Scorer>, Input<double>>>&, std::vector<OrderFeature>>(),
           "scorers"_a, "orders"_a)
      .def("search", &LockedPhraseSearcher::search, "forest"_a, "rows"_a, "distances"_a = nb::none(),
           "options"_a = PhraseSearchOptions{});
}

}  // namespace smt
