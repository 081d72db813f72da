// Hypergraphs and inference over them, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "graph/graph.hpp"
#include "graph/inference.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using Doubles = Input<double>;
using Drawn = std::tuple<Column<double>, Column<std::int64_t>, Column<std::int32_t>>;

// A value for each edge, checked so that no sum becomes NaN.
std::span<const double> by_edge(const Graph& graph, const Doubles& values, bool infinite = true) {
  if (values.shape(0) != graph.edges()) throw nb::value_error("expected one number for each edge");
  const double* const data = values.data();
  bool good = true;
  for (std::size_t i = 0; i < values.shape(0); ++i) {
    good &= data[i] <= std::numeric_limits<double>::max();
    good &= infinite || data[i] >= std::numeric_limits<double>::lowest();
  }
  if (!good) {
    throw nb::value_error(infinite ? "scores must be numbers or -inf" : "values must be finite numbers");
  }
  return view(values);
}

std::span<const double> by_node(const Graph& graph, const Doubles& values) {
  if (values.shape(0) != graph.nodes()) throw nb::value_error("expected one number for each node");
  return view(values);
}

Semiring semiring(bool best) { return best ? Semiring::kMax : Semiring::kLog; }

Targets targets_of(const Graph& graph, const Input<std::int32_t>& rules, const Input<std::int64_t>& offsets,
                   const Input<std::int32_t>& symbols) {
  const Targets targets{view(rules), view(offsets), view(symbols)};
  check_offsets(targets.offsets, targets.symbols.size(), "offsets of target sides must run from 0 to their symbols");
  const auto known = static_cast<std::int64_t>(targets.offsets.size()) - 1;
  if (targets.rules.size() != graph.edges()) throw nb::value_error("expected one rule for each edge");
  std::vector<std::int64_t> gaps(static_cast<std::size_t>(known), -1);  // tails that each rule needs, once known
  for (std::size_t e = 0; e < graph.edges(); ++e) {
    const std::int32_t rule = targets.rules[e];
    if (rule < -1 || rule >= known) throw nb::value_error("a rule's number is not one of the grammar's");
    if (rule < 0) continue;
    std::int64_t& needed = gaps[static_cast<std::size_t>(rule)];
    if (needed < 0) {
      needed = 0;
      for (const std::int64_t symbol : targets.of(rule)) needed = std::max(needed, -symbol);
    }
    if (static_cast<std::size_t>(needed) > graph.tails(e).size()) {
      throw nb::value_error("a rule has more gaps than its edge has tails");
    }
  }
  return targets;
}

Drawn drawn(Derivations derivations) {
  return {column(std::move(derivations.scores)), column(std::move(derivations.edges.offsets)),
          column(std::move(derivations.edges.values))};
}

void make_graph(Graph* self, const Input<std::int64_t>& edge_offsets, const Input<std::int32_t>& tails,
                const Input<std::int64_t>& tail_offsets) {
  if (edge_offsets.shape(0) == 0 || tail_offsets.shape(0) == 0) throw nb::value_error("offsets begin with 0");
  std::vector<std::int64_t> offsets = values_of(edge_offsets);
  Parts<std::int32_t> parts{values_of(tail_offsets), values_of(tails)};
  nb::gil_scoped_release unlocked;
  new (self) Graph(std::move(offsets), std::move(parts));
}

// Runs a function without the GIL.
template <class Function>
auto unlocked(Function function) {
  nb::gil_scoped_release release;
  return function();
}

Column<double> inside_of(const Graph& graph, const Doubles& scores, bool best) {
  const auto by = by_edge(graph, scores);
  return column(unlocked([&] {
    std::vector<double> values(graph.nodes() + 1);
    inside(graph, by, semiring(best), values);
    values.pop_back();
    return values;
  }));
}

std::vector<double> with_zero(std::span<const double> inner) {
  std::vector<double> values(inner.begin(), inner.end());
  values.push_back(0.0);
  return values;
}

Column<double> outside_of(const Graph& graph, const Doubles& scores, const Doubles& inner, bool best) {
  const auto by = by_edge(graph, scores);
  const auto below = by_node(graph, inner);
  return column(unlocked([&] {
    std::vector<double> values(graph.nodes());
    outside(graph, by, with_zero(below), semiring(best), values);
    return values;
  }));
}

std::tuple<Column<double>, Column<double>> posteriors_of(const Graph& graph, const Doubles& scores,
                                                         const Doubles& inner) {
  const auto by = by_edge(graph, scores);
  const auto below = by_node(graph, inner);
  std::vector<double> edges(graph.edges()), nodes(graph.nodes());
  unlocked([&] { edge_posteriors(graph, by, with_zero(below), edges, nodes); });
  return {column(std::move(edges)), column(std::move(nodes))};
}

Column<double> max_marginals_of(const Graph& graph, const Doubles& scores, const Doubles& inner, const Doubles& outer) {
  const auto by = by_edge(graph, scores);
  const auto below = by_node(graph, inner), above = by_node(graph, outer);
  std::vector<double> edges(graph.edges());
  unlocked([&] { max_marginals(graph, by, with_zero(below), above, edges); });
  return column(std::move(edges));
}

Drawn kbest_of(const Graph& graph, const Doubles& scores, std::size_t k,
               const std::optional<Input<std::int32_t>>& rules, const std::optional<Input<std::int64_t>>& offsets,
               const std::optional<Input<std::int32_t>>& symbols) {
  const auto by = by_edge(graph, scores);
  std::optional<Targets> targets;
  if (rules && offsets && symbols) targets = targets_of(graph, *rules, *offsets, *symbols);
  return drawn(unlocked([&] { return kbest(graph, by, k, targets ? &*targets : nullptr); }));
}

std::tuple<Column<std::int64_t>, Column<std::int32_t>> spell_of(
    const Graph& graph, const Input<std::int64_t>& offsets, const Input<std::int32_t>& edges,
    const Input<std::int32_t>& rules, const Input<std::int64_t>& target_offsets, const Input<std::int32_t>& symbols) {
  const Targets targets = targets_of(graph, rules, target_offsets, symbols);
  Parts<std::int32_t> derivations{values_of(offsets), values_of(edges)};
  check_offsets(derivations.offsets, derivations.values.size(), "offsets must run from 0 to the number of edges");
  for (const std::int32_t edge : derivations.values) {
    if (edge < 0 || static_cast<std::size_t>(edge) >= graph.edges()) {
      throw nb::value_error("expected edges of this graph");
    }
  }
  Parts<std::int32_t> words = unlocked([&] { return spell(graph, derivations, targets); });
  return {column(std::move(words.offsets)), column(std::move(words.values))};
}

using MomentsFound = std::tuple<double, double, Column<double>, Column<double>>;

MomentsFound moments_of(const Graph& graph, const Doubles& scores, const Doubles& values) {
  const auto by = by_edge(graph, scores);
  const auto each = by_edge(graph, values, false);
  std::vector<double> means(graph.nodes()), coefficients(graph.edges());
  const Moments result = unlocked([&] { return moments(graph, by, each, means, coefficients); });
  return {result.log_z, result.mean, column(std::move(means)), column(std::move(coefficients))};
}

using Bundled = std::tuple<Column<std::int64_t>, Column<std::int64_t>, Column<std::int64_t>>;

Bundled bundles(const Graph& graph) {
  Bundles bundles = unlocked([&] { return bundles_of(graph); });
  return {column(std::move(bundles.nodes)), column(std::move(bundles.edges.offsets)),
          column(std::move(bundles.edges.values))};
}

using Restricted = std::tuple<Graph, Column<std::int32_t>, Column<std::int64_t>>;

Restricted restricted_to(const Graph& graph, const Input<bool>& keep) {
  if (keep.shape(0) != graph.edges()) throw nb::value_error("expected one flag for each edge");
  const std::vector<std::uint8_t> flags(keep.data(), keep.data() + keep.shape(0));
  GraphPart part = unlocked([&] { return restricted(graph, flags, graph.empty() ? 0 : graph.nodes() - 1); });
  return {std::move(part.graph), column(std::move(part.nodes)), column(std::move(part.edges))};
}

using Intersected = std::tuple<Graph, Column<std::int32_t>, Column<std::int64_t>, Column<std::int32_t>,
                               Column<double>>;

Intersected intersect_with(const Graph& graph, const Input<std::int32_t>& rules,
                           const Input<std::int64_t>& target_offsets, const Input<std::int32_t>& symbols,
                           const Input<std::int64_t>& arc_offsets, const Input<std::int32_t>& arc_words,
                           const Input<std::int32_t>& arc_targets, const Doubles& arc_weights, const Doubles& finals,
                           std::size_t max_edges) {
  const Targets targets = targets_of(graph, rules, target_offsets, symbols);
  const Acceptor acceptor{values_of(arc_offsets), values_of(arc_words), values_of(arc_targets), values_of(arc_weights), values_of(finals)};
  check_offsets(acceptor.offsets, acceptor.words.size(), "offsets of arcs must run from 0 to their number");
  if (acceptor.offsets.size() != acceptor.finals.size() + 1 || acceptor.targets.size() != acceptor.words.size() ||
      acceptor.weights.size() != acceptor.words.size()) {
    throw nb::value_error("expected columns of arcs of one length");
  }
  for (const std::int32_t target : acceptor.targets) {
    if (target < 0 || static_cast<std::size_t>(target) >= acceptor.states()) {
      throw nb::value_error("expected arcs to states of the acceptor");
    }
  }
  Product product = unlocked([&] { return intersect(graph, targets, acceptor, max_edges); });
  return {std::move(product.part.graph), column(std::move(product.part.nodes)),
          column(std::move(product.part.edges)), column(std::move(product.states)), column(std::move(product.weights))};
}

// The sum of each row of a sparse table: values times the weights of their columns.
Column<double> sparse_scores(const Input<std::int64_t>& offsets, const Input<std::int32_t>& ids,
                             const Input<float>& values, const Doubles& weights) {
  check_offsets(view(offsets), ids.shape(0), "offsets must run from 0 to the number of values");
  if (ids.shape(0) != values.shape(0)) throw nb::value_error("expected ids and values of one length");
  for (const std::int32_t id : view(ids)) {
    if (id < 0 || static_cast<std::size_t>(id) >= weights.shape(0)) {
      throw nb::value_error("expected a weight for each id");
    }
  }
  std::vector<double> sums(offsets.shape(0) - 1);
  unlocked([&] {
    const double* const weight = weights.data();
    for (std::size_t row = 0; row < sums.size(); ++row) {
      double sum = 0.0;
      for (auto i = static_cast<std::size_t>(offsets(row)); i < static_cast<std::size_t>(offsets(row + 1)); ++i) {
        sum += static_cast<double>(values.data()[i]) * weight[ids.data()[i]];
      }
      sums[row] = sum;
    }
  });
  return column(std::move(sums));
}

// The sum of each column of a sparse table: values times the weights of their rows.
Column<double> sparse_sums(const Input<std::int64_t>& offsets, const Input<std::int32_t>& ids,
                           const Input<float>& values, const Doubles& rows, std::size_t width) {
  check_offsets(view(offsets), ids.shape(0), "offsets must run from 0 to the number of values");
  if (ids.shape(0) != values.shape(0)) throw nb::value_error("expected ids and values of one length");
  if (rows.shape(0) + 1 != offsets.shape(0)) throw nb::value_error("expected one number for each row");
  for (const std::int32_t id : view(ids)) {
    if (id < 0 || static_cast<std::size_t>(id) >= width) throw nb::value_error("expected ids below the width");
  }
  std::vector<double> sums(width, 0.0);
  unlocked([&] {
    for (std::size_t row = 0; row + 1 < offsets.shape(0); ++row) {
      const double by = rows.data()[row];
      if (by == 0.0) continue;
      for (auto i = static_cast<std::size_t>(offsets(row)); i < static_cast<std::size_t>(offsets(row + 1)); ++i) {
        sums[static_cast<std::size_t>(ids.data()[i])] += by * static_cast<double>(values.data()[i]);
      }
    }
  });
  return column(std::move(sums));
}

template <class T>
View<T> seen(nb::handle self, const std::vector<T>& values) {
  return View<T>(values.data(), {values.size()}, self);
}

}  // namespace

void bind_inference(nb::module_& m) {
  nb::class_<Graph>(m, "Graph", "Nodes in topological order with the edges into each, the goal last. Scores are logs.")
      .def("__init__", &make_graph, "edge_offsets"_a, "tails"_a, "tail_offsets"_a)
      .def_prop_ro("nodes", &Graph::nodes)
      .def_prop_ro("edges", &Graph::edges)
      .def_prop_ro("edge_offsets", [](nb::handle_t<Graph> self) {
            return seen(self, nb::cast<const Graph&>(self).edge_offsets());
          })
      .def_prop_ro("tails", [](nb::handle_t<Graph> self) {
            return seen(self, nb::cast<const Graph&>(self).all_tails().values);
          })
      .def_prop_ro("tail_offsets", [](nb::handle_t<Graph> self) {
            return seen(self, nb::cast<const Graph&>(self).all_tails().offsets);
          })
      .def("inside", &inside_of, "scores"_a, "best"_a = false, "The sum (or the best) for each node.")
      .def("outside", &outside_of, "scores"_a, "inside"_a, "best"_a = false, "The sum (or the best) for each node.")
      .def("posteriors", &posteriors_of, "scores"_a, "inside"_a, "Expected counts of edges and of nodes.")
      .def("max_marginals", &max_marginals_of, "scores"_a, "inside"_a, "outside"_a,
           "For each edge the best score of a derivation that contains it.")
      .def("paths", [](const Graph& graph) { return unlocked([&] { return count_paths(graph); }); },
           "The number of derivations.")
      .def("viterbi", [](const Graph& graph, const Doubles& scores) {
            const auto by = by_edge(graph, scores);
            return drawn(unlocked([&] { return viterbi(graph, by); }));
          }, "scores"_a, "The best derivation: scores, offsets, edges; empty if no derivation has a score.")
      .def("kbest", &kbest_of, "scores"_a, "k"_a, "rules"_a.none() = nb::none(), "target_offsets"_a.none() = nb::none(),
           "target"_a.none() = nb::none(),
           "The k best derivations: scores, offsets, edges. With rules, the best of k distinct texts.")
      .def("sample", [](const Graph& graph, const Doubles& scores, std::size_t count, std::uint64_t seed) {
            const auto by = by_edge(graph, scores);
            return drawn(unlocked([&] { return sample(graph, by, count, seed); }));
          }, "scores"_a, "count"_a, "seed"_a, "Sampled derivations: scores, offsets, edges.")
      .def("spell", &spell_of, "offsets"_a, "edges"_a, "rules"_a, "target_offsets"_a, "target"_a,
           "The words of derivations: offsets, words.")
      .def("moments", &moments_of, "scores"_a, "values"_a,
           "log Z, the mean of the sum of values, the mean below each node, and edge coefficients for covariances.")
      .def("bundles", &bundles, "Offsets by node, offsets by bundle, edges.")
      .def("restricted", &restricted_to, "keep"_a, "The graph of the kept edges; its nodes and edges.")
      .def("intersect", &intersect_with, "rules"_a, "target_offsets"_a, "target"_a, "arc_offsets"_a, "arc_words"_a,
           "arc_targets"_a, "arc_weights"_a, "finals"_a, "max_edges"_a,
           "The derivations whose words an acceptor accepts: graph, nodes, edges, states, weights.");

  m.def("sparse_scores", &sparse_scores, "offsets"_a, "ids"_a, "values"_a, "weights"_a,
        "The weighted sum of each row of a sparse table: values times the weights of their columns.");
  m.def("sparse_sums", &sparse_sums, "offsets"_a, "ids"_a, "values"_a, "rows"_a, "width"_a,
        "The weighted sum of each column of a sparse table: values times the weights of their rows.");
}

}  // namespace smt
