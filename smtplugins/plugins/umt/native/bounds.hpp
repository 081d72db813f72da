// Bounds on the missing branches of a tree: Viterbi inside and outside of the context-free scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "part.hpp"

namespace smt::umt {

// A contextual part and its weight in the bounds.
struct Joining {
  Part* part;
  double weight;
};

class Bounds {
 public:
  // Computes bounds from rule scores. Nodes outside all derivations get minus infinity. With joining parts bounds
  // become estimates that include the score of joining each bundle's best rule with its best branches.
  void find(const Index& index, std::span<const float> scores, std::span<const Joining> joining);
  double inside(std::int32_t node) const noexcept { return inside_[static_cast<std::size_t>(node)]; }
  double outside(std::int32_t node) const noexcept { return outside_[static_cast<std::size_t>(node)]; }
  // Whether the edges of a bundle are in some derivation.
  bool alive(std::int32_t bundle) const noexcept { return alive_[static_cast<std::size_t>(bundle)] != 0; }
  // The score of joining a bundle's best edge with its tails' best branches.
  double joins(std::int32_t bundle) const noexcept {
    return joins_.empty() ? 0.0 : joins_[static_cast<std::size_t>(bundle)];
  }

 private:
  std::vector<double> inside_, outside_, best_, joins_;
  std::vector<std::uint8_t> alive_;
};

}  // namespace smt::umt
