#include "bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace smt::umt {

void Index::set(const SearchForest& given) {
  input = &given;
  const Forest& forest = given.forest;
  const std::size_t nodes = forest.nodes.size();
  goal = static_cast<std::int32_t>(nodes) - 1;
  heads.resize(forest.bundles());
  leaves.clear();
  first_use.assign(nodes + 1, 0);
  for (std::size_t v = 0; v < nodes; ++v) {
    for (auto b = static_cast<std::size_t>(forest.node_bundles[v]);
         b < static_cast<std::size_t>(forest.node_bundles[v + 1]); ++b) {
      heads[b] = static_cast<std::int32_t>(v);
      const auto below = forest.tails[b];
      if (below.empty()) leaves.push_back(static_cast<std::int32_t>(b));
      for (const std::int32_t tail : below) ++first_use[static_cast<std::size_t>(tail) + 1];
    }
  }
  for (std::size_t rule = 0; rule < given.rules.targets.size(); ++rule) {
    const auto target = given.rules.targets[rule];
    for (std::size_t i = 0; i < target.size(); ++i) {
      if (target[i] < 0 && std::find(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(i), target[i]) !=
                               target.begin() + static_cast<std::ptrdiff_t>(i)) {
        throw std::invalid_argument("expected each tail once on a rule's target side, found a tail twice");
      }
    }
  }
  for (std::size_t v = 0; v < nodes; ++v) first_use[v + 1] += first_use[v];
  uses.resize(static_cast<std::size_t>(first_use[nodes]));
  std::vector<std::int32_t> next(first_use.begin(), first_use.end() - 1);
  for (std::size_t b = 0; b < forest.bundles(); ++b) {
    std::int32_t slot = 0;
    for (const std::int32_t tail : forest.tails[b]) {
      uses[static_cast<std::size_t>(next[static_cast<std::size_t>(tail)]++)] = {static_cast<std::int32_t>(b), slot++};
    }
  }
}

Candidate Index::edge(std::int64_t number, std::int32_t slot) const noexcept {
  const auto& offsets = input->forest.rules.offsets;
  const auto bundle = std::upper_bound(offsets.begin(), offsets.end(), number) - offsets.begin() - 1;
  return {number, static_cast<std::int32_t>(bundle), input->forest.rules.values[static_cast<std::size_t>(number)],
          slot};
}

void Bounds::find(const Index& index, std::span<const float> scores, std::span<const Joining> joining) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const Forest& forest = index.input->forest;
  const std::size_t nodes = forest.nodes.size();
  inside_.assign(nodes, kNever);
  outside_.assign(nodes, kNever);
  best_.resize(forest.bundles());
  alive_.assign(forest.bundles(), 0);
  joins_.assign(joining.empty() ? 0 : forest.bundles(), 0.0);
  for (const Joining& one : joining) one.part->begin_branches(nodes);
  for (std::size_t b = 0; b < forest.bundles(); ++b) {
    double score = kNever;
    std::int32_t best = -1;
    for (const std::int32_t rule : forest.rules[b]) {
      const auto own = static_cast<double>(scores[static_cast<std::size_t>(rule)]);
      if (own > score) {
        score = own;
        best = rule;
      }
    }
    for (const std::int32_t tail : forest.tails[b]) score += inside_[static_cast<std::size_t>(tail)];
    double& whole = inside_[static_cast<std::size_t>(index.heads[b])];
    if (score != kNever && !joining.empty()) {
      for (const Joining& one : joining) joins_[b] += one.weight * one.part->joins(static_cast<std::int32_t>(b), best);
      score += joins_[b];
      if (score > whole) {
        for (const Joining& one : joining) one.part->keep_branch(index.heads[b]);
      }
    }
    best_[b] = score;
    whole = std::max(whole, score);
  }
  if (nodes == 0) return;
  outside_.back() = 0.0;
  for (std::size_t b = forest.bundles(); b-- > 0;) {
    const double above = outside_[static_cast<std::size_t>(index.heads[b])];
    if (above == kNever || best_[b] == kNever) continue;
    alive_[b] = 1;
    // Each tail separately, as a node may be a tail twice.
    for (const std::int32_t tail : forest.tails[b]) {
      double& outside = outside_[static_cast<std::size_t>(tail)];
      outside = std::max(outside, above + best_[b] - inside_[static_cast<std::size_t>(tail)]);
    }
  }
}

}  // namespace smt::umt
