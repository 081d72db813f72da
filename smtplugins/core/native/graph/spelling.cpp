// The words of derivations.
#include <stdexcept>

#include "graph/inference.hpp"

namespace smt {

Parts<std::int32_t> spell(const Graph& graph, const Parts<std::int32_t>& derivations, const Targets& targets) {
  Parts<std::int32_t> words;
  std::vector<std::size_t> ends;        // of each place in a derivation: the end of its subtree
  std::vector<std::int64_t> fillers;    // the place of each tail of each edge, -1 for a start node
  std::vector<std::size_t> first;       // of each place: the offset of its fillers
  std::vector<std::int64_t> todo;       // places to spell, or -1 - word
  for (std::size_t d = 0; d < derivations.size(); ++d) {
    const auto edges = derivations[d];
    first.assign(edges.size() + 1, 0);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      first[i + 1] = first[i] + graph.tails(static_cast<std::size_t>(edges[i])).size();
    }
    fillers.assign(first.back(), -1);
    ends.assign(edges.size() + 1, 0);
    for (std::size_t i = edges.size(); i-- > 0;) {
      std::size_t after = i + 1;
      const auto tails = graph.tails(static_cast<std::size_t>(edges[i]));
      for (std::size_t k = 0; k < tails.size(); ++k) {
        const auto t = static_cast<std::size_t>(tails[k]);
        if (graph.is_start(t)) continue;
        if (after >= edges.size() || static_cast<std::size_t>(edges[after]) < graph.first(t) ||
            static_cast<std::size_t>(edges[after]) >= graph.last(t)) {
          throw std::invalid_argument("the edges are not a derivation");
        }
        fillers[first[i] + k] = static_cast<std::int64_t>(after);
        after = ends[after];
      }
      ends[i] = after;
    }
    if (!edges.empty() && ends[0] != edges.size()) throw std::invalid_argument("the edges are not a derivation");
    todo.clear();
    if (!edges.empty()) todo.push_back(0);
    while (!todo.empty()) {
      const std::int64_t next = todo.back();
      todo.pop_back();
      if (next < 0) {
        words.values.push_back(static_cast<std::int32_t>(-1 - next));
        if (words.values.size() > 8 * kMaxDerivation) throw std::length_error("derivations of too many words");
        continue;
      }
      const auto place = static_cast<std::size_t>(next);
      const std::int32_t rule = targets.rules[static_cast<std::size_t>(edges[place])];
      if (rule < 0) {
        for (std::size_t k = first[place + 1]; k-- > first[place];) {
          if (fillers[k] >= 0) todo.push_back(fillers[k]);
        }
        continue;
      }
      const auto symbols = targets.of(rule);
      for (std::size_t k = symbols.size(); k-- > 0;) {
        if (symbols[k] >= 0) {
          todo.push_back(-1 - static_cast<std::int64_t>(symbols[k]));
        } else if (const std::int64_t filler = fillers[first[place] + static_cast<std::size_t>(-1 - symbols[k])];
                   filler >= 0) {
          todo.push_back(filler);
        }
      }
    }
    words.end_part();
  }
  return words;
}

}  // namespace smt
