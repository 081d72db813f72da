#include "grammar/chart.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

#include "grammar/chart_forest.hpp"
#include "grammar/pair_numbers.hpp"
#include "grammar/unary_rules.hpp"

namespace smt {
namespace {

constexpr std::int32_t unreachable = std::numeric_limits<std::int32_t>::max();

std::size_t at(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }

std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

// Zeros that take memory only where they are overwritten.
class Zeros {
 public:
  explicit Zeros(std::size_t size) : values_(static_cast<std::int32_t*>(std::calloc(size, sizeof(std::int32_t)))) {
    if (values_ == nullptr) throw std::bad_alloc();
  }
  std::int32_t& operator[](std::size_t i) noexcept { return values_.get()[i]; }

 private:
  struct Free {
    void operator()(std::int32_t* values) const noexcept { std::free(values); }
  };
  std::unique_ptr<std::int32_t, Free> values_;
};

class Parser {
 public:
  explicit Parser(const ChartInput& input)
      : input_(input),
        ends_(input.positions),
        labels_(at(input.labels)),
        unaries_(input),
        slots_(at(input.positions) * labels_),
        cells_(at(input.positions)),
        distances_(at(input.positions)),
        limits_(input.grammars.size()),
        range_offsets_(at(input.positions) + 1),
        arc_offsets_(at(input.positions) + 1) {
    for (const Arc& arc : input.arcs) {
      ++arc_offsets_[at(arc.from) + 1];
      has_epsilons_ |= arc.word == Arc::epsilon;
    }
    std::partial_sum(arc_offsets_.begin(), arc_offsets_.end(), arc_offsets_.begin());
    chart_.tails.reserve(4096);
    chart_.bundles.reserve(2048);
  }

  ParsedForest parse() {
    for (std::int32_t start = ends_ - 2; start >= 0; --start) {
      fill(start);
      if (too_many()) {
        parsed_.complete = false;
        return std::move(parsed_);
      }
    }
    if (chart_.goal >= 0 || input_.goal == ChartInput::no_goal) make_forest(input_, chart_, parsed_);
    return std::move(parsed_);
  }

 private:
  // The nodes of one label that begin at a position: labelled_[first, last), by their ends.
  struct LabelRange {
    std::int32_t label;
    std::int32_t first;
    std::int32_t last;
  };
  struct LabelledNode {
    std::int32_t label;
    std::int32_t end;
    std::int32_t node;
  };

  std::span<const Arc> arcs_of(std::int32_t position) const noexcept {
    const std::size_t first = arc_offsets_[at(position)];
    return input_.arcs.subspan(first, arc_offsets_[at(position) + 1] - first);
  }

  bool too_many() const noexcept {
    return edges_ > input_.max_edges || chart_.tails.size() > at(std::numeric_limits<std::int32_t>::max() / 2);
  }

  // All nodes that begin at a position.
  void fill(std::int32_t start) {
    start_ = start;
    measure();
    for (std::size_t grammar = 0; grammar < input_.grammars.size(); ++grammar) {
      if (input_.grammars[grammar].to_unknown_arcs_only || !enter(grammar)) continue;
      walk(Trie::root, start, -1);
    }
    for (std::size_t grammar = 0; grammar < input_.grammars.size(); ++grammar) {
      if (input_.grammars[grammar].to_unknown_arcs_only && enter(grammar)) cover_unknown();
    }
    for (std::int32_t end = start + 1; end < ends_; ++end) {
      std::vector<std::int32_t>& cell = cells_[at(end)];
      if (cell.empty()) continue;
      if (!unaries_.empty()) close(cell, end);
      for (std::size_t grammar = 0; grammar < input_.grammars.size(); ++grammar) {
        if (input_.grammars[grammar].trie->gaps(Trie::root).empty() || !enter(grammar) || end > limit_end_) continue;
        for (const std::int32_t node : cell) {
          const Trie::Node child = trie_->behind_gap(Trie::root, chart_.nodes[at(node)].label);
          if (child == Trie::none) continue;
          tails_.push_back(node);
          walk(child, end, -1);
          tails_.pop_back();
        }
      }
    }
    leave();
  }

  // The shortest paths from the start, and how far each grammar reaches.
  void measure() {
    std::fill(distances_.begin() + start_, distances_.end(), unreachable);
    distances_[at(start_)] = 0;
    for (std::int32_t position = start_; position < ends_; ++position) {
      const std::int32_t distance = distances_[at(position)];
      if (distance == unreachable) continue;
      for (const Arc& arc : arcs_of(position)) {
        distances_[at(arc.to)] = std::min(distances_[at(arc.to)], distance + 1);
      }
    }
    for (std::size_t grammar = 0; grammar < input_.grammars.size(); ++grammar) {
      std::int32_t end = ends_ - 1;
      while (end > start_ && !within(input_.grammars[grammar], end)) --end;
      limits_[grammar] = end;
    }
  }
  bool within(const ChartGrammar& grammar, std::int32_t end) const noexcept {
    return distances_[at(end)] <= grammar.limit && distances_[at(end)] != unreachable;
  }

  bool enter(std::size_t grammar) noexcept {
    const ChartGrammar& entered = input_.grammars[grammar];
    if (entered.from_start && start_ != 0) return false;
    grammar_ = count(grammar);
    trie_ = entered.trie;
    limit_ = entered.limit;
    limit_end_ = limits_[grammar];
    return true;
  }

  // Applies the rules at a node of the trie to the span from the start to a position, and walks on from there.
  void walk(Trie::Node node, std::int32_t position, std::int32_t chain) {
    const Trie::Range bins = trie_->bins(node);
    if (!bins.empty() && distances_[at(position)] <= limit_) {
      for (std::int32_t bin = bins.first; bin < bins.last; ++bin) add(grammar_, bin, position, chain, tails_);
    }
    if (position >= limit_end_ || too_many()) return;
    if (!trie_->words(node).empty() || has_epsilons_) {
      for (const Arc& arc : arcs_of(position)) {
        if (arc.to > limit_end_) continue;
        const Trie::Node next = arc.word == Arc::epsilon ? node : trie_->behind_word(node, arc.word);
        if (next != Trie::none) walk(next, arc.to, arc.features == Arc::plain ? chain : linked(chain, arc.features));
      }
    }
    if (trie_->gaps(node).empty()) return;
    const auto first = static_cast<std::size_t>(range_offsets_[at(position)].first);
    const auto last = static_cast<std::size_t>(range_offsets_[at(position)].last);
    for (std::size_t i = first; i < last; ++i) {
      const LabelRange range = ranges_[i];
      const Trie::Node next = trie_->behind_gap(node, range.label);
      if (next == Trie::none) continue;
      for (std::int32_t j = range.first; j < range.last; ++j) {
        if (labelled_[at(j)].end > limit_end_) break;
        tails_.push_back(labelled_[at(j)].node);
        walk(next, labelled_[at(j)].end, chain);
        tails_.pop_back();
      }
    }
  }

  // One-word rules for arcs over which there are no nodes yet.
  void cover_unknown() {
    const std::span<const Arc> arcs = arcs_of(start_);
    std::vector<std::uint8_t> unknown;
    for (const Arc& arc : arcs) unknown.push_back(arc.word != Arc::epsilon && cells_[at(arc.to)].empty());
    for (std::size_t i = 0; i < arcs.size(); ++i) {
      if (!unknown[i] || arcs[i].to > limit_end_) continue;
      const Trie::Node node = trie_->behind_word(Trie::root, arcs[i].word);
      if (node == Trie::none || !(distances_[at(arcs[i].to)] <= limit_)) continue;
      const Trie::Range bins = trie_->bins(node);
      const std::int32_t chain = arcs[i].features == Arc::plain ? -1 : linked(-1, arcs[i].features);
      for (std::int32_t bin = bins.first; bin < bins.last; ++bin) add(grammar_, bin, arcs[i].to, chain, tails_);
    }
  }

  std::int32_t linked(std::int32_t chain, std::int32_t features) {
    const auto [number, added] = chains_.add(chain, features);
    if (added) parsed_.links.push_back({chain, features});
    return number;
  }

  void add(std::int32_t grammar, std::int32_t bin, std::int32_t end, std::int32_t chain,
           std::span<const std::int32_t> tails) {
    const Trie& trie = *input_.grammars[at(grammar)].trie;
    const std::int32_t size = trie.bin(bin).size();
    const std::int32_t label = trie.label(trie.bin(bin).label);
    std::int32_t& slot = slots_[at(end) * labels_ + at(label)];
    const std::int32_t bundle = count(chart_.bundles.size());
    if (slot == 0) {
      cells_[at(end)].push_back(count(chart_.nodes.size()));
      chart_.nodes.push_back({label, start_, end, bundle, bundle, -1});
      slot = count(chart_.nodes.size());
    } else {
      Chart::Node& node = chart_.nodes[at(slot - 1)];
      chart_.bundles[at(node.last_bundle)].next = bundle;
      node.last_bundle = bundle;
    }
    chart_.bundles.push_back({-1, grammar, bin, chain, count(chart_.tails.size()), count(tails.size())});
    chart_.tails.insert(chart_.tails.end(), tails.begin(), tails.end());
    edges_ += size;
  }

  // Applies unary rules to a span until nothing is new. Each node is visited once, so each edge is made once.
  void close(std::vector<std::int32_t>& cell, std::int32_t end) {
    for (std::size_t i = 0; i < cell.size(); ++i) {
      const std::int32_t node = cell[i];
      for (const UnaryRules::Rule& rule : unaries_.of(chart_.nodes[at(node)].label)) {
        const ChartGrammar& grammar = input_.grammars[at(rule.grammar)];
        if ((grammar.from_start && start_ != 0) || !within(grammar, end)) continue;
        add(rule.grammar, rule.bin, end, -1, {&node, 1});
      }
    }
    std::stable_sort(cell.begin(), cell.end(), [this](std::int32_t left, std::int32_t right) {
      return unaries_.rank(chart_.nodes[at(left)].label) < unaries_.rank(chart_.nodes[at(right)].label);
    });
  }

  // The nodes of a start are complete: in order for the forest, and by label for rules that begin before them.
  void leave() {
    const std::size_t first = labelled_.size();
    for (std::int32_t end = start_ + 1; end < ends_; ++end) {
      for (const std::int32_t node : cells_[at(end)]) {
        const std::int32_t label = chart_.nodes[at(node)].label;
        if (start_ == 0 && end == ends_ - 1 && label == input_.goal) chart_.goal = node;
        chart_.sorted.push_back(node);
        labelled_.push_back({label, end, node});
        slots_[at(end) * labels_ + at(label)] = 0;
      }
      cells_[at(end)].clear();
    }
    const auto by_label = [](const LabelledNode& left, const LabelledNode& right) { return left.label < right.label; };
    const auto begin = labelled_.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::is_sorted(begin, labelled_.end(), by_label)) std::stable_sort(begin, labelled_.end(), by_label);
    const std::int32_t first_range = count(ranges_.size());
    for (std::size_t i = first; i < labelled_.size(); ++i) {
      const std::int32_t label = labelled_[i].label;
      if (i == first || ranges_.back().label != label) ranges_.push_back({label, count(i), 0});
      ranges_.back().last = count(i + 1);
    }
    range_offsets_[at(start_)] = {first_range, count(ranges_.size())};
  }

  const ChartInput& input_;
  const std::int32_t ends_;  // positions
  const std::size_t labels_;
  UnaryRules unaries_;
  bool has_epsilons_ = false;

  // For the current start.
  Zeros slots_;  // by end and label: 0, or the number of a node plus 1
  std::vector<std::vector<std::int32_t>> cells_;
  std::vector<std::int32_t> distances_;
  std::vector<std::int32_t> limits_;
  std::int32_t start_ = 0;

  // For the current grammar.
  std::int32_t grammar_ = 0;
  const Trie* trie_ = nullptr;
  std::int32_t limit_ = 0;
  std::int32_t limit_end_ = 0;
  std::vector<std::int32_t> tails_;

  // The chart.
  Chart chart_;
  PairNumbers chains_;
  std::vector<LabelledNode> labelled_;
  std::vector<LabelRange> ranges_;
  std::vector<Trie::Range> range_offsets_;
  std::vector<std::size_t> arc_offsets_;
  std::int64_t edges_ = 0;

  ParsedForest parsed_;
};

}  // namespace

ParsedForest parse(const ChartInput& input) {
  if (input.positions < 2) return {};
  return Parser(input).parse();
}

}  // namespace smt
