#include "lexical.hpp"

#include <cstddef>
#include <unordered_map>

namespace smt::localized {

std::vector<double> lexical_weights(Runs sources, Runs targets, std::span<const std::int64_t> starts,
                                    std::span<const std::int32_t> target_of, std::span<const std::int64_t> counts,
                                    Relative relative, double floor) {
  std::unordered_map<std::uint64_t, double> pairs;
  std::unordered_map<std::int32_t, double> totals;
  const auto key = [](std::int32_t source, std::int32_t target) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32U) | static_cast<std::uint32_t>(target);
  };
  const auto target = [&](std::size_t block) { return targets[static_cast<std::size_t>(target_of[block])]; };
  const auto each = [&](auto visit) {
    for (std::size_t p = 0; p < sources.size(); ++p) {
      for (auto b = static_cast<std::size_t>(starts[p]); b < static_cast<std::size_t>(starts[p + 1]); ++b) visit(p, b);
    }
  };
  each([&](std::size_t p, std::size_t b) {
    if (sources[p].size() != 1 || target(b).size() != 1) return;
    const auto count = static_cast<double>(counts[b]);
    pairs[key(sources[p][0], target(b)[0])] += count;
    totals[relative == Relative::kSource ? sources[p][0] : target(b)[0]] += count;
  });
  for (auto& [pair, value] : pairs) {
    const std::uint64_t owner = relative == Relative::kSource ? pair >> 32U : pair & 0xFFFFFFFFU;
    const double total = totals[static_cast<std::int32_t>(owner)];
    value = total > 0.0 ? value / total : 0.0;
  }
  std::vector<double> found(target_of.size());
  each([&](std::size_t p, std::size_t b) {
    double product = 1.0;
    for (const std::int32_t s : sources[p]) {
      double sum = 0.0;
      int above = 0;
      for (const std::int32_t t : target(b)) {
        const auto one = pairs.find(key(s, t));
        if (one == pairs.end() || one->second <= 0.0) continue;
        sum += one->second;
        ++above;
      }
      product *= above > 0 ? sum / above : floor;
    }
    found[b] = product;
  });
  return found;
}

}  // namespace smt::localized
