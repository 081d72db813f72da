// Python bindings of a trained model in searches; use model.py.
#include <nanobind/stl/shared_ptr.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bindings.hpp"
#include "linear_scorer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::cdlm {
namespace {

using Pairs = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

std::shared_ptr<LinearScorer> make(std::shared_ptr<AnyLmScorer> lm, Input<std::int64_t> keys, Input<double> values,
                                   std::int64_t size, double word) {
  if (keys.shape(0) != values.shape(0)) throw nb::value_error("expected a weight for each key");
  for (std::size_t i = 1; i < keys.shape(0); ++i) {
    if (keys(i - 1) >= keys(i)) throw nb::value_error("expected strictly increasing keys");
  }
  return std::make_shared<LinearScorer>(std::move(lm), PairWeights{values_of(keys), values_of(values), size}, word);
}

void set_words(LinearScorer& scorer, Pairs numbers) {
  std::vector<WordId> words(numbers.shape(0));
  std::vector<std::int32_t> classes(numbers.shape(0));
  for (std::size_t i = 0; i < numbers.shape(0); ++i) {
    words[i] = static_cast<WordId>(numbers(i, 0));
    classes[i] = numbers(i, 1);
  }
  scorer.set_words(std::move(words), std::move(classes));
}

}  // namespace

void bind_linear(nb::module_& m) {
  nb::class_<LinearScorer, Scorer>(m, "LinearScorer", "A trained discriminative language model as a scorer.")
      .def(nb::new_(&make), "lm"_a, "keys"_a, "values"_a, "size"_a, "word"_a)
      .def("set_words", &set_words, "numbers"_a, "The language model's ids and the classes of target words.");
}

}  // namespace smt::cdlm
