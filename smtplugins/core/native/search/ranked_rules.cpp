#include "search/ranked_rules.hpp"

#include <algorithm>

namespace smt {
namespace {

// Different lists that agree in these are rare; a full comparison tells them apart.
std::uint64_t hash_of(std::span<const std::int32_t> rules) noexcept {
  std::uint64_t hash = rules.size();
  if (!rules.empty()) {
    hash = hash * 0x9E3779B97F4A7C15U + static_cast<std::uint32_t>(rules.front());
    hash = hash * 0x9E3779B97F4A7C15U + static_cast<std::uint32_t>(rules.back());
  }
  hash *= 0xD6E8FEB86659FD93U;
  return hash ^ hash >> 32U;
}

}  // namespace

void RankedRules::grow() {
  slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i + 1 < offsets_.size(); ++i) {
    const auto first = static_cast<std::size_t>(offsets_[i]);
    const auto last = static_cast<std::size_t>(offsets_[i + 1]);
    std::size_t slot = hash_of({chosen_.data() + first, last - first}) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::int32_t>(i + 1);
  }
}

std::size_t RankedRules::find(std::span<const std::int32_t> rules) {
  if (offsets_.size() * 2 > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_of(rules) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const auto i = static_cast<std::size_t>(slots_[slot] - 1);
    const auto size = static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]);
    if (size == rules.size() && std::equal(rules.begin(), rules.end(), chosen_.begin() + offsets_[i])) return i;
  }
  const std::size_t i = offsets_.size() - 1;
  slots_[slot] = static_cast<std::int32_t>(i + 1);
  chosen_.insert(chosen_.end(), rules.begin(), rules.end());
  offsets_.push_back(static_cast<std::int64_t>(chosen_.size()));
  return i;
}

void RankedRules::gather(const Forest& forest, const TargetRules& rules) {
  chosen_.clear();
  offsets_.assign(1, 0);
  leads_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
  const std::size_t bundles = forest.bundles();
  list_of_.resize(bundles);
  for (std::size_t b = 0; b < bundles; ++b) {
    list_of_[b] = static_cast<std::int32_t>(find(forest.rules[b]));
  }
  ranked_.resize(chosen_.size());
  for (std::size_t i = 0; i + 1 < offsets_.size(); ++i) {
    std::int32_t common = -2;
    for (auto at = static_cast<std::size_t>(offsets_[i]); at < static_cast<std::size_t>(offsets_[i + 1]); ++at) {
      const std::span<const std::int32_t> target = rules.targets[static_cast<std::size_t>(chosen_[at])];
      const std::int32_t lead = !target.empty() && target[0] < 0 ? -1 - target[0] : -1;
      ranked_[at].lead = lead;
      common = common == -2 || common == lead ? lead : -1;
    }
    leads_.push_back(common);
  }
}

void RankedRules::rank(const TargetRules& rules, std::span<const float> estimates,
                       std::span<const double> weights) {
  const std::size_t width = weights.size();
  for (std::size_t i = 0; i + 1 < offsets_.size(); ++i) {
    const auto first = static_cast<std::size_t>(offsets_[i]);
    const auto last = static_cast<std::size_t>(offsets_[i + 1]);
    for (std::size_t at = first; at < last; ++at) {
      Rule& rule = ranked_[at];
      rule.number = chosen_[at];
      rule.prepared = static_cast<std::int32_t>(at);
      rule.place = static_cast<std::int32_t>(at - first);
      rule.score = static_cast<double>(rules.scores[static_cast<std::size_t>(rule.number)]);
      rule.estimate = rule.score;
      for (std::size_t c = 0; c < width; ++c) {
        rule.estimate += weights[c] * static_cast<double>(estimates[at * width + c]);
      }
    }
    std::sort(ranked_.begin() + offsets_[i], ranked_.begin() + offsets_[i + 1], [](const Rule& a, const Rule& b) {
      return a.estimate != b.estimate ? a.estimate > b.estimate : a.place < b.place;
    });
  }
}

}  // namespace smt
