// The searches themselves; included where a Searcher is instantiated.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "search/search.hpp"

namespace smt {

template <class S>
Refined Searcher<S>::run(const Forest& forest, const TargetRules& rules, std::span<const double> weights,
                         const SearchOptions& options) {
  start(forest, rules, weights, options);
  const std::size_t nodes = forest.nodes.size();
  for (std::size_t v = 0; v < nodes; ++v) {
    first_[v] = static_cast<std::int32_t>(found_.node_of.size());
    count_[v] = 0;
    if (needed_[v] == 0) continue;
    at_goal_ = v + 1 == nodes;
    node_leads_ = leading_[v] != 0;
    used_ = 0;
    uniques_.clear();
    links_.clear();
    if (++stamp_ == 0) {
      std::fill(slots_.begin(), slots_.end(), Slot{});
      stamp_ = 1;
    }
    if (options_.exact) {
      enumerate(v);
    } else {
      cube(v);
    }
    settle(v);
  }
  counts_.nodes = static_cast<std::int64_t>(found_.node_of.size());
  // Without a derivation the last node found is not the goal.
  if (nodes == 0 || count_.back() == 0) found_.clear();
  Refined refined = keep_reachable(forest, found_, weights.size());
  refined.counts = counts_;
  return refined;
}

template <class S>
void Searcher<S>::start(const Forest& forest, const TargetRules& rules, std::span<const double> weights,
                        const SearchOptions& options) {
  forest_ = &forest;
  weights_ = weights;
  options_ = options;
  counts_ = {};
  found_.clear();
  states_.clear();

  ranked_.gather(forest, rules);
  estimates_.assign(ranked_.chosen().size() * weights.size(), 0.0F);
  scorer_->prepare(rules, ranked_.chosen(), estimates_.data());
  ranked_.rank(rules, estimates_, weights);

  dims_ = 1;
  for (std::size_t b = 0; b < forest.bundles(); ++b) dims_ = std::max(dims_, forest.tails[b].size() + 1);
  state_bytes_ = scorer_->state_bytes();
  ranks_at_ = sizeof(Point);
  values_at_ = ranks_at_ + dims_ * sizeof(std::int32_t);
  state_at_ = (values_at_ + weights.size() * sizeof(float) + 7) & ~std::size_t{7};
  stride_ = state_at_ + state_bytes_;

  first_.resize(forest.nodes.size());
  count_.resize(forest.nodes.size());
  find_leading();
  begun_ = options.early_begin;
  if (!options.exact && options.adapt > 0.0) find_gaps();
}

// Which nodes the goal needs, and which of them begin the sentence wherever they are used, as the left spine of a glue
// grammar does: there the words at the start of the sentence are known.
template <class S>
void Searcher<S>::find_leading() {
  const std::size_t nodes = forest_->nodes.size();
  needed_.assign(nodes, 0);
  leading_.assign(nodes, options_.early_begin ? 1 : 0);
  if (nodes != 0) needed_.back() = 1;
  for (std::size_t v = nodes; v-- > 0;) {
    if (needed_[v] == 0) continue;
    for (auto b = static_cast<std::size_t>(forest_->node_bundles[v]);
         b < static_cast<std::size_t>(forest_->node_bundles[v + 1]); ++b) {
      const std::span<const std::int32_t> tails = forest_->tails[b];
      const std::int32_t lead = ranked_.lead_of(b);
      for (std::size_t k = 0; k < tails.size(); ++k) {
        const auto tail = static_cast<std::size_t>(tails[k]);
        needed_[tail] = 1;
        if (leading_[v] == 0 || lead != static_cast<std::int32_t>(k)) leading_[tail] = 0;
      }
    }
  }
}

// Max-marginals of nodes by scores of rules and estimates.
template <class S>
void Searcher<S>::find_gaps() {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const std::size_t nodes = forest_->nodes.size();
  inside_.assign(nodes, kNever);
  outside_.assign(nodes, kNever);
  for (std::size_t v = 0; v < nodes; ++v) {
    for (auto b = static_cast<std::size_t>(forest_->node_bundles[v]);
         b < static_cast<std::size_t>(forest_->node_bundles[v + 1]); ++b) {
      const auto rules = ranked_.rules_of(b);
      if (rules.empty()) continue;
      double score = rules[0].estimate;
      for (const std::int32_t tail : forest_->tails[b]) score += inside_[static_cast<std::size_t>(tail)];
      inside_[v] = std::max(inside_[v], score);
    }
  }
  if (nodes == 0) return;
  best_stateless_ = inside_.back();
  outside_.back() = 0.0;
  for (std::size_t v = nodes; v-- > 0;) {
    if (outside_[v] == kNever) continue;
    for (auto b = static_cast<std::size_t>(forest_->node_bundles[v]);
         b < static_cast<std::size_t>(forest_->node_bundles[v + 1]); ++b) {
      const auto rules = ranked_.rules_of(b);
      if (rules.empty()) continue;
      double score = outside_[v] + rules[0].estimate;
      for (const std::int32_t tail : forest_->tails[b]) score += inside_[static_cast<std::size_t>(tail)];
      if (score == kNever) continue;
      for (const std::int32_t tail : forest_->tails[b]) {
        const auto t = static_cast<std::size_t>(tail);
        outside_[t] = std::max(outside_[t], score - inside_[t]);
      }
    }
  }
}

template <class S>
std::int64_t Searcher<S>::limit_of(std::size_t v) const {
  if (options_.pop_limit < 0) return std::numeric_limits<std::int64_t>::max();
  if (options_.adapt <= 0.0) return options_.pop_limit;
  const double gap = best_stateless_ - inside_[v] - outside_[v];
  if (!(gap > 0.0)) return options_.pop_limit;
  const double limit = std::ceil(static_cast<double>(options_.pop_limit) * std::exp(-options_.adapt * gap));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(limit));
}

template <class S>
bool Searcher<S>::possible(std::size_t bundle) const noexcept {
  const auto tails = forest_->tails[bundle];
  return !ranked_.rules_of(bundle).empty() && std::all_of(tails.begin(), tails.end(), [&](std::int32_t tail) {
    return count_[static_cast<std::size_t>(tail)] != 0;
  });
}

// A new point of a bundle with all ranks 0.
template <class S>
std::int64_t Searcher<S>::add_point(std::int32_t bundle) {
  const std::int64_t i = used_++;
  const std::size_t wanted = static_cast<std::size_t>(used_) * stride_ / 8;
  if (wanted > points_.size()) points_.resize(std::max(wanted, points_.size() * 2));
  const auto dims = static_cast<std::int32_t>(tails_of(bundle).size() + 1);
  point(i) = Point{0.0, 0.0, bundle, dims};
  std::fill_n(ranks(i), dims, 0);
  return i;
}

template <class S>
void Searcher<S>::evaluate(std::int64_t first, std::int64_t last) {
  if (first == last) return;
  counts_.evaluated += last - first;
  if (counts_.evaluated > options_.max_edges) throw SearchLimit("more edges than the search may look at");
  const auto size = static_cast<std::size_t>(last - first);
  batch_rules_.resize(size);
  batch_offsets_.resize(size + 1);
  batch_begins_.resize(size);
  batch_tails_.clear();
  batch_offsets_[0] = 0;
  for (std::size_t n = 0; n < size; ++n) {
    const std::int64_t i = first + static_cast<std::int64_t>(n);
    Point& at = point(i);
    const std::int32_t* const rank = ranks(i);
    const RankedRules::Rule& rule =
        ranked_.rules_of(static_cast<std::size_t>(at.bundle))[static_cast<std::size_t>(rank[0])];
    const auto tails = tails_of(at.bundle);
    double score = 0.0;
    for (std::size_t k = 0; k < tails.size(); ++k) {
      const std::int32_t node = first_[static_cast<std::size_t>(tails[k])] + rank[k + 1];
      score += found_.best[static_cast<std::size_t>(node)];
      batch_tails_.push_back(node_state(node));
    }
    at.score = score;
    at.edge_score = rule.score;
    batch_rules_[n] = rule.prepared;
    batch_offsets_[n + 1] = static_cast<std::int32_t>(batch_tails_.size());
    const bool follows =
        rule.lead >= 0 && leading_[static_cast<std::size_t>(tails[static_cast<std::size_t>(rule.lead)])] != 0;
    batch_begins_[n] = node_leads_ && !follows ? 1 : 0;
  }
  Batch batch;
  batch.size = size;
  batch.rules = batch_rules_.data();
  batch.tail_offsets = batch_offsets_.data();
  batch.tails = batch_tails_.data();
  batch.begins = batch_begins_.data();
  batch.out = record(first);
  batch.stride = stride_;
  batch.values_at = values_at_;
  batch.state_at = state_at_;
  scorer_->combine(batch);
  for (std::int64_t i = first; i < last; ++i) {
    const float* const value = values(i);
    if (at_goal_) scorer_->finish(state(i), begun_, values(i));
    Point& at = point(i);
    for (std::size_t c = 0; c < weights_.size(); ++c) at.edge_score += weights_[c] * static_cast<double>(value[c]);
    at.score += at.edge_score;
  }
}

template <class S>
void Searcher<S>::push(std::int64_t i) {
  // Of equal points the earlier is better.
  heap_.emplace_back(point(i).score, -i);
  std::push_heap(heap_.begin(), heap_.end());
}

template <class S>
void Searcher<S>::cube(std::size_t v) {
  heap_.clear();
  for (auto b = static_cast<std::size_t>(forest_->node_bundles[v]);
       b < static_cast<std::size_t>(forest_->node_bundles[v + 1]); ++b) {
    if (possible(b)) add_point(static_cast<std::int32_t>(b));
  }
  evaluate(0, used_);
  for (std::int64_t i = 0; i < used_; ++i) heap_.emplace_back(point(i).score, -i);
  std::make_heap(heap_.begin(), heap_.end());

  const std::int64_t limit = limit_of(v);
  double best = -std::numeric_limits<double>::infinity();
  for (std::int64_t pops = 0; pops < limit && !heap_.empty(); ++pops) {
    const auto [score, negated] = heap_.front();
    if (score < best - options_.beam) break;
    best = std::max(best, score);
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    const std::int64_t i = -negated;
    take(i);
    ++counts_.pops;

    const std::int64_t fresh = used_;
    const std::int32_t bundle = point(i).bundle;
    const auto rules = static_cast<std::int32_t>(ranked_.rules_of(static_cast<std::size_t>(bundle)).size());
    const auto tails = tails_of(bundle);
    const std::int32_t dims = point(i).dims;
    // The predecessor of a point has the first non-zero rank lowered by 1.
    for (std::int32_t d = 0; d < dims; ++d) {
      const std::int32_t size =
          d == 0 ? rules : count_[static_cast<std::size_t>(tails[static_cast<std::size_t>(d - 1)])];
      const std::int32_t rank = ranks(i)[d];
      if (rank + 1 < size) {
        const std::int64_t next = add_point(bundle);
        std::copy_n(ranks(i), dims, ranks(next));
        ranks(next)[d] = rank + 1;
      }
      if (rank != 0) break;
    }
    evaluate(fresh, used_);
    for (std::int64_t next = fresh; next < used_; ++next) push(next);
  }
}

template <class S>
void Searcher<S>::enumerate(std::size_t v) {
  constexpr std::int64_t kChunk = 512;
  std::int64_t evaluated = 0;
  const auto flush = [&] {
    evaluate(evaluated, used_);
    for (; evaluated < used_; ++evaluated) take(evaluated);
  };
  for (auto b = static_cast<std::size_t>(forest_->node_bundles[v]);
       b < static_cast<std::size_t>(forest_->node_bundles[v + 1]); ++b) {
    if (!possible(b)) continue;
    const auto rules = static_cast<std::int32_t>(ranked_.rules_of(b).size());
    const auto tails = forest_->tails[b];
    std::int64_t last = -1;
    while (true) {
      const std::int64_t i = add_point(static_cast<std::int32_t>(b));
      if (last >= 0) {
        // Counts up, the rule fastest: neighbours in a batch share their tails.
        std::copy_n(ranks(last), tails.size() + 1, ranks(i));
        std::size_t d = 0;
        for (; d <= tails.size(); ++d) {
          const std::int32_t size = d == 0 ? rules : count_[static_cast<std::size_t>(tails[d - 1])];
          if (++ranks(i)[d] < size) break;
          ranks(i)[d] = 0;
        }
        if (d > tails.size()) {
          --used_;
          break;
        }
      }
      last = i;
      if (used_ - evaluated >= kChunk) flush();
    }
  }
  flush();
}

// Recombines a point with those of equal states.
template <class S>
void Searcher<S>::take(std::int64_t i) {
  const std::int32_t unique = add_unique(i);
  if (options_.all_edges) links_.push_back({unique, i});
}

template <class S>
std::int32_t Searcher<S>::add_unique(std::int64_t i) {
  const double score = point(i).score;
  const std::uint64_t hash = at_goal_ ? 0 : scorer_->hash(state(i));
  if ((uniques_.size() + 1) * 2 > slots_.size()) grow_slots();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash) & mask;
  for (; slots_[at].stamp == stamp_; at = (at + 1) & mask) {
    Unique& known = uniques_[static_cast<std::size_t>(slots_[at].unique)];
    if (known.hash != hash || !(at_goal_ || scorer_->equal(state(known.best), state(i)))) continue;
    if (score > known.score) {
      known.score = score;
      known.best = i;
    }
    return slots_[at].unique;
  }
  slots_[at] = {stamp_, static_cast<std::int32_t>(uniques_.size())};
  uniques_.push_back({score, i, hash});
  return slots_[at].unique;
}

template <class S>
void Searcher<S>::grow_slots() {
  slots_.assign(std::max<std::size_t>(256, slots_.size() * 2), Slot{});
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t u = 0; u < uniques_.size(); ++u) {
    std::size_t at = static_cast<std::size_t>(uniques_[u].hash) & mask;
    while (slots_[at].stamp == stamp_) at = (at + 1) & mask;
    slots_[at] = {stamp_, static_cast<std::int32_t>(u)};
  }
}

// Numbers the node's states, the best first, and keeps their edges.
template <class S>
void Searcher<S>::settle(std::size_t v) {
  const std::size_t size = uniques_.size();
  order_.resize(size);
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    const double left = uniques_[static_cast<std::size_t>(a)].score;
    const double right = uniques_[static_cast<std::size_t>(b)].score;
    return left != right ? left > right : a < b;
  });
  if (found_.node_of.size() + size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw SearchLimit("more nodes than the search can number");
  }
  first_[v] = static_cast<std::int32_t>(found_.node_of.size());
  count_[v] = static_cast<std::int32_t>(size);
  states_.resize((static_cast<std::size_t>(first_[v]) + size) * (state_bytes_ / 8));
  if (options_.all_edges) {
    // By rank of the head, then in order of arrival.
    starts_.assign(size + 1, 0);
    for (const Link& link : links_) ++starts_[static_cast<std::size_t>(link.unique) + 1];
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    sorted_.resize(links_.size());
    for (const Link& link : links_) {
      sorted_[static_cast<std::size_t>(starts_[static_cast<std::size_t>(link.unique)]++)] = link.point;
    }
  }
  for (std::size_t rank = 0; rank < size; ++rank) {
    const auto u = static_cast<std::size_t>(order_[rank]);
    found_.node_of.push_back(static_cast<std::int32_t>(v));
    found_.best.push_back(uniques_[u].score);
    if (state_bytes_ != 0) {
      std::memcpy(node_state(first_[v] + static_cast<std::int32_t>(rank)), state(uniques_[u].best), state_bytes_);
    }
    if (options_.all_edges) {
      // After the sort, each start has moved to the next one's start.
      const std::int64_t begin = u == 0 ? 0 : starts_[u - 1];
      for (std::int64_t i = begin; i < starts_[u]; ++i) emit(sorted_[static_cast<std::size_t>(i)]);
    } else {
      emit(uniques_[u].best);
    }
    found_.node_edges.push_back(static_cast<std::int64_t>(found_.rules.size()));
  }
}

template <class S>
void Searcher<S>::emit(std::int64_t i) {
  const Point& at = point(i);
  const auto bundle = static_cast<std::size_t>(at.bundle);
  const std::int32_t* const rank = ranks(i);
  const RankedRules::Rule& rule = ranked_.rules_of(bundle)[static_cast<std::size_t>(rank[0])];
  const auto tails = forest_->tails[bundle];
  found_.edge_of.push_back(forest_->rules.offsets[bundle] + rule.place);
  found_.rules.push_back(rule.number);
  found_.scores.push_back(at.edge_score);
  for (std::size_t k = 0; k < tails.size(); ++k) {
    found_.tails.push_back(first_[static_cast<std::size_t>(tails[k])] + rank[k + 1]);
  }
  found_.tail_offsets.push_back(static_cast<std::int64_t>(found_.tails.size()));
  found_.values.insert(found_.values.end(), values(i), values(i) + weights_.size());
}

}  // namespace smt
