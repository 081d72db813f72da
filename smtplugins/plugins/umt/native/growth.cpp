#include "growth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

namespace smt::umt {
namespace {

constexpr std::int32_t kNowhere = -1;

// Rounds scores, so that differences in the last digits, from summation order or 32-bit floats, do not break ties.
double shown(double score) noexcept { return std::nearbyint(score * 65536.0); }

auto key(std::int64_t edge, std::int32_t slot, Place place) noexcept {
  return std::tuple(edge, slot, place.step, place.link);
}
auto key(const Candidate& one, Place place) noexcept { return key(one.edge, one.slot, place); }

}  // namespace

Growth::Growth(std::vector<std::shared_ptr<Part>> parts, const BoundOptions& options)
    : parts_(std::move(parts)), options_(options), components_(options.components) {
  for (const auto& part : parts_) components_ += part->components();
}

void Growth::begin(const SearchForest& input, std::span<const float> scores, std::span<const float> bounds,
                   std::span<const double> weights, std::span<const double> estimates) {
  index_.set(input);
  scores_.assign(scores.begin(), scores.end());
  weights_.assign(weights.begin(), weights.end());
  under_.assign(bounds.begin(), bounds.end());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->begin(index_);
    if (estimates[i] != 0.0) parts_[i]->estimate(estimates[i], under_);
  }
  joining_.clear();
  for (std::size_t i = 0; options_.joins && i < parts_.size(); ++i) {
    if (estimates[i] != 0.0) joining_.push_back({parts_[i].get(), estimates[i]});
  }
  bounds_.find(index_, under_, joining_);
}

// Computes the bound features of what stays open around an edge. Slot -1 is the head, except for the first edge.
double Growth::bound_of(const Open& open, std::int32_t bundle, std::int32_t slot,
                        double* values) const noexcept {
  const std::size_t last = options_.components - 1;
  std::fill_n(values, options_.components, 0.0);
  if (options_.components == 0) return 0.0;
  const bool head_open = slot != -1 || steps_.empty();
  if (head_open && !index_.tops(bundle)) {
    values[0] += bounds_.outside(index_.heads[static_cast<std::size_t>(bundle)]) / options_.scale;
  }
  std::int32_t k = 0;
  for (const std::int32_t tail : index_.tails(bundle)) {
    if (k++ != slot) values[std::min(static_cast<std::size_t>(k), last)] += bounds_.inside(tail) / options_.scale;
  }
  // The joins with its open tails; the join with the tail that it is attached by is already counted.
  const auto width = static_cast<double>(k);
  if (k != 0) {
    const double share = slot == -1 ? 1.0 : (width - 1.0) / width;
    values[last] += bounds_.joins(bundle) * share / options_.scale;
  }
  if (options_.difference && open.node != kNowhere) {
    values[0] -= (open.place.link == 0 ? bounds_.outside(open.node) : bounds_.inside(open.node)) / options_.scale;
  }
  double sum = 0.0;
  for (std::size_t c = 0; c < options_.components; ++c) sum += weights_[c] * values[c];
  return sum;
}

// The bound of the branch missing at a place plus its share of the joins, as counted when the place opened.
double Growth::filled_by(const Open& open) const noexcept {
  if (options_.components == 0 || open.node == kNowhere) return 0.0;
  const std::size_t last = options_.components - 1;
  const std::size_t c = std::min(static_cast<std::size_t>(open.place.link), last);
  double filled = 0.0;
  // With `difference` the bound is already subtracted.
  if (!options_.difference) {
    filled = weights_[c] * (open.place.link == 0 ? bounds_.outside(open.node) : bounds_.inside(open.node));
  }
  if (open.place.link != 0) {
    const std::int32_t bundle = steps_[static_cast<std::size_t>(open.place.step)];
    filled += weights_[last] * bounds_.joins(bundle) / static_cast<double>(index_.tails(bundle).size());
  }
  return filled / options_.scale;
}

// Collects the candidates of a place, with their scores without the parts.
void Growth::collect(const Open& open) {
  candidates_.clear();
  totals_.clear();
  values_.resize(components_);
  const Forest& forest = index_.input->forest;
  const auto add = [&](std::int32_t bundle, std::int32_t slot) {
    if (!bounds_.alive(bundle)) return;
    const double bound = bound_of(open, bundle, slot, values_.data());
    const auto b = static_cast<std::size_t>(bundle);
    std::int64_t edge = forest.rules.offsets[b];
    for (const std::int32_t rule : forest.rules[b]) {
      candidates_.push_back({edge++, bundle, rule, slot});
      totals_.push_back(static_cast<double>(scores_[static_cast<std::size_t>(rule)]) + bound);
    }
  };
  if (open.node == kNowhere) {
    for (const std::int32_t bundle : index_.leaves) add(bundle, -1);
  } else if (open.place.link == 0) {
    for (const Index::Use& use : index_.uses_of(open.node)) add(use.bundle, use.slot);
  } else {
    const auto v = static_cast<std::size_t>(open.node);
    for (auto b = forest.node_bundles[v]; b < forest.node_bundles[v + 1]; ++b) add(static_cast<std::int32_t>(b), -1);
  }
}

void Growth::evaluate(const Open& open) {
  collect(open);
  scored_ += static_cast<std::int64_t>(candidates_.size());
  std::size_t at = options_.components;
  for (const auto& part : parts_) {
    const std::size_t width = part->components();
    values_.resize(candidates_.size() * width);
    part->score(open.place, candidates_, values_.data(), width);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      for (std::size_t c = 0; c < width; ++c) totals_[i] += weights_[at + c] * values_[i * width + c];
    }
    at += width;
  }
}

void Growth::find_best(Open& open) {
  evaluate(open);
  if (candidates_.empty()) throw std::logic_error("a place of a living tree has no candidate");
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates_.size(); ++i) {
    const double one = shown(totals_[i]);
    const double other = shown(totals_[best]);
    if (one > other || (one == other && key(candidates_[i], open.place) < key(candidates_[best], open.place))) best = i;
  }
  open.best = candidates_[best];
  open.score = totals_[best];
}

double Growth::describe(const Open& open, const Candidate& edge, double* values) const {
  double total =
      static_cast<double>(scores_[static_cast<std::size_t>(edge.rule)]) + bound_of(open, edge.bundle, edge.slot, values);
  std::size_t c = options_.components;
  for (const auto& part : parts_) {
    part->score(open.place, {&edge, 1}, values + c, part->components());
    for (const std::size_t end = c + part->components(); c < end; ++c) total += weights_[c] * values[c];
  }
  return total;
}

// Attaches an edge to an open place, which is then closed.
void Growth::put(std::size_t which, const Candidate& edge, double score, Grown* grown) {
  const Open open = open_[which];
  if (grown != nullptr) {
    grown->actions.push_back({edge.edge, open.place, edge.slot});
    const std::size_t begin = grown->values.size();
    grown->values.resize(begin + components_);
    const double total = describe(open, edge, grown->values.data() + begin);
    grown->scores.push_back(std::isnan(score) ? total : score);
  }
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(which));
  changed_.clear();
  for (const auto& part : parts_) part->attach(open.place, edge, changed_);
  const auto number = static_cast<std::int32_t>(steps_.size());
  steps_.push_back(edge.bundle);

  const bool by_head = edge.slot == -1 && open.place.step >= 0;
  if (!by_head && !index_.tops(edge.bundle)) {
    open_.push_back({{number, 0}, index_.heads[static_cast<std::size_t>(edge.bundle)], 0.0, {}});
  }
  std::int32_t k = 0;
  for (const std::int32_t tail : index_.tails(edge.bundle)) {
    if (k++ != edge.slot) open_.push_back({{number, k}, tail, 0.0, {}});
  }
  if (!lazy_) return;
  for (Open& one : open_) {
    const bool fresh = one.place.step == number;
    if (fresh || std::find(changed_.begin(), changed_.end(), one.place) != changed_.end()) find_best(one);
  }
}

std::pair<std::size_t, Candidate> Growth::fitted(const Action& action) const {
  const auto edges = static_cast<std::int64_t>(index_.input->forest.edges());
  if (action.edge < 0 || action.edge >= edges) throw BadAction("there is no such edge");
  const auto open = std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.place == action.place; });
  if (open == open_.end()) throw BadAction("there is no such open place");
  const Candidate edge = index_.edge(action.edge, action.slot);
  const auto tails = index_.tails(edge.bundle);
  bool fits = bounds_.alive(edge.bundle);
  if (open->node == kNowhere) {
    fits = fits && tails.empty() && action.slot == -1;
  } else if (open->place.link == 0) {
    fits = fits && action.slot >= 0 && static_cast<std::size_t>(action.slot) < tails.size() &&
           tails[static_cast<std::size_t>(action.slot)] == open->node;
  } else {
    fits = fits && action.slot == -1 && index_.heads[static_cast<std::size_t>(edge.bundle)] == open->node;
  }
  if (!fits) throw BadAction("the edge does not fit the place");
  return {static_cast<std::size_t>(open - open_.begin()), edge};
}

void Growth::restart(std::span<const Action> prefix, Grown* grown) {
  steps_.clear();
  open_.clear();
  scored_ = 0;
  for (const auto& part : parts_) part->reset();
  if (index_.goal < 0) return;
  open_.push_back({{}, kNowhere, 0.0, {}});
  lazy_ = false;
  for (const Action& action : prefix) {
    const auto [open, edge] = fitted(action);
    put(open, edge, std::numeric_limits<double>::quiet_NaN(), grown);
  }
  lazy_ = true;
}

Grown Growth::follow(std::span<const Action> prefix) {
  Grown grown;
  restart(prefix, &grown);
  for (Open& one : open_) find_best(one);
  while (!open_.empty()) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < open_.size(); ++i) {
      const Open &one = open_[i], &other = open_[best];
      if (shown(one.score) > shown(other.score) ||
          (shown(one.score) == shown(other.score) && key(one.best, one.place) < key(other.best, other.place))) {
        best = i;
      }
    }
    const Open chosen = open_[best];
    put(best, chosen.best, chosen.score, &grown);
  }
  grown.scored = scored_;
  return grown;
}

std::vector<double> Growth::values(std::span<const Action> prefix, std::span<const Action> actions) {
  restart(prefix, nullptr);
  std::vector<double> found(actions.size() * components_);
  double* at = found.data();
  for (const Action& action : actions) {
    const auto [open, edge] = fitted(action);
    describe(open_[open], edge, at);
    at += components_;
  }
  return found;
}

Grown Growth::draw(std::span<const Action> prefix, double temperature, std::uint64_t seed) {
  Grown grown;
  restart(prefix, &grown);
  lazy_ = false;
  std::mt19937_64 random(seed);
  std::vector<std::pair<std::size_t, Candidate>> all;
  std::vector<double> masses;
  while (!open_.empty()) {
    all.clear();
    masses.clear();
    for (std::size_t i = 0; i < open_.size(); ++i) {
      evaluate(open_[i]);
      for (const Candidate& one : candidates_) all.emplace_back(i, one);
      masses.insert(masses.end(), totals_.begin(), totals_.end());
    }
    const double highest = *std::max_element(masses.begin(), masses.end());
    double sum = 0.0;
    for (double& mass : masses) sum += mass = std::exp((mass - highest) / temperature);
    // 53 random bits, the same with any standard library.
    double left = static_cast<double>(random() >> 11U) * 0x1p-53 * sum;
    std::size_t chosen = 0;
    while (chosen + 1 < masses.size() && left >= masses[chosen]) left -= masses[chosen++];
    put(all[chosen].first, all[chosen].second, std::numeric_limits<double>::quiet_NaN(), &grown);
  }
  lazy_ = true;
  grown.scored = scored_;
  return grown;
}

Ranked Growth::ranked(std::span<const Action> prefix) {
  restart(prefix, nullptr);
  struct Row {
    double score;
    Action action;
    double filled;
  };
  std::vector<Row> all;
  for (const Open& one : open_) {
    evaluate(one);
    const double filled = filled_by(one);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      all.push_back({totals_[i], {candidates_[i].edge, one.place, candidates_[i].slot}, filled});
    }
  }
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
    if (shown(a.score) != shown(b.score)) return shown(a.score) > shown(b.score);
    return key(a.action.edge, a.action.slot, a.action.place) < key(b.action.edge, b.action.slot, b.action.place);
  });
  Ranked ranked;
  for (const Row& one : all) {
    ranked.actions.push_back(one.action);
    ranked.scores.push_back(one.score);
    ranked.filled.push_back(one.filled);
  }
  return ranked;
}

}  // namespace smt::umt
