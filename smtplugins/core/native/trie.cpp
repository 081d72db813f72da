#include "trie.hpp"

#include <limits>

namespace smt {
namespace {

// A source side, and the rules that have it one behind the other.
struct Source {
  std::uint64_t key;  // its first two symbols
  std::int32_t first;
  std::int32_t last;
  std::int32_t first_rule;
  std::int32_t last_rule;
};

// Gaps before words; no symbol, 0, before both.
std::uint64_t key(std::int32_t symbol) noexcept { return static_cast<std::uint32_t>(symbol) + 0x80000000u; }

std::span<const std::int32_t> part(std::span<const std::int32_t> values, std::int32_t first,
                                   std::int32_t last) noexcept {
  return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

class Sources {
 public:
  explicit Sources(const RuleColumns& rules) {
    list.reserve(rules.size() / 4 + 1);
    numbers.reserve(rules.size());
    symbols.reserve(rules.source.size() / 4 + 1);
    std::span<const std::int32_t> before;
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      if (!rules.level.empty() && rules.level[rule] != 0) continue;
      const auto first = static_cast<std::size_t>(rules.source_offsets[rule]);
      const std::span<const std::int32_t> source =
          rules.source.subspan(first, static_cast<std::size_t>(rules.source_offsets[rule + 1]) - first);
      if (source.empty()) continue;
      // Files have the rules of a source side together.
      if (before.empty() || !std::equal(source.begin(), source.end(), before.begin(), before.end())) {
        if (!list.empty()) list.back().last_rule = count(numbers.size());
        add(rules, source);
        before = source;
      }
      numbers.push_back(static_cast<std::int32_t>(rule));
    }
    if (!list.empty()) list.back().last_rule = count(numbers.size());
    std::sort(list.begin(), list.end(), [this](const Source& one, const Source& other) {
      if (one.key != other.key) return one.key < other.key;
      const auto a = of(one), b = of(other);
      if (!std::equal(a.begin(), a.end(), b.begin(), b.end())) {
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
      }
      return one.first_rule < other.first_rule;
    });
  }

  std::span<const std::int32_t> of(const Source& source) const noexcept {
    return part(symbols, source.first, source.last);
  }
  bool same(const Source& one, const Source& other) const noexcept {
    const auto a = of(one), b = of(other);
    return one.key == other.key && std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  static std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

  std::vector<Source> list;
  std::vector<std::int32_t> numbers;
  std::vector<std::int32_t> symbols;

 private:
  void add(const RuleColumns& rules, std::span<const std::int32_t> source) {
    const std::int32_t first = count(symbols.size());
    for (const std::int32_t own : source) symbols.push_back(own >= 0 ? rules.word(own) : -1 - rules.label(-1 - own));
    const auto at = static_cast<std::size_t>(first);
    const std::uint64_t second = source.size() > 1 ? key(symbols[at + 1]) : 0;
    list.push_back({key(symbols[at]) << 32 | second, first, count(symbols.size()), count(numbers.size()), 0});
  }
};

// Different source sides in order; those from `bins.first` to before `bins.last` are its rules.
struct Entry {
  std::int32_t first;
  std::int32_t last;
  Trie::Range bins;
};

struct Pending {
  std::int32_t first;  // entries below a node
  std::int32_t last;
  std::int32_t depth;
};

}  // namespace

Trie::Trie(const RuleColumns& rules) {
  const Sources sources(rules);
  order_.reserve(sources.numbers.size());
  std::vector<Bin> bins;
  std::vector<Entry> entries;
  std::vector<Unary> unaries;
  std::vector<Bin> unary_bins;
  const auto label_of = [&rules](std::int32_t rule) { return rules.label(rules.lhs[static_cast<std::size_t>(rule)]); };
  for (std::size_t at = 0; at < sources.list.size();) {
    const Source& source = sources.list[at];
    const auto begin = static_cast<std::ptrdiff_t>(order_.size());
    bool one_label = true;
    for (; at < sources.list.size() && sources.same(source, sources.list[at]); ++at) {
      for (const std::int32_t rule : part(sources.numbers, sources.list[at].first_rule, sources.list[at].last_rule)) {
        order_.push_back(rule);
        one_label &= label_of(rule) == label_of(order_[static_cast<std::size_t>(begin)]);
      }
    }
    if (!one_label) {
      std::stable_sort(order_.begin() + begin, order_.end(), [&](std::int32_t one, std::int32_t other) {
        return label_of(one) < label_of(other);
      });
    }
    const auto symbols = sources.of(source);
    const bool unary = symbols.size() == 1 && symbols[0] < 0;
    std::vector<Bin>& into = unary ? unary_bins : bins;
    const auto first_bin = static_cast<std::int32_t>(into.size());
    for (auto i = static_cast<std::size_t>(begin); i < order_.size(); ++i) {
      const std::int32_t label = label_of(order_[i]);
      const auto place = static_cast<std::int32_t>(i);
      if (i == static_cast<std::size_t>(begin) || into.back().label != label) {
        if (unary) unaries.push_back({-1 - symbols[0], static_cast<std::int32_t>(into.size())});
        into.push_back({label, place, place});
      }
      into.back().last = place + 1;
    }
    if (!unary) entries.push_back({source.first, source.last, {first_bin, static_cast<std::int32_t>(into.size())}});
  }

  bins_.reserve(bins.size() + unary_bins.size());
  std::vector<Pending> queue{{0, static_cast<std::int32_t>(entries.size()), 0}};
  symbols_.push_back(0);
  for (std::size_t node = 0; node < queue.size(); ++node) {
    auto [first, last, depth] = queue[node];
    const auto next = static_cast<std::int32_t>(queue.size());
    places_.push_back({next, next, static_cast<std::int32_t>(bins_.size())});
    if (first < last) {
      const Entry& entry = entries[static_cast<std::size_t>(first)];
      if (entry.last - entry.first == depth) {
        bins_.insert(bins_.end(), bins.begin() + entry.bins.first, bins.begin() + entry.bins.last);
        ++first;
      }
    }
    while (first < last) {
      const auto symbol_at = [&](std::int32_t entry) {
        return sources.symbols[static_cast<std::size_t>(entries[static_cast<std::size_t>(entry)].first + depth)];
      };
      const std::int32_t symbol = symbol_at(first);
      std::int32_t end = first + 1;
      while (end < last && symbol_at(end) == symbol) ++end;
      if (symbol < 0) ++places_.back().first_word;
      symbols_.push_back(symbol);
      queue.push_back({first, end, depth + 1});
      first = end;
    }
  }
  places_.push_back({static_cast<std::int32_t>(queue.size()), static_cast<std::int32_t>(queue.size()),
                     static_cast<std::int32_t>(bins_.size())});
  for (Unary& unary : unaries) unary.bin += static_cast<std::int32_t>(bins_.size());
  bins_.insert(bins_.end(), unary_bins.begin(), unary_bins.end());
  unaries_ = std::move(unaries);
}

}  // namespace smt
