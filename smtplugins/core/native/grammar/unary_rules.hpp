// The unary rules of a parser's grammars without their cycles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "grammar/chart.hpp"

namespace smt {

// The unary rules that apply, and an order of labels in which each is derived from earlier ones.
class UnaryRules {
 public:
  struct Rule {
    std::int32_t gap;
    std::int32_t label;
    std::int32_t grammar;
    std::int32_t bin;
    std::int32_t first;  // its first rule: the order in the file
  };

  // Nothing is derived from the goal, and a rule that closes a cycle is left out. Which rule that is depends on the
  // start of the walk: as in cdec, the last label.
  explicit UnaryRules(const ChartInput& input);

  std::span<const Rule> of(std::int32_t gap) const noexcept {
    const auto [first, last] = std::equal_range(rules_.begin(), rules_.end(), gap, ByGap());
    return {first, last};
  }
  // 0 for a label in no unary rule.
  std::int32_t rank(std::int32_t label) const noexcept {
    return ranks_.empty() ? 0 : ranks_[static_cast<std::size_t>(label)];
  }
  bool empty() const noexcept { return rules_.empty(); }

 private:
  struct ByGap {
    bool operator()(const Rule& rule, std::int32_t gap) const noexcept { return rule.gap > gap; }
    bool operator()(std::int32_t gap, const Rule& rule) const noexcept { return gap > rule.gap; }
  };

  void sort_labels(std::size_t labels);

  std::vector<Rule> rules_;
  std::vector<std::int32_t> ranks_;
};

}  // namespace smt
