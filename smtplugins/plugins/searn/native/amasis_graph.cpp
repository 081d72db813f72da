// The search graph of AmasisSearcher: the fragments below the goal, and their edges.
#include <algorithm>
#include <utility>

#include "amasis_reduce.hpp"

namespace smt::searn {
namespace {

std::size_t at(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace

// The fragments used by derivations, by end position.
std::vector<std::vector<std::int32_t>> AmasisSearcher::needed(const std::vector<Ending>& ends) {
  std::vector<std::vector<std::int32_t>> levels(stacks_.size());
  std::vector<std::uint8_t> seen(nodes_.size(), 0);
  // Mark `count` fragments of a stack, from `node` down.
  const auto mark = [&](std::int32_t node, std::int32_t count) {
    for (; count > 0 && node != none; --count, node = nodes_[at(node)].below) {
      if (seen[at(node)]++ == 0) levels[at(nodes_[at(node)].last)].push_back(node);
      seen[at(node)] = 1;
    }
  };
  for (const Ending& end : ends) mark(end.node, nodes_[at(end.node)].depth);
  for (std::size_t level = levels.size(); level-- > 0;) {
    for (std::size_t i = 0; i < levels[level].size(); ++i) {
      for (std::int32_t arc = nodes_[at(levels[level][i])].arcs; arc != none; arc = arcs_[at(arc)].next) {
        mark(arcs_[at(arc)].tail, arcs_[at(arc)].count);
      }
    }
    std::sort(levels[level].begin(), levels[level].end());
  }
  return levels;
}

void AmasisSearcher::put(AmasisGraph& graph, const Made& made) const {
  graph.edges.push_back(made.edge);
  for (const std::int32_t tail : {made.left, made.right}) {
    if (tail != none) graph.tails.values.push_back(tail);
  }
  graph.tails.end_part();
  graph.values.insert(graph.values.end(), made.values, made.values + components_);
  graph.values.insert(graph.values.end(), made.columns, made.columns + kLabelColumns);
}

// Add a node with all edges since the last one.
std::int32_t AmasisSearcher::close(AmasisGraph& graph) const {
  graph.node_edges.push_back(static_cast<std::int64_t>(graph.edges.size()));
  return static_cast<std::int32_t>(graph.node_edges.size()) - 2;
}

// Emit the fragments that end at a position, each with all its edges. Intermediate nodes lie between an option and the
// fragment that the last reduction makes of it.
void AmasisSearcher::emit(AmasisGraph& graph, std::span<const std::int32_t> level) {
  std::vector<Candidate> batch;
  std::vector<std::size_t> first_arc, first_step;
  std::size_t steps = 0;
  for (const std::int32_t v : level) {
    first_arc.push_back(batch.size());
    for (std::int32_t a = nodes_[at(v)].arcs; a != none; a = arcs_[at(a)].next) {
      const Arc& arc = arcs_[at(a)];
      const auto* const record = reinterpret_cast<const std::byte*>(leaves_.data()) + at(arc.option) * stride_;
      const Option& option = choices_[at(arc.option)];
      batch.push_back({arc, arc.tail, option.fragment, option.string, Root::kNone, record + state_at_});
    }
    const auto begin = batch.begin() + static_cast<std::ptrdiff_t>(first_arc.back());
    std::stable_sort(begin, batch.end(),
                     [](const Candidate& a, const Candidate& b) { return a.arc.inside > b.arc.inside; });
  }
  first_arc.push_back(batch.size());
  for (const Candidate& candidate : batch) {
    first_step.push_back(steps);
    steps += at(candidate.arc.count);
  }
  std::vector<double> scores(steps);
  std::vector<float> values(steps * components_);
  std::vector<std::size_t> next(first_step);
  for (std::size_t begin = 0; begin < batch.size(); begin += kChunk) {
    const std::span<Candidate> part(batch.data() + begin, std::min(kChunk, batch.size() - begin));
    reduce(
        part, false,
        [&](std::size_t i, double score, const float* step_values) {
          const std::size_t step = next[begin + i]++;
          scores[step] = score;
          std::copy_n(step_values, components_, values.data() + step * components_);
        },
        [](std::size_t) {});
  }
  const auto rules = static_cast<std::int32_t>(rules_.scores.size()) - 3;
  std::vector<Made> into;
  for (std::size_t n = 0; n < level.size(); ++n) {
    into.clear();
    for (std::size_t i = first_arc[n]; i < first_arc[n + 1]; ++i) {
      const Arc& arc = batch[i].arc;
      const Option& option = choices_[at(arc.option)];
      const auto log = static_cast<float>(arc.log);
      const auto* const record = reinterpret_cast<const std::byte*>(leaves_.data()) + at(arc.option) * stride_;
      Made leaf{{option.rule, option.first, option.last, option.inside}, none, none,
                reinterpret_cast<const float*>(record), {0.0F, 0.0F, 0.0F}};
      const double logged = weights_[components_] * arc.log;
      if (arc.count == 0) {
        leaf.edge.score += logged;
        leaf.columns[0] = log;
        into.push_back(leaf);
        continue;
      }
      std::int32_t& number = leaf_numbers_[at(arc.option)];
      if (number == none) {
        put(graph, leaf);
        number = close(graph);
      }
      std::int32_t right = number;
      std::int32_t left = arc.tail;
      for (std::int32_t k = 0; k < arc.count; ++k, left = nodes_[at(left)].below) {
        const std::size_t step = first_step[i] + at(k);
        const bool in_order = reduces_in_order(arc.operations, k);
        const Made made{{rules + (in_order ? 0 : 1), nodes_[at(left)].first, option.last,
                         scores[step] + (k == 0 ? logged : 0.0)},
                        node_numbers_[at(left)],
                        right,
                        values.data() + step * components_,
                        {k == 0 ? log : 0.0F, in_order ? 0.0F : 1.0F, 0.0F}};
        if (k + 1 == arc.count) {
          into.push_back(made);
        } else {
          put(graph, made);
          right = close(graph);
        }
      }
    }
    for (const Made& made : into) put(graph, made);
    node_numbers_[at(level[n])] = close(graph);
  }
}

void AmasisSearcher::emit_ends(AmasisGraph& graph, const std::vector<Ending>& ends) {
  const auto rules = static_cast<std::int32_t>(rules_.scores.size()) - 3;
  std::vector<Made> into;
  for (const Ending& end : ends) {
    std::int32_t right = node_numbers_[at(end.node)];
    std::int32_t left = nodes_[at(end.node)].below;
    std::size_t step = 0;
    for (; left != none; left = nodes_[at(left)].below, ++step) {
      put(graph, {{rules, nodes_[at(left)].first, positions_, end.scores[step]}, node_numbers_[at(left)], right,
                  end.values.data() + step * components_, {0.0F, 0.0F, 1.0F}});
      right = close(graph);
    }
    into.push_back({{rules - 1, 0, positions_, end.scores[step]}, right, none,
                    end.values.data() + step * components_, {0.0F, 0.0F, 0.0F}});
  }
  for (const Made& made : into) put(graph, made);
  close(graph);
}

// Write the best derivation: its edges from the goal down, its words, its items with their labels.
void AmasisSearcher::tell_best(AmasisGraph& graph, std::int32_t node) const {
  const auto rules = static_cast<std::int32_t>(rules_.scores.size()) - 3;
  const auto best_of = [&](std::int32_t v) { return graph.node_edges[at(v)]; };
  std::vector<std::int64_t> pending{best_of(static_cast<std::int32_t>(graph.node_edges.size()) - 2)};
  while (!pending.empty()) {
    const std::int64_t edge = pending.back();
    pending.pop_back();
    graph.path.push_back(static_cast<std::int32_t>(edge));
    const auto tails = graph.tails[at(edge)];
    for (std::size_t k = tails.size(); k-- > 0;) pending.push_back(best_of(tails[k]));
  }
  pending.push_back(graph.path.front());
  while (!pending.empty()) {
    const std::int64_t edge = pending.back();
    pending.pop_back();
    const auto tails = graph.tails[at(edge)];
    const std::int32_t rule = graph.edges[at(edge)].rule;
    if (tails.empty()) {
      const auto words = rules_.targets[at(rule)];
      graph.words.insert(graph.words.end(), words.begin(), words.end());
    } else if (tails.size() == 1) {
      pending.push_back(best_of(tails[0]));
    } else {
      const bool in_order = rule == rules;
      pending.push_back(best_of(tails[in_order ? 1 : 0]));
      pending.push_back(best_of(tails[in_order ? 0 : 1]));
    }
  }
  for (std::int32_t v = node; v != none;) {
    const Arc& arc = arcs_[at(nodes_[at(v)].arcs)];
    const Option& option = choices_[at(arc.option)];
    graph.items.push_back({option.rule, option.first, option.last, arc.label, arc.count});
    v = arc.tail;
  }
  std::reverse(graph.items.begin(), graph.items.end());
}

}  // namespace smt::searn
