#include "graph/line_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "graph/envelope.hpp"
#include "wide.hpp"

namespace smt {
namespace {

// A line that takes over; the key increases with the place where it does.
struct Change {
  std::uint64_t key;
  std::size_t line;
};

std::uint64_t key_of(double place) {
  const auto bits = std::bit_cast<std::uint64_t>(place + 0.0);  // no negative zero
  return (bits >> 63U) != 0 ? ~bits : bits | (std::uint64_t{1} << 63U);
}

// Sorts by keys, stably: a radix sort from the lowest byte, as there are many keys with few repetitions.
void sort_changes(std::vector<Change>& changes) {
  std::array<std::array<std::size_t, 256>, 8> counts{};
  for (const Change& change : changes) {
    for (unsigned byte = 0; byte < 8; ++byte) ++counts[byte][(change.key >> (8 * byte)) & 255U];
  }
  std::vector<Change> room(changes.size());
  for (unsigned byte = 0; byte < 8; ++byte) {
    auto& places = counts[byte];
    if (std::ranges::find(places, changes.size()) != places.end()) continue;
    std::exclusive_scan(places.begin(), places.end(), places.begin(), std::size_t{0});
    for (const Change& change : changes) room[places[(change.key >> (8 * byte)) & 255U]++] = change;
    changes.swap(room);
  }
}

SMT_WIDE void add_weighted(double weight, const double* values, std::size_t count, double* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] += weight * values[i];
}

void add(const double* row, std::vector<double>& sums) {
  for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += row[k];
}

}  // namespace

void add_surface(std::span<const std::int64_t> items, std::span<const double> starts,
                 std::span<const std::int64_t> rows, const Rows& stats, Surfaces& to) {
  std::vector<Change> changes;
  changes.reserve(starts.size());
  std::vector<double> sums(stats.width, 0.0);
  for (std::size_t k = 0; k + 1 < items.size(); ++k) {
    const auto first = static_cast<std::size_t>(items[k]), last = static_cast<std::size_t>(items[k + 1]);
    if (first == last) continue;
    add(stats[static_cast<std::size_t>(rows[first])], sums);
    for (std::size_t i = first + 1; i < last; ++i) changes.push_back({key_of(starts[i]), i});
  }
  // Sums have a fixed order: at equal places the order of the lines.
  sort_changes(changes);
  to.starts.push_back(-std::numeric_limits<double>::infinity());
  to.sums.insert(to.sums.end(), sums.begin(), sums.end());
  for (const Change& change : changes) {
    const double* const less = stats[static_cast<std::size_t>(rows[change.line - 1])];
    const double* const more = stats[static_cast<std::size_t>(rows[change.line])];
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += more[k] - less[k];
    if (starts[change.line] == to.starts.back()) {
      std::copy(sums.begin(), sums.end(), to.sums.end() - static_cast<std::ptrdiff_t>(sums.size()));
    } else {
      to.starts.push_back(starts[change.line]);
      to.sums.insert(to.sums.end(), sums.begin(), sums.end());
    }
  }
  to.offsets.push_back(static_cast<std::int64_t>(to.starts.size()));
}

ListSearch::ListSearch(std::vector<std::int64_t> lists, std::span<const double> table, std::size_t features,
                       const Rows& stats)
    : lists_(std::move(lists)), table_(table), features_(features), stats_(stats) {
  for (std::size_t f = 0; f < features; ++f) {
    double most = 0.0;
    for (const double value : table.subspan(f * size(), size())) most = std::max(most, std::abs(value));
    most_.push_back(most);
  }
}

// The weighted sums of a list's features.
void ListSearch::combine(const double* weights, std::size_t first, std::size_t count, double* to) const {
  std::fill_n(to, count, 0.0);
  for (std::size_t f = 0; f < features_; ++f) {
    if (weights[f] != 0.0) add_weighted(weights[f], table_.data() + f * size() + first, count, to);
  }
}

Surfaces ListSearch::surfaces(std::span<const double> weights, std::span<const double> directions,
                              std::span<const double> low, std::span<const double> high) const {
  const auto check = [this](std::span<const double> row) {
    double most = 0.0;
    for (std::size_t f = 0; f < features_; ++f) most += std::abs(row[f]) * most_[f];
    if (!(most <= kMostScore)) throw std::overflow_error("scores above 1e150: scale weights or features");
  };
  check(weights);
  Surfaces surfaces;
  surfaces.present.assign(stats_.width, 0.0);
  std::vector<double> values(size());
  std::vector<std::size_t> best;
  for (std::size_t k = 0; k + 1 < lists_.size(); ++k) {
    const auto first = static_cast<std::size_t>(lists_[k]);
    const auto count = static_cast<std::size_t>(lists_[k + 1]) - first;
    combine(weights.data(), first, count, values.data() + first);
    best.push_back(highest({values.data() + first, count}));
    add(stats_[first + best.back()], surfaces.present);
  }
  EnvelopeSearch search;
  Envelope envelope;
  std::vector<std::int64_t> items, rows;
  std::vector<double> room;
  const std::size_t count = directions.size() / features_;
  for (std::size_t d = 0; d < count; ++d) {
    const auto direction = directions.subspan(d * features_, features_);
    check(direction);
    const auto used = static_cast<std::size_t>(features_ - std::count(direction.begin(), direction.end(), 0.0));
    const auto axis = std::find(direction.begin(), direction.end(), 1.0);
    envelope.starts.clear();
    envelope.lines.clear();
    items.assign(1, 0);
    rows.clear();
    for (std::size_t k = 0; k + 1 < lists_.size(); ++k) {
      const auto first = static_cast<std::size_t>(lists_[k]);
      const auto length = static_cast<std::size_t>(lists_[k + 1]) - first;
      std::span<const double> slopes;
      if (used == 1 && axis != direction.end()) {
        slopes = table_.subspan(static_cast<std::size_t>(axis - direction.begin()) * size() + first, length);
      } else {
        room.resize(length);
        combine(direction.data(), first, length, room.data());
        slopes = room;
      }
      search.append({values.data() + first, length}, slopes, best[k], {low[d], high[d]}, envelope);
      for (std::size_t i = rows.size(); i < envelope.lines.size(); ++i) rows.push_back(lists_[k] + envelope.lines[i]);
      items.push_back(static_cast<std::int64_t>(rows.size()));
    }
    add_surface(items, envelope.starts, rows, stats_, surfaces);
    if (d == 0) {
      surfaces.starts.reserve(count * surfaces.starts.size() * 3 / 2);
      surfaces.sums.reserve(count * surfaces.sums.size() * 3 / 2);
    }
  }
  return surfaces;
}

}  // namespace smt
