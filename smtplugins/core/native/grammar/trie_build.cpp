#include "grammar/trie.hpp"

#include <numeric>
#include <utility>

namespace smt {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kKeyed = sizeof(Wide) / sizeof(std::int32_t);

std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

template <class T>
std::span<const T> part(std::span<const T> values, std::int32_t first, std::int32_t last) noexcept {
  return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

// The length of the common prefix of two source sides. Inline, as they are short.
std::size_t common(std::span<const std::int32_t> left, std::span<const std::int32_t> right) noexcept {
  const std::size_t most = std::min(left.size(), right.size());
  std::size_t same = 0;
  while (same < most && left[same] == right[same]) ++same;
  return same;
}

bool equal(std::span<const std::int32_t> left, std::span<const std::int32_t> right) noexcept {
  return left.size() == right.size() && common(left, right) == left.size();
}

// Consecutive rules with one source side.
struct Run {
  std::int32_t first;
  std::int32_t last;
};

// Calls visit(source, run) for all runs in the order of the columns until it returns false; returns whether it never
// did. The source side has shared ids and is valid only during the call.
template <class Visit>
bool each_run(const RuleColumns& rules, Visit visit) {
  std::vector<std::int32_t> outside;
  const auto source_of = [&rules](std::size_t rule) {
    const auto first = static_cast<std::size_t>(rules.source_offsets[rule]);
    return rules.source.subspan(first, static_cast<std::size_t>(rules.source_offsets[rule + 1]) - first);
  };
  const auto applied = [&rules](std::size_t rule) { return rules.level.empty() || rules.level[rule] == 0; };
  for (std::size_t rule = 0; rule < rules.size();) {
    const std::span<const std::int32_t> source = source_of(rule);
    const std::size_t first = rule++;
    if (source.empty() || !applied(first)) continue;
    while (rule < rules.size() && applied(rule) && equal(source_of(rule), source)) ++rule;
    outside.clear();
    for (const std::int32_t own : source) outside.push_back(own >= 0 ? rules.word(own) : -1 - rules.label(-1 - own));
    if (!visit(std::span<const std::int32_t>(outside), Run{count(first), count(rule)})) return false;
  }
  return true;
}

// The columns' own labels; of labels with one shared id, the first.
std::vector<std::int32_t> first_labels(std::span<const std::int32_t> labels) {
  std::vector<std::int32_t> first_of(labels.size());
  std::vector<std::int32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  const auto outside = [&labels](std::int32_t own) { return labels[static_cast<std::size_t>(own)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t left, std::int32_t right) {
    return outside(left) < outside(right);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && outside(order[i]) == outside(order[i - 1]);
    const auto own = static_cast<std::size_t>(order[i]);
    first_of[own] = same ? first_of[static_cast<std::size_t>(order[i - 1])] : order[i];
  }
  return first_of;
}

// Gaps before words; no symbol, 0, before both.
Wide key_of(std::span<const std::int32_t> symbols) noexcept {
  Wide key = 0;
  for (std::size_t i = 0; i < kKeyed; ++i) {
    key = key << 32U | (i < symbols.size() ? static_cast<std::uint32_t>(symbols[i]) + 0x80000000U : 0U);
  }
  return key;
}

// Runs of unsorted columns, to be sorted by their source sides.
class SortedRuns {
 public:
  explicit SortedRuns(const RuleColumns& rules) {
    list_.reserve(rules.size() / 8 + 1);
    symbols_.reserve(rules.source.size() / 8 + 1);
    each_run(rules, [this](std::span<const std::int32_t> source, Run run) {
      const std::int32_t first = count(symbols_.size());
      symbols_.insert(symbols_.end(), source.begin(), source.end());
      list_.push_back({key_of(source), first, count(symbols_.size()), run});
      return true;
    });
    std::sort(list_.begin(), list_.end(), [this](const Source& left, const Source& right) {
      if (left.key != right.key) return left.key < right.key;
      const auto a = rest(left), b = rest(right);
      if (!equal(a, b)) return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
      return left.run.first < right.run.first;
    });
  }

  template <class Visit>
  void each(Visit visit) const {
    for (const Source& source : list_) visit(of(source), source.run);
  }

 private:
  struct Source {
    Wide key;  // its first symbols
    std::int32_t first;
    std::int32_t last;
    Run run;
  };

  std::span<const std::int32_t> of(const Source& source) const noexcept {
    return part<std::int32_t>(symbols_, source.first, source.last);
  }
  // The symbols after the key.
  std::span<const std::int32_t> rest(const Source& source) const noexcept {
    const auto whole = of(source);
    return whole.subspan(std::min(whole.size(), kKeyed));
  }

  LargeVector<Source> list_;
  LargeVector<std::int32_t> symbols_;
};

}  // namespace

// Built from source sides in any order that keeps common prefixes together, as in a sorted file. Then each level of the
// trie grows at its end, without look-ups.
class TrieBuilder {
 public:
  TrieBuilder(const RuleColumns& rules, Trie& trie)
      : rules_(rules), trie_(trie), levels_(kUsualDepth) {}

  // False if the order is not like that: then the trie must not be finished.
  bool add(std::span<const std::int32_t> source, Run run) {
    if (source.size() == 1 && source[0] < 0) {
      unaries_.push_back({source[0], run});
      return true;
    }
    std::size_t depth = common(source, before_);
    if (depth == 0 && !begin(source[0])) return false;
    before_.assign(source.begin(), source.end());
    if (levels_.size() <= source.size()) levels_.resize(source.size() + 1);
    for (; depth < source.size(); ++depth) {
      levels_[depth].push_back({source[depth], count(levels_[depth + 1].size()), {0, 0}, 0});
    }
    return add_run(levels_[depth - 1].back(), run);
  }

  // False likewise.
  bool finish() {
    std::size_t nodes = 1;
    for (const Level& level : levels_) nodes += level.size();
    trie_.places_.reserve(nodes + 1);
    trie_.symbols_.reserve(nodes);
    trie_.bins_.reserve(nodes);
    trie_.order_.reserve(rules_.size());
    trie_.symbols_.push_back(0);
    LargeVector<std::int32_t> level, next;
    bool sound = add_node(levels_[0], 0, count(levels_[0].size()), next);
    for (std::size_t depth = 0; depth + 1 < levels_.size() && !next.empty() && sound; ++depth) {
      level.swap(next);
      next.clear();
      const Level& own = levels_[depth];
      const Level& below = levels_[depth + 1];
      for (std::size_t i = 0; i < level.size(); ++i) {
        if (i + 2 * kAhead < level.size()) prefetch(own, level[i + 2 * kAhead]);
        if (i + kAhead < level.size()) prefetch(below, own[static_cast<std::size_t>(level[i + kAhead])].first);
        const auto at = static_cast<std::size_t>(level[i]);
        const std::int32_t last = at + 1 < own.size() ? own[at + 1].first : count(below.size());
        sound &= add_node(below, own[at].first, last, next);
        add_bins(own[at]);
      }
    }
    if (!sound) return false;
    trie_.places_.push_back({count(nodes), count(nodes), count(trie_.bins_.size())});
    add_unaries();
    trie_.keep();
    return true;
  }

 private:
  // Nodes are visited in another order than they are stored in.
  static constexpr std::size_t kAhead = 8;
  template <class Level>
  static void prefetch(const Level& level, std::int32_t node) noexcept {
#if defined(__GNUC__)
    __builtin_prefetch(level.data() + node);
#else
    static_cast<void>(level.data() + node);
#endif
  }

  // A node of a level. Its children begin at `first` in the next level and end where those of the next node begin.
  // Several runs are in runs_: -run.last of them from run.first on.
  struct Node {
    std::int32_t symbol;
    std::int32_t first;
    Run run;
    std::int32_t lhs;  // the columns' own label of all its rules, or kSeveral
  };
  static constexpr std::int32_t kSeveral = -1;
  static constexpr std::size_t kUsualDepth = 8;
  using Level = LargeVector<Node>;
  struct Unary {
    std::int32_t symbol;
    Run run;
  };

  // Whether no previous source side began with this symbol.
  bool begin(std::int32_t symbol) {
    std::vector<bool>& begun = symbol < 0 ? begun_gaps_ : begun_words_;
    const auto at = static_cast<std::size_t>(symbol < 0 ? -1 - symbol : symbol);
    if (at >= begun.size()) begun.resize(std::max(at + 1, 2 * begun.size()));
    if (begun[at]) return false;
    begun[at] = true;
    return true;
  }

  std::int32_t lhs_of(Run run) const noexcept {
    const std::int32_t lhs = rules_.lhs[static_cast<std::size_t>(run.first)];
    std::int32_t others = 0;
    for (const std::int32_t own : part(rules_.lhs, run.first, run.last)) others |= own ^ lhs;
    return others == 0 ? lhs : kSeveral;
  }

  // False if other source sides came after those of this node.
  bool add_run(Node& node, Run run) {
    if (node.run.first == node.run.last) {
      node.run = run;
      node.lhs = lhs_of(run);
      return true;
    }
    if (node.run.last >= 0) {
      runs_.push_back(node.run);
      node.run = {count(runs_.size()) - 1, -1};
    }
    runs_.push_back(run);
    --node.run.last;
    if (lhs_of(run) != node.lhs) node.lhs = kSeveral;
    return node.run.first - node.run.last == count(runs_.size());
  }

  // The next node: its children are [first, last) of the next level, and follow in `order`. False if a child occurs
  // twice.
  bool add_node(const Level& below, std::int32_t first, std::int32_t last, LargeVector<std::int32_t>& order) {
    const auto next = count(trie_.symbols_.size());
    trie_.places_.push_back({next, next, count(trie_.bins_.size())});
    const std::span<const Node> children(below.data() + first, static_cast<std::size_t>(last - first));
    if (children.size() == 1) {
      trie_.places_.back().first_word += children[0].symbol < 0;
      trie_.symbols_.push_back(children[0].symbol);
      order.push_back(first);
      return true;
    }
    // By symbol; gaps, below 0, first.
    keys_.clear();
    bool sorted = true;
    for (std::size_t i = 0; i < children.size(); ++i) {
      const auto symbol = static_cast<std::uint32_t>(children[i].symbol) ^ 0x80000000U;
      const std::uint64_t key = static_cast<std::uint64_t>(symbol) << 32U | i;
      sorted &= i == 0 || key > keys_.back();
      keys_.push_back(key);
    }
    if (!sorted) std::sort(keys_.begin(), keys_.end());
    bool sound = true;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto child = static_cast<std::size_t>(keys_[i] & 0xFFFFFFFFU);
      sound &= i == 0 || keys_[i] >> 32U != keys_[i - 1] >> 32U;
      trie_.places_.back().first_word += children[child].symbol < 0;
      trie_.symbols_.push_back(children[child].symbol);
      order.push_back(first + count(child));
    }
    return sound;
  }

  // The rules of the latest node, by left-hand sides.
  void add_bins(const Node& node) {
    if (node.run.first == node.run.last) return;
    if (node.run.last >= 0) {
      add_bins({&node.run, 1}, node.lhs);
    } else {
      add_bins(part<Run>(runs_, node.run.first, node.run.first - node.run.last), node.lhs);
    }
  }
  void add_bins(std::span<const Run> runs, std::int32_t lhs) {
    LargeVector<Trie::Bin>& bins = trie_.bins_;
    LargeVector<std::int32_t>& order = trie_.order_;
    const auto begin = count(order.size());
    for (const Run& run : runs) {
      const std::size_t place = order.size();
      order.resize(place + static_cast<std::size_t>(run.last - run.first));
      std::iota(order.begin() + static_cast<std::ptrdiff_t>(place), order.end(), run.first);
    }
    if (lhs != kSeveral) {
      bins.push_back({rules_.label(lhs), begin, count(order.size())});
      return;
    }
    if (first_labels_.empty()) first_labels_ = first_labels(rules_.labels);
    const auto own_label = [this](std::int32_t rule) {
      const std::int32_t own = rules_.lhs[static_cast<std::size_t>(rule)];
      return first_labels_.empty() ? own : first_labels_[static_cast<std::size_t>(own)];
    };
    std::stable_sort(order.begin() + begin, order.end(), [&](std::int32_t left, std::int32_t right) {
      return own_label(left) < own_label(right);
    });
    std::int32_t before = -1;
    for (std::int32_t i = begin; i < count(order.size()); ++i) {
      const std::int32_t own = own_label(order[static_cast<std::size_t>(i)]);
      if (own != before) bins.push_back({rules_.label(own), i, i});
      bins.back().last = i + 1;
      before = own;
    }
  }

  void add_unaries() {
    std::stable_sort(unaries_.begin(), unaries_.end(),
                     [](const Unary& left, const Unary& right) { return left.symbol < right.symbol; });
    std::vector<Run> runs;
    for (std::size_t i = 0; i < unaries_.size(); ++i) {
      runs.push_back(unaries_[i].run);
      if (i + 1 < unaries_.size() && unaries_[i + 1].symbol == unaries_[i].symbol) continue;
      const auto first = count(trie_.bins_.size());
      add_bins(runs, kSeveral);
      for (std::int32_t bin = first; bin < count(trie_.bins_.size()); ++bin) {
        trie_.unaries_.push_back({-1 - unaries_[i].symbol, bin});
      }
      runs.clear();
    }
  }

  const RuleColumns& rules_;
  Trie& trie_;
  std::vector<std::int32_t> first_labels_;  // made on demand
  std::vector<Level> levels_;  // the level of the root's children first
  LargeVector<Run> runs_;  // of nodes with several runs
  std::vector<Unary> unaries_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::int32_t> before_;  // the previous source side
  std::vector<bool> begun_words_, begun_gaps_;
};

Trie::Trie(const RuleColumns& rules) : numbers_(std::make_shared<const TrieNumbers>()) {
  {
    TrieBuilder builder(rules, *this);
    const auto add = [&builder](auto source, Run run) { return builder.add(source, run); };
    if (each_run(rules, add) && builder.finish()) return;
  }
  for (auto* const made : {&symbols_, &order_}) made->clear();
  places_.clear();
  bins_.clear();
  TrieBuilder builder(rules, *this);
  SortedRuns(rules).each([&builder](auto source, Run run) { builder.add(source, run); });
  builder.finish();
}

}  // namespace smt
