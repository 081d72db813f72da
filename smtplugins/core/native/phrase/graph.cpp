// The graph of a search: the hypotheses that the goal needs, and the values of each step between them.
#include <algorithm>

#include "phrase/search.hpp"

namespace smt {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace

// The part below the goal.
PhraseGraph PhraseSearcher::finish(const SearchForest& input) {
  PhraseGraph graph;
  graph.components = components();
  graph.made = made_;
  const std::vector<std::int32_t>& last = stacks_.back().kept;
  if (last.empty()) return graph;
  std::vector<std::uint8_t> needed(hypotheses_.size(), 0);
  std::vector<std::int32_t> ends(last);
  if (!options_.all_edges) ends.resize(1);
  for (const std::int32_t hypothesis : ends) needed[at(hypothesis)] = 1;
  // By covered words: each hypothesis extends one that covers fewer.
  std::vector<std::vector<std::int32_t>> levels(stacks_.size());
  std::size_t edges = ends.size();
  std::vector<std::int32_t> pending(ends);
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const Hypothesis& hypothesis = hypotheses_[at(pending[i])];
    levels[at(coverages_.covered(hypothesis.coverage))].push_back(pending[i]);
    for (std::int32_t arc = hypothesis.arcs; arc != none; arc = arcs_[at(arc)].next) {
      ++edges;
      std::uint8_t& seen = needed[at(arcs_[at(arc)].tail)];
      if (seen == 0) pending.push_back(arcs_[at(arc)].tail);
      seen = 1;
    }
  }
  graph.nodes.reserve(pending.size() + 1);
  graph.edges.reserve(edges);
  graph.values.reserve(edges * graph.components);
  const auto goal_rule = static_cast<std::int32_t>(input.rules.scores.size()) - 1;
  std::vector<std::int32_t> numbers(hypotheses_.size(), none);
  std::vector<float> values(graph.components);
  std::vector<std::int32_t> arcs;
  for (std::vector<std::int32_t>& level : levels) {
    std::sort(level.begin(), level.end());
    for (const std::int32_t h : level) {
      const Hypothesis& hypothesis = hypotheses_[at(h)];
      numbers[at(h)] = static_cast<std::int32_t>(graph.nodes.size());
      graph.nodes.push_back({coverages_.covered(hypothesis.coverage), hypothesis.score});
      arcs.clear();
      for (std::int32_t arc = hypothesis.arcs; arc != none; arc = arcs_[at(arc)].next) arcs.push_back(arc);
      std::stable_sort(arcs.begin(), arcs.end(), [&](std::int32_t a, std::int32_t b) {
        return arcs_[at(a)].score > arcs_[at(b)].score;
      });
      for (const std::int32_t a : arcs) {
        const Arc& arc = arcs_[at(a)];
        const Hypothesis& before = hypotheses_[at(arc.tail)];
        const PhraseOption& choice = choices_[at(arc.option)];
        graph.edges.push_back(
            {numbers[at(arc.tail)], choice.rule, choice.first, choice.last, arc.score - before.score});
        states_.values(before.state, arc.option, values.data());
        orders_.values(before.rule, choice.rule, orientation_of(before, choice.first, choice.last),
                       coverages_.distance(before.last, choice.first), values.data() + states_.components());
        graph.values.insert(graph.values.end(), values.begin(), values.end());
      }
      graph.node_edges.push_back(static_cast<std::int64_t>(graph.edges.size()));
    }
  }
  double best = kNever;
  for (const std::int32_t h : ends) {
    const Hypothesis& hypothesis = hypotheses_[at(h)];
    const double score = hypothesis.total - hypothesis.score;
    best = std::max(best, hypothesis.total);
    graph.edges.push_back({numbers[at(h)], goal_rule, positions_, positions_, score});
    std::fill(values.begin(), values.end(), 0.0F);
    states_.finish_values(hypothesis.state, values.data());
    graph.values.insert(graph.values.end(), values.begin(), values.end());
  }
  graph.nodes.push_back({positions_, best});
  graph.node_edges.push_back(static_cast<std::int64_t>(graph.edges.size()));
  graph.asked = states_.asked();

  for (auto node = static_cast<std::int32_t>(graph.nodes.size()) - 1; node > 0;) {
    const auto edge = static_cast<std::int32_t>(graph.node_edges[at(node)]);
    graph.path.push_back(edge);
    node = graph.edges[at(edge)].tail;
  }
  std::reverse(graph.path.begin(), graph.path.end());
  return graph;
}

}  // namespace smt
