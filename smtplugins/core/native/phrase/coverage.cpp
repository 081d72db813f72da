#include "phrase/coverage.hpp"

#include <algorithm>
#include <limits>

namespace smt {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

}  // namespace

void Coverages::start(std::int32_t positions, std::span<const PhraseSpan> spans, std::span<const double> best,
                      std::span<const std::uint8_t> fills, std::span<const std::int32_t> distances, PhraseOrder order,
                      std::int32_t limit, std::span<const std::int32_t> walls, std::span<const std::int32_t> zones) {
  positions_ = positions;
  width_ = index(positions) / 64 + 1;
  order_ = order;
  limit_ = limit;
  barriers_.start(positions, walls, zones);
  spans_ = spans;
  distances_ = distances;
  const std::size_t side = index(positions) + 1;
  gaps_.assign(side * side, kNever);
  single_.assign(side * side, 0);
  for (std::size_t s = 0; s < spans.size(); ++s) {
    const std::size_t cell = index(spans[s].first) * side + index(spans[s].last);
    gaps_[cell] = std::max(gaps_[cell], best[s]);
    single_[cell] = fills[s];
  }
  for (std::size_t first = side; first-- > 0;) {
    gaps_[first * side + first] = 0.0;
    for (std::size_t last = first + 2; last < side; ++last) {
      double sum = gaps_[first * side + last];
      for (std::size_t middle = first + 1; middle < last; ++middle) {
        sum = std::max(sum, gaps_[first * side + middle] + gaps_[middle * side + last]);
      }
      gaps_[first * side + last] = sum;
    }
  }
  sets_.clear();
  words_.assign(width_, 0);
  nexts_.clear();
  slots_.assign(std::max<std::size_t>(256, slots_.size()), 0);
  find(0);
}

// The number of the coverage stored last, at this place; removes it again if it is already known.
std::int32_t Coverages::find(std::size_t words) {
  if (2 * (sets_.size() + 1) >= slots_.size()) grow();
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < width_; ++i) {
    hash = (hash ^ words_[words + i]) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32U;
  }
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t known = index(slots_[slot] - 1) * width_;
    if (known != words && std::equal(words_.begin() + static_cast<std::ptrdiff_t>(known),
                                     words_.begin() + static_cast<std::ptrdiff_t>(known + width_),
                                     words_.begin() + static_cast<std::ptrdiff_t>(words))) {
      words_.resize(words);
      return slots_[slot] - 1;
    }
  }
  const auto number = static_cast<std::int32_t>(sets_.size());
  slots_[slot] = number + 1;
  Set set{0, positions_, 0.0};
  for (std::int32_t at = 0; at < positions_;) {
    if ((words_[words + index(at) / 64] >> (index(at) % 64) & 1U) != 0) {
      ++set.covered;
      ++at;
      continue;
    }
    const std::int32_t first = at;
    while (at < positions_ && (words_[words + index(at) / 64] >> (index(at) % 64) & 1U) == 0) ++at;
    set.first_gap = std::min(set.first_gap, first);
    set.future += gap(first, at);
  }
  sets_.push_back(set);
  return number;
}

void Coverages::grow() {
  slots_.assign(2 * slots_.size(), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    std::uint64_t hash = 0;
    for (std::size_t w = 0; w < width_; ++w) {
      hash = (hash ^ words_[i * width_ + w]) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 32U;
    }
    std::size_t slot = hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::int32_t>(i + 1);
  }
}

std::int32_t Coverages::with(std::int32_t coverage, const PhraseSpan& span) {
  const std::size_t words = words_.size();
  words_.resize(words + width_);
  std::copy_n(words_.begin() + static_cast<std::ptrdiff_t>(index(coverage) * width_), width_,
              words_.begin() + static_cast<std::ptrdiff_t>(words));
  for (std::int32_t at = span.first; at < span.last; ++at) {
    words_[words + index(at) / 64] |= std::uint64_t{1} << (index(at) % 64);
  }
  return find(words);
}

bool Coverages::allowed(std::int32_t coverage, const PhraseSpan& span) const noexcept {
  if (!reachable(coverage, span)) return false;
  if (barriers_.empty()) return true;
  const auto covered = [&](std::int32_t at) { return has(coverage, at); };
  return barriers_.allow(span.first, span.last, sets_[index(coverage)].first_gap, limit_, covered);
}

bool Coverages::reachable(std::int32_t coverage, const PhraseSpan& span) const noexcept {
  const Set& set = sets_[index(coverage)];
  const std::int32_t gap_first = set.first_gap;
  if (span.first < gap_first) return false;
  if (order_ == PhraseOrder::kMonotone) return span.first == gap_first;
  for (std::int32_t at = span.first; at < span.last; ++at) {
    if (has(coverage, at)) return false;
  }
  const std::size_t side = index(positions_) + 1;
  if (order_ == PhraseOrder::kSwap) {
    if (has_gap(coverage)) {
      // Words after the gap are covered: the next phrase must fill the gap.
      return span.first == gap_first && span.last < positions_ && has(coverage, span.last);
    }
    return span.first == gap_first || single_[index(gap_first) * side + index(span.first)] != 0;
  }
  if (span.first == gap_first) return true;
  // After the span, the search must jump back to the gap.
  return limit_ < 0 || distance(span.last, gap_first) <= limit_;
}

std::span<const Coverages::Next> Coverages::next(std::int32_t coverage) {
  if (sets_[index(coverage)].next_begin < 0) {
    std::vector<Next> reachable;
    for (std::size_t s = 0; s < spans_.size(); ++s) {
      if (!allowed(coverage, spans_[s])) continue;
      const std::int32_t made = with(coverage, spans_[s]);
      // Skip coverages that no phrases can complete.
      if (sets_[index(made)].future != kNever) reachable.push_back({static_cast<std::int32_t>(s), made});
    }
    Set& set = sets_[index(coverage)];
    set.next_begin = static_cast<std::int64_t>(nexts_.size());
    nexts_.insert(nexts_.end(), reachable.begin(), reachable.end());
    set.next_end = static_cast<std::int64_t>(nexts_.size());
  }
  const Set& set = sets_[index(coverage)];
  return std::span(nexts_).subspan(static_cast<std::size_t>(set.next_begin),
                                   static_cast<std::size_t>(set.next_end - set.next_begin));
}

}  // namespace smt
