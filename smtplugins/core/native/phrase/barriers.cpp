#include "phrase/barriers.hpp"

#include <algorithm>

namespace smt {

void Barriers::start(std::int32_t positions, std::span<const std::int32_t> walls,
                     std::span<const std::int32_t> zones) {
  empty_ = walls.empty() && zones.empty();
  if (empty_) return;
  walls_.assign(index(positions), 0);
  owners_.assign(index(positions), -1);
  zones_.clear();
  for (const std::int32_t wall : walls) {
    if (wall >= 0 && wall < positions) walls_[index(wall)] = 1;
  }
  for (std::size_t i = 0; i + 1 < zones.size(); i += 2) {
    const std::int32_t begin = std::max(zones[i], 0);
    const std::int32_t end = std::min(zones[i + 1], positions);
    if (begin < end) zones_.emplace_back(begin, end);
  }
  for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
    const auto [begin, end] = zones_[zone];
    for (std::int32_t at = begin; at + 1 < end; ++at) {
      std::int32_t& owner = owners_[index(at)];
      if (walls_[index(at)] != 0) {
        owner = static_cast<std::int32_t>(zone);
        walls_[index(at)] = 0;
      } else if (owner >= 0) {
        const auto [first, last] = zones_[index(owner)];
        if (first < begin || last > end) owner = static_cast<std::int32_t>(zone);
      }
    }
  }
}

}  // namespace smt
