// Limits of reordering inside a sentence: walls between words, and zones that are finished once they are begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace smt {

class Barriers {
 public:
  // A wall of position p stands behind it. Zones are pairs of positions, [first, last). A wall inside of a zone is that
  // of the innermost zone alone. Positions beyond the sentence count for nothing.
  void start(std::int32_t positions, std::span<const std::int32_t> walls, std::span<const std::int32_t> zones);

  bool empty() const noexcept { return empty_; }

  // Whether a phrase of [first, last) may come next where `first_gap` is the first position that is not covered, and
  // `covered` says which are. `limit` is the distortion limit, negative for none.
  template <class Covered>
  bool allow(std::int32_t first, std::int32_t last, std::int32_t first_gap, std::int32_t limit,
             const Covered& covered) const {
    if (first != first_gap) {
      for (std::int32_t at = first_gap; at + 1 < last; ++at) {
        if (walls_[index(at)] != 0) return false;
      }
    }
    bool gaps = false;
    for (std::int32_t at = first_gap; at < positions() && !gaps; ++at) gaps = covered(at);
    if (!gaps && first == first_gap) return true;
    for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
      if (!zone_allows(zone, first, last, first_gap, limit, covered)) return false;
    }
    return true;
  }

 private:
  static std::size_t index(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }
  std::int32_t positions() const noexcept { return static_cast<std::int32_t>(walls_.size()); }

  template <class Covered>
  bool zone_allows(std::size_t zone, std::int32_t first, std::int32_t last, std::int32_t first_gap, std::int32_t limit,
                   const Covered& covered) const {
    const auto [begin, end] = zones_[zone];
    if (first_gap >= end) return true;
    std::int32_t done = 0;
    for (std::int32_t at = begin; at < end; ++at) done += covered(at) ? 1 : 0;
    if (done == end - begin) return true;
    if (last <= begin || first >= end) return done == 0;
    // From the zone, the search must come back to the gap.
    if (limit >= 0 && first != first_gap && end - 1 - first_gap >= limit) return false;
    if (first <= begin) return true;
    // A phrase that leaves the zone must finish it.
    if (last > end) return end - first >= end - begin - done;
    bool left_out = false;
    for (std::int32_t at = begin; at + 1 < end && at + 1 < last; ++at) {
      left_out = left_out || (at < first && !covered(at));
      if (left_out && owners_[index(at)] == static_cast<std::int32_t>(zone)) return false;
    }
    return true;
  }

  bool empty_ = true;
  std::vector<std::uint8_t> walls_;
  std::vector<std::int32_t> owners_;  // the zone of each wall inside of one, else -1
  std::vector<std::pair<std::int32_t, std::int32_t>> zones_;
};

}  // namespace smt
