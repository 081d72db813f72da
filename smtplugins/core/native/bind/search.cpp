// Searches with stateful features, for Python.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "bind/cycles.hpp"
#include "bind/options.hpp"
#include "search/forest.hpp"
#include "search/scorer.hpp"
#include "search/search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

// Columns keep their result alive.
template <class T>
Column<const T> view(const std::vector<T>& values, nb::handle owner) {
  return Column<const T>(values.data(), {values.size()}, owner);
}

constexpr const char* kCleared = "the searcher is being taken apart";

// A search and its scorer reuse their memory: one call at a time.
class LockedSearcher {
 public:
  LockedSearcher(std::shared_ptr<Scorer> scorer, Input<double> weights)
      : searcher_(make_searcher(scorer)), scorer_(std::move(scorer)), weights_(values_of(weights)) {
    if (weights_.size() != scorer_->components()) {
      throw nb::value_error(("expected " + std::to_string(scorer_->components()) + " weights, found " +
                             std::to_string(weights_.size()))
                                .c_str());
    }
    for (const double weight : weights_) {
      if (!std::isfinite(weight)) throw nb::value_error("weights must be finite");
    }
  }

  int traverse(visitproc visit, void* arg) const { return visit_shared(scorer_, visit, arg); }
  void clear() {
    searcher_.reset();
    scorer_.reset();
  }

  Refined search(const SearchForest& input, SearchOptions options) {
    if (std::isnan(options.adapt) || std::isnan(options.beam)) throw nb::value_error("adapt and beam must be numbers");
    if (options.pop_limit == 0) throw nb::value_error("a pop limit of 0 finds nothing");
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (searcher_ == nullptr) throw std::runtime_error(kCleared);
    return searcher_->run(input.forest, input.rules, weights_, options);
  }

  Column<float> score_words(Input<std::int32_t> words) {
    const std::vector<std::int32_t> copy = values_of(words);
    for (const std::int32_t word : copy) {
      if (word < 0) throw nb::value_error("words are numbers from 0");
    }
    std::vector<float> values;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (scorer_ == nullptr) throw std::runtime_error(kCleared);
      values = smt::score_words(*scorer_, copy);
    }
    return column(values);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<AnySearcher> searcher_;
  std::shared_ptr<Scorer> scorer_;
  std::vector<double> weights_;
};

template <class Part>
auto shown(Part part) {
  return [part](nb::handle_t<Refined> self) { return view(part(*nb::inst_ptr<Refined>(self)), self); };
}

std::tuple<Column<std::int64_t>, Column<std::int32_t>, double> derivation(const Refined& refined,
                                                                          const SearchForest& input) {
  const Forest& forest = refined.forest;
  for (std::size_t b = 0; b < forest.bundles(); ++b) {
    const auto width = static_cast<std::int64_t>(forest.tails[b].size());
    for (const std::int32_t rule : forest.rules[b]) {
      if (static_cast<std::size_t>(rule) >= input.rules.scores.size() ||
          gaps_of(input.rules.targets[static_cast<std::size_t>(rule)]) > width) {
        throw nb::value_error("this is not the forest that was searched");
      }
    }
  }
  const Derivation best = best_derivation(refined, input.rules);
  return {column(best.edges), column(best.words), best.score};
}

void raise_limit(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const SearchLimit& limit) {
    PyErr_SetString(nb::module_::import_("smtplugins.core.search.stateful_search").attr("SearchLimit").ptr(), limit.what());
  }
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::register_exception_translator(raise_limit);

  nb::class_<Refined>(m, "Refined", "A forest whose nodes have states of stateful features.")
      .def_prop_ro("node_of", shown([](Refined& r) -> auto& { return r.node_of; }),
                   "The node of the searched forest that each node comes from.")
      .def_prop_ro("best", shown([](Refined& r) -> auto& { return r.best; }),
                   "The score of each node's best derivation.")
      .def_prop_ro("node_bundles", shown([](Refined& r) -> auto& { return r.forest.node_bundles; }))
      .def_prop_ro("tails", shown([](Refined& r) -> auto& { return r.forest.tails.values; }))
      .def_prop_ro("tail_offsets", shown([](Refined& r) -> auto& { return r.forest.tails.offsets; }),
                   "Offsets of bundles.")
      .def_prop_ro("rules", shown([](Refined& r) -> auto& { return r.forest.rules.values; }), "Of each edge.")
      .def_prop_ro("rule_offsets", shown([](Refined& r) -> auto& { return r.forest.rules.offsets; }),
                   "Offsets of bundles.")
      .def_prop_ro("edge_of", shown([](Refined& r) -> auto& { return r.edge_of; }),
                   "The edge of the searched forest that each edge comes from.")
      .def_prop_ro("scores", shown([](Refined& r) -> auto& { return r.scores; }), "The score of each edge by itself.")
      .def_prop_ro("values", shown([](Refined& r) -> auto& { return r.values; }),
                   "The values of stateful features: edges times components.")
      .def_prop_ro("pops", [](const Refined& r) { return r.counts.pops; })
      .def_prop_ro("evaluated", [](const Refined& r) { return r.counts.evaluated; },
                   "The number of edges scored by stateful features.")
      .def_prop_ro("found", [](const Refined& r) { return r.counts.nodes; },
                   "The number of nodes before useless ones were dropped.")
      .def("derivation", &derivation, "forest"_a,
           nb::sig("def derivation(self, forest: SearchForest)"
                   " -> tuple[numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int32], float]"),
           "The best derivation: its edges in preorder, its words, its score.");

  bind_options<SearchOptions>(m, "SearchOptions", "The options of searches with stateful features.")
      .def_rw("exact", &SearchOptions::exact, "All derivations; pop_limit, adapt and beam are not used then.")
      .def_rw("pop_limit", &SearchOptions::pop_limit, "Edges looked at for each node, negative for all.")
      .def_rw("adapt", &SearchOptions::adapt, "How fast that falls with what a node's best derivation lacks.")
      .def_rw("beam", &SearchOptions::beam, "How far an edge may score below its node's best.")
      .def_rw("early_begin", &SearchOptions::early_begin, "The sentence begins where its first words are chosen.")
      .def_rw("all_edges", &SearchOptions::all_edges, "Keep all derivations, not the best alone.")
      .def_rw("max_edges", &SearchOptions::max_edges, "Edges above which the search raises SearchLimit.");

  nb::class_<LockedSearcher>(m, "Searcher", cycle_slots<LockedSearcher>(),
                             "Search one forest after another with stateful features.")
      .def(nb::init<std::shared_ptr<Scorer>, Input<double>>(), "scorer"_a, "weights"_a)
      .def("search", &LockedSearcher::search, "forest"_a, "options"_a = SearchOptions{})
      .def("score_words", &LockedSearcher::score_words, "words"_a,
           nb::sig("def score_words(self, words: numpy.typing.NDArray[numpy.int32])"
                   " -> numpy.typing.NDArray[numpy.float32]"),
           "The values of a whole translation, from its words.");
}

}  // namespace smt
