// Phrases found in sentences, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "bind_trie.hpp"
#include "bindings.hpp"
#include "phrase_match.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using Table = nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;

// A path is walked as deep as it has arcs.
constexpr std::int32_t most_positions = 4096;

void check(bool good, const char* wanted) {
  if (!good) throw nb::value_error(wanted);
}

PhraseMatches match_arcs(const std::vector<const RuleTrie*>& tries, Table arcs, std::int32_t positions,
                         std::int32_t max_arcs, std::int64_t max_paths) {
  check(positions >= 0 && positions <= most_positions, "a sentence must have at most 4096 positions");
  check(max_paths >= 0 && max_paths < std::numeric_limits<std::int32_t>::max() / 2, "there may be at most 2^30 paths");
  std::vector<PhraseTable> tables;
  std::int64_t rules = 0;
  for (const RuleTrie* const trie : tries) {
    check(trie != nullptr, "a trie is wanted");
    tables.push_back({&trie->trie(), static_cast<std::int32_t>(rules)});
    rules += static_cast<std::int64_t>(trie->rules().size());
    check(rules < std::numeric_limits<std::int32_t>::max(), "the tables must have fewer than 2^31 rules");
  }
  std::vector<Arc> given;
  given.reserve(arcs.shape(0));
  for (std::size_t i = 0; i < arcs.shape(0); ++i) {
    const Arc arc{arcs(i, 0), arcs(i, 1), arcs(i, 2), arcs(i, 3)};
    check(0 <= arc.from && arc.from < arc.to && arc.to < positions, "arcs must lead to later positions");
    check(arc.word >= Arc::epsilon, "a word must not be negative");
    check(given.empty() || given.back().from <= arc.from, "arcs must be sorted by their first position");
    given.push_back(arc);
  }
  nb::gil_scoped_release unlocked;
  return match_phrases(tables, given, positions, max_arcs, max_paths);
}

template <auto member>
auto array_of(nb::handle self) {
  const auto& values = nb::cast<const PhraseMatches&>(self).*member;
  using T = typename std::remove_cvref_t<decltype(values)>::value_type;
  return View<T>(values.data(), {values.size()}, self);
}

}  // namespace

void bind_phrase_match(nb::module_& m) {
  nb::class_<PhraseMatches>(m, "PhraseMatches", "The phrases of tables in a sentence, as arrays that it owns.")
      .def_prop_ro(
          "complete", [](const PhraseMatches& self) { return self.complete; }, "False if there were too many.")
      .def_prop_ro("firsts", &array_of<&PhraseMatches::firsts>,
                   nb::for_getter(nb::sig("def firsts(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "The position where each match begins.")
      .def_prop_ro("lasts", &array_of<&PhraseMatches::lasts>,
                   nb::for_getter(nb::sig("def lasts(self) -> numpy.typing.NDArray[numpy.int32]")), "And where it ends.")
      .def_prop_ro("rules", &array_of<&PhraseMatches::rules>,
                   nb::for_getter(nb::sig("def rules(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "The number of its rule among those of all tables, one table behind the other.")
      .def_prop_ro("paths", &array_of<&PhraseMatches::paths>,
                   nb::for_getter(nb::sig("def paths(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "The number of the path that it is found on.")
      .def_prop_ro("path_offsets", &array_of<&PhraseMatches::path_offsets>,
                   nb::for_getter(nb::sig("def path_offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "Where the arcs of each path begin.")
      .def_prop_ro("path_arcs", &array_of<&PhraseMatches::path_arcs>,
                   nb::for_getter(nb::sig("def path_arcs(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Arcs, by their places.");

  m.def("match_arcs", &match_arcs, "tries"_a, "arcs"_a, "positions"_a, "max_arcs"_a, "max_paths"_a,
        nb::sig("def match_arcs(tries: Sequence[RuleTrie], arcs: numpy.typing.NDArray[numpy.int32], positions: int,"
                " max_arcs: int, max_paths: int) -> PhraseMatches"),
        "The phrases over arcs (from, to, word or -1, anything), which are sorted by their first position.");
}

}  // namespace smt
