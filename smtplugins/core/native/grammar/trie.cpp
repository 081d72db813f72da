#include "grammar/trie.hpp"

namespace smt {
namespace {

std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

std::span<const std::int32_t> part(std::span<const std::int32_t> values, std::int32_t first,
                                   std::int32_t last) noexcept {
  return values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

}  // namespace

void Trie::keep() { arrays_ = {places_, symbols_, bins_, unaries_, order_}; }

bool Trie::is_sound(const Arrays& arrays, std::size_t rules, std::size_t labels) {
  const std::size_t nodes = arrays.symbols.size();
  if (nodes == 0 || arrays.places.size() != nodes + 1) return false;
  const Place end = arrays.places.back();
  const auto within = [](std::int32_t number, std::size_t size) {
    return number >= 0 && static_cast<std::size_t>(number) <= size;
  };
  // Children come after their node.
  bool good = arrays.places[0].first == 1 && arrays.places[0].first_bin == 0;
  for (std::size_t node = 0; node < nodes; ++node) {
    const Place place = arrays.places[node], next = arrays.places[node + 1];
    good &= place.first > count(node) && place.first <= place.first_word && place.first_word <= next.first;
    good &= place.first_bin <= next.first_bin;
  }
  good &= end.first == count(nodes) && end.first_word == end.first && within(end.first_bin, arrays.bins.size());
  for (const Bin& bin : arrays.bins) {
    good &= bin.label >= 0 && static_cast<std::size_t>(bin.label) < labels;
    good &= bin.first >= 0 && bin.first < bin.last && within(bin.last, arrays.order.size());
  }
  for (const std::int32_t rule : arrays.order) good &= rule >= 0 && static_cast<std::size_t>(rule) < rules;
  std::int32_t bin = end.first_bin;
  for (const Unary& unary : arrays.unaries) {
    good &= unary.gap >= 0 && static_cast<std::size_t>(unary.gap) < labels && unary.bin == bin++;
  }
  return good && static_cast<std::size_t>(bin) == arrays.bins.size();
}

std::unique_ptr<Trie> Trie::limited(std::span<const float> estimates, std::int32_t limit) const {
  const auto before = [&](std::int32_t left, std::int32_t right) {
    const float a = estimates[static_cast<std::size_t>(left)], b = estimates[static_cast<std::size_t>(right)];
    return a != b ? a > b : left < right;
  };
  std::unique_ptr<Trie> limited(new Trie(numbers_));
  Trie& made = *limited;
  made.places_.assign(arrays_.places.begin(), arrays_.places.end());
  made.bins_.reserve(arrays_.bins.size());
  made.order_.reserve(arrays_.order.size());
  std::vector<std::int32_t> best;
  // The bins of one source side; its rules are adjacent.
  const auto take = [&](std::int32_t first, std::int32_t last) {
    if (first == last) return;
    const auto rules = part(arrays_.order, bin(first).first, bin(last - 1).last);
    const bool all = rules.size() <= static_cast<std::size_t>(limit);
    std::int32_t worst = 0;
    if (!all) {
      best.assign(rules.begin(), rules.end());
      std::nth_element(best.begin(), best.begin() + (limit - 1), best.end(), before);
      worst = best[static_cast<std::size_t>(limit - 1)];
    }
    for (std::int32_t i = first; i < last; ++i) {
      const auto begin = static_cast<std::int32_t>(made.order_.size());
      for (const std::int32_t rule : part(arrays_.order, bin(i).first, bin(i).last)) {
        if (all || !before(worst, rule)) made.order_.push_back(rule);
      }
      const auto end = static_cast<std::int32_t>(made.order_.size());
      if (begin != end) made.bins_.push_back({bin(i).label, begin, end});
    }
  };
  for (std::size_t node = 0; node < nodes(); ++node) {
    const Range old = bins(static_cast<Node>(node));
    made.places_[node].first_bin = static_cast<std::int32_t>(made.bins_.size());
    take(old.first, old.last);
  }
  made.places_.back().first_bin = static_cast<std::int32_t>(made.bins_.size());
  const std::span<const Unary> unaries = arrays_.unaries;
  for (std::size_t first = 0; first < unaries.size();) {
    std::size_t last = first + 1;
    while (last < unaries.size() && unaries[last].gap == unaries[first].gap) ++last;
    const auto begin = made.bins_.size();
    take(unaries[first].bin, unaries[last - 1].bin + 1);
    for (auto i = begin; i < made.bins_.size(); ++i) {
      made.unaries_.push_back({unaries[first].gap, static_cast<std::int32_t>(i)});
    }
    first = last;
  }
  made.arrays_ = {made.places_, arrays_.symbols, made.bins_, made.unaries_, made.order_};
  return limited;
}

}  // namespace smt
