#include "grammar/unary_rules.hpp"

namespace smt {
namespace {

std::size_t at(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }

enum Mark : std::uint8_t { unseen, open, done };

struct Visit {
  std::int32_t label;
  std::size_t next;
  std::size_t last;
};

}  // namespace

UnaryRules::UnaryRules(const ChartInput& input) {
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

// Depth first over the rules; the rank of a label is set when the labels derived from it are done.
void UnaryRules::sort_labels(std::size_t labels) {
  std::vector<Mark> marks(labels, unseen);
  std::vector<std::uint8_t> closes(rules_.size(), 0);
  std::vector<Visit> visits;
  std::int32_t rank = static_cast<std::int32_t>(labels);
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

}  // namespace smt
