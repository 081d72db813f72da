#include "phrase/search.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "lm/lm_state.hpp"
#include "search/search.hpp"

namespace smt {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace

PhraseSearcher::PhraseSearcher(std::vector<WeightedScorer> scorers, std::vector<OrderFeature> orders)
    : states_(std::move(scorers)), orders_(std::move(orders)) {}

PhraseGraph PhraseSearcher::run(const SearchForest& input, std::span<const std::vector<float>> rows,
                                std::span<const std::int32_t> distances, const PhraseSearchOptions& options) {
  options_ = options;
  // The scale of scores depends on the weights; in nats of language models it depends less.
  const double nat = states_.lm_nat();
  if (options.cube && nat > 0.0) options_.beam = std::min(options.beam, options.lm_beam * nat);
  start(input, rows, distances);
  if (positions_ == 0 || coverages_.future(Coverages::none) == kNever) return {};
  for (std::size_t k = 0; k < stacks_.size(); ++k) {
    Stack& stack = stacks_[k];
    if (options.cube && k > 0) pop_cubes(stack);
    prune(stack, true);
    if (k + 1 == stacks_.size()) break;
    if (options.cube) {
      expand_cubes(stack);
    } else {
      if (states_.costly()) ask_all(stack);
      for (const std::int32_t hypothesis : stack.kept) expand(hypothesis);
      for (const std::int32_t state : rowed_) move_row_[at(state)] = none;
      rowed_.clear();
      moves_.clear();
    }
  }
  return finish(input);
}

void PhraseSearcher::start(const SearchForest& input, std::span<const std::vector<float>> rows,
                           std::span<const std::int32_t> distances) {
  const Forest& forest = input.forest;
  positions_ = 0;
  choices_.clear();
  spans_.clear();
  const std::size_t nodes = forest.nodes.size();
  std::vector<std::int32_t> by_span(nodes);
  std::iota(by_span.begin(), by_span.end(), 0);
  std::stable_sort(by_span.begin(), by_span.end(), [&](std::int32_t left, std::int32_t right) {
    const Forest::Node& a = forest.nodes[at(left)];
    const Forest::Node& b = forest.nodes[at(right)];
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  for (const std::int32_t v : by_span) {
    const Forest::Node& node = forest.nodes[at(v)];
    positions_ = std::max(positions_, node.last);
    if (spans_.empty() || spans_.back().first != node.first || spans_.back().last != node.last) {
      const auto here = static_cast<std::int32_t>(choices_.size());
      spans_.push_back({node.first, node.last, here, here});
    }
    for (auto b = at(forest.node_bundles[at(v)]); b < at(forest.node_bundles[at(v) + 1]); ++b) {
      for (const std::int32_t rule : forest.rules[b]) {
        const auto score = static_cast<double>(input.rules.scores[at(rule)]);
        choices_.push_back({rule, node.first, node.last, score, score, 0.0});
      }
    }
    spans_.back().end = static_cast<std::int32_t>(choices_.size());
  }
  if (positions_ == 0) return;

  orders_.start(rows, input.rules.scores.size());
  const auto by_estimate = [](const PhraseOption& left, const PhraseOption& right) {
    return left.estimate > right.estimate;
  };
  if (orders_.reordering()) {
    // Most phrases follow the previous one directly.
    for (PhraseOption& option : choices_) option.estimate += usual(option.rule);
  }
  // Estimates need the states, and the states number options in order: computed twice if the order changes.
  std::int32_t begun = states_.start(input.rules, choices_);
  bool changed = false;
  for (const PhraseSpan& span : spans_) {
    const auto first = choices_.begin() + span.begin;
    const auto last = choices_.begin() + span.end;
    if (std::is_sorted(first, last, by_estimate)) continue;
    std::stable_sort(first, last, by_estimate);
    changed = true;
  }
  if (changed && states_.costly()) {
    for (PhraseOption& option : choices_) {
      option.estimate = option.score + (orders_.reordering() ? usual(option.rule) : 0.0);
      option.alone = 0.0;
    }
    begun = states_.start(input.rules, choices_);
  }
  for (PhraseSpan& span : spans_) {
    while (choices_[at(span.end - 1)].estimate < choices_[at(span.begin)].estimate - options_.option_beam) --span.end;
  }
  best_of_span_.clear();
  for (const PhraseSpan& span : spans_) best_of_span_.push_back(choices_[at(span.begin)].estimate);
  list_options();
  coverages_.start(positions_, spans_, best_of_span_, fills_, distances, options_.order, options_.distortion_limit,
                   options_.walls, options_.zones);

  hypotheses_.clear();
  arcs_.clear();
  made_ = 0;
  surprise_ = {};
  stacks_.assign(at(positions_) + 1, {});
  slots_.assign(std::max<std::size_t>(1024, slots_.size()), 0);
  move_row_.clear();
  rowed_.clear();
  moves_.clear();
  groups_.clear();
  members_.clear();
  grids_.clear();
  hypotheses_.push_back({0.0, coverages_.future(Coverages::none), Coverages::none, begun, none, 0, none, none, none, true});
  stacks_[0].kept.push_back(0);
}

// All options, then for each span those that may fill a gap, and so stand to the left of the previous phrase.
void PhraseSearcher::list_options() {
  listed_.resize(choices_.size());
  std::iota(listed_.begin(), listed_.end(), 0);
  fillers_.clear();
  fills_.assign(spans_.size(), 0);
  if (options_.order != PhraseOrder::kSwap) return;
  for (std::size_t s = 0; s < spans_.size(); ++s) {
    const auto begin = static_cast<std::int32_t>(listed_.size());
    for (std::int32_t option = spans_[s].begin; option < spans_[s].end; ++option) {
      if (states_.may_go_left(option)) listed_.push_back(option);
    }
    fillers_.emplace_back(begin, static_cast<std::int32_t>(listed_.size()));
    fills_[s] = begin < fillers_.back().second;
  }
}

Orientation PhraseSearcher::orientation_of(const Hypothesis& before, std::int32_t first,
                                           std::int32_t last) const noexcept {
  if (first == before.last) return Orientation::kMonotone;
  if (last == before.first) return Orientation::kSwap;
  return first > before.last ? Orientation::kRight : Orientation::kLeft;
}

bool PhraseSearcher::reaches(const Hypothesis& before, std::int32_t first) const noexcept {
  return options_.order != PhraseOrder::kFree || options_.distortion_limit < 0 ||
         coverages_.distance(before.last, first) <= options_.distortion_limit;
}

// The score of the phrase order, without the option's part.
double PhraseSearcher::jump_of(const Hypothesis& before, std::int32_t first, Orientation orientation) const noexcept {
  double score = 0.0;
  if (orders_.distortion() != 0.0) score -= orders_.distortion() * coverages_.distance(before.last, first);
  if (orders_.forward() && before.rule != none) score += orders_.behind(before.rule, orientation);
  return score;
}

PhraseSearcher::Candidate PhraseSearcher::candidate_of(std::int32_t tail, std::int32_t option,
                                                       const PhraseStates::Move& move, double jump,
                                                       Orientation orientation, std::int32_t coverage) {
  const PhraseOption& choice = choices_[at(option)];
  double score = hypotheses_[at(tail)].score + jump + choice.score + move.score;
  if (orders_.reordering()) score += orders_.before(choice.rule, orientation);
  Candidate made{score, 0.0, tail, option, move.next, coverage};
  made.total = total_of(made);
  return made;
}

// The score with the future cost estimate.
double PhraseSearcher::total_of(const Candidate& candidate) {
  double total = candidate.score + coverages_.future(candidate.coverage);
  if (coverages_.full(candidate.coverage)) {
    total += states_.finish(candidate.state);
  } else if (orders_.forward()) {
    total += orders_.behind(choices_[at(candidate.option)].rule, Orientation::kMonotone);
  }
  return total;
}

// Computes the stateful features of all extensions of a stack's hypotheses.
void PhraseSearcher::ask_all(const Stack& stack) {
  wanted_.clear();
  for (const std::int32_t hypothesis : stack.kept) {
    const Hypothesis& before = hypotheses_[at(hypothesis)];
    for (const Coverages::Next next : coverages_.next(before.coverage)) {
      if (!reaches(before, spans_[at(next.span)].first)) continue;
      for (const std::int32_t option : options_of(next.span, before.coverage)) {
        wanted_.emplace_back(before.state, option);
      }
    }
  }
  states_.ask(wanted_);
}

// Extends a hypothesis by all possible phrases.
void PhraseSearcher::expand(std::int32_t number) {
  const Hypothesis before = hypotheses_[at(number)];
  // Hypotheses with equal states share a row of moves.
  if (at(before.state) >= move_row_.size()) move_row_.resize(at(before.state) + 1, none);
  std::int32_t& row = move_row_[at(before.state)];
  if (row == none) {
    row = static_cast<std::int32_t>(rowed_.size());
    rowed_.push_back(before.state);
    moves_.resize(moves_.size() + choices_.size());
  }
  const std::size_t moves = at(row) * choices_.size();
  for (const Coverages::Next next : coverages_.next(before.coverage)) {
    const PhraseSpan& span = spans_[at(next.span)];
    if (!reaches(before, span.first)) continue;
    Stack& stack = stacks_[at(coverages_.covered(next.coverage))];
    const Orientation orientation = orientation_of(before, span.first, span.last);
    const double jump = jump_of(before, span.first, orientation);
    PhraseStates::Move* const known = moves_.data() + moves;
    for (const std::int32_t option : options_of(next.span, before.coverage)) {
      PhraseStates::Move& move = known[option];
      if (move.next == PhraseStates::unknown) {
        if (options_.early_discarding != std::numeric_limits<double>::infinity()) {
          const double guess = before.score + jump + choices_[at(option)].estimate + coverages_.future(next.coverage);
          if (guess < stack.floor - options_.early_discarding) continue;
        }
        states_.moves(before.state, {&option, 1}, &move);
      }
      const Candidate candidate = candidate_of(number, option, move, jump, orientation, next.coverage);
      if (candidate.total >= stack.floor || options_.stack_diversity > 0) offer(candidate, stack);
    }
  }
}

bool PhraseSearcher::same(const Hypothesis& left, const Hypothesis& right) const noexcept {
  return left.coverage == right.coverage && left.state == right.state && left.last == right.last &&
         left.first == right.first && left.row == right.row;
}

std::size_t PhraseSearcher::slot_of(const Hypothesis& like) const noexcept {
  std::uint64_t hash = mix(static_cast<std::uint32_t>(like.coverage), static_cast<std::uint32_t>(like.state));
  hash = mix(hash, static_cast<std::uint64_t>(static_cast<std::uint32_t>(like.last)) << 32U |
                       static_cast<std::uint32_t>(like.first));
  hash = mix(hash, static_cast<std::uint32_t>(like.row));
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    if (same(hypotheses_[at(slots_[slot] - 1)], like)) break;
  }
  return slot;
}

void PhraseSearcher::grow_slots() {
  slots_.assign(2 * slots_.size(), 0);
  for (std::size_t i = 1; i < hypotheses_.size(); ++i) slots_[slot_of(hypotheses_[i])] = static_cast<std::int32_t>(i + 1);
}

// Adds a hypothesis to a stack, or recombines it with an equal one.
void PhraseSearcher::offer(const Candidate& candidate, Stack& stack) {
  if (++made_ > options_.max_edges) throw SearchLimit("too many hypotheses");
  const PhraseOption& choice = choices_[at(candidate.option)];
  Hypothesis made{candidate.score, candidate.total, candidate.coverage, candidate.state, none, none, none,
                  choice.rule,     none,            true};
  const bool full = coverages_.full(candidate.coverage);
  made.last = choice.last;
  if (!full) {
    if (orders_.reordering() && choice.first > 0 && !coverages_.has(candidate.coverage, choice.first - 1)) {
      // The next phrase may end where this one begins.
      made.first = choice.first;
    }
    made.row = orders_.row(choice.rule);
  }
  if (full || (orders_.empty() && options_.distortion_limit < 0)) made.last = positions_;
  if (2 * (hypotheses_.size() + 1) >= slots_.size()) grow_slots();
  const std::size_t slot = slot_of(made);
  const Arc arc{candidate.tail, candidate.option, candidate.score, none};
  if (slots_[slot] == 0) {
    made.arcs = static_cast<std::int32_t>(arcs_.size());
    arcs_.push_back(arc);
    stack.kept.push_back(static_cast<std::int32_t>(hypotheses_.size()));
    hypotheses_.push_back(made);
    slots_[slot] = static_cast<std::int32_t>(hypotheses_.size());
  } else {
    const std::int32_t number = slots_[slot] - 1;
    Hypothesis& known = hypotheses_[at(number)];
    const bool better = candidate.score > known.score;
    if (options_.all_edges) {
      const auto place = static_cast<std::int32_t>(arcs_.size());
      arcs_.push_back(arc);
      if (better) {
        arcs_.back().next = known.arcs;
        known.arcs = place;
      } else {
        arcs_.back().next = arcs_[at(known.arcs)].next;
        arcs_[at(known.arcs)].next = place;
      }
    } else if (better) {
      arcs_[at(known.arcs)] = arc;
    }
    if (better) {
      known.score = made.score;
      known.total = made.total;
      known.rule = made.rule;
    }
    if (!known.kept && known.total >= stack.floor) {
      known.kept = true;
      stack.kept.push_back(number);
    }
  }
  if (candidate.total > stack.best) {
    stack.best = candidate.total;
    stack.floor = std::max(stack.floor, stack.best - options_.beam);
  }
  if (options_.stack_size > 0 && stack.kept.size() >= std::max(stack.crowded, 2 * at(options_.stack_size))) {
    prune(stack, false);
    // Diversity may keep more.
    stack.crowded = 2 * stack.kept.size();
  }
}

// Keeps the best hypotheses of a stack, sorted if this is the `last` time.
void PhraseSearcher::prune(Stack& stack, bool last) {
  std::vector<std::int32_t>& kept = stack.kept;
  const auto better = [&](std::int32_t left, std::int32_t right) {
    const double a = hypotheses_[at(left)].total;
    const double b = hypotheses_[at(right)].total;
    return a != b ? a > b : left < right;
  };
  const std::size_t most = options_.stack_size > 0 ? at(options_.stack_size) : kept.size();
  if (last) {
    std::sort(kept.begin(), kept.end(), better);
  } else if (kept.size() > most) {
    std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(most), kept.end(), better);
    if (options_.stack_diversity > 0) std::sort(kept.begin(), kept.end(), better);
  }
  std::size_t size = std::min(most, kept.size());
  if (last) {
    while (size > 0 && hypotheses_[at(kept[size - 1])].total < stack.best - options_.beam) --size;
  }
  if (size == kept.size()) return;
  if (size == most) {
    double worst = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < size; ++i) worst = std::min(worst, hypotheses_[at(kept[i])].total);
    stack.floor = std::max(stack.floor, worst);
  }
  if (options_.stack_diversity > 0) {
    std::map<std::int32_t, std::int64_t> of_coverage;
    for (std::size_t i = 0; i < size; ++i) ++of_coverage[hypotheses_[at(kept[i])].coverage];
    for (std::size_t i = size; i < kept.size(); ++i) {
      if (++of_coverage[hypotheses_[at(kept[i])].coverage] <= options_.stack_diversity) {
        std::swap(kept[size++], kept[i]);
      }
    }
  }
  for (std::size_t i = size; i < kept.size(); ++i) hypotheses_[at(kept[i])].kept = false;
  kept.resize(size);
}

}  // namespace smt
