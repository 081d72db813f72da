// Recombination of hypotheses, and pruning of their stacks.
#include <algorithm>
#include <cstring>
#include <utility>

#include "amasis_hash.hpp"
#include "amasis_search.hpp"

namespace smt::searn {
namespace {

std::size_t at(std::int64_t number) noexcept { return static_cast<std::size_t>(number); }

}  // namespace

std::uint64_t AmasisSearcher::hash_of(const Candidate& c) const {
  const LabelModel& model = chooser_.model();
  std::uint64_t hash = joined_hash(scorer_->hash(c.state), c.under);
  hash = joined_hash(hash, choices_[at(c.arc.option)].last);
  // Parts of the state that only some features or options need.
  if (model.fragments || c.fragment == empty) hash = joined_hash(hash, c.fragment);
  if (!model.label_rows.empty() || !model.pair_rows.empty()) hash = joined_hash(hash, c.arc.label);
  if (!model.pair_rows.empty() && c.arc.tail != none) hash = joined_hash(hash, nodes_[at(c.arc.tail)].label);
  if (exact_labels_) hash = joined_hash(hash, static_cast<std::int64_t>(c.root));
  return options_.strings ? joined_hash(hash, c.string) : hash;
}

bool AmasisSearcher::same(const Node& node, const Candidate& c) const {
  const LabelModel& model = chooser_.model();
  if (node.below != c.under || node.last != choices_[at(c.arc.option)].last || node.string != c.string) return false;
  if ((node.fragment == empty) != (c.fragment == empty)) return false;
  if (model.fragments && node.fragment != c.fragment) return false;
  if ((!model.label_rows.empty() || !model.pair_rows.empty()) && node.label != c.arc.label) return false;
  if (!model.pair_rows.empty()) {
    const auto labels = static_cast<std::int32_t>(model.labels);
    if (node.before != (c.arc.tail == none ? labels : nodes_[at(c.arc.tail)].label)) return false;
  }
  if (exact_labels_ && node.root != c.root) return false;
  return scorer_->equal(state_of(node.state), c.state);
}

std::int64_t AmasisSearcher::keep_state(const std::byte* state) {
  const auto place = static_cast<std::int64_t>(states_.size());
  states_.resize(states_.size() + state_bytes_ / 8);
  if (state_bytes_ != 0) std::memcpy(states_.data() + place, state, state_bytes_);
  return place;
}

// Add a candidate to its stack, recombining it with equivalent hypotheses.
void AmasisSearcher::offer(const Candidate& c) {
  const Option& option = choices_[at(c.arc.option)];
  Stack& stack = stacks_[at(option.last)];
  const double total = c.arc.inside + (c.under == none ? 0.0 : nodes_[at(c.under)].total);
  // If only the best derivation is wanted, drop candidates below the stack's worst kept score.
  if (!options_.all_edges && total < stack.floor) return;
  if ((nodes_.size() + 1) * 2 > slots_.size()) grow_slots();
  const std::uint64_t hash = hash_of(c);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(hash) & mask;
  for (; slots_[slot] != none; slot = (slot + 1) & mask) {
    Node& node = nodes_[at(slots_[slot])];
    if (node.hash != hash || !same(node, c)) continue;
    const bool better = c.arc.inside > node.inside;
    if (options_.all_edges) {
      const auto number = static_cast<std::int32_t>(arcs_.size());
      arcs_.push_back(c.arc);
      if (better) {
        arcs_.back().next = node.arcs;
        node.arcs = number;
      } else {
        arcs_.back().next = arcs_[at(node.arcs)].next;
        arcs_[at(node.arcs)].next = number;
      }
    } else if (better) {
      arcs_[at(node.arcs)] = c.arc;
    }
    if (better) {
      node.inside = c.arc.inside;
      node.total = total;
      if (!node.kept) {
        node.kept = true;
        stack.kept.push_back(slots_[slot]);
      }
    }
    return;
  }
  slots_[slot] = static_cast<std::int32_t>(nodes_.size());
  stack.kept.push_back(slots_[slot]);
  const auto labels = static_cast<std::int32_t>(chooser_.model().labels);
  Node node{hash,   c.arc.inside, total, keep_state(c.state), c.under, option.first, option.last, 1, c.arc.label,
            labels, c.fragment,   c.string, static_cast<std::int32_t>(arcs_.size()), c.root, true};
  if (c.arc.tail != none) node.before = nodes_[at(c.arc.tail)].label;
  // A fragment begins where the one below ends.
  node.first = c.under == none ? 0 : nodes_[at(c.under)].last;
  if (c.under != none) node.depth = nodes_[at(c.under)].depth + 1;
  nodes_.push_back(node);
  arcs_.push_back(c.arc);
  if (!options_.all_edges && stack.kept.size() > stack.crowded) prune(stack, false);
}

void AmasisSearcher::grow_slots() {
  slots_.assign(slots_.size() * 2, none);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    std::size_t slot = static_cast<std::size_t>(nodes_[v].hash) & mask;
    while (slots_[slot] != none) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::int32_t>(v);
  }
}

// Finish a stack: prune it. If no eager label reached it, use the policies' own decisions.
void AmasisSearcher::settle(Stack& stack) {
  if (stack.kept.empty()) {
    waiting_.swap(stack.spare);
    flush();
  }
  stack.spare.clear();
  prune(stack, true);
}

// Keep the best hypotheses, the earlier on ties.
void AmasisSearcher::prune(Stack& stack, bool last) {
  const auto better = [this](std::int32_t first, std::int32_t second) {
    const double a = nodes_[at(first)].total;
    const double b = nodes_[at(second)].total;
    return a != b ? a > b : first < second;
  };
  const std::size_t most =
      options_.stack_size == 0 ? stack.kept.size() : std::min(stack.kept.size(), at(options_.stack_size));
  const auto end = stack.kept.begin() + static_cast<std::ptrdiff_t>(most);
  if (most < stack.kept.size()) std::nth_element(stack.kept.begin(), end, stack.kept.end(), better);
  if (last) std::sort(stack.kept.begin(), end, better);
  for (auto dropped = end; dropped != stack.kept.end(); ++dropped) nodes_[at(*dropped)].kept = false;
  const bool full = options_.stack_size != 0 && most == at(options_.stack_size);
  stack.kept.resize(most);
  if (full) {
    for (const std::int32_t v : stack.kept) {
      if (&v == stack.kept.data() || nodes_[at(v)].total < stack.floor) stack.floor = nodes_[at(v)].total;
    }
  }
  stack.crowded = options_.stack_size == 0 ? std::numeric_limits<std::size_t>::max()
                                           : std::max<std::size_t>(2 * at(options_.stack_size), 64);
  if (last && options_.beam < std::numeric_limits<double>::infinity() && most != 0) {
    const double floor = nodes_[at(stack.kept.front())].total - options_.beam;
    while (nodes_[at(stack.kept.back())].total < floor) {
      nodes_[at(stack.kept.back())].kept = false;
      stack.kept.pop_back();
    }
  }
}

}  // namespace smt::searn
