// Grammars as tries and the parser, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "chart.hpp"
#include "trie.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Owned = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using View = nb::ndarray<nb::numpy, const T, nb::ndim<1>>;
using Table = nb::ndarray<const std::int32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
// The parser goes as deep as a sentence has positions.
constexpr std::int32_t most_positions = 4096;

template <class T>
std::span<const T> view(const Input<T>& values) noexcept {
  return {values.data(), values.shape(0)};
}

void check(bool good, const char* wanted) {
  if (!good) throw nb::value_error(wanted);
}

void check_offsets(std::span<const std::int64_t> offsets, std::size_t rules, std::size_t values) {
  check(offsets.size() == rules + 1, "there must be an offset more than rules");
  check(offsets.front() >= 0 && static_cast<std::uint64_t>(offsets.back()) <= values,
        "offsets must not lead out of their column");
  check(std::is_sorted(offsets.begin(), offsets.end()), "offsets must not fall");
}

// A grammar's trie, and the columns it was made from.
class RuleTrie {
 public:
  RuleTrie(Input<std::int32_t> lhs, Input<std::uint8_t> level, Input<std::int32_t> source,
           Input<std::int64_t> source_offsets, Input<std::int32_t> target, Input<std::int64_t> target_offsets,
           Input<std::int32_t> words, Input<std::int32_t> labels)
      : arrays_(lhs, level, source, source_offsets, target, target_offsets, words, labels) {
    rules_ = {view(lhs),    view(level),          view(source), view(source_offsets),
              view(target), view(target_offsets), view(words),  view(labels)};
    nb::gil_scoped_release unlocked;
    validate();
    trie_ = std::make_unique<Trie>(rules_);
    check(targets_fit(), "a target symbol is not among the words and gaps");
  }

  RuleTrie limited(Input<float> estimates, std::int32_t limit) const {
    check(limit > 0, "the limit must be 1 or more");
    check(estimates.shape(0) == rules_.size(), "there must be as many estimates as rules");
    nb::gil_scoped_release unlocked;
    const std::span<const float> given = view(estimates);
    check(std::none_of(given.begin(), given.end(), [](float one) { return std::isnan(one); }),
          "estimates must be numbers");
    auto trie = std::make_unique<Trie>(trie_->limited(given, limit));
    nb::gil_scoped_acquire locked;
    return RuleTrie(*this, std::move(trie));
  }

  const RuleColumns& rules() const noexcept { return rules_; }
  const Trie& trie() const noexcept { return *trie_; }
  std::int32_t labels() const noexcept { return labels_; }

 private:
  // Another trie of the same columns.
  RuleTrie(const RuleTrie& other, std::unique_ptr<Trie> trie)
      : arrays_(other.arrays_), rules_(other.rules_), trie_(std::move(trie)), labels_(other.labels_) {}

  void validate() {
    const std::size_t rules = rules_.size();
    check(rules < static_cast<std::size_t>(most) && rules_.source.size() < static_cast<std::size_t>(most),
          "a grammar must have fewer than 2^31 rules and symbols");
    check(rules_.level.size() == rules, "there must be as many levels as rules");
    check_offsets(rules_.source_offsets, rules, rules_.source.size());
    check_offsets(rules_.target_offsets, rules, rules_.target.size());
    const auto known = [](std::span<const std::int32_t> numbers) {
      return std::all_of(numbers.begin(), numbers.end(), [](std::int32_t one) { return one >= 0 && one < most; });
    };
    check(known(rules_.words) && known(rules_.labels), "numbers must not be negative");
    for (const std::int32_t label : rules_.labels) labels_ = std::max(labels_, label + 1);
    const auto words = static_cast<std::int64_t>(rules_.words.size());
    const auto labels = static_cast<std::int64_t>(rules_.labels.size());
    check(within(rules_.lhs, 0, labels), "a left-hand side is not among the labels");
    check(within(used(rules_.source, rules_.source_offsets), -labels, words),
          "a symbol is not among the words and labels");
    check(within(used(rules_.target, rules_.target_offsets), -std::int64_t{most}, words),
          "a target symbol is not among the words and gaps");
  }

  // Of the rules that the trie has; the others are never applied.
  bool targets_fit() const {
    const Trie& trie = *trie_;
    std::vector<std::int32_t> gaps(trie.nodes());
    bool good = true;
    for (Trie::Node node = 0; node < static_cast<Trie::Node>(trie.nodes()); ++node) {
      const std::int32_t count = gaps[static_cast<std::size_t>(node)];
      const Trie::Range below = trie.gaps(node), words = trie.words(node), bins = trie.bins(node);
      std::fill(gaps.begin() + below.first, gaps.begin() + below.last, count + 1);
      std::fill(gaps.begin() + words.first, gaps.begin() + words.last, count);
      for (std::int32_t bin = bins.first; bin < bins.last; ++bin) good &= targets_fit(trie.bin(bin), count);
    }
    for (const Trie::Unary& unary : trie.unaries()) good &= targets_fit(trie.bin(unary.bin), 1);
    return good;
  }
  bool targets_fit(const Trie::Bin& bin, std::int32_t gaps) const {
    const auto order = trie_->order().subspan(static_cast<std::size_t>(bin.first), static_cast<std::size_t>(bin.size()));
    bool good = true;
    for (std::size_t i = 0; i < order.size();) {
      // Rules that follow each other have targets that do.
      const auto first = static_cast<std::size_t>(order[i]);
      auto last = first + 1;
      for (++i; i < order.size() && order[i] == static_cast<std::int32_t>(last); ++i) ++last;
      const auto from = static_cast<std::size_t>(rules_.target_offsets[first]);
      const auto size = static_cast<std::size_t>(rules_.target_offsets[last]) - from;
      good &= within(rules_.target.subspan(from, size), -std::int64_t{gaps}, most);
    }
    return good;
  }

  static bool within(std::span<const std::int32_t> values, std::int64_t least, std::int64_t end) {
    const auto low = static_cast<std::int32_t>(std::max<std::int64_t>(least, -most));
    const auto high = static_cast<std::int32_t>(std::min<std::int64_t>(end, most));
    int bad = 0;
    for (const std::int32_t value : values) bad |= static_cast<int>(value < low) | static_cast<int>(value >= high);
    return bad == 0;
  }
  static std::span<const std::int32_t> used(std::span<const std::int32_t> values,
                                            std::span<const std::int64_t> offsets) {
    const auto first = static_cast<std::size_t>(offsets.front());
    return values.subspan(first, static_cast<std::size_t>(offsets.back()) - first);
  }

  std::tuple<Input<std::int32_t>, Input<std::uint8_t>, Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>,
             Input<std::int64_t>, Input<std::int32_t>, Input<std::int32_t>>
      arrays_;
  RuleColumns rules_;
  std::unique_ptr<Trie> trie_;
  std::int32_t labels_ = 0;
};

Owned<float> rule_scores(Input<std::int32_t> features, Input<float> values, Input<std::int64_t> offsets,
                         Input<double> weights) {
  check(offsets.shape(0) > 0, "there must be an offset more than rules");
  const std::size_t rules = offsets.shape(0) - 1;
  check(values.shape(0) == features.shape(0), "there must be as many values as features");
  check_offsets(view(offsets), rules, features.shape(0));
  auto scores = std::make_unique<float[]>(rules);
  bool known = true;
  {
    nb::gil_scoped_release unlocked;
    const std::span<const double> weight = view(weights);
    for (std::size_t rule = 0; rule < rules; ++rule) {
      double sum = 0;
      for (auto i = offsets(rule); i < offsets(rule + 1); ++i) {
        const auto feature = static_cast<std::size_t>(features(static_cast<std::size_t>(i)));
        if (feature >= weight.size()) {
          known = false;
          break;
        }
        sum += weight[feature] * static_cast<double>(values(static_cast<std::size_t>(i)));
      }
      scores[rule] = static_cast<float>(sum);
    }
  }
  check(known, "a feature has no weight");
  nb::capsule owner(scores.get(), [](void* p) noexcept { delete[] static_cast<float*>(p); });
  return Owned<float>(scores.release(), {rules}, owner);
}

// A trie, scores of its rules or none, the longest span or none, whether rules apply to spans from 0 on alone, and
// whether only to unknown arcs.
using Applied = std::tuple<const RuleTrie*, std::optional<Input<float>>, std::optional<std::int32_t>, bool, bool>;

ParsedForest parse_arcs(const std::vector<Applied>& grammars, Table arcs, std::int32_t positions,
                        Input<double> feature_scores, std::int32_t labels, std::int32_t goal, std::int32_t top,
                        std::int64_t max_edges) {
  check(positions >= 0 && positions <= most_positions, "a sentence must have at most 4096 positions");
  check(goal >= 0 && goal < labels && top >= 0, "the goal must be among the labels");
  check(max_edges >= 0 && max_edges < most / 2, "there may be at most 2^30 edges");
  ChartInput input;
  std::size_t rules = 1, bins = 0;
  for (const auto& [trie, scores, limit, from_start, unknown] : grammars) {
    check(trie != nullptr && trie->labels() <= labels, "a grammar has more labels");
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
                   [](const Arc& one, const Arc& other) { return one.from < other.from; });
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
  nb::class_<RuleTrie>(m, "RuleTrie", "The source sides of a grammar's rules; arrays as in GrammarColumns.")
      .def(nb::init<Input<std::int32_t>, Input<std::uint8_t>, Input<std::int32_t>, Input<std::int64_t>,
                    Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>, Input<std::int32_t>>(),
           "lhs"_a, "level"_a, "source"_a, "source_offsets"_a, "target"_a, "target_offsets"_a, "words"_a, "labels"_a,
           nb::sig("def __init__(self, lhs: numpy.typing.NDArray[numpy.int32],"
                   " level: numpy.typing.NDArray[numpy.uint8], source: numpy.typing.NDArray[numpy.int32],"
                   " source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32],"
                   " target_offsets: numpy.typing.NDArray[numpy.int64], words: numpy.typing.NDArray[numpy.int32],"
                   " labels: numpy.typing.NDArray[numpy.int32]) -> None"),
           "`words` and `labels` are the shared numbers of the grammar's own.")
      .def("limited", &RuleTrie::limited, "estimates"_a, "limit"_a,
           nb::sig("def limited(self, estimates: numpy.typing.NDArray[numpy.float32], limit: int) -> RuleTrie"),
           "Of the same columns, with the best rules of each source side alone, whatever their left-hand sides.")
      .def_prop_ro(
          "nodes", [](const RuleTrie& self) { return self.trie().nodes(); }, "How many nodes the trie has.")
      .def_prop_ro(
          "bins", [](const RuleTrie& self) { return self.trie().bins(); },
          "How many different source sides with left-hand sides there are.")
      .def_prop_ro(
          "rules",
          [](nb::handle self) {
            const std::span<const std::int32_t> order = nb::cast<const RuleTrie&>(self).trie().order();
            return View<std::int32_t>(order.data(), {order.size()}, self);
          },
          nb::for_getter(nb::sig("def rules(self) -> numpy.typing.NDArray[numpy.int32]")),
          "The numbers of the rules that are applied, by source side and left-hand side.");

  m.def("rule_scores", &rule_scores, "features"_a, "values"_a, "offsets"_a, "weights"_a,
        nb::sig("def rule_scores(features: numpy.typing.NDArray[numpy.int32],"
                " values: numpy.typing.NDArray[numpy.float32], offsets: numpy.typing.NDArray[numpy.int64],"
                " weights: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float32]"),
        "Weights times features of all rules.");

  nb::class_<ParsedForest>(m, "ParsedForest", "A sentence's forest and its rules, as arrays that it owns.")
      .def_prop_ro(
          "complete", [](const ParsedForest& self) { return self.complete; }, "False if there were too many edges.")
      .def_prop_ro("nodes", &nodes_of, nb::for_getter(nb::sig("def nodes(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Label, first and last position of each node.")
      .def_prop_ro("node_bundles", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.node_bundles; }>,
                   nb::for_getter(nb::sig("def node_bundles(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "Where the bundles of each node begin.")
      .def_prop_ro("tail_offsets", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.tails.offsets; }>,
                   nb::for_getter(nb::sig("def tail_offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "Where the tails of each bundle begin.")
      .def_prop_ro("tails", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.tails.values; }>,
                   nb::for_getter(nb::sig("def tails(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Nodes, in the order of the rule's gaps.")
      .def_prop_ro("rule_offsets", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.rules.offsets; }>,
                   nb::for_getter(nb::sig("def rule_offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "Where the rules of each bundle begin.")
      .def_prop_ro("rules", &array_of<[](const ParsedForest& p) -> auto& { return p.forest.rules.values; }>,
                   nb::for_getter(nb::sig("def rules(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Numbers of rules.")
      .def_prop_ro("target_offsets", &array_of<[](const ParsedForest& p) -> auto& { return p.rules.targets.offsets; }>,
                   nb::for_getter(nb::sig("def target_offsets(self) -> numpy.typing.NDArray[numpy.int64]")),
                   "Where the target side of each rule begins.")
      .def_prop_ro("targets", &array_of<[](const ParsedForest& p) -> auto& { return p.rules.targets.values; }>,
                   nb::for_getter(nb::sig("def targets(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "Words, or -1 - k for the k-th gap.")
      .def_prop_ro("scores", &array_of<[](const ParsedForest& p) -> auto& { return p.rules.scores; }>,
                   nb::for_getter(nb::sig("def scores(self) -> numpy.typing.NDArray[numpy.float32]")),
                   "Of each rule, with the features of arcs.")
      .def_prop_ro("origins", &array_of<[](const ParsedForest& p) -> auto& { return p.origins; }>,
                   nb::for_getter(nb::sig("def origins(self) -> numpy.typing.NDArray[numpy.int32]")),
                   "The number of each rule among those of all grammars, one grammar behind the other.")
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
        "The forest over arcs (from, to, word or -1, features or -1). A grammar is a trie, scores of its rules, the\n"
        "longest span, whether it applies from position 0 alone, and whether to unknown arcs alone.");
}

}  // namespace smt
