// Growing trees: see tree_growth.hpp.
//
// All sums of pulls are exact (boosting.hpp), so they may be computed in any order and subtracted: only the smaller
// child is summed, the sums of the larger are those of the parent minus these.
#include "tree_growth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boosting.hpp"

namespace smt::bitree {
namespace {

// Prefetch distance in rows, which are scattered in memory.
constexpr std::size_t kAhead = 16;

}  // namespace

TreeGrowth::TreeGrowth(const Incidence& examples, const std::vector<std::int8_t>& labels,
                       const std::vector<double>& weights, const std::vector<double>& odds,
                       const std::vector<double>& pulls, const Conjunctions& known)
    : examples_(examples), labels_(labels), weights_(weights), odds_(odds), pulls_(pulls), known_(known) {}

double TreeGrowth::grow(const std::vector<double>& by_atom, double lambda, std::size_t depth) {
  lambda_ = lambda;
  depth_ = depth;
  change_ = 0;
  label_of_.assign(labels_.size(), 0);
  changes_.assign(1, 0);
  made_.assign(1, {});
  Node root;
  root.rows.resize(labels_.size());
  std::iota(root.rows.begin(), root.rows.end(), 0U);
  root.live = labels_.size();
  root.entries = examples_.ids.size();
  largest_pull_ = 0;
  for (const double pull : pulls_) {
    (pull > 0 ? root.positive : root.negative) += pull;
    largest_pull_ = std::max(largest_pull_, std::fabs(pull));
  }
  look_up(root);
  std::unique_ptr<Sums> sums = take_sums();
  sums->all = true;
  std::ranges::copy(by_atom, sums->by_atom.begin());
  grow_from(std::move(root), std::move(sums));
  return change_;
}

// Equations 7.7 and 7.8; `pull` is -dL/dTheta.
double TreeGrowth::gain_of(double pull, double value) const {
  if (value == 0) return std::max(std::fabs(pull) - lambda_, 0.0);
  return std::fabs(pull - (value > 0 ? lambda_ : -lambda_));
}

void TreeGrowth::look_up(Node& node) const {
  const std::size_t number = known_.find(node.signature, node.path);
  node.value = number == Conjunctions::kNone ? 0 : known_.value(number);
  node.gain = gain_of(node.pull(), node.value);
  known_.extensions(node.signature, node.path, node.extensions);
}

TreeGrowth::Node TreeGrowth::child_of(const Node& node, Literal literal) const {
  Node child;
  child.path.reserve(node.path.size() + 1);
  const auto place = std::ranges::upper_bound(node.path, literal);
  child.path.assign(node.path.begin(), place);
  child.path.push_back(literal);
  child.path.insert(child.path.end(), place, node.path.end());
  child.signature = node.signature.with(literal);
  return child;
}

// False if no split of any atoms can gain more than the node itself.
bool TreeGrowth::may_split(const Node& node) const {
  if (depth_ != 0 && node.path.size() >= depth_) return false;
  if (!node.extensions.empty()) return true;
  const double plus = node.positive, minus = -node.negative;
  // With a single label, a split only adds a second penalty.
  if (plus == 0 || minus == 0) return false;
  const double both = plus + minus - 2 * lambda_, single = std::max(plus, minus) - lambda_;
  return std::max(both, single) * (1 + 1e-14) > node.gain;
}

void TreeGrowth::grow_from(Node node, std::unique_ptr<Sums> sums) {
  // Loop on the larger child and recurse on the smaller: the depth is at most the logarithm of the number of rows.
  for (;;) {
    Split split;
    if (may_split(node)) {
      sums = fitting(node, std::move(sums));
      split = best_split(node, *sums);
    }
    if (!split.found) {
      finish(node);
      give_back(std::move(sums));
      return;
    }
    const auto atom = static_cast<Literal>(split.atom);
    Node yes = child_of(node, 2 * atom), no = child_of(node, 2 * atom + 1);
    part(node, split.atom, yes, no);
    look_up(yes);
    look_up(no);
    Made& made = made_[node.place];
    made.split = examples_.names[split.atom];
    yes.place = made.yes = static_cast<std::uint32_t>(made_.size());
    no.place = made.no = static_cast<std::uint32_t>(made_.size() + 1);
    made_.resize(made_.size() + 2);
    Node& small = yes.live <= no.live ? yes : no;
    Node& large = yes.live <= no.live ? no : yes;
    const bool on = may_split(large);
    if (may_split(small)) {
      std::unique_ptr<Sums> own = take_sums();
      add_up(small, *own);
      if (on) take_away(*own, *sums);
      grow_from(std::move(small), std::move(own));
    } else {
      if (on) take_away(small, *sums);
      finish(small);
    }
    node = std::move(large);
  }
}

void TreeGrowth::count(Node& node) const {
  for (std::size_t k = 0; k < node.rows.size(); ++k) {
    if (k + kAhead < node.rows.size()) {
      __builtin_prefetch(pulls_.data() + node.rows[k + kAhead]);
      __builtin_prefetch(examples_.offsets.data() + node.rows[k + kAhead]);
    }
    const std::uint32_t r = node.rows[k];
    if (label_of_[r] != node.label) continue;
    (pulls_[r] > 0 ? node.positive : node.negative) += pulls_[r];
    const auto row = examples_.row(r);
    // Sums over these rows are likely to follow.
    __builtin_prefetch(row.data());
    __builtin_prefetch(row.data() + row.size());
    node.entries += row.size();
    ++node.live;
  }
}

void TreeGrowth::compact(Node& node) const {
  std::erase_if(node.rows, [&](std::uint32_t r) { return label_of_[r] != node.label; });
}

// Partition the rows: those with the atom get a new label, the others keep label and row list.
void TreeGrowth::part(Node& node, std::uint32_t atom, Node& yes, Node& no) {
  const auto fresh = static_cast<std::uint32_t>(changes_.size());
  changes_.push_back(0);
  const auto take = [&](std::uint32_t r) {
    yes.rows.push_back(r);
    label_of_[r] = fresh;
  };
  const auto column = examples_.column(atom);
  const std::size_t mean = node.live == 0 ? 1 : node.entries / node.live + 1;
  if (column.size() <= node.rows.size() * mean) {
    for (std::size_t k = 0; k < column.size(); ++k) {
      if (k + kAhead < column.size()) __builtin_prefetch(label_of_.data() + column[k + kAhead]);
      if (label_of_[column[k]] == node.label) take(column[k]);
    }
  } else {
    for (const std::uint32_t r : node.rows) {
      if (label_of_[r] == node.label && std::ranges::binary_search(examples_.row(r), atom)) take(r);
    }
  }
  yes.label = fresh;
  no.label = node.label;
  no.rows = std::move(node.rows);
  Node& small = 2 * yes.rows.size() <= node.live ? yes : no;
  Node& large = &small == &yes ? no : yes;
  count(small);
  large.positive = node.positive - small.positive;
  large.negative = node.negative - small.negative;
  large.entries = node.entries - small.entries;
  large.live = node.live - small.live;
  if (no.rows.size() > 2 * no.live) compact(no);
}

void TreeGrowth::finish(const Node& node) {
  Made& made = made_[node.place];
  made.label = node.label;
  // Most leaves: the gradient does not exceed lambda.
  if (node.value == 0 && std::fabs(node.pull()) <= lambda_) return;
  leaf_.clear();
  for (const std::uint32_t r : node.rows) {
    if (label_of_[r] == node.label) leaf_.add(labels_[r] > 0, odds_[r], weights_[r]);
  }
  const double change = best_change(leaf_, node.value, lambda_);
  changes_[node.label] = change;
  if (change == 0) return;
  change_ += loss_change(leaf_, change) + lambda_ * (std::fabs(node.value + change) - std::fabs(node.value));
}

void TreeGrowth::append(double lambda, TreeStore& trees) const {
  // Children follow their parents in made_.
  std::vector<std::uint8_t> matters(made_.size(), 0);
  for (std::size_t i = made_.size(); i-- > 0;) {
    const Made& made = made_[i];
    const bool leaf = made.split < 0;
    matters[i] = leaf ? changes_[made.label] != 0 : (matters[made.yes] | matters[made.no]) != 0;
  }
  const std::size_t first = trees.splits.size();
  // Pending nodes, each with the position of the parent that has to point to it.
  std::vector<std::pair<std::uint32_t, std::size_t>> waiting = {{0U, first}};
  while (!waiting.empty()) {
    const auto [i, parent] = waiting.back();
    waiting.pop_back();
    const std::size_t at = trees.splits.size();
    if (at != parent + 1 && at != first) trees.others[parent] = static_cast<std::int32_t>(at - first);
    const Made& made = made_[i];
    const bool leaf = made.split < 0 || matters[i] == 0;
    trees.splits.push_back(leaf ? -1 : made.split);
    trees.others.push_back(0);
    trees.values.push_back(leaf && matters[i] != 0 ? changes_[made.label] : 0.0);
    if (!leaf) {
      waiting.emplace_back(made.no, at);
      waiting.emplace_back(made.yes, at);
    }
  }
  trees.nodes.push_back(static_cast<std::int64_t>(trees.splits.size()));
  trees.lambdas.push_back(lambda);
}

}  // namespace smt::bitree
