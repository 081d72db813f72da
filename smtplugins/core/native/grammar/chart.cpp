#include "grammar/chart.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>

namespace smt {
namespace {

constexpr std::int32_t unreachable = std::numeric_limits<std::int32_t>::max();

std::size_t at(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }

std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

// Numbers for pairs of numbers, in order of first use.
class Pairs {
 public:
  struct Found {
    std::int32_t number;
    bool added;
  };

  Found add(std::int32_t first, std::int32_t second) {
    if (2 * entries_.size() >= slots_.size()) grow();
    const std::size_t slot = find(first, second);
    if (slots_[slot] != 0) return {slots_[slot] - 1, false};
    entries_.push_back({first, second});
    slots_[slot] = count(entries_.size());
    return {slots_[slot] - 1, true};
  }

 private:
  struct Entry {
    std::int32_t first;
    std::int32_t second;
  };

  std::size_t find(std::int32_t first, std::int32_t second) const noexcept {
    const std::uint64_t key =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32 | static_cast<std::uint32_t>(second);
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 32) & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
      const Entry& entry = entries_[at(slots_[slot] - 1)];
      if (entry.first == first && entry.second == second) break;
    }
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(256, 4 * slots_.size()), 0);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      slots_[find(entries_[i].first, entries_[i].second)] = count(i + 1);
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::int32_t> slots_;  // 0, or a number plus 1
};

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

// The unary rules that apply, and an order of labels in which each is derived from earlier ones.
class Unaries {
 public:
  struct Rule {
    std::int32_t gap;
    std::int32_t label;
    std::int32_t grammar;
    std::int32_t bin;
    std::int32_t first;  // its first rule: the order in the file
  };

  // Nothing is derived from the goal, and a rule that closes a cycle is left out. Which rule that is depends on the
  // start of the walk: as in cdec, the last label.
  explicit Unaries(const ChartInput& input) {
    std::int32_t number = 0;
    for (const ChartGrammar& grammar : input.grammars) {
      for (const Trie::Unary& unary : grammar.trie->unaries()) {
        const Trie::Bin& bin = grammar.trie->bin(unary.bin);
        const std::int32_t gap = grammar.trie->label(unary.gap), label = grammar.trie->label(bin.label);
        if (gap == input.goal) continue;
        rules_.push_back({gap, label, number, unary.bin, grammar.trie->order()[at(bin.first)]});
      }
      ++number;
    }
    if (rules_.empty()) return;
    std::sort(rules_.begin(), rules_.end(), [](const Rule& left, const Rule& right) {
      if (left.gap != right.gap) return left.gap > right.gap;
      return left.grammar != right.grammar ? left.grammar < right.grammar : left.first < right.first;
    });
    ranks_.assign(at(input.labels), 0);
    sort_labels(at(input.labels));
  }

  std::span<const Rule> of(std::int32_t gap) const noexcept {
    const auto [first, last] = std::equal_range(rules_.begin(), rules_.end(), gap, ByGap());
    return {first, last};
  }
  // 0 for a label in no unary rule.
  std::int32_t rank(std::int32_t label) const noexcept { return ranks_.empty() ? 0 : ranks_[at(label)]; }
  bool empty() const noexcept { return rules_.empty(); }

 private:
  struct ByGap {
    bool operator()(const Rule& rule, std::int32_t gap) const noexcept { return rule.gap > gap; }
    bool operator()(std::int32_t gap, const Rule& rule) const noexcept { return gap > rule.gap; }
  };
  enum Mark : std::uint8_t { unseen, open, done };
  struct Visit {
    std::int32_t label;
    std::size_t next;
    std::size_t last;
  };

  void sort_labels(std::size_t labels) {
    std::vector<Mark> marks(labels, unseen);
    std::vector<std::uint8_t> closes(rules_.size(), 0);
    std::vector<Visit> visits;
    std::int32_t rank = count(labels);
    const auto enter = [&](std::int32_t label) {
      const auto [first, last] = std::equal_range(rules_.begin(), rules_.end(), label, ByGap());
      marks[at(label)] = open;
      visits.push_back({label, static_cast<std::size_t>(first - rules_.begin()),
                        static_cast<std::size_t>(last - rules_.begin())});
    };
    for (const Rule& begin : rules_) {
      if (marks[at(begin.gap)] == unseen) enter(begin.gap);
      while (!visits.empty()) {
        Visit& visit = visits.back();
        if (visit.next == visit.last) {
          marks[at(visit.label)] = done;
          ranks_[at(visit.label)] = rank--;
          visits.pop_back();
          continue;
        }
        const std::size_t rule = visit.next++;
        const std::int32_t label = rules_[rule].label;
        closes[rule] = marks[at(label)] == open;
        if (marks[at(label)] == unseen) enter(label);
      }
    }
    std::size_t kept = 0;
    for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
      if (!closes[rule]) rules_[kept++] = rules_[rule];
    }
    rules_.resize(kept);
  }

  std::vector<Rule> rules_;
  std::vector<std::int32_t> ranks_;
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
    std::int32_t bins = 0, rules = 0;
    for (const ChartGrammar& grammar : input.grammars) {
      bin_offsets_.push_back(bins);
      rule_offsets_.push_back(rules);
      bins += count(grammar.trie->bins());
      rules += count(grammar.rules->size());
    }
    rule_offsets_.push_back(rules);
    for (const Arc& arc : input.arcs) {
      ++arc_offsets_[at(arc.from) + 1];
      has_epsilons_ |= arc.word == Arc::epsilon;
    }
    std::partial_sum(arc_offsets_.begin(), arc_offsets_.end(), arc_offsets_.begin());
    tails_of_bundles_.reserve(4096);
    bundles_.reserve(2048);
  }

  ParsedForest parse() {
    for (std::int32_t start = ends_ - 2; start >= 0; --start) {
      fill(start);
      if (too_many()) {
        parsed_.complete = false;
        return std::move(parsed_);
      }
    }
    if (goal_ >= 0 || input_.goal == ChartInput::no_goal) finish();
    return std::move(parsed_);
  }

 private:
  struct Node {
    std::int32_t label;
    std::int32_t first;
    std::int32_t last;
    std::int32_t first_bundle;
    std::int32_t last_bundle;
    std::int32_t number;  // in the forest, -1 if not there
  };
  struct Bundle {
    std::int32_t next;
    std::int32_t grammar;
    std::int32_t bin;
    std::int32_t chain;
    std::int32_t tails;
    std::int32_t arity;
  };
  // The first forest rule of a bin with a chain of arc features.
  struct First {
    std::int32_t grammar;
    std::int32_t bin;
    std::int32_t chain;
    std::int32_t rule;
  };
  // The nodes of one label that begin at a position: found_[first, last), by their ends.
  struct LabelRange {
    std::int32_t label;
    std::int32_t first;
    std::int32_t last;
  };
  struct Found {
    std::int32_t label;
    std::int32_t end;
    std::int32_t node;
  };

  std::span<const Arc> arcs_of(std::int32_t position) const noexcept {
    const std::size_t first = arc_offsets_[at(position)];
    return input_.arcs.subspan(first, arc_offsets_[at(position) + 1] - first);
  }

  bool too_many() const noexcept {
    return edges_ > input_.max_edges || tails_of_bundles_.size() > at(std::numeric_limits<std::int32_t>::max() / 2);
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
          const Trie::Node child = trie_->behind_gap(Trie::root, nodes_[at(node)].label);
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
        if (found_[at(j)].end > limit_end_) break;
        tails_.push_back(found_[at(j)].node);
        walk(next, found_[at(j)].end, chain);
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
    const std::int32_t bundle = count(bundles_.size());
    if (slot == 0) {
      cells_[at(end)].push_back(count(nodes_.size()));
      nodes_.push_back({label, start_, end, bundle, bundle, -1});
      slot = count(nodes_.size());
    } else {
      Node& node = nodes_[at(slot - 1)];
      bundles_[at(node.last_bundle)].next = bundle;
      node.last_bundle = bundle;
    }
    bundles_.push_back({-1, grammar, bin, chain, count(tails_of_bundles_.size()), count(tails.size())});
    tails_of_bundles_.insert(tails_of_bundles_.end(), tails.begin(), tails.end());
    edges_ += size;
  }

  // Applies unary rules to a span until nothing is new. Each node is visited once, so each edge is made once.
  void close(std::vector<std::int32_t>& cell, std::int32_t end) {
    for (std::size_t i = 0; i < cell.size(); ++i) {
      const std::int32_t node = cell[i];
      for (const Unaries::Rule& rule : unaries_.of(nodes_[at(node)].label)) {
        const ChartGrammar& grammar = input_.grammars[at(rule.grammar)];
        if ((grammar.from_start && start_ != 0) || !within(grammar, end)) continue;
        add(rule.grammar, rule.bin, end, -1, {&node, 1});
      }
    }
    std::stable_sort(cell.begin(), cell.end(), [this](std::int32_t left, std::int32_t right) {
      return unaries_.rank(nodes_[at(left)].label) < unaries_.rank(nodes_[at(right)].label);
    });
  }

  // The nodes of a start are complete: in order for the forest, and by label for rules that begin before them.
  void leave() {
    const std::size_t first = found_.size();
    for (std::int32_t end = start_ + 1; end < ends_; ++end) {
      for (const std::int32_t node : cells_[at(end)]) {
        const std::int32_t label = nodes_[at(node)].label;
        if (start_ == 0 && end == ends_ - 1 && label == input_.goal) goal_ = node;
        sorted_.push_back(node);
        found_.push_back({label, end, node});
        slots_[at(end) * labels_ + at(label)] = 0;
      }
      cells_[at(end)].clear();
    }
    const auto by_label = [](const Found& left, const Found& right) { return left.label < right.label; };
    const auto begin = found_.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::is_sorted(begin, found_.end(), by_label)) std::stable_sort(begin, found_.end(), by_label);
    const std::int32_t first_range = count(ranges_.size());
    for (std::size_t i = first; i < found_.size(); ++i) {
      if (i == first || ranges_.back().label != found_[i].label) ranges_.push_back({found_[i].label, count(i), 0});
      ranges_.back().last = count(i + 1);
    }
    range_offsets_[at(start_)] = {first_range, count(ranges_.size())};
  }

  // Numbers the nodes below the goal, with their bundles; without a goal all nodes.
  void finish() {
    const bool all = input_.goal == ChartInput::no_goal;
    if (all) {
      for (Node& node : nodes_) node.number = 0;
    } else {
      nodes_[at(goal_)].number = 0;
    }
    std::size_t nodes = 1, bundles = 1, tails = 1, edges = 1;
    for (std::size_t i = sorted_.size(); i-- > 0;) {
      const Node& node = nodes_[at(sorted_[i])];
      if (node.number < 0) continue;
      ++nodes;
      for (std::int32_t b = node.first_bundle; b >= 0; b = bundles_[at(b)].next) {
        const Bundle& bundle = bundles_[at(b)];
        for (const std::int32_t tail : tails_of(bundle)) nodes_[at(tail)].number = 0;
        ++bundles;
        tails += at(bundle.arity);
        edges += at(bin_of(bundle).size());
      }
    }
    Forest& forest = parsed_.forest;
    forest.nodes.reserve(nodes);
    forest.node_bundles.reserve(nodes + 1);
    forest.tails.offsets.reserve(bundles + 1);
    forest.tails.values.reserve(tails);
    forest.rules.offsets.reserve(bundles + 1);
    forest.rules.values.resize(edges);
    std::size_t edge = 0;
    const auto end_bundle = [&] {
      forest.tails.end_part();
      forest.rules.offsets.push_back(static_cast<std::int64_t>(edge));
    };
    for (const std::int32_t sorted : sorted_) {
      Node& node = nodes_[at(sorted)];
      if (node.number < 0) continue;
      for (std::int32_t b = node.first_bundle; b >= 0; b = bundles_[at(b)].next) {
        const Bundle& bundle = bundles_[at(b)];
        for (const std::int32_t tail : tails_of(bundle)) forest.tails.values.push_back(nodes_[at(tail)].number);
        const auto into = forest.rules.values.begin() + static_cast<std::ptrdiff_t>(edge);
        std::iota(into, into + bin_of(bundle).size(), first_rule(bundle));
        edge += at(bin_of(bundle).size());
        end_bundle();
      }
      node.number = count(forest.nodes.size());
      forest.nodes.push_back({node.label, node.first, node.last});
      forest.node_bundles.push_back(static_cast<std::int64_t>(forest.bundles()));
    }
    if (all) {
      forest.rules.values.resize(edge);
      add_rules();
      return;
    }
    // The goal has a node above it, as in cdec.
    forest.tails.values.push_back(nodes_[at(goal_)].number);
    forest.rules.values[edge++] = rules_;
    end_bundle();
    forest.nodes.push_back({input_.top, 0, ends_ - 1});
    forest.node_bundles.push_back(static_cast<std::int64_t>(forest.bundles()));
    add_rules();
  }

  std::span<const std::int32_t> tails_of(const Bundle& bundle) const noexcept {
    return {tails_of_bundles_.data() + bundle.tails, at(bundle.arity)};
  }
  const Trie::Bin& bin_of(const Bundle& bundle) const noexcept {
    return input_.grammars[at(bundle.grammar)].trie->bin(bundle.bin);
  }
  std::span<const std::int32_t> rules_of(const First& first) const noexcept {
    const Trie& trie = *input_.grammars[at(first.grammar)].trie;
    const Trie::Bin& bin = trie.bin(first.bin);
    return trie.order().subspan(at(bin.first), at(bin.size()));
  }

  // The forest number of a bundle's first rule.
  std::int32_t first_rule(const Bundle& bundle) {
    const auto [number, added] = used_.add(bin_offsets_[at(bundle.grammar)] + bundle.bin, bundle.chain);
    if (added) {
      firsts_.push_back({bundle.grammar, bundle.bin, bundle.chain, rules_});
      rules_ += bin_of(bundle).size();
    }
    return firsts_[at(number)].rule;
  }

  // The rules in use, in the order of their numbers, and the rule above the goal.
  void add_rules() {
    const std::size_t rules = at(rules_) + 1;
    std::vector<std::int64_t>& offsets = parsed_.rules.targets.offsets;
    parsed_.rules.scores.resize(rules);
    parsed_.origins.resize(rules);
    parsed_.chains.resize(rules);
    offsets.resize(rules + 1);
    std::size_t next = 0;
    std::int64_t symbols = 0;
    for (const First& first : firsts_) {
      const ChartGrammar& grammar = input_.grammars[at(first.grammar)];
      double extra = 0;
      for (std::int32_t link = first.chain; link >= 0; link = parsed_.links[at(link)].before) {
        extra += input_.feature_scores[at(parsed_.links[at(link)].features)];
      }
      for (const std::int32_t rule : rules_of(first)) {
        const double score = grammar.scores.empty() ? 0 : static_cast<double>(grammar.scores[at(rule)]);
        parsed_.rules.scores[next] = static_cast<float>(score + extra);
        parsed_.origins[next] = rule_offsets_[at(first.grammar)] + rule;
        parsed_.chains[next] = first.chain;
        const std::span<const std::int64_t> bounds = grammar.rules->target_offsets;
        symbols += bounds[at(rule) + 1] - bounds[at(rule)];
        offsets[++next] = symbols;
      }
    }
    parsed_.origins[next] = rule_offsets_.back();
    parsed_.chains[next] = -1;
    offsets[next + 1] = symbols + 1;

    std::vector<std::int32_t>& targets = parsed_.rules.targets.values;
    targets.resize(static_cast<std::size_t>(symbols) + 1);
    auto into = targets.begin();
    for (const First& first : firsts_) {
      const RuleColumns& columns = *input_.grammars[at(first.grammar)].rules;
      const std::int32_t* const words = columns.words.empty() ? nullptr : columns.words.data();
      for (const std::int32_t rule : rules_of(first)) {
        const auto begin = columns.target.begin() + columns.target_offsets[at(rule)];
        const auto end = columns.target.begin() + columns.target_offsets[at(rule) + 1];
        if (words == nullptr) {
          into = std::copy(begin, end, into);
          continue;
        }
        // Branchless, as gaps and words alternate unpredictably: all bits of a gap's mask are set.
        into = std::transform(begin, end, into, [words](std::int32_t symbol) {
          const std::int32_t gap = symbol >> 31;
          return (words[symbol & ~gap] & ~gap) | (symbol & gap);
        });
      }
    }
    *into = -1;
  }

  const ChartInput& input_;
  const std::int32_t ends_;  // positions
  const std::size_t labels_;
  Unaries unaries_;
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
  std::vector<Node> nodes_;
  std::vector<Bundle> bundles_;
  std::vector<std::int32_t> tails_of_bundles_;
  std::vector<std::int32_t> sorted_;
  std::vector<Found> found_;
  std::vector<LabelRange> ranges_;
  std::vector<Trie::Range> range_offsets_;
  std::vector<std::size_t> arc_offsets_;
  std::int32_t goal_ = -1;
  std::int64_t edges_ = 0;

  // The forest.
  std::vector<std::int32_t> bin_offsets_;
  std::vector<std::int32_t> rule_offsets_;
  std::vector<First> firsts_;
  std::int32_t rules_ = 0;
  Pairs used_;
  Pairs chains_;
  ParsedForest parsed_;
};

}  // namespace

ParsedForest parse(const ChartInput& input) {
  if (input.positions < 2) return {};
  return Parser(input).parse();
}

}  // namespace smt
