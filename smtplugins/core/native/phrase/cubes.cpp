// Cube pruning of stacks: hypotheses are created best first.
#include <algorithm>
#include <map>

#include "phrase/search.hpp"

namespace smt {
namespace {

std::size_t at(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace

// Hypotheses with one coverage and one last phrase have the same extensions, with different scores.
void PhraseSearcher::expand_cubes(Stack& stack) {
  keyed_.clear();
  for (const std::int32_t number : stack.kept) {
    const Hypothesis& h = hypotheses_[at(number)];
    const auto place = static_cast<std::uint64_t>(h.coverage) << 32U | static_cast<std::uint64_t>(h.last) << 16U |
                       static_cast<std::uint64_t>(h.first + 1);
    // Equal keys keep their order: the best in front.
    keyed_.push_back({place, static_cast<std::uint64_t>(h.row + 1) << 32U | keyed_.size(), number});
  }
  std::sort(keyed_.begin(), keyed_.end());
  for (std::size_t i = 0; i < keyed_.size();) {
    const auto begin = static_cast<std::int32_t>(members_.size());
    const Keyed own = keyed_[i];
    while (i < keyed_.size() && keyed_[i].place == own.place && keyed_[i].row >> 32U == own.row >> 32U) {
      members_.push_back(keyed_[i++].hypothesis);
    }
    const auto group = static_cast<std::int32_t>(groups_.size());
    groups_.push_back({begin, static_cast<std::int32_t>(members_.size())});
    const Hypothesis& first = hypotheses_[at(own.hypothesis)];
    for (const Coverages::Next next : coverages_.next(first.coverage)) {
      const PhraseSpan& span = spans_[at(next.span)];
      if (!reaches(first, span.first)) continue;
      const Orientation orientation = orientation_of(first, span.first, span.last);
      stacks_[at(coverages_.covered(next.coverage))].grids.push_back(static_cast<std::int32_t>(grids_.size()));
      grids_.push_back({group, options_of(next.span, first.coverage), next.coverage, coverages_.future(next.coverage),
                        jump_of(first, span.first, orientation), orientation, coverages_.full(next.coverage)});
    }
  }
}

// Adds a point with an estimate, at the end of the heap for now; stateful features score it when it reaches the top.
void PhraseSearcher::add_point(std::int32_t number, std::int32_t row, std::int32_t column, const Stack& stack) {
  const Grid& grid = grids_[at(number)];
  const Group& group = groups_[at(grid.group)];
  if (group.begin + row >= group.end || at(column) >= grid.options.size()) return;
  const std::int32_t tail = members_[at(group.begin + row)];
  const std::int32_t option = grid.options[at(column)];
  const PhraseOption& choice = choices_[at(option)];
  double score = hypotheses_[at(tail)].score + grid.jump + choice.score;
  if (orders_.reordering()) score += orders_.before(choice.rule, grid.orientation);
  double total = score + choice.alone + usual_surprise_ + grid.future;
  if (orders_.forward() && !grid.full) total += orders_.behind(choice.rule, Orientation::kMonotone);
  if (total < stack.floor && options_.cube_diversity <= 0) return;
  heap_.push_back({total, static_cast<std::int32_t>(points_.size())});
  points_.push_back({score, number, tail, option, row, column, none});
}

void PhraseSearcher::pop_cubes(Stack& stack) {
  points_.clear();
  candidates_.clear();
  heap_.clear();
  usual_surprise_ = surprise_.usual();
  for (const std::int32_t grid : stack.grids) add_point(grid, 0, 0, stack);
  std::make_heap(heap_.begin(), heap_.end());
  if (states_.costly()) {
    wanted_.clear();
    for (const Point& point : points_) wanted_.emplace_back(hypotheses_[at(point.tail)].state, point.option);
    states_.ask(wanted_);
  }
  // When the best point is below the floor, so are all others.
  for (std::int64_t pops = 0; pops < options_.pop_limit && !heap_.empty() && heap_.front().total >= stack.floor;) {
    if (!ask_first()) continue;
    const Point point = pop_point(stack);
    ++grids_[at(point.grid)].made;
    offer(candidates_[at(point.candidate)], stack);
    ++pops;
  }
  if (options_.cube_diversity <= 0) return;
  // Hypotheses of one coverage are counted together.
  std::map<std::int32_t, std::int64_t> made;
  for (const std::int32_t grid : stack.grids) made[grids_[at(grid)].coverage] += grids_[at(grid)].made;
  while (!heap_.empty()) {
    if (!ask_first()) continue;
    const Candidate& candidate = candidates_[at(pop_point(stack).candidate)];
    if (made[candidate.coverage]++ < options_.cube_diversity) offer(candidate, stack);
  }
}

// Whether the top point is fully scored. If not, stateful features score it, and it moves to its place.
bool PhraseSearcher::ask_first() {
  Point& point = points_[at(heap_.front().point)];
  if (point.candidate != none) return true;
  PhraseStates::Move move;
  states_.moves(hypotheses_[at(point.tail)].state, {&point.option, 1}, &move);
  surprise_.add(move.score - choices_[at(point.option)].alone);
  point.candidate = static_cast<std::int32_t>(candidates_.size());
  candidates_.push_back({point.score + move.score, 0.0, point.tail, point.option, move.next, grids_[at(point.grid)].coverage});
  Candidate& candidate = candidates_.back();
  candidate.total = total_of(candidate);
  heap_.front().total = candidate.total;
  sink_first();
  return false;
}

// Moves the top point to its place.
void PhraseSearcher::sink_first() {
  const Waiting moved = heap_.front();
  std::size_t place = 0;
  for (std::size_t child = 1; child < heap_.size(); child = 2 * place + 1) {
    if (child + 1 < heap_.size() && heap_[child] < heap_[child + 1]) ++child;
    if (!(moved < heap_[child])) break;
    heap_[place] = heap_[child];
    place = child;
  }
  heap_[place] = moved;
}

// Pops the top point and adds its successors.
PhraseSearcher::Point PhraseSearcher::pop_point(const Stack& stack) {
  const Point point = points_[at(heap_.front().point)];
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sink_first();
  // Each point has a single predecessor.
  for (const bool down : {true, false}) {
    if (down && point.column != 0) continue;
    const std::size_t waiting = heap_.size();
    add_point(point.grid, point.row + (down ? 1 : 0), point.column + (down ? 0 : 1), stack);
    if (heap_.size() > waiting) std::push_heap(heap_.begin(), heap_.end());
  }
  return point;
}

}  // namespace smt
