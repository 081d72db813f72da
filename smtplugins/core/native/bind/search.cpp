// Searches with stateful features, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "bind/options.hpp"
#include "grammar/chart.hpp"
#include "lm/lm.hpp"
#include "search/lm_scorer.hpp"
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

void check_offsets(const std::vector<std::int64_t>& offsets, std::size_t parts, std::size_t end, const char* name) {
  bool good = offsets.size() == parts + 1 && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(end);
  for (std::size_t i = 1; good && i < offsets.size(); ++i) good = offsets[i - 1] <= offsets[i];
  if (!good) throw nb::value_error((std::string(name) + " must increase from 0 to the number of items").c_str());
}

void check_finite(const std::vector<float>& scores) {
  for (const float score : scores) {
    if (!std::isfinite(score)) throw nb::value_error("scores must be finite");
  }
}

// The number of tails that a target side needs.
std::int64_t gaps_of(std::span<const std::int32_t> target) {
  std::int64_t gaps = 0;
  for (const std::int64_t symbol : target) gaps = std::max(gaps, -symbol);
  return gaps;
}

SearchForest make_forest(Input<std::int32_t> labels, Input<std::int32_t> firsts, Input<std::int32_t> lasts,
                         Input<std::int64_t> node_bundles, Input<std::int32_t> tails,
                         Input<std::int64_t> tail_offsets, Input<std::int32_t> rules,
                         Input<std::int64_t> rule_offsets, Input<std::int32_t> targets,
                         Input<std::int64_t> target_offsets, Input<float> scores,
                         std::optional<Input<std::int32_t>> rule_firsts,
                         std::optional<Input<std::int32_t>> rule_lasts) {
  SearchForest made;
  Forest& forest = made.forest;
  const std::size_t nodes = labels.shape(0);
  if (firsts.shape(0) != nodes || lasts.shape(0) != nodes) {
    throw nb::value_error("labels, firsts and lasts must be as many as the nodes");
  }
  for (std::size_t v = 0; v < nodes; ++v) forest.nodes.push_back({labels(v), firsts(v), lasts(v)});
  if (tail_offsets.shape(0) == 0 || rule_offsets.shape(0) == 0 || node_bundles.shape(0) == 0 ||
      target_offsets.shape(0) == 0) {
    throw nb::value_error("offsets begin with 0");
  }
  forest.node_bundles = values_of(node_bundles);
  forest.tails = {values_of(tail_offsets), values_of(tails)};
  forest.rules = {values_of(rule_offsets), values_of(rules)};
  made.rules.targets = {values_of(target_offsets), values_of(targets)};
  made.rules.scores = values_of(scores);
  const std::size_t bundles = forest.tails.size();
  check_offsets(forest.node_bundles, nodes, bundles, "node_bundles");
  check_offsets(forest.tails.offsets, bundles, forest.tails.values.size(), "tail_offsets");
  check_offsets(forest.rules.offsets, bundles, forest.rules.values.size(), "rule_offsets");
  const std::size_t count = made.rules.scores.size();
  check_offsets(made.rules.targets.offsets, count, made.rules.targets.values.size(), "target_offsets");
  check_finite(made.rules.scores);
  if (rule_firsts.has_value() != rule_lasts.has_value()) {
    throw nb::value_error("rule_firsts and rule_lasts belong together");
  }
  if (rule_firsts.has_value()) {
    if (rule_firsts->shape(0) != count || rule_lasts->shape(0) != count) {
      throw nb::value_error("rule_firsts and rule_lasts must be as many as the rules");
    }
    made.rules.firsts = values_of(*rule_firsts);
    made.rules.lasts = values_of(*rule_lasts);
  }
  std::vector<std::int64_t> gaps(count);
  for (std::size_t r = 0; r < count; ++r) gaps[r] = gaps_of(made.rules.targets[r]);
  for (std::size_t v = 0; v < nodes; ++v) {
    for (auto b = static_cast<std::size_t>(forest.node_bundles[v]);
         b < static_cast<std::size_t>(forest.node_bundles[v + 1]); ++b) {
      for (const std::int32_t tail : forest.tails[b]) {
        if (tail < 0 || static_cast<std::size_t>(tail) >= v) {
          throw nb::value_error("a tail must be a node below its head");
        }
      }
      const auto width = static_cast<std::int64_t>(forest.tails[b].size());
      for (const std::int32_t rule : forest.rules[b]) {
        if (rule < 0 || static_cast<std::size_t>(rule) >= count) throw nb::value_error("a rule is not there");
        if (gaps[static_cast<std::size_t>(rule)] > width) {
          throw nb::value_error("a rule has more gaps than its bundle has tails");
        }
      }
    }
  }
  return made;
}

SearchForest of_parsed(const ParsedForest& parsed, std::optional<Input<float>> scores) {
  SearchForest made{parsed.forest, parsed.rules};
  if (scores.has_value()) {
    if (scores->shape(0) != made.rules.scores.size()) throw nb::value_error("scores must be as many as the rules");
    made.rules.scores = values_of(*scores);
  }
  check_finite(made.rules.scores);
  return made;
}

std::shared_ptr<AnyLmScorer> start_lm(const LanguageModel& model, bool memo, bool markers, double scale) {
  model.begin(true);
  model.end_marker();
  if (!std::isfinite(scale)) throw nb::value_error("scale must be finite");
  return make_lm_scorer(model.tables(), {memo, markers, scale});
}

// Checked ids of a model's words.
std::vector<WordId> words_of(const AnyLmScorer& scorer, const Input<std::int32_t>& words) {
  const auto known = static_cast<std::int64_t>(scorer.lm().words);
  std::vector<WordId> copy = values_of(words);
  for (const WordId word : copy) {
    if (word < 0 || word >= known) throw nb::value_error("an id is not of this model's vocabulary");
  }
  return copy;
}

void share_words(AnyLmScorer& scorer, const AnyLmScorer& other) {
  if (&scorer.lm() != &other.lm()) throw nb::value_error("the other scorer is of another model");
  scorer.share_words(other);
}

// A scorer in Python: states are numbers that its object assigns.
class CallbackScorer final : public Scorer {
 public:
  CallbackScorer(nb::object object, std::size_t components) : object_(std::move(object)), components_(components) {}
  ~CallbackScorer() override {
    nb::gil_scoped_acquire locked;
    object_.reset();
  }

  // For the garbage collector.
  nb::handle object() const noexcept { return object_; }
  void clear() { object_ = nb::none(); }

  std::size_t components() const noexcept override { return components_; }
  std::size_t state_bytes() const noexcept override { return sizeof(std::int64_t); }

  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override {
    std::vector<std::int32_t> targets;
    std::vector<std::int64_t> offsets{0};
    for (const std::int32_t rule : chosen) {
      const auto target = rules.targets[static_cast<std::size_t>(rule)];
      targets.insert(targets.end(), target.begin(), target.end());
      offsets.push_back(static_cast<std::int64_t>(targets.size()));
    }
    const auto of_chosen = [&](const std::vector<std::int32_t>& places) {
      std::vector<std::int32_t> values(chosen.size());
      std::transform(chosen.begin(), chosen.end(), values.begin(),
                     [&](std::int32_t rule) { return places[static_cast<std::size_t>(rule)]; });
      return column(values);
    };
    nb::gil_scoped_acquire locked;
    const nb::object prepare = object_.attr("prepare");
    const auto given = nb::cast<Input<float>>(
        rules.firsts.empty()
            ? prepare(column(targets), column(offsets))
            : prepare(column(targets), column(offsets), of_chosen(rules.firsts), of_chosen(rules.lasts)));
    check(given.shape(0), chosen.size() * components_, "prepare");
    std::copy_n(given.data(), given.shape(0), estimates);
  }

  void combine(const Batch& batch) override {
    const auto total = static_cast<std::size_t>(batch.tail_offsets[batch.size]);
    std::vector<std::int64_t> tails(total);
    for (std::size_t i = 0; i < total; ++i) tails[i] = number(batch.tails[i]);
    nb::gil_scoped_acquire locked;
    const auto given = nb::cast<std::tuple<Input<float>, Input<std::int64_t>>>(object_.attr("combine")(
        column(std::vector<std::int32_t>(batch.rules, batch.rules + batch.size)), column(tails),
        column(std::vector<std::int32_t>(batch.tail_offsets, batch.tail_offsets + batch.size + 1))));
    const auto& [values, states] = given;
    check(values.shape(0), batch.size * components_, "combine");
    check(states.shape(0), batch.size, "combine");
    for (std::size_t i = 0; i < batch.size; ++i) {
      std::copy_n(values.data() + i * components_, components_, batch.values(i));
      const std::int64_t state = states(i);
      std::memcpy(batch.state(i), &state, sizeof state);
    }
  }

  void finish(const std::byte* state, bool /*begun*/, float* values) override {
    nb::gil_scoped_acquire locked;
    const auto given = nb::cast<Input<float>>(object_.attr("finish")(number(state)));
    check(given.shape(0), components_, "finish");
    for (std::size_t c = 0; c < components_; ++c) values[c] += given(c);
  }

  std::uint64_t hash(const std::byte* state) const noexcept override {
    const std::uint64_t mixed = static_cast<std::uint64_t>(number(state)) * 0x9E3779B97F4A7C15U;
    return mixed ^ mixed >> 32U;
  }
  bool equal(const std::byte* a, const std::byte* b) const noexcept override { return number(a) == number(b); }

 private:
  static std::int64_t number(const std::byte* state) noexcept {
    std::int64_t result = 0;
    std::memcpy(&result, state, sizeof result);
    return result;
  }
  static void check(std::size_t count, std::size_t expected, const char* method) {
    if (count == expected) return;
    throw nb::value_error(("expected " + std::to_string(expected) + " values from " + method + ", found " +
                           std::to_string(count))
                              .c_str());
  }

  nb::object object_;
  std::size_t components_;
};

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

  // For the garbage collector.
  const std::shared_ptr<Scorer>& scorer() const noexcept { return scorer_; }
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

// A Python scorer may refer back to its holder: these show such cycles to the garbage collector.
int visit_callback(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<CallbackScorer>(self)->object().ptr());
  return 0;
}

int clear_callback(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<CallbackScorer>(self)->clear();
  return 0;
}

int visit_scorers(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const std::shared_ptr<Scorer>& part : nb::inst_ptr<Scorers>(self)->parts()) {
    const nb::handle object = nb::find(part);
    Py_VISIT(object.ptr());
  }
  return 0;
}

int visit_searcher(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const nb::handle object = nb::find(nb::inst_ptr<LockedSearcher>(self)->scorer());
  Py_VISIT(object.ptr());
  return 0;
}

int clear_searcher(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<LockedSearcher>(self)->clear();
  return 0;
}

PyType_Slot callback_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_callback)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_callback)},
                                {0, nullptr}};
// Its parts are immutable; a cycle through it is broken at the Python scorer or at the searcher.
PyType_Slot scorers_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_scorers)}, {0, nullptr}};
PyType_Slot searcher_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_searcher)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_searcher)},
                                {0, nullptr}};

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

  nb::class_<SearchForest>(m, "SearchForest", "A sentence's forest without stateful features, and its rules.")
      .def_static("of", &make_forest, "labels"_a, "firsts"_a, "lasts"_a, "node_bundles"_a, "tails"_a,
                  "tail_offsets"_a, "rules"_a, "rule_offsets"_a, "targets"_a, "target_offsets"_a, "scores"_a,
                  "rule_firsts"_a = nb::none(), "rule_lasts"_a = nb::none(),
                  "From columns: nodes, goal last; their bundles; tails and rules of bundles; targets and scores "
                  "of rules, and the source words [first, last) that each rule itself translates, if known.")
      .def_static("of_parsed", &of_parsed, "parsed"_a, "scores"_a = nb::none(),
                  "A parsed forest; `scores` replace the scores of its rules.")
      .def_prop_ro("nodes", [](const SearchForest& input) { return input.forest.nodes.size(); })
      .def_prop_ro("bundles", [](const SearchForest& input) { return input.forest.bundles(); })
      .def_prop_ro("edges", [](const SearchForest& input) { return input.forest.edges(); });

  nb::class_<Scorer>(m, "Scorer", "A stateful feature at work in a search.")
      .def_prop_ro("components", &Scorer::components, "The number of values for each edge.");
  nb::class_<AnyLmScorer, Scorer>(m, "LmScorer", "log10 probabilities of a language model, <s> and </s> included.")
      .def(
          "set_words",
          [](AnyLmScorer& scorer, Input<std::int32_t> words) { scorer.set_words(words_of(scorer, words)); }, "words"_a,
          "Set the model's ids of the words of target sides. Not during a search, as all changes of words.")
      .def(
          "add_words",
          [](AnyLmScorer& scorer, Input<std::int32_t> words) { scorer.add_words(words_of(scorer, words)); }, "words"_a,
          "Append ids of further words.")
      .def("share_words", &share_words, "other"_a,
           "Take the words of another scorer of the same model: shares those it was set to, copies those it appended.")
      .def_prop_ro("words", &AnyLmScorer::known, "The number of words it knows.");
  m.def("lm_scorer", &start_lm, "model"_a, "memo"_a = true, "markers"_a = false, "scale"_a = 1.0,
        nb::keep_alive<0, 1>());
  nb::class_<CallbackScorer, Scorer>(m, "CallbackScorer",
                                     nb::type_slots(callback_slots),
                                     "A scorer in Python: an object with prepare, combine and finish.")
      .def(nb::init<nb::object, std::size_t>(), "object"_a, "components"_a);
  nb::class_<Scorers, Scorer>(m, "Scorers", nb::type_slots(scorers_slots), "Several scorers as one.")
      .def(nb::init<std::vector<std::shared_ptr<Scorer>>>(), "parts"_a);

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

  nb::class_<LockedSearcher>(m, "Searcher", nb::type_slots(searcher_slots),
                             "Search one forest after another with stateful features.")
      .def(nb::init<std::shared_ptr<Scorer>, Input<double>>(), "scorer"_a, "weights"_a)
      .def("search", &LockedSearcher::search, "forest"_a, "options"_a = SearchOptions{})
      .def("score_words", &LockedSearcher::score_words, "words"_a,
           nb::sig("def score_words(self, words: numpy.typing.NDArray[numpy.int32])"
                   " -> numpy.typing.NDArray[numpy.float32]"),
           "The values of a whole translation, from its words.");
}

}  // namespace smt
