// The forests that searches take, for Python.
#include <nanobind/stl/optional.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "grammar/chart.hpp"
#include "search/forest.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

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

}  // namespace

void bind_search_forest(nb::module_& m) {
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
}

}  // namespace smt
