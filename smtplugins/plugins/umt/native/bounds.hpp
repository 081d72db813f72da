// What the best missing branch of a tree would add: bounds of the context-free scores, by (max,+) inside and outside.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "part.hpp"

namespace smt::umt {

// A part that looks beyond rules, and its weight in bounds.
struct Joining {
  Part* part;
  double weight;
};

class Bounds {
 public:
  // Scores are those of rules. Nodes that are in no derivation have the bound minus infinity. With parts that join,
  // bounds are none any more, but guesses: what the best rule of each bundle adds beside the best branches is in them.
  void find(const Index& index, std::span<const float> scores, std::span<const Joining> joining);
  double inside(std::int32_t node) const noexcept { return inside_[static_cast<std::size_t>(node)]; }
  double outside(std::int32_t node) const noexcept { return outside_[static_cast<std::size_t>(node)]; }
  // Whether the edges of a bundle are in a derivation.
  bool alive(std::int32_t bundle) const noexcept { return alive_[static_cast<std::size_t>(bundle)] != 0; }
  // What the best edge of a bundle adds by joining its tails' best branches.
  double joins(std::int32_t bundle) const noexcept {
    return joins_.empty() ? 0.0 : joins_[static_cast<std::size_t>(bundle)];
  }

 private:
  std::vector<double> inside_, outside_, best_, joins_;
  std::vector<std::uint8_t> alive_;
};

}  // namespace smt::umt
