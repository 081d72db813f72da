// What the best missing branch of a tree would add: bounds of the context-free scores, by (max,+) inside and outside.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "part.hpp"

namespace smt::umt {

class Bounds {
 public:
  // Scores are those of rules. Nodes that are in no derivation have the bound minus infinity.
  void find(const Index& index, std::span<const float> scores);
  double inside(std::int32_t node) const noexcept { return inside_[static_cast<std::size_t>(node)]; }
  double outside(std::int32_t node) const noexcept { return outside_[static_cast<std::size_t>(node)]; }
  // Whether the edges of a bundle are in a derivation.
  bool alive(std::int32_t bundle) const noexcept { return alive_[static_cast<std::size_t>(bundle)] != 0; }

 private:
  std::vector<double> inside_, outside_, best_;
  std::vector<std::uint8_t> alive_;
};

}  // namespace smt::umt
