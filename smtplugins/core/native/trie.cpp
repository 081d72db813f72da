#include "trie.hpp"

#include <numeric>

namespace smt {
namespace {

__extension__ using Wide = unsigned __int128;

// A source side, and the rules that have it one behind the other.
struct Source {
  Wide key;  // its first symbols
  std::int32_t first;
  std::int32_t last;
  std::int32_t first_rule;
  std::int32_t last_rule;
};

constexpr std::size_t kKeyed = sizeof(Wide) / sizeof(std::int32_t);

// Gaps before words; no symbol, 0, before both.
Wide key_of(std::span<const std::int32_t> symbols) noexcept {
  Wide key = 0;
  for (std::size_t i = 0; i < kKeyed; ++i) {
    key = key << 32U | (i < symbols.size() ? static_cast<std::uint32_t>(symbols[i]) + 0x80000000U : 0U);
  }
  return key;
}

std::span<const std::int32_t> part(std::span<const std::int32_t> values, std::int32_t first,
                                   std::int32_t last) noexcept {
  return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

bool equal(std::span<const std::int32_t> one, std::span<const std::int32_t> other) noexcept {
  if (one.size() != other.size()) return false;
  // A few numbers: a call would take longer.
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] != other[i]) return false;
  }
  return true;
}

class Sources {
 public:
  explicit Sources(const RuleColumns& rules) {
    list.reserve(rules.size() / 8 + 1);
    symbols.reserve(rules.source.size() / 8 + 1);
    std::span<const std::int32_t> before;
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      const auto first = static_cast<std::size_t>(rules.source_offsets[rule]);
      const std::span<const std::int32_t> source =
          rules.source.subspan(first, static_cast<std::size_t>(rules.source_offsets[rule + 1]) - first);
      if (source.empty() || (!rules.level.empty() && rules.level[rule] != 0)) {
        before = {};
        continue;
      }
      // Files have the rules of a source side together.
      if (!equal(source, before)) {
        add(rules, source, count(rule));
        before = source;
      }
      list.back().last_rule = count(rule + 1);
    }
    std::sort(list.begin(), list.end(), [this](const Source& one, const Source& other) {
      if (one.key != other.key) return one.key < other.key;
      const auto a = rest(one), b = rest(other);
      if (!equal(a, b)) return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
      return one.first_rule < other.first_rule;
    });
  }

  std::span<const std::int32_t> of(const Source& source) const noexcept {
    return part(symbols, source.first, source.last);
  }
  bool same(const Source& one, const Source& other) const noexcept {
    return one.key == other.key && equal(rest(one), rest(other));
  }
  // What the key leaves out.
  std::span<const std::int32_t> rest(const Source& source) const noexcept {
    const auto whole = of(source);
    return whole.subspan(std::min(whole.size(), kKeyed));
  }
  static std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

  std::vector<Source> list;
  std::vector<std::int32_t> symbols;

 private:
  void add(const RuleColumns& rules, std::span<const std::int32_t> source, std::int32_t rule) {
    const std::int32_t first = count(symbols.size());
    for (const std::int32_t own : source) symbols.push_back(own >= 0 ? rules.word(own) : -1 - rules.label(-1 - own));
    list.push_back({key_of(part(symbols, first, count(symbols.size()))), first, count(symbols.size()), rule, rule});
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
  order_.reserve(rules.size());
  std::vector<Bin> bins;
  std::vector<Entry> entries;
  std::vector<Unary> unaries;
  std::vector<Bin> unary_bins;
  bins.reserve(sources.list.size());
  entries.reserve(sources.list.size());
  const auto label_of = [&rules](std::int32_t rule) { return rules.label(rules.lhs[static_cast<std::size_t>(rule)]); };
  for (std::size_t at = 0; at < sources.list.size();) {
    const Source& source = sources.list[at];
    const auto begin = static_cast<std::int32_t>(order_.size());
    // Whether the columns' own labels are one: that they are different and stand for one is rare.
    const auto lhs = rules.lhs[static_cast<std::size_t>(source.first_rule)];
    std::int32_t others = 0;
    for (; at < sources.list.size() && sources.same(source, sources.list[at]); ++at) {
      const std::int32_t first = sources.list[at].first_rule, last = sources.list[at].last_rule;
      for (const std::int32_t own : part(rules.lhs, first, last)) others |= own ^ lhs;
      const std::size_t place = order_.size();
      order_.resize(place + static_cast<std::size_t>(last - first));
      std::iota(order_.begin() + static_cast<std::ptrdiff_t>(place), order_.end(), first);
    }
    const auto end = static_cast<std::int32_t>(order_.size());
    const auto symbols = sources.of(source);
    const bool unary = symbols.size() == 1 && symbols[0] < 0;
    std::vector<Bin>& into = unary ? unary_bins : bins;
    const auto first_bin = static_cast<std::int32_t>(into.size());
    if (others == 0) {
      into.push_back({rules.label(lhs), begin, end});
    } else {
      std::stable_sort(order_.begin() + begin, order_.end(), [&](std::int32_t one, std::int32_t other) {
        return label_of(one) < label_of(other);
      });
      for (std::int32_t i = begin; i < end; ++i) {
        const std::int32_t own = label_of(order_[static_cast<std::size_t>(i)]);
        if (i == begin || into.back().label != own) into.push_back({own, i, i});
        into.back().last = i + 1;
      }
    }
    if (unary) {
      for (auto i = static_cast<std::size_t>(first_bin); i < into.size(); ++i) {
        unaries.push_back({-1 - symbols[0], static_cast<std::int32_t>(i)});
      }
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

Trie Trie::limited(std::span<const float> estimates, std::int32_t limit) const {
  const auto before = [&](std::int32_t one, std::int32_t other) {
    const float a = estimates[static_cast<std::size_t>(one)], b = estimates[static_cast<std::size_t>(other)];
    return a != b ? a > b : one < other;
  };
  Trie made;
  made.places_ = places_;
  made.symbols_ = symbols_;
  made.bins_.reserve(bins_.size());
  made.order_.reserve(order_.size());
  std::vector<std::int32_t> best;
  // The bins of one source side; its rules follow each other.
  const auto keep = [&](std::int32_t first, std::int32_t last) {
    if (first == last) return;
    const auto rules = part(order_, bin(first).first, bin(last - 1).last);
    const bool all = rules.size() <= static_cast<std::size_t>(limit);
    std::int32_t worst = 0;
    if (!all) {
      best.assign(rules.begin(), rules.end());
      std::nth_element(best.begin(), best.begin() + (limit - 1), best.end(), before);
      worst = best[static_cast<std::size_t>(limit - 1)];
    }
    for (std::int32_t i = first; i < last; ++i) {
      const auto begin = static_cast<std::int32_t>(made.order_.size());
      for (const std::int32_t rule : part(order_, bin(i).first, bin(i).last)) {
        if (all || !before(worst, rule)) made.order_.push_back(rule);
      }
      const auto end = static_cast<std::int32_t>(made.order_.size());
      if (begin != end) made.bins_.push_back({bin(i).label, begin, end});
    }
  };
  for (std::size_t node = 0; node < symbols_.size(); ++node) {
    const Range old = bins(static_cast<Node>(node));
    made.places_[node].first_bin = static_cast<std::int32_t>(made.bins_.size());
    keep(old.first, old.last);
  }
  made.places_.back().first_bin = static_cast<std::int32_t>(made.bins_.size());
  for (std::size_t first = 0; first < unaries_.size();) {
    std::size_t last = first + 1;
    while (last < unaries_.size() && unaries_[last].gap == unaries_[first].gap) ++last;
    const auto begin = made.bins_.size();
    keep(unaries_[first].bin, unaries_[last - 1].bin + 1);
    for (auto i = begin; i < made.bins_.size(); ++i) {
      made.unaries_.push_back({unaries_[first].gap, static_cast<std::int32_t>(i)});
    }
    first = last;
  }
  return made;
}

}  // namespace smt
