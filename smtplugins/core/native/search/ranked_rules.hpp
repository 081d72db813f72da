// The rules of a sentence's bundles, best first. Bundles of one source side share one list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/forest.hpp"

namespace smt {

class RankedRules {
 public:
  struct Rule {
    double score;           // as in TargetRules
    double estimate;        // with the estimate of stateful features
    std::int32_t number;    // as in TargetRules
    std::int32_t prepared;  // position in chosen()
    std::int32_t place;     // among the rules of a bundle as the forest has them
    std::int32_t lead;      // k if the target side begins with the k-th gap, else -1
  };

  // Finds the lists.
  void gather(const Forest& forest, const TargetRules& rules);
  // All rules of all lists.
  std::span<const std::int32_t> chosen() const noexcept { return chosen_; }
  // Sorts each list by score plus weighted estimates (rules times components).
  void rank(const TargetRules& rules, std::span<const float> estimates, std::span<const double> weights);

  std::size_t list_of(std::size_t bundle) const noexcept { return static_cast<std::size_t>(list_of_[bundle]); }
  std::span<const Rule> rules_of(std::size_t bundle) const noexcept { return list(list_of(bundle)); }
  // k if all rules of the bundle begin with the k-th gap, else -1.
  std::int32_t lead_of(std::size_t bundle) const noexcept { return leads_[list_of(bundle)]; }

 private:
  std::span<const Rule> list(std::size_t i) const noexcept {
    return {ranked_.data() + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }
  std::size_t find(std::span<const std::int32_t> rules);
  void grow();

  std::vector<std::int32_t> list_of_;
  std::vector<std::int32_t> chosen_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int32_t> leads_;
  std::vector<Rule> ranked_;
  std::vector<std::int32_t> slots_;  // list + 1, or 0
};

}  // namespace smt
