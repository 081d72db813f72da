// Boosting along the path of lambda: see boosting.hpp.
#include "boosting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/exponential.hpp"
#include "tree_growth.hpp"

namespace smt::bitree {
namespace {

constexpr double kLargest = 600;  // Bound of -y h, so that products with line search factors stay finite.

}  // namespace

Incidence::Incidence(const RowsOfAtoms& given) {
  // A small problem may share its atoms with thousands of others: store only those that occur.
  std::vector<std::pair<std::size_t, std::int32_t>> counted;
  std::vector<std::uint32_t> number;
  const bool small = given.atoms > 4 * given.ids.size() + 1024;
  std::vector<std::int32_t> used;
  if (small) {
    used.assign(given.ids.begin(), given.ids.end());
    std::ranges::sort(used);
    for (std::size_t i = 0, end = 0; i < used.size(); i = end) {
      while (end < used.size() && used[end] == used[i]) ++end;
      counted.emplace_back(end - i, used[i]);
    }
    used.erase(std::ranges::unique(used).begin(), used.end());
  } else {
    std::vector<std::size_t> counts(given.atoms, 0);
    for (const std::int32_t id : given.ids) ++counts[static_cast<std::size_t>(id)];
    for (std::size_t a = 0; a < counts.size(); ++a) {
      if (counts[a] != 0) counted.emplace_back(counts[a], static_cast<std::int32_t>(a));
    }
  }
  const auto place_of = [&](std::int32_t id) {
    return small ? static_cast<std::size_t>(std::ranges::lower_bound(used, id) - used.begin())
                 : static_cast<std::size_t>(id);
  };
  std::ranges::stable_sort(counted, [](const auto& a, const auto& b) { return a.first > b.first; });
  number.resize(small ? used.size() : given.atoms);
  starts.push_back(0);
  for (const auto& [count, name] : counted) {
    number[place_of(name)] = static_cast<std::uint32_t>(names.size());
    names.push_back(name);
    starts.push_back(starts.back() + count);
  }
  offsets.assign(given.offsets.begin(), given.offsets.end());
  ids.reserve(given.ids.size());
  for (const std::int32_t id : given.ids) ids.push_back(number[place_of(id)]);
  rows.resize(ids.size());
  std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
  for (std::size_t r = 0; r < size(); ++r) {
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(offsets[r]);
    std::sort(first, ids.begin() + static_cast<std::ptrdiff_t>(offsets[r + 1]));
    for (const std::uint32_t a : row(r)) rows[next[a]++] = static_cast<std::uint32_t>(r);
  }
}

struct Boosting::Grower : TreeGrowth {
  using TreeGrowth::TreeGrowth;
};

Boosting::Boosting(std::shared_ptr<const Incidence> examples, std::vector<std::int8_t> labels,
                   std::vector<double> weights)
    : examples_(std::move(examples)),
      labels_(std::move(labels)),
      weights_(std::move(weights)),
      scores_(labels_.size(), 0),
      odds_(labels_.size(), 1),
      pulls_(labels_.size(), 0),
      by_atom_(examples_->atoms(), 0),
      lambda_(std::numeric_limits<double>::infinity()) {
  if (weights_.empty()) weights_.assign(labels_.size(), 1);
  const double total = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  // Adding and subtracting 1.5 * 2^52 units rounds to a multiple of the unit, which is 2^-51 times a power of 2 not
  // below the sum of all weights: no sum of pulls then needs more than 53 bits.
  magic_ = std::ldexp(1.5, std::ilogb(std::max(total, std::numeric_limits<double>::min())) + 2);
  for (std::size_t a = 0; a < examples_->atoms(); ++a) {
    number_of_.emplace(examples_->names[a], static_cast<std::uint32_t>(a));
  }
  std::vector<std::uint32_t> rows(labels_.size());
  std::iota(rows.begin(), rows.end(), 0U);
  refresh(rows);
  sum_loss();
}

Boosting::~Boosting() = default;

double Boosting::risk() const {
  return loss_ + (norm_ == 0 ? 0.0 : lambda_ * norm_);
}

// The largest |dL/dTheta| of the empty conjunction and of all literals: the best unpenalised gain of a root split.
double Boosting::steepest() const {
  double most = std::fabs(all_);
  for (const double sum : by_atom_) most = std::max({most, std::fabs(sum), std::fabs(all_ - sum)});
  return most;
}

double Boosting::first_lambda(double eta) const {
  return std::min(lambda_, eta * steepest());
}

std::vector<double> Boosting::gradients(std::size_t atoms) const {
  std::vector<double> slope(atoms + 1, 0);
  slope[0] = all_;
  for (std::size_t a = 0; a < by_atom_.size(); ++a) slope[static_cast<std::size_t>(examples_->names[a]) + 1] = by_atom_[a];
  return slope;
}

bool Boosting::advance(double least, const BoostOptions& options) {
  if (!grower_) grower_ = std::make_unique<Grower>(*examples_, labels_, weights_, odds_, pulls_, known_);
  for (;;) {
    if (options.trees != 0 && trees_.size() >= options.trees) return false;
    const double next = std::min(lambda_, options.eta * steepest());
    if (!(next > 0)) return false;
    lambda_ = next;
    if (lambda_ < least) return true;
    ++tries_;
    const double change = grower_->grow(by_atom_, lambda_, options.depth);
    // The paper prints "+ epsilon" here, which would keep trees that increase the risk.
    if (change < -options.epsilon * risk()) {
      grower_->append(lambda_, trees_);
      apply(grower_->leaf_of(), grower_->changes());
      learn_parameters(trees_.tree(trees_.size() - 1));
    } else {
      lambda_ *= options.eta;
    }
  }
}

void Boosting::replay(const TreeStore& trees, double lambda) {
  std::vector<std::uint32_t> leaf_of(labels_.size());
  for (const std::int32_t split : trees.splits) {
    if (split >= 0 && !number_of_.contains(split)) throw std::invalid_argument("expected trees of these examples");
  }
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const Tree tree = trees.tree(t);
    for (std::size_t r = 0; r < leaf_of.size(); ++r) {
      const auto row = examples_->row(r);
      std::uint32_t at = 0;
      while (tree.splits[at] >= 0) {
        const bool has = std::ranges::binary_search(row, number_of_.find(tree.splits[at])->second);
        at = has ? at + 1 : static_cast<std::uint32_t>(tree.others[at]);
      }
      leaf_of[r] = at;
    }
    lambda_ = trees.lambdas[t];
    apply(leaf_of, tree.values);
    learn_parameters(tree);
    const auto own = tree.splits.size();
    trees_.lambdas.push_back(trees.lambdas[t]);
    trees_.splits.insert(trees_.splits.end(), tree.splits.begin(), tree.splits.end());
    trees_.others.insert(trees_.others.end(), tree.others.begin(), tree.others.end());
    trees_.values.insert(trees_.values.end(), tree.values.begin(), tree.values.end());
    trees_.nodes.push_back(trees_.nodes.back() + static_cast<std::int64_t>(own));
  }
  lambda_ = lambda;
}

void Boosting::apply(std::span<const std::uint32_t> leaf_of, std::span<const double> changes) {
  std::vector<std::uint32_t> changed;
  for (std::size_t r = 0; r < leaf_of.size(); ++r) {
    const double change = changes[leaf_of[r]];
    if (change == 0) continue;
    scores_[r] += change;
    changed.push_back(static_cast<std::uint32_t>(r));
  }
  refresh(changed);
  sum_loss();
}

// Recompute odds, pulls and their sums for rows whose scores changed.
void Boosting::refresh(std::span<const std::uint32_t> changed) {
  constexpr std::size_t kBlock = 512;
  double margins[kBlock];
  for (std::size_t first = 0; first < changed.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, changed.size() - first);
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t r = changed[first + k];
      margins[k] = std::min(-static_cast<double>(labels_[r]) * scores_[r], kLargest);
    }
    for (std::size_t k = 0; k < count; ++k) margins[k] = fast_exp(margins[k]);
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t r = changed[first + k];
      const double odds = margins[k];
      const double pull = static_cast<double>(labels_[r]) * weights_[r] * (odds / (1.0 + odds));
      const double rounded = (pull + magic_) - magic_;
      const double change = rounded - pulls_[r];
      odds_[r] = odds;
      if (change == 0) continue;
      pulls_[r] = rounded;
      all_ += change;
      for (const std::uint32_t a : examples_->row(r)) by_atom_[a] += change;
    }
  }
}

void Boosting::sum_loss() {
  // Logarithms of products save calls of log; products are cut before they overflow.
  double total = 0, product = 1;
  for (std::size_t r = 0; r < odds_.size(); ++r) {
    if (weights_[r] != 1) {
      total += weights_[r] * std::log1p(odds_[r]);
      continue;
    }
    if (odds_[r] < 1e-6) {
      total += odds_[r] * (1.0 - 0.5 * odds_[r]);
      continue;
    }
    if (product > 1e30 || odds_[r] > 1e200) {
      total += std::log(product);
      product = 1;
    }
    product *= 1.0 + odds_[r];
  }
  loss_ = total + std::log(product);
}

// Adds a tree's leaves to the parameters of their conjunctions.
void Boosting::learn_parameters(const Tree& tree) {
  std::vector<std::pair<std::size_t, std::vector<Literal>>> waiting;
  waiting.emplace_back(0, std::vector<Literal>{});
  while (!waiting.empty()) {
    auto [at, path] = std::move(waiting.back());
    waiting.pop_back();
    if (tree.splits[at] >= 0) {
      const auto atom = static_cast<Literal>(number_of_.find(tree.splits[at])->second);
      std::vector<Literal> other = path;
      other.push_back(2 * atom + 1);
      waiting.emplace_back(static_cast<std::size_t>(tree.others[at]), std::move(other));
      path.push_back(2 * atom);
      waiting.emplace_back(at + 1, std::move(path));
    } else if (tree.values[at] != 0) {
      std::ranges::sort(path);
      Signature signature;
      for (const Literal literal : path) signature = signature.with(literal);
      const std::size_t number = known_.insert(signature, path);
      const double before = known_.value(number);
      known_.add(number, tree.values[at]);
      const double after = known_.value(number);
      norm_ += std::fabs(after) - std::fabs(before);
      if (before == 0 && after != 0) ++active_;
      if (before != 0 && after == 0) --active_;
    }
  }
}

}  // namespace smt::bitree
