// smtplugins.plugins.umt._umt: undirected decoding, for Python. Use search.py.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/cycles.hpp"
#include "bind/options.hpp"
#include "growth.hpp"
#include "lm_part.hpp"
#include "search/lm_scorer.hpp"
#include "shape_part.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::umt {
namespace {

using Rows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kFields = 4;

std::vector<Action> actions_of(const Rows& rows) {
  if (rows.shape(0) != 0 && rows.shape(1) != kFields) throw nb::value_error("expected actions of four numbers");
  std::vector<Action> actions(rows.shape(0));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    actions[i].edge = rows(i, 0);
    actions[i].place = {static_cast<std::int32_t>(rows(i, 1)), static_cast<std::int32_t>(rows(i, 2))};
    actions[i].slot = static_cast<std::int32_t>(rows(i, 3));
  }
  return actions;
}

Table<std::int64_t> rows_of(const std::vector<Action>& actions) {
  std::vector<std::int64_t> rows;
  rows.reserve(actions.size() * kFields);
  for (const Action& one : actions) {
    rows.insert(rows.end(), {one.edge, one.place.step, one.place.link, one.slot});
  }
  return table(std::move(rows), actions.size(), kFields);
}

// A Python feature: an object with methods begin, reset, score and attach (carries.py).
class CallbackPart final : public Part {
 public:
  CallbackPart(nb::object object, std::size_t components) : object_(std::move(object)), components_(components) {}
  ~CallbackPart() override {
    nb::gil_scoped_acquire locked;
    object_.reset();
  }
  int traverse(visitproc visit, void* arg) const { return visit_object(object_, visit, arg); }
  void clear() { object_ = nb::none(); }

  std::size_t components() const noexcept override { return components_; }

  void begin(const Index& index) override {
    index_ = &index;
    const auto& targets = index.input->rules.targets;
    nb::gil_scoped_acquire locked;
    object_.attr("begin")(column(targets.values), column(targets.offsets));
  }

  void reset() override {
    nb::gil_scoped_acquire locked;
    object_.attr("reset")();
  }

  void score(Place place, std::span<const Candidate> edges, double* values, std::size_t stride) override {
    nb::gil_scoped_acquire locked;
    std::vector<std::int64_t> numbers;
    std::vector<std::int32_t> rules, widths, slots;
    std::vector<std::uint8_t> tops;
    for (const Candidate& one : edges) {
      numbers.push_back(one.edge);
      rules.push_back(one.rule);
      widths.push_back(static_cast<std::int32_t>(index_->tails(one.bundle).size()));
      slots.push_back(one.slot);
      tops.push_back(index_->tops(one.bundle) ? 1 : 0);
    }
    const auto given = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(
        object_.attr("score")(place.step, place.link, column(std::move(numbers)), column(std::move(rules)),
                              column(std::move(widths)), column(std::move(slots)), column(std::move(tops))));
    if (given.shape(0) != edges.size() * components_) {
      throw nb::value_error(("expected " + std::to_string(components_) + " values for each of " +
                             std::to_string(edges.size()) + " edges, found " + std::to_string(given.shape(0)))
                                .c_str());
    }
    for (std::size_t i = 0; i < edges.size(); ++i) {
      for (std::size_t c = 0; c < components_; ++c) values[i * stride + c] = given(i * components_ + c);
    }
  }

  void attach(Place place, const Candidate& edge, std::vector<Place>& changed) override {
    nb::gil_scoped_acquire locked;
    const auto told = nb::cast<std::vector<std::tuple<std::int32_t, std::int32_t>>>(
        object_.attr("attach")(place.step, place.link, edge.edge, edge.rule,
                               static_cast<std::int32_t>(index_->tails(edge.bundle).size()), edge.slot,
                               index_->tops(edge.bundle)));
    for (const auto& [step, link] : told) changed.push_back({step, link});
  }

 private:
  nb::object object_;
  std::size_t components_;
  const Index* index_ = nullptr;
};

// Growth and its parts reuse buffers, so calls are serialised.
class LockedGrowth {
 public:
  LockedGrowth(std::vector<std::shared_ptr<Part>> parts, const BoundOptions& bounds)
      : growth_(std::move(parts), bounds) {
    if (!(std::isfinite(bounds.scale) && bounds.scale > 0.0)) {
      throw nb::value_error("the scale of bounds must be above 0");
    }
  }

  std::size_t components() const noexcept { return growth_.components(); }

  void begin(const std::shared_ptr<SearchForest>& forest, Input<float> scores, Input<float> bounds,
             Input<double> weights, Input<double> estimates) {
    const std::size_t rules = forest->rules.targets.size();
    if (scores.shape(0) != rules || bounds.shape(0) != rules) {
      throw nb::value_error("expected a score and a bound for each rule");
    }
    if (weights.shape(0) != growth_.components()) {
      throw nb::value_error(("expected " + std::to_string(growth_.components()) + " weights, found " +
                             std::to_string(weights.shape(0)))
                                .c_str());
    }
    if (estimates.shape(0) != growth_.parts()) throw nb::value_error("expected an estimates' weight for each part");
    const std::span<const double> guessed(estimates.data(), estimates.shape(0));
    const std::span<const float> given(scores.data(), rules), under(bounds.data(), rules);
    const std::span<const double> weighed(weights.data(), weights.shape(0));
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const float score : given) check(score);
    for (const float score : under) check(score);
    for (const double weight : weighed) check(weight);
    for (const double weight : guessed) check(weight);
    forest_ = nullptr;
    growth_.begin(*forest, given, under, weighed, guessed);
    forest_ = forest;
  }

  auto follow(const Rows& prefix) {
    return told([&](const std::vector<Action>& actions) { return growth_.follow(actions); }, prefix);
  }

  auto draw(const Rows& prefix, double temperature, std::uint64_t seed) {
    if (!(std::isfinite(temperature) && temperature > 0.0)) throw nb::value_error("the temperature must be above 0");
    return told([&](const std::vector<Action>& actions) { return growth_.draw(actions, temperature, seed); }, prefix);
  }

  std::tuple<Table<std::int64_t>, Column<double>, Column<double>> ranked(const Rows& prefix) {
    const std::vector<Action> actions = actions_of(prefix);
    Ranked found;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      ready();
      found = growth_.ranked(actions);
    }
    return {rows_of(found.actions), column(std::move(found.scores)), column(std::move(found.filled))};
  }

  Table<double> values(const Rows& prefix, const Rows& actions) {
    const std::vector<Action> taken = actions_of(prefix), asked = actions_of(actions);
    std::vector<double> found;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      ready();
      found = growth_.values(taken, asked);
    }
    return table(std::move(found), asked.size(), growth_.components());
  }

 private:
  template <class Work>
  std::tuple<Table<std::int64_t>, Column<double>, Table<double>, std::int64_t> told(Work work, const Rows& prefix) {
    const std::vector<Action> actions = actions_of(prefix);
    Grown found;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      ready();
      found = work(actions);
    }
    const std::size_t steps = found.actions.size();
    return {rows_of(found.actions), column(std::move(found.scores)),
            table(std::move(found.values), steps, growth_.components()), found.scored};
  }
  void ready() const {
    if (forest_ == nullptr) throw std::runtime_error("expected a sentence to be begun first");
  }
  static void check(double value) {
    if (!std::isfinite(value)) throw std::invalid_argument("scores, bounds and weights must be finite");
  }

  std::mutex mutex_;
  Growth growth_;
  std::shared_ptr<SearchForest> forest_;
};

std::shared_ptr<Part> lm_part(std::shared_ptr<AnyLmScorer> scorer, const std::string& mode) {
  if (mode == "delta") return make_lm_part(std::move(scorer), LmMode::kDelta);
  if (mode == "rescored") return make_lm_part(std::move(scorer), LmMode::kRescored);
  if (mode == "split") return make_lm_part(std::move(scorer), LmMode::kSplit);
  throw nb::value_error("expected the mode delta, rescored or split");
}

}  // namespace
}  // namespace smt::umt

NB_MODULE(_umt, m) {
  using namespace smt::umt;
  m.doc() = "Undirected decoding. Use the Python modules around it.";
  nb::module_::import_("smtplugins.core._core");  // the types of forests and scorers

  nb::class_<Part>(m, "Part", "A contextual feature of a growing tree.")
      .def_prop_ro("components", &Part::components, "The number of values for each edge.");
  nb::class_<CallbackPart, Part>(m, "CallbackPart", smt::cycle_slots<CallbackPart>(),
                                 "A Python feature: an object with begin, reset, score and attach.")
      .def(nb::init<nb::object, std::size_t>(), "object"_a, "components"_a);
  m.def("shape_part", []() -> std::shared_ptr<Part> { return std::make_shared<ShapePart>(); },
        "Indicators of an edge's attachment and number of tails.");
  m.def("lm_part", &lm_part, "scorer"_a, "mode"_a, "A language model for growing trees.");
  smt::bind_options<BoundOptions>(m, "BoundOptions", "How the bounds of missing branches become features.")
      .def_rw("components", &BoundOptions::components, "0: none, 1: their sum, more: one for each link of an edge.")
      .def_rw("scale", &BoundOptions::scale, "Bounds are divided by this.")
      .def_rw("joins", &BoundOptions::joins, "Add the scores of parts where best branches join.")
      .def_rw("difference", &BoundOptions::difference, "Subtract the bound of the branch that the edge fills.");
  nb::class_<LockedGrowth>(m, "Growth", "Grows trees in forests, sentence after sentence.")
      .def(nb::init<std::vector<std::shared_ptr<Part>>, const BoundOptions&>(), "parts"_a, "bounds"_a)
      .def_prop_ro("components", &LockedGrowth::components)
      .def("begin", &LockedGrowth::begin, "forest"_a, "scores"_a, "bounds"_a, "weights"_a,
           "estimates"_a)
      .def("follow", &LockedGrowth::follow, "prefix"_a)
      .def("draw", &LockedGrowth::draw, "prefix"_a, "temperature"_a, "seed"_a)
      .def("ranked", &LockedGrowth::ranked, "prefix"_a)
      .def("values", &LockedGrowth::values, "prefix"_a, "actions"_a);
}
