// The parser, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/trie.hpp"
#include "bind/bindings.hpp"
#include "grammar/chart.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using Arcs = nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
// The recursion depth of the parser is the number of positions.
constexpr std::int32_t most_positions = 4096;

// A trie, the scores of its rules or none, the longest span or none, whether rules apply only to spans that begin at 0,
// and whether only to unknown arcs.
using Applied = std::tuple<const RuleTrie*, std::optional<Input<float>>, std::optional<std::int32_t>, bool, bool>;

ParsedForest parse_arcs(const std::vector<Applied>& grammars, Arcs arcs, std::int32_t positions,
                        Input<double> feature_scores, std::int32_t labels, std::int32_t goal, std::int32_t top,
                        std::int64_t max_edges) {
  check(positions >= 0 && positions <= most_positions, "a sentence must have at most 4096 positions");
  check(goal >= ChartInput::no_goal && goal < labels && top >= 0, "the goal must be among the labels");
  check(max_edges >= 0 && max_edges < most / 2, "there may be at most 2^30 edges");
  ChartInput input;
  std::size_t rules = 1, bins = 0;
  for (const auto& [trie, scores, limit, from_start, unknown] : grammars) {
    check(trie != nullptr && trie->labels() <= labels, "expected grammars without labels beyond `labels`");
    ChartGrammar grammar;
    grammar.rules = &trie->rules();
    grammar.trie = &trie->trie();
    if (scores) {
      check(scores->shape(0) == trie->rules().size(), "there must be as many scores as rules");
      grammar.scores = view(*scores);
    }
    if (limit) grammar.limit = *limit;
    grammar.from_start = from_start;
    grammar.to_unknown_arcs_only = unknown;
    rules += trie->rules().size();
    bins += trie->trie().bins();
    input.grammars.push_back(grammar);
  }
  check(rules < static_cast<std::size_t>(most) && bins < static_cast<std::size_t>(most),
        "the grammars must have fewer than 2^31 rules");
  std::vector<Arc> sorted;
  sorted.reserve(arcs.shape(0));
  for (std::size_t i = 0; i < arcs.shape(0); ++i) {
    const Arc arc{arcs(i, 0), arcs(i, 1), arcs(i, 2), arcs(i, 3)};
    check(0 <= arc.from && arc.from < arc.to && arc.to < positions, "arcs must lead to later positions");
    check(arc.word >= Arc::epsilon, "a word must not be negative");
    check(arc.features >= Arc::plain && arc.features < static_cast<std::int64_t>(feature_scores.shape(0)),
          "an arc's features must have a score");
    sorted.push_back(arc);
  }
  nb::gil_scoped_release unlocked;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Arc& left, const Arc& right) { return left.from < right.from; });
  input.arcs = sorted;
  input.positions = positions;
  input.feature_scores = view(feature_scores);
  input.labels = labels;
  input.goal = goal;
  input.top = top;
  input.max_edges = max_edges;
  return parse(input);
}

template <auto get>
auto array_of(nb::handle self) {
  const auto& values = get(nb::cast<const ParsedForest&>(self));
  using T = typename std::remove_cvref_t<decltype(values)>::value_type;
  return View<T>(values.data(), {values.size()}, self);
}

using Rows = nb::ndarray<nb::numpy, const std::int32_t, nb::ndim<2>>;

Rows nodes_of(nb::handle self) {
  const auto& nodes = nb::cast<const ParsedForest&>(self).forest.nodes;
  static_assert(sizeof(Forest::Node) == 3 * sizeof(std::int32_t));
  return Rows(nodes.data(), {nodes.size(), 3}, self);
}

Rows links_of(nb::handle self) {
  const auto& links = nb::cast<const ParsedForest&>(self).links;
  static_assert(sizeof(ParsedForest::Link) == 2 * sizeof(std::int32_t));
  return Rows(links.data(), {links.size(), 2}, self);
}

}  // namespace

void bind_chart(nb::module_& m) {
  nb::class_<ParsedForest>(m, "ParsedForest", "A sentence's forest and its rules, as arrays that it owns.")
      .def_prop_ro(
          "complete", [](const ParsedForest& self) { return self.complete; }, "False if there were too many edges.")
      .def_prop_ro("nodes", &nodes_of, nb::for_getter(nb::sig("def nodes(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Label, first and last position of each node.")
      .def_prop_ro("node_bundles", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.node_bundles; }>,
                   nb::for_getter(nb::sig("def node_bundles(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "The offsets of each node's bundles.")
      .def_prop_ro("tail_offsets", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.tails.offsets; }>,
                   nb::for_getter(nb::sig("def tail_offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "The offsets of each bundle's tails.")
      .def_prop_ro("tails", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.tails.values; }>,
                   nb::for_getter(nb::sig("def tails(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Nodes, in the order of the rule's gaps.")
      .def_prop_ro("rule_offsets", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.rules.offsets; }>,
                   nb::for_getter(nb::sig("def rule_offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "The offsets of each bundle's rules.")
      .def_prop_ro("rules", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.rules.values; }>,
                   nb::for_getter(nb::sig("def rules(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Numbers of rules.")
      .def_prop_ro("target_offsets", &array_of<[](const ParsedForest& p) -> auto& { return p.rules.targets.offsets; }>,
                   nb::for_getter(nb::sig("def target_offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "The offsets of each rule's target side.")
      .def_prop_ro("targets", &array_of<[](const ParsedForest& p) -> auto& { return p.rules.targets.values; }>,
                   nb::for_getter(nb::sig("def targets(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Words, or -1 - k for the k-th gap.")
      .def_prop_ro("scores", &array_of<[](const ParsedForest& p) -> auto& { return p.rules.scores; }>,
                   nb::for_getter(nb::sig("def scores(self) -> numpy.typing.NDArray[numpy.float32]")),
                   "Of each rule, with the features of arcs.")
      .def_prop_ro("origins", &array_of<[](const ParsedForest& p) -> auto& { return p.origins; }>,
                   nb::for_getter(nb::sig("def origins(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "The number of each rule, counted through all grammars.")
      .def_prop_ro("chains", &array_of<[](const ParsedForest& p) -> auto& { return p.chains; }>,
                   nb::for_getter(nb::sig("def chains(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "The link that each rule's chain of arc features ends with, or -1.")
      .def_prop_ro("links", &links_of, nb::for_getter(nb::sig("def links(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "The link before, or -1, and the features.");

  m.def("parse_arcs", &parse_arcs, "grammars"_a, "arcs"_a, "positions"_a, "feature_scores"_a, "labels"_a, "goal"_a,
        "top"_a, "max_edges"_a,
        nb::sig("def parse_arcs(grammars: Sequence[tuple[RuleTrie, numpy.typing.NDArray[numpy.float32] | None,"
                " int | None, bool, bool]], arcs: numpy.typing.NDArray[numpy.int32], positions: int,"
                " feature_scores: numpy.typing.NDArray[numpy.float64], labels: int, goal: int, top: int,"
                " max_edges: int) -> ParsedForest"),
        "Parse arcs (from, to, word or -1, features or -1) into a forest. A grammar is a trie, scores of its rules,\n"
        "the longest span, whether it applies only from position 0, and whether only to unknown arcs. With -1 for the\n"
        "goal the forest has all nodes.");
}

}  // namespace smt
