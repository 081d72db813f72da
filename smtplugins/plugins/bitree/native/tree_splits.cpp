// Search for the best split of a node, and the sums it needs: part of tree_growth.hpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "boosting.hpp"
#include "tree_growth.hpp"

namespace smt::bitree {
namespace {

constexpr std::size_t kBlock = 64;
// Minimum gain relative to lambda: after a line search a slope equals lambda up to rounding, which is no gain.
constexpr double kResolution = 1e-9;
// Nodes with fewer entries than the number of atoms divided by this have sparse sums.
constexpr std::size_t kSparse = 4;

}  // namespace

// Equation 7.12, restricted to splits that satisfy 7.13; ties go to the lowest atom number.
TreeGrowth::Split TreeGrowth::best_split(const Node& node, const Sums& sums) const {
  Split best;
  best.gain = node.gain + kResolution * lambda_;
  scan_known(best, node, sums);
  if (sums.all) {
    scan_all(best, sums, node.pull());
  } else {
    scan_touched(best, sums, node.pull());
  }
  return best;
}

inline void TreeGrowth::try_split(Split& best, double gain, std::uint32_t atom) const {
  const bool better =
      gain > best.gain || (best.found && gain == best.gain && examples_.names[atom] < examples_.names[best.atom]);
  if (better) best = {gain, atom, true};
}

// The gains of children without a parameter so far. max(x, 0) equals (|x| + x) / 2 exactly, and non-negative numbers
// compare like their bits: this form lets compilers vectorise.
void TreeGrowth::scan_all(Split& best, const Sums& sums, double pull) const {
  const std::size_t size = sums.by_atom.size();
  const double lambda = lambda_;
  const double alone = std::max(std::fabs(pull) - lambda, 0.0);
  double gains[kBlock];
  for (std::size_t first = 0; first < size; first += kBlock) {
    // Atoms are sorted by decreasing frequency; m examples change the sum of gains by at most m * largest pull.
    const double most = largest_pull_ * static_cast<double>(examples_.column(first).size());
    if ((alone + most + std::max(most - lambda, 0.0)) * (1 + 1e-14) < best.gain) return;
    const std::size_t count = std::min(kBlock, size - first);
    const double* const at = sums.by_atom.data() + first;
    const auto least = std::bit_cast<std::int64_t>(best.gain) + (best.found ? 0 : 1);
    std::int64_t reached = 0;  // Negative if any gain is high enough.
    for (std::size_t k = 0; k < count; ++k) {
      const double yes = std::fabs(at[k]) - lambda, no = std::fabs(pull - at[k]) - lambda;
      gains[k] = 0.5 * ((std::fabs(yes) + yes) + (std::fabs(no) + no));
      reached |= least - 1 - std::bit_cast<std::int64_t>(gains[k]);
    }
    if (reached >= 0) continue;
    for (std::size_t k = 0; k < count; ++k) try_split(best, gains[k], static_cast<std::uint32_t>(first + k));
  }
}

void TreeGrowth::scan_touched(Split& best, const Sums& sums, double pull) const {
  for (const std::uint32_t atom : sums.touched) {
    const double yes = sums.by_atom[atom];
    try_split(best, std::max(std::fabs(yes) - lambda_, 0.0) + std::max(std::fabs(pull - yes) - lambda_, 0.0), atom);
  }
}

// Children with a parameter. The gain of a non-zero parameter is never less than that of a zero one, so the other
// scans, which treat these as 0, cannot find a wrong best split.
void TreeGrowth::scan_known(Split& best, const Node& node, const Sums& sums) const {
  for (const Extension& extension : node.extensions) {
    const auto atom = static_cast<std::uint32_t>(extension.literal / 2);
    const bool negated = extension.literal % 2 != 0;
    double other = 0;
    for (const Extension& two : node.extensions) {
      if (two.literal == (extension.literal ^ 1)) other = two.value;
    }
    const double pull = sums.by_atom[atom];
    const double yes = gain_of(pull, negated ? other : extension.value);
    try_split(best, yes + gain_of(node.pull() - pull, negated ? extension.value : other), atom);
  }
}

bool TreeGrowth::many(const Node& node) const {
  return node.entries >= examples_.atoms() / kSparse;
}

std::unique_ptr<Sums> TreeGrowth::take_sums() {
  if (free_.empty()) {
    auto made = std::make_unique<Sums>();
    made->by_atom.assign(examples_.atoms(), 0);
    made->seen.assign(examples_.atoms(), 0);
    return made;
  }
  std::unique_ptr<Sums> sums = std::move(free_.back());
  free_.pop_back();
  return sums;
}

void TreeGrowth::give_back(std::unique_ptr<Sums> sums) {
  if (sums->all) {
    std::ranges::fill(sums->by_atom, 0.0);
  } else {
    for (const std::uint32_t atom : sums->touched) {
      sums->by_atom[atom] = 0;
      sums->seen[atom] = 0;
    }
  }
  sums->touched.clear();
  sums->all = false;
  free_.push_back(std::move(sums));
}

// Prefetch rows, which are scattered in memory.
inline void TreeGrowth::fetch_ahead(const Node& node, std::size_t at) const {
  constexpr std::size_t kAhead = 8;
  if (at + 2 * kAhead >= node.rows.size()) return;
  __builtin_prefetch(examples_.offsets.data() + node.rows[at + 2 * kAhead]);
  const std::uint32_t* const ids = examples_.ids.data() + examples_.offsets[node.rows[at + kAhead]];
  __builtin_prefetch(ids);
  __builtin_prefetch(ids + 16);
}

void TreeGrowth::add_up(const Node& node, Sums& sums) const {
  sums.all = many(node);
  for (std::size_t k = 0; k < node.rows.size(); ++k) {
    fetch_ahead(node, k);
    const std::uint32_t r = node.rows[k];
    if (label_of_[r] != node.label) continue;
    const double pull = pulls_[r];
    for (const std::uint32_t atom : examples_.row(r)) {
      sums.by_atom[atom] += pull;
      if (!sums.all && sums.seen[atom] == 0) {
        sums.seen[atom] = 1;
        sums.touched.push_back(atom);
      }
    }
  }
}

void TreeGrowth::take_away(const Node& node, Sums& sums) const {
  for (std::size_t k = 0; k < node.rows.size(); ++k) {
    fetch_ahead(node, k);
    const std::uint32_t r = node.rows[k];
    if (label_of_[r] != node.label) continue;
    const double pull = pulls_[r];
    for (const std::uint32_t atom : examples_.row(r)) sums.by_atom[atom] -= pull;
  }
}

void TreeGrowth::take_away(const Sums& part, Sums& sums) const {
  if (part.all) {
    for (std::size_t a = 0; a < sums.by_atom.size(); ++a) sums.by_atom[a] -= part.by_atom[a];
  } else {
    for (const std::uint32_t atom : part.touched) sums.by_atom[atom] -= part.by_atom[atom];
  }
}

// Rebuild sums that are much larger than the node: the zeros of removed rows cost time to scan.
std::unique_ptr<Sums> TreeGrowth::fitting(const Node& node, std::unique_ptr<Sums> sums) {
  const std::size_t scanned = sums->all ? examples_.atoms() : sums->touched.size();
  const std::size_t least = sums->all ? examples_.atoms() / (2 * kSparse) : scanned / 2;
  if (node.entries >= least) return sums;
  give_back(std::move(sums));
  std::unique_ptr<Sums> anew = take_sums();
  add_up(node, *anew);
  return anew;
}

}  // namespace smt::bitree
