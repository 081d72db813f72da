#include "amasis_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "amasis_hash.hpp"
#include "amasis_reduce.hpp"
#include "search/search.hpp"

namespace smt::searn {
namespace {

std::size_t at(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace

AmasisSearcher::AmasisSearcher(std::shared_ptr<Scorer> scorer, std::vector<double> weights, LabelModel model,
                               const AmasisOptions& options)
    : scorer_(std::move(scorer)),
      weights_(std::move(weights)),
      components_(scorer_->components()),
      chooser_(std::move(model), options.decide, options.labels != 1, options.logs),
      options_(options),
      exact_labels_(options.labels != 1) {
  state_bytes_ = scorer_->state_bytes();
  state_at_ = (components_ * sizeof(float) + 7) & ~std::size_t{7};
  stride_ = state_at_ + state_bytes_;
}

AmasisGraph AmasisSearcher::run(const SearchForest& input, std::span<const double> sums,
                                std::span<const std::int32_t> fragments, std::uint64_t key) {
  key_ = key;
  start(input, sums, fragments);
  if (positions_ == 0) return {};
  score_leaves();
  rank_ = 0;
  expand(none, 0);
  flush();
  for (std::int32_t position = 1; position < positions_; ++position) {
    Stack& stack = stacks_[at(position)];
    settle(stack);
    rank_ = 0;
    for (const std::int32_t hypothesis : stack.kept) {
      expand(hypothesis, position);
      ++rank_;
    }
    flush();
  }
  settle(stacks_.back());
  return finish(input);
}

void AmasisSearcher::start(const SearchForest& input, std::span<const double> sums,
                           std::span<const std::int32_t> fragments) {
  const Forest& forest = input.forest;
  sums_ = sums;
  positions_ = 0;
  choices_.clear();
  nodes_.clear();
  arcs_.clear();
  states_.clear();
  waiting_.clear();
  made_ = asked_ = 0;
  std::vector<std::int32_t> by_span(forest.nodes.size());
  std::iota(by_span.begin(), by_span.end(), 0);
  std::stable_sort(by_span.begin(), by_span.end(), [&](std::int32_t first, std::int32_t second) {
    const Forest::Node& a = forest.nodes[at(first)];
    const Forest::Node& b = forest.nodes[at(second)];
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  strings_.offsets.assign(1, 0);
  strings_.values.clear();
  string_slots_.assign(options_.strings ? 1024 : 0, none);
  for (const std::int32_t v : by_span) {
    const Forest::Node& node = forest.nodes[at(v)];
    positions_ = std::max(positions_, node.last);
    for (auto b = at(forest.node_bundles[at(v)]); b < at(forest.node_bundles[at(v) + 1]); ++b) {
      std::int64_t edge = forest.rules.offsets[b];
      for (const std::int32_t rule : forest.rules[b]) {
        const std::int32_t string = options_.strings ? string_of(input.rules.targets[at(rule)]) : none;
        choices_.push_back({rule, edge++, node.first, node.last, fragments[at(rule)], string, 0.0, {}, {}});
      }
    }
  }
  beginning_.assign(at(positions_), {});
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    beginning_[at(choices_[i].first)].push_back(static_cast<std::int32_t>(i));
  }
  stacks_.assign(at(positions_) + 1, {});
  slots_.assign(1024, none);

  // The forest's rules, followed by R+, R- and the goal rule.
  rules_.targets = input.rules.targets;
  rules_.scores = input.rules.scores;
  for (const std::initializer_list<std::int32_t> target : {std::initializer_list<std::int32_t>{-1, -2}, {-2, -1}, {-1}}) {
    rules_.targets.values.insert(rules_.targets.values.end(), target);
    rules_.targets.end_part();
    rules_.scores.push_back(0.0F);
  }
}

// Score options without context, which does not depend on the stack.
void AmasisSearcher::score_leaves() {
  std::vector<std::int32_t> chosen;
  for (const Option& option : choices_) chosen.push_back(option.rule);
  plus_ = static_cast<std::int32_t>(chosen.size());
  const auto added = static_cast<std::int32_t>(rules_.scores.size()) - 3;
  for (std::int32_t i = 0; i < 3; ++i) chosen.push_back(added + i);
  std::vector<float> estimates(chosen.size() * components_);
  scorer_->prepare(rules_, chosen, estimates.data());

  batch_rules_.resize(choices_.size());
  std::iota(batch_rules_.begin(), batch_rules_.end(), 0);
  batch_offsets_.assign(choices_.size() + 1, 0);
  batch_tails_.clear();
  combine(leaves_);
  const std::size_t columns = chooser_.columns();
  const bool fixed = !chooser_.model().looks_back() && options_.decide != Decide::kDraw;
  const auto labels = static_cast<std::int32_t>(chooser_.model().labels);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    Option& option = choices_[i];
    const auto* const record = reinterpret_cast<const std::byte*>(leaves_.data()) + i * stride_;
    option.inside = static_cast<double>(rules_.scores[at(option.rule)]) + weighed(reinterpret_cast<const float*>(record));
    if (!fixed) continue;
    chooser_.choose(sums_.data() + at(option.edge) * columns, {labels, labels, 0, none}, 0.0);
    option.ranked = chooser_.ranked();
    for (const std::int32_t label : option.ranked) option.logs.push_back(chooser_.log_probability(label));
  }
  // Best first, so that the pruning threshold rises early.
  for (std::vector<std::int32_t>& options : beginning_) {
    std::stable_sort(options.begin(), options.end(), [this](std::int32_t first, std::int32_t second) {
      return choices_[at(first)].inside > choices_[at(second)].inside;
    });
  }
}

double AmasisSearcher::weighed(const float* values) const noexcept {
  double sum = 0.0;
  for (std::size_t c = 0; c < components_; ++c) sum += weights_[c] * static_cast<double>(values[c]);
  return sum;
}

// Score the prepared batch: a record of values and state for each edge.
void AmasisSearcher::combine(std::vector<std::uint64_t>& out) {
  const std::size_t size = batch_rules_.size();
  out.resize(size * stride_ / 8 + 1);
  batch_begins_.assign(size, 0);
  if (size == 0) return;
  asked_ += static_cast<std::int64_t>(size);
  Batch batch;
  batch.size = size;
  batch.rules = batch_rules_.data();
  batch.tail_offsets = batch_offsets_.data();
  batch.tails = batch_tails_.data();
  batch.begins = batch_begins_.data();
  batch.out = reinterpret_cast<std::byte*>(out.data());
  batch.stride = stride_;
  batch.state_at = state_at_;
  scorer_->combine(batch);
}

void AmasisSearcher::expand(std::int32_t hypothesis, std::int32_t position) {
  for (const std::int32_t option : beginning_[at(position)]) propose(hypothesis, option);
}

double AmasisSearcher::drawn(std::int32_t rank, std::int32_t option) const noexcept {
  const std::uint64_t hash = joined_hash(joined_hash(joined_hash(options_.seed, static_cast<std::int64_t>(key_)), rank), option);
  return std::ldexp(static_cast<double>(hash >> 11U), -53);
}

// Extend a hypothesis by an option: a candidate for each label tried.
void AmasisSearcher::propose(std::int32_t hypothesis, std::int32_t number) {
  const Option& option = choices_[at(number)];
  const LabelModel& model = chooser_.model();
  const std::int32_t depth = hypothesis == none ? 0 : nodes_[at(hypothesis)].depth;
  const bool known = !option.ranked.empty();
  if (!known) {
    const auto labels = static_cast<std::int32_t>(model.labels);
    Situation situation{labels, labels, depth, model.fragment_begin};
    if (hypothesis != none) {
      const Node& node = nodes_[at(hypothesis)];
      situation = {node.label, node.before, depth, node.fragment == empty ? model.fragment_empty : node.fragment};
    }
    const bool draws = options_.decide == Decide::kDraw;
    chooser_.choose(sums_.data() + at(option.edge) * chooser_.columns(), situation,
                    draws ? drawn(rank_, number) : 0.0);
  }
  const std::vector<std::int32_t>& ranked = known ? option.ranked : chooser_.ranked();
  const auto log_of = [&](std::size_t k) { return known ? option.logs[k] : chooser_.log_probability(ranked[k]); };
  const auto count_of = [&](std::size_t k) { return std::min(model.reductions[at(ranked[k])], depth); };
  const auto operations_of = [&](std::size_t k, std::int32_t count) {
    return model.operations[at(ranked[k])] & static_cast<std::uint32_t>((std::uint64_t{1} << at(count)) - 1);
  };
  const auto take = [&](std::size_t k) {
    const std::int32_t count = count_of(k);
    push(hypothesis, number, ranked[k], count, operations_of(k, count), log_of(k));
  };
  if (!exact_labels_) {
    take(0);
  } else {
    tried_.clear();
    for (std::size_t k = 0; k < ranked.size() && (options_.labels == 0 || tried_.size() < options_.labels); ++k) {
      // Try equivalent labels once, counting the reductions at the end of the sentence.
      std::int32_t count = count_of(k);
      std::uint32_t operations = operations_of(k, count);
      if (option.last == positions_ && depth < 32) {
        while (count < depth) operations |= 1U << at(count++);
      }
      const std::uint64_t code = static_cast<std::uint64_t>(count) << 32U | operations;
      if (!eager(hypothesis, option, count, operations)) continue;
      if (std::find(tried_.begin(), tried_.end(), code) != tried_.end()) continue;
      tried_.push_back(code);
      take(k);
    }
    if (tried_.empty()) {
      take(0);
      stacks_[at(option.last)].spare.push_back(waiting_.back());
      waiting_.pop_back();
    }
  }
  if (waiting_.size() >= kChunk) flush();
}

// Whether reductions are eager, which makes derivations unique. Neighbours in the same order are reduced from left to
// right; an empty item is reduced at once with the item on its left, or else with that on its right.
bool AmasisSearcher::eager(std::int32_t hypothesis, const Option& option, std::int32_t count,
                           std::uint32_t operations) const {
  if (hypothesis == none) return true;
  const bool blank = option.fragment == empty;
  if (blank) return count == 1 && operations == 1;
  if (nodes_[at(hypothesis)].fragment == empty && (count == 0 || (operations & 1U) == 0)) return false;
  Root root = Root::kNone;
  std::int32_t left = hypothesis;
  for (std::int32_t k = 0; k < count; ++k) {
    const Root wanted = reduces_in_order(operations, k) ? Root::kInOrder : Root::kReversed;
    if (root == wanted) return false;
    if (nodes_[at(left)].fragment != empty) root = wanted;
    left = nodes_[at(left)].below;
  }
  return true;
}

void AmasisSearcher::push(std::int32_t hypothesis, std::int32_t number, std::int32_t label, std::int32_t count,
                          std::uint32_t operations, double log) {
  const Option& option = choices_[at(number)];
  const auto* const record = reinterpret_cast<const std::byte*>(leaves_.data()) + at(number) * stride_;
  const Arc arc{hypothesis, number, label, count, operations, log, option.inside + weights_[components_] * log, none};
  waiting_.push_back({arc, hypothesis, option.fragment, option.string, Root::kNone, record + state_at_});
  if (++made_ > options_.max_edges) throw SearchLimit("more hypotheses than max_edges allows");
}

void AmasisSearcher::flush() {
  reduce(
      waiting_, false, [](std::size_t, double, const float*) {},
      [this](std::size_t i) { offer(waiting_[i]); });
  waiting_.clear();
}

// The id of a string of words; equal strings share it.
std::int32_t AmasisSearcher::string_of(std::span<const std::int32_t> words) {
  if ((strings_.size() + 1) * 2 > string_slots_.size()) {
    string_slots_.assign(string_slots_.size() * 2, none);
    const std::size_t mask = string_slots_.size() - 1;
    for (std::size_t i = 0; i < strings_.size(); ++i) {
      std::uint64_t hash = 0;
      for (const std::int32_t word : strings_[i]) hash = joined_hash(hash, word);
      std::size_t slot = static_cast<std::size_t>(hash) & mask;
      while (string_slots_[slot] != none) slot = (slot + 1) & mask;
      string_slots_[slot] = static_cast<std::int32_t>(i);
    }
  }
  std::uint64_t hash = 0;
  for (const std::int32_t word : words) hash = joined_hash(hash, word);
  const std::size_t mask = string_slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(hash) & mask;
  for (; string_slots_[slot] != none; slot = (slot + 1) & mask) {
    const auto known = strings_[at(string_slots_[slot])];
    if (std::equal(known.begin(), known.end(), words.begin(), words.end())) return string_slots_[slot];
  }
  string_slots_[slot] = static_cast<std::int32_t>(strings_.size());
  strings_.values.insert(strings_.values.end(), words.begin(), words.end());
  strings_.end_part();
  return string_slots_[slot];
}

std::int32_t AmasisSearcher::joined(std::int32_t left, std::int32_t right) {
  const auto first = strings_[at(left)];
  const auto second = strings_[at(right)];
  text_.assign(first.begin(), first.end());
  text_.insert(text_.end(), second.begin(), second.end());
  return string_of(text_);
}

AmasisGraph AmasisSearcher::finish(const SearchForest& /*input*/) {
  AmasisGraph graph;
  graph.components = width();
  graph.made = made_;
  const std::vector<Ending> ends = endings();
  if (!ends.empty()) {
    graph.score = ends.front().total;
    node_numbers_.assign(nodes_.size(), none);
    leaf_numbers_.assign(choices_.size(), none);
    for (const std::vector<std::int32_t>& level : needed(ends)) emit(graph, level);
    emit_ends(graph, ends);
    tell_best(graph, ends.front().node);
  }
  graph.asked = asked_;
  return graph;
}

// Reduce the fragments left on each final stack in order, from the top down.
std::vector<AmasisSearcher::Ending> AmasisSearcher::endings() {
  const std::vector<std::int32_t>& last = stacks_.back().kept;
  std::vector<Candidate> batch;
  std::vector<Ending> ends;
  std::vector<std::uint64_t> states(last.size() * (state_bytes_ / 8));
  std::vector<const std::byte*> tops(last.size());
  for (const std::int32_t v : last) {
    const Node& node = nodes_[at(v)];
    Arc arc = arcs_[at(node.arcs)];
    arc.count = node.depth - 1;
    arc.operations = ~std::uint32_t{0};
    arc.inside = node.inside;
    batch.push_back({arc, node.below, node.fragment, node.string, node.root, state_of(node.state)});
    ends.push_back({v, 0.0, {}, {}});
  }
  const auto tell = [&](std::size_t i, double score, const float* values) {
    ends[i].scores.push_back(score);
    ends[i].values.insert(ends[i].values.end(), values, values + components_);
  };
  // There may be more reductions than bits of `operations`.
  reduce(batch, true, tell, [&](std::size_t i) {
    std::byte* const kept = reinterpret_cast<std::byte*>(states.data()) + i * state_bytes_;
    if (state_bytes_ != 0) std::memcpy(kept, batch[i].state, state_bytes_);
    tops[i] = kept;
  });
  batch_rules_.assign(last.size(), plus_ + 2);
  batch_offsets_.resize(last.size() + 1);
  std::iota(batch_offsets_.begin(), batch_offsets_.end(), 0);
  batch_tails_ = tops;
  combine(out_[0]);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    auto* const record = reinterpret_cast<std::byte*>(out_[0].data()) + i * stride_;
    auto* const values = reinterpret_cast<float*>(record);
    scorer_->finish(record + state_at_, false, values);
    const double score = weighed(values);
    tell(i, score, values);
    ends[i].total = batch[i].arc.inside + score;
  }
  std::stable_sort(ends.begin(), ends.end(), [](const Ending& a, const Ending& b) { return a.total > b.total; });
  if (!options_.all_edges && !ends.empty()) ends.resize(1);
  return ends;
}

}  // namespace smt::searn
