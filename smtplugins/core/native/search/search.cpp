#include "search/search.hpp"

#include <algorithm>
#include <numeric>

#include "search/lm_scorer.hpp"
#include "search/search_run.hpp"

namespace smt {

void Found::clear() {
  node_of.clear();
  best.clear();
  node_edges.assign(1, 0);
  edge_of.clear();
  rules.clear();
  scores.clear();
  tail_offsets.assign(1, 0);
  tails.clear();
  values.clear();
}

Refined keep_reachable(const Forest& forest, const Found& result, std::size_t components) {
  Refined refined;
  refined.components = components;
  const std::size_t nodes = result.node_of.size();
  if (nodes == 0) return refined;
  const auto tails_of = [&](std::size_t e) {
    return std::span<const std::int32_t>(result.tails)
        .subspan(static_cast<std::size_t>(result.tail_offsets[e]),
                 static_cast<std::size_t>(result.tail_offsets[e + 1] - result.tail_offsets[e]));
  };

  std::vector<std::int32_t> numbers(nodes, -1);
  numbers.back() = 0;
  std::size_t kept = 0;
  std::size_t edges = 0;
  std::size_t tails = 0;
  for (std::size_t v = nodes; v-- > 0;) {
    if (numbers[v] < 0) continue;
    ++kept;
    const auto first = static_cast<std::size_t>(result.node_edges[v]);
    const auto last = static_cast<std::size_t>(result.node_edges[v + 1]);
    edges += last - first;
    for (auto at = static_cast<std::size_t>(result.tail_offsets[first]);
         at < static_cast<std::size_t>(result.tail_offsets[last]); ++at, ++tails) {
      numbers[static_cast<std::size_t>(result.tails[at])] = 0;
    }
  }
  refined.forest.nodes.reserve(kept);
  refined.node_of.reserve(kept);
  refined.best.reserve(kept);
  refined.edge_of.reserve(edges);
  refined.scores.reserve(edges);
  refined.values.reserve(edges * components);
  refined.forest.rules.values.reserve(edges);
  refined.forest.rules.offsets.reserve(edges + 1);
  refined.forest.tails.values.reserve(tails);
  refined.forest.tails.offsets.reserve(edges + 1);

  std::int32_t number = 0;
  std::vector<std::size_t> order;
  for (std::size_t v = 0; v < nodes; ++v) {
    if (numbers[v] < 0) continue;
    numbers[v] = number++;
    refined.forest.nodes.push_back(forest.nodes[static_cast<std::size_t>(result.node_of[v])]);
    refined.node_of.push_back(result.node_of[v]);
    refined.best.push_back(result.best[v]);

    const auto first = static_cast<std::size_t>(result.node_edges[v]);
    order.resize(static_cast<std::size_t>(result.node_edges[v + 1]) - first);
    std::iota(order.begin(), order.end(), first);
    if (order.size() > 1) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto left = tails_of(a);
        const auto right = tails_of(b);
        return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
      });
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t e = order[i];
      const auto own = tails_of(e);
      if (i == 0 || !std::equal(own.begin(), own.end(), tails_of(order[i - 1]).begin(), tails_of(order[i - 1]).end())) {
        if (i != 0) refined.forest.rules.end_part();
        for (const std::int32_t tail : own) {
          refined.forest.tails.values.push_back(numbers[static_cast<std::size_t>(tail)]);
        }
        refined.forest.tails.end_part();
      }
      refined.forest.rules.values.push_back(result.rules[e]);
      refined.edge_of.push_back(result.edge_of[e]);
      refined.scores.push_back(result.scores[e]);
      const auto value = result.values.begin() + static_cast<std::ptrdiff_t>(e * components);
      refined.values.insert(refined.values.end(), value, value + static_cast<std::ptrdiff_t>(components));
    }
    refined.forest.rules.end_part();
    refined.forest.node_bundles.push_back(static_cast<std::int64_t>(refined.forest.bundles()));
  }
  return refined;
}

namespace {
// Nodes that are tails several times let derivations grow exponentially.
constexpr std::size_t kMostEdges = std::size_t{1} << 24U;
}  // namespace

Derivation best_derivation(const Refined& refined, const TargetRules& rules) {
  Derivation derivation;
  const Forest& forest = refined.forest;
  const std::size_t nodes = forest.nodes.size();
  if (nodes == 0) return derivation;
  // Computed from the edges' scores, not taken from the search.
  std::vector<std::int64_t> best_edge(nodes, -1);
  std::vector<std::size_t> best_bundle(nodes, 0);
  std::vector<double> inside(nodes, -std::numeric_limits<double>::infinity());
  for (std::size_t v = 0; v < nodes; ++v) {
    for (auto b = static_cast<std::size_t>(forest.node_bundles[v]);
         b < static_cast<std::size_t>(forest.node_bundles[v + 1]); ++b) {
      double tails = 0.0;
      for (const std::int32_t tail : forest.tails[b]) tails += inside[static_cast<std::size_t>(tail)];
      for (auto e = forest.rules.offsets[b]; e < forest.rules.offsets[b + 1]; ++e) {
        const double score = tails + refined.scores[static_cast<std::size_t>(e)];
        if (best_edge[v] >= 0 && score <= inside[v]) continue;
        inside[v] = score;
        best_edge[v] = e;
        best_bundle[v] = b;
      }
    }
  }

  std::vector<std::size_t> pending{nodes - 1};
  while (!pending.empty()) {
    const std::size_t v = pending.back();
    pending.pop_back();
    const std::int64_t e = best_edge[v];
    if (derivation.edges.size() == kMostEdges) throw SearchLimit("a derivation of more edges than can be listed");
    derivation.edges.push_back(e);
    derivation.score += refined.scores[static_cast<std::size_t>(e)];
    const auto tails = forest.tails[best_bundle[v]];
    for (std::size_t k = tails.size(); k-- > 0;) pending.push_back(static_cast<std::size_t>(tails[k]));
  }
  struct Call {
    std::size_t node;
    std::size_t at;  // symbol of the target side
  };
  std::vector<Call> calls{{nodes - 1, 0}};
  while (!calls.empty()) {
    Call& call = calls.back();
    const auto rule = forest.rules.values[static_cast<std::size_t>(best_edge[call.node])];
    const auto target = rules.targets[static_cast<std::size_t>(rule)];
    if (call.at == target.size()) {
      calls.pop_back();
      continue;
    }
    const std::int32_t symbol = target[call.at++];
    if (symbol >= 0) {
      if (derivation.words.size() == kMostEdges) throw SearchLimit("an output of more words than can be listed");
      derivation.words.push_back(symbol);
    } else {
      const auto tails = forest.tails[best_bundle[call.node]];
      calls.push_back({static_cast<std::size_t>(tails[static_cast<std::size_t>(-1 - symbol)]), 0});
    }
  }
  return derivation;
}

extern template class Searcher<LmScorer<4>>;
extern template class Searcher<LmScorer<6>>;
template class Searcher<Scorer>;

std::unique_ptr<AnySearcher> make_searcher(std::shared_ptr<Scorer> scorer) {
  if (auto small = std::dynamic_pointer_cast<LmScorer<4>>(scorer)) {
    return std::make_unique<Searcher<LmScorer<4>>>(std::move(small));
  }
  if (auto middle = std::dynamic_pointer_cast<LmScorer<6>>(scorer)) {
    return std::make_unique<Searcher<LmScorer<6>>>(std::move(middle));
  }
  return std::make_unique<Searcher<Scorer>>(std::move(scorer));
}

}  // namespace smt
