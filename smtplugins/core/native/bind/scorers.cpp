// The scorers of stateful features, for Python and in Python.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "bind/cycles.hpp"
#include "lm/lm.hpp"
#include "search/lm_scorer.hpp"
#include "search/scorer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

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

  int traverse(visitproc visit, void* arg) const { return visit_object(object_, visit, arg); }
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

int visit_scorers(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const std::shared_ptr<Scorer>& part : nb::inst_ptr<Scorers>(self)->parts()) {
    if (const int stop = visit_shared(part, visit, arg)) return stop;
  }
  return 0;
}

// Its parts are immutable; a cycle through it is broken at the Python scorer or at the searcher.
PyType_Slot scorers_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_scorers)}, {0, nullptr}};

}  // namespace

void bind_scorers(nb::module_& m) {
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
  nb::class_<CallbackScorer, Scorer>(m, "CallbackScorer", cycle_slots<CallbackScorer>(),
                                     "A scorer in Python: an object with prepare, combine and finish.")
      .def(nb::init<nb::object, std::size_t>(), "object"_a, "components"_a);
  nb::class_<Scorers, Scorer>(m, "Scorers", nb::type_slots(scorers_slots), "Several scorers as one.")
      .def(nb::init<std::vector<std::shared_ptr<Scorer>>>(), "parts"_a);
}

}  // namespace smt
