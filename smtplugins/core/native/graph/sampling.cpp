// Sampling of derivations, top-down.
#include <algorithm>
#include <stdexcept>

#include "base/exponential.hpp"
#include "graph/inference.hpp"

namespace smt {
namespace {

// G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) noexcept : state_(seed) {}

  // Uniform in [0, 1).
  double next() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    z ^= z >> 31U;
    return static_cast<double>(z >> 11U) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Derivations sample(const Graph& graph, std::span<const double> scores, std::size_t count, std::uint64_t seed) {
  Derivations derivations;
  if (graph.empty()) return derivations;
  std::vector<double> inner(graph.nodes() + 1);
  inside(graph, scores, Semiring::kLog, inner);
  const std::size_t goal = graph.nodes() - 1;
  if (inner[goal] == kMinusInfinity) return derivations;
  // Cumulative probabilities of a node's edges, computed when a derivation first reaches it.
  std::vector<double> upto(graph.edges());
  std::vector<bool> made(graph.nodes(), false);
  SplitMix random(seed);
  std::vector<std::int32_t> todo;
  for (std::size_t i = 0; i < count; ++i) {
    todo.assign(1, static_cast<std::int32_t>(goal));
    double score = 0.0;
    while (!todo.empty()) {
      const auto v = static_cast<std::size_t>(todo.back());
      todo.pop_back();
      if (graph.is_start(v)) continue;
      const auto begin = upto.begin() + graph.edge_offsets()[v], end = upto.begin() + graph.edge_offsets()[v + 1];
      if (!made[v]) {
        double total = 0.0;
        for (std::size_t e = graph.first(v); e < graph.last(v); ++e) {
          double sum = scores[e];
          for (const std::int32_t t : graph.tails(e)) sum += inner[static_cast<std::size_t>(t)];
          upto[e] = total += fast_exp(sum - inner[v]);
        }
        made[v] = true;
      }
      // The first sum above the random number: never an edge of probability 0, not even by rounding.
      auto at = std::upper_bound(begin, end, random.next() * end[-1]);
      if (at == end) at = std::lower_bound(begin, end, end[-1]);
      const auto edge = static_cast<std::size_t>(at - upto.begin());
      if (derivations.edges.values.size() == kMaxDerivation) throw std::length_error("derivations of too many edges");
      derivations.edges.values.push_back(static_cast<std::int32_t>(edge));
      score += scores[edge];
      const auto tails = graph.tails(edge);
      todo.insert(todo.end(), tails.rbegin(), tails.rend());
    }
    derivations.edges.end_part();
    derivations.scores.push_back(score);
  }
  return derivations;
}

}  // namespace smt
