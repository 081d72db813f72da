#include "grammar/chart_forest.hpp"

#include <algorithm>
#include <numeric>

#include "grammar/pair_numbers.hpp"

namespace smt {
namespace {

std::size_t at(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }

std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

class ForestMaker {
 public:
  ForestMaker(const ChartInput& input, Chart& chart, ParsedForest& parsed)
      : input_(input), chart_(chart), parsed_(parsed) {
    std::int32_t bins = 0, rules = 0;
    for (const ChartGrammar& grammar : input.grammars) {
      bin_offsets_.push_back(bins);
      rule_offsets_.push_back(rules);
      bins += count(grammar.trie->bins());
      rules += count(grammar.rules->size());
    }
    rule_offsets_.push_back(rules);
  }

  void make() {
    mark_needed();
    add_nodes();
    if (input_.goal != ChartInput::no_goal) add_top();
    parsed_.forest.rules.values.resize(edges_);
    add_rules();
  }

 private:
  // The first forest rule of a bin with a chain of arc features.
  struct First {
    std::int32_t grammar;
    std::int32_t bin;
    std::int32_t chain;
    std::int32_t rule;
  };

  // Marks the nodes below the goal, or all without a goal, and reserves memory for them.
  void mark_needed() {
    if (input_.goal == ChartInput::no_goal) {
      for (Chart::Node& node : chart_.nodes) node.number = 0;
    } else {
      chart_.nodes[at(chart_.goal)].number = 0;
    }
    std::size_t nodes = 1, bundles = 1, tails = 1, edges = 1;
    for (std::size_t i = chart_.sorted.size(); i-- > 0;) {
      const Chart::Node& node = chart_.nodes[at(chart_.sorted[i])];
      if (node.number < 0) continue;
      ++nodes;
      for (std::int32_t b = node.first_bundle; b >= 0; b = chart_.bundles[at(b)].next) {
        const Chart::Bundle& bundle = chart_.bundles[at(b)];
        for (const std::int32_t tail : chart_.tails_of(bundle)) chart_.nodes[at(tail)].number = 0;
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
  }

  // Numbers the marked nodes and adds them with their bundles.
  void add_nodes() {
    Forest& forest = parsed_.forest;
    for (const std::int32_t sorted : chart_.sorted) {
      Chart::Node& node = chart_.nodes[at(sorted)];
      if (node.number < 0) continue;
      for (std::int32_t b = node.first_bundle; b >= 0; b = chart_.bundles[at(b)].next) {
        const Chart::Bundle& bundle = chart_.bundles[at(b)];
        for (const std::int32_t tail : chart_.tails_of(bundle)) {
          forest.tails.values.push_back(chart_.nodes[at(tail)].number);
        }
        const std::int32_t size = bin_of(bundle).size();
        const auto into = forest.rules.values.begin() + static_cast<std::ptrdiff_t>(edges_);
        std::iota(into, into + size, first_rule(bundle));
        edges_ += at(size);
        end_bundle();
      }
      node.number = count(forest.nodes.size());
      forest.nodes.push_back({node.label, node.first, node.last});
      forest.node_bundles.push_back(static_cast<std::int64_t>(forest.bundles()));
    }
  }

  // The goal has a node above it, as in cdec.
  void add_top() {
    Forest& forest = parsed_.forest;
    forest.tails.values.push_back(chart_.nodes[at(chart_.goal)].number);
    forest.rules.values[edges_++] = rules_;
    end_bundle();
    forest.nodes.push_back({input_.top, 0, input_.positions - 1});
    forest.node_bundles.push_back(static_cast<std::int64_t>(forest.bundles()));
  }

  void end_bundle() {
    parsed_.forest.tails.end_part();
    parsed_.forest.rules.offsets.push_back(static_cast<std::int64_t>(edges_));
  }

  const Trie::Bin& bin_of(const Chart::Bundle& bundle) const noexcept {
    return input_.grammars[at(bundle.grammar)].trie->bin(bundle.bin);
  }
  std::span<const std::int32_t> rules_of(const First& first) const noexcept {
    const Trie& trie = *input_.grammars[at(first.grammar)].trie;
    const Trie::Bin& bin = trie.bin(first.bin);
    return trie.order().subspan(at(bin.first), at(bin.size()));
  }

  // The forest number of a bundle's first rule.
  std::int32_t first_rule(const Chart::Bundle& bundle) {
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
  Chart& chart_;
  ParsedForest& parsed_;
  std::vector<std::int32_t> bin_offsets_;
  std::vector<std::int32_t> rule_offsets_;
  std::vector<First> firsts_;
  std::int32_t rules_ = 0;  // numbered so far
  std::size_t edges_ = 0;   // added so far
  PairNumbers used_;
};

}  // namespace

void make_forest(const ChartInput& input, Chart& chart, ParsedForest& parsed) {
  ForestMaker(input, chart, parsed).make();
}

}  // namespace smt
