// Grammars as tries, for Python.
#include "bind/trie.hpp"

#include <nanobind/stl/array.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();

template <class T>
std::span<const T> records(const Input<std::int32_t>& values) {
  static_assert(sizeof(T) % sizeof(std::int32_t) == 0 && alignof(T) == alignof(std::int32_t));
  return {reinterpret_cast<const T*>(values.data()), values.shape(0) / (sizeof(T) / sizeof(std::int32_t))};
}

void check_rule_offsets(std::span<const std::int64_t> offsets, std::size_t rules, std::size_t values) {
  check(offsets.size() == rules + 1, "there must be an offset more than rules");
  check_part_offsets(offsets, values);
}

bool within(std::span<const std::int32_t> values, std::int64_t least, std::int64_t end) {
  const auto low = static_cast<std::int32_t>(std::max<std::int64_t>(least, -most));
  const auto high = static_cast<std::int32_t>(std::min<std::int64_t>(end, most));
  int bad = 0;
  for (const std::int32_t value : values) bad |= static_cast<int>(value < low) | static_cast<int>(value >= high);
  return bad == 0;
}

// Stops at the first block with one.
bool some_below_0(std::span<const std::int32_t> values) {
  constexpr std::size_t kBlock = 4096;
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    if (!within(values.subspan(first, std::min(kBlock, values.size() - first)), 0, most)) return true;
  }
  return false;
}

std::span<const std::int32_t> used(std::span<const std::int32_t> values, std::span<const std::int64_t> offsets) {
  const auto first = static_cast<std::size_t>(offsets.front());
  return values.subspan(first, static_cast<std::size_t>(offsets.back()) - first);
}

}  // namespace

RuleTrie::RuleTrie(Input<std::int32_t> lhs, Input<std::uint8_t> level, Input<std::int32_t> source,
                   Input<std::int64_t> source_offsets, Input<std::int32_t> target, Input<std::int64_t> target_offsets,
                   Input<std::int32_t> words, Input<std::int32_t> labels)
    : arrays_(lhs, level, source, source_offsets, target, target_offsets, words, labels) {
  rules_ = {view(lhs),    view(level),          view(source), view(source_offsets),
            view(target), view(target_offsets), view(words),  view(labels)};
  nb::gil_scoped_release unlocked;
  validate();
  trie_ = std::make_shared<const Trie>(rules_);
  check(targets_fit(), "a target symbol is not among the words and gaps");
}

RuleTrie::RuleTrie(Input<std::int32_t> lhs, Input<std::uint8_t> level, Input<std::int32_t> source,
                   Input<std::int64_t> source_offsets, Input<std::int32_t> target, Input<std::int64_t> target_offsets,
                   Input<std::int32_t> words, Input<std::int32_t> labels, const Index& index)
    : arrays_(lhs, level, source, source_offsets, target, target_offsets, words, labels), index_(index) {
  rules_ = {view(lhs),    view(level),          view(source), view(source_offsets),
            view(target), view(target_offsets), view(words),  view(labels)};
  nb::gil_scoped_release unlocked;
  validate();
  const auto& [places, symbols, bins, unaries, order] = index_;
  const Trie::Arrays arrays{records<Trie::Place>(places), view(symbols), records<Trie::Bin>(bins),
                            records<Trie::Unary>(unaries), view(order)};
  std::optional<TrieNumbers> made = numbers();
  const bool fits = made && Trie::is_sound(arrays, rules_.size(), rules_.labels.size());
  trie_ = fits ? std::make_shared<const Trie>(arrays, *std::move(made)) : std::make_shared<const Trie>(rules_);
  check(targets_fit(), "a target symbol is not among the words and gaps");
}

// The columns' own ids and the shared ones; nothing if two words share an id.
std::optional<TrieNumbers> RuleTrie::numbers() const {
  const auto inverse = [](std::span<const std::int32_t> outside) {
    std::vector<std::int32_t> own;
    std::int32_t next = 0;
    const auto in_order = [&next](std::int32_t number) { return number == next++; };
    if (std::all_of(outside.begin(), outside.end(), in_order)) return own;
    own.resize(static_cast<std::size_t>(*std::max_element(outside.begin(), outside.end())) + 1, TrieNumbers::none);
    // Of labels with one shared id, the first has the rules.
    for (std::size_t i = outside.size(); i-- > 0;) {
      own[static_cast<std::size_t>(outside[i])] = static_cast<std::int32_t>(i);
    }
    return own;
  };
  TrieNumbers made{inverse(rules_.words), inverse(rules_.labels), {}};
  for (std::size_t i = 0; i < rules_.words.size() && !made.own_words.empty(); ++i) {
    const auto outside = static_cast<std::size_t>(rules_.words[i]);
    if (made.own_words[outside] != static_cast<std::int32_t>(i)) return std::nullopt;
  }
  if (!made.own_labels.empty()) made.labels.assign(rules_.labels.begin(), rules_.labels.end());
  return made;
}

RuleTrie RuleTrie::limited(Input<float> estimates, std::int32_t limit) const {
  check(limit > 0, "the limit must be 1 or more");
  check(estimates.shape(0) == rules_.size(), "there must be as many estimates as rules");
  nb::gil_scoped_release unlocked;
  const std::span<const float> given = view(estimates);
  check(std::none_of(given.begin(), given.end(), [](float estimate) { return std::isnan(estimate); }),
        "estimates must be numbers");
  std::shared_ptr<const Trie> trie = trie_->limited(given, limit);
  nb::gil_scoped_acquire locked;
  return RuleTrie(*this, std::move(trie));
}

// Another trie of the same columns.
RuleTrie::RuleTrie(const RuleTrie& other, std::shared_ptr<const Trie> trie)
    : arrays_(other.arrays_),
      index_(other.index_),
      rules_(other.rules_),
      whole_(other.trie_),
      trie_(std::move(trie)),
      labels_(other.labels_) {}

void RuleTrie::validate() {
  const std::size_t rules = rules_.size();
  check(rules < static_cast<std::size_t>(most) && rules_.source.size() < static_cast<std::size_t>(most),
        "a grammar must have fewer than 2^31 rules and symbols");
  check(rules_.level.size() == rules, "there must be as many levels as rules");
  check_rule_offsets(rules_.source_offsets, rules, rules_.source.size());
  check_rule_offsets(rules_.target_offsets, rules, rules_.target.size());
  const auto known = [](std::span<const std::int32_t> numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](std::int32_t n) { return n >= 0 && n < most; });
  };
  check(known(rules_.words) && known(rules_.labels), "numbers must not be negative");
  for (const std::int32_t label : rules_.labels) labels_ = std::max(labels_, label + 1);
  const auto words = static_cast<std::int64_t>(rules_.words.size());
  const auto labels = static_cast<std::int64_t>(rules_.labels.size());
  check(within(rules_.lhs, 0, labels), "a left-hand side is not among the labels");
  check(within(used(rules_.source, rules_.source_offsets), -labels, words),
        "a symbol is not among the words and labels");
  check(within(used(rules_.target, rules_.target_offsets), -std::int64_t{most}, words),
        "a target symbol is not among the words and gaps");
}

// Whether target sides have the gaps of their source sides; only for the rules of the trie, as others never apply.
bool RuleTrie::targets_fit() const {
  const Trie& trie = *trie_;
  if (!some_below_0(rules_.target)) return true;
  std::vector<std::int32_t> gaps(trie.nodes());
  bool good = true;
  for (Trie::Node node = 0; node < static_cast<Trie::Node>(trie.nodes()); ++node) {
    const std::int32_t count = gaps[static_cast<std::size_t>(node)];
    const Trie::Range below = trie.gaps(node), words = trie.words(node), bins = trie.bins(node);
    std::fill(gaps.begin() + below.first, gaps.begin() + below.last, count + 1);
    std::fill(gaps.begin() + words.first, gaps.begin() + words.last, count);
    for (std::int32_t bin = bins.first; bin < bins.last; ++bin) good &= targets_fit(trie.bin(bin), count);
  }
  for (const Trie::Unary& unary : trie.unaries()) good &= targets_fit(trie.bin(unary.bin), 1);
  return good;
}

bool RuleTrie::targets_fit(const Trie::Bin& bin, std::int32_t gaps) const {
  const auto order = trie_->order().subspan(static_cast<std::size_t>(bin.first), static_cast<std::size_t>(bin.size()));
  bool good = true;
  for (std::size_t i = 0; i < order.size();) {
    // Consecutive rules have consecutive target sides.
    const auto first = static_cast<std::size_t>(order[i]);
    auto last = first + 1;
    for (++i; i < order.size() && order[i] == static_cast<std::int32_t>(last); ++i) ++last;
    const auto from = static_cast<std::size_t>(rules_.target_offsets[first]);
    const auto size = static_cast<std::size_t>(rules_.target_offsets[last]) - from;
    good &= within(rules_.target.subspan(from, size), -std::int64_t{gaps}, most);
  }
  return good;
}

namespace {

template <class T>
Column<std::int32_t> copied(std::span<const T> values) {
  const std::size_t size = values.size_bytes() / sizeof(std::int32_t);
  auto numbers = std::make_unique_for_overwrite<std::int32_t[]>(size);
  if (size > 0) std::memcpy(numbers.get(), values.data(), values.size_bytes());
  return column(std::move(numbers), size);
}

nb::tuple rule_index(Input<std::int32_t> lhs, Input<std::uint8_t> level, Input<std::int32_t> source,
                     Input<std::int64_t> source_offsets, Input<std::int32_t> labels) {
  const RuleColumns rules{view(lhs), view(level), view(source), view(source_offsets), {}, {}, {}, view(labels)};
  std::unique_ptr<Trie> trie;
  {
    nb::gil_scoped_release unlocked;
    check(rules.size() < static_cast<std::size_t>(most) && rules.source.size() < static_cast<std::size_t>(most),
          "a grammar must have fewer than 2^31 rules and symbols");
    check(rules.level.size() == rules.size(), "there must be as many levels as rules");
    check_rule_offsets(rules.source_offsets, rules.size(), rules.source.size());
    const auto size = static_cast<std::int64_t>(rules.labels.size());
    check(within(rules.labels, 0, size) && within(rules.lhs, 0, size) && within(rules.source, -size, most),
          "a label is not among the labels");
    trie = std::make_unique<Trie>(rules);
  }
  const Trie::Arrays& made = trie->arrays();
  return nb::make_tuple(copied(made.places), copied(made.symbols), copied(made.bins), copied(made.unaries),
                        copied(made.order));
}

Column<float> rule_scores(Input<std::int32_t> features, Input<float> values, Input<std::int64_t> offsets,
                         Input<double> weights) {
  check(offsets.shape(0) > 0, "there must be an offset more than rules");
  const std::size_t rules = offsets.shape(0) - 1;
  check(values.shape(0) == features.shape(0), "there must be as many values as features");
  check_rule_offsets(view(offsets), rules, features.shape(0));
  auto scores = std::make_unique<float[]>(rules);
  bool known = true;
  {
    nb::gil_scoped_release unlocked;
    const std::span<const double> weight = view(weights);
    for (std::size_t rule = 0; rule < rules; ++rule) {
      double sum = 0;
      for (auto i = offsets(rule); i < offsets(rule + 1); ++i) {
        const auto feature = static_cast<std::size_t>(features(static_cast<std::size_t>(i)));
        if (feature >= weight.size()) {
          known = false;
          break;
        }
        sum += weight[feature] * static_cast<double>(values(static_cast<std::size_t>(i)));
      }
      scores[rule] = static_cast<float>(sum);
    }
  }
  check(known, "a feature has no weight");
  return column(std::move(scores), rules);
}

}  // namespace

void bind_trie(nb::module_& m) {
  nb::class_<RuleTrie>(m, "RuleTrie", "The source sides of a grammar's rules; arrays as in GrammarColumns.")
      .def(nb::init<Input<std::int32_t>, Input<std::uint8_t>, Input<std::int32_t>, Input<std::int64_t>,
                    Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>, Input<std::int32_t>>(),
           "lhs"_a, "level"_a, "source"_a, "source_offsets"_a, "target"_a, "target_offsets"_a, "words"_a, "labels"_a,
           nb::sig("def __init__(self, lhs: numpy.typing.NDArray[numpy.int32],"
                   " level: numpy.typing.NDArray[numpy.uint8], source: numpy.typing.NDArray[numpy.int32],"
                   " source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32],"
                   " target_offsets: numpy.typing.NDArray[numpy.int64], words: numpy.typing.NDArray[numpy.int32],"
                   " labels: numpy.typing.NDArray[numpy.int32]) -> None"),
           "`words` and `labels` map the grammar's own ids to the shared ones.")
      .def(nb::init<Input<std::int32_t>, Input<std::uint8_t>, Input<std::int32_t>, Input<std::int64_t>,
                    Input<std::int32_t>, Input<std::int64_t>, Input<std::int32_t>, Input<std::int32_t>,
                    const RuleTrie::Index&>(),
           "lhs"_a, "level"_a, "source"_a, "source_offsets"_a, "target"_a, "target_offsets"_a, "words"_a, "labels"_a,
           "index"_a,
           nb::sig("def __init__(self, lhs: numpy.typing.NDArray[numpy.int32],"
                   " level: numpy.typing.NDArray[numpy.uint8], source: numpy.typing.NDArray[numpy.int32],"
                   " source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32],"
                   " target_offsets: numpy.typing.NDArray[numpy.int64], words: numpy.typing.NDArray[numpy.int32],"
                   " labels: numpy.typing.NDArray[numpy.int32],"
                   " index: Sequence[numpy.typing.NDArray[numpy.int32]]) -> None"),
           "With the index that `rule_index` made of the columns, if it fits them.")
      .def("limited", &RuleTrie::limited, "estimates"_a, "limit"_a,
           nb::sig("def limited(self, estimates: numpy.typing.NDArray[numpy.float32], limit: int) -> RuleTrie"),
           "A trie of the same columns with only the best rules of each source side, whatever their left-hand sides.")
      .def_prop_ro(
          "nodes", [](const RuleTrie& self) { return self.trie().nodes(); }, "The number of nodes of the trie.")
      .def_prop_ro(
          "bins", [](const RuleTrie& self) { return self.trie().bins(); },
          "The number of distinct pairs of source side and left-hand side.")
      .def_prop_ro(
          "rules",
          [](nb::handle self) {
            const std::span<const std::int32_t> order = nb::cast<const RuleTrie&>(self).trie().order();
            return View<std::int32_t>(order.data(), {order.size()}, self);
          },
          nb::for_getter(nb::sig("def rules(self) -> numpy.typing.NDArray[numpy.int32]")),
          "The numbers of the applicable rules, ordered by source side and left-hand side.");

  m.def("rule_index", &rule_index, "lhs"_a, "level"_a, "source"_a, "source_offsets"_a, "labels"_a,
        nb::sig("def rule_index(lhs: numpy.typing.NDArray[numpy.int32], level: numpy.typing.NDArray[numpy.uint8],"
                " source: numpy.typing.NDArray[numpy.int32], source_offsets: numpy.typing.NDArray[numpy.int64],"
                " labels: numpy.typing.NDArray[numpy.int32]) -> tuple[numpy.typing.NDArray[numpy.int32], ...]"),
        "A trie in the columns' own ids, as arrays that can be cached: places, symbols, bins, unaries, order.\n"
        "`labels` gives for each label the first label equal to it.");

  m.def("rule_scores", &rule_scores, "features"_a, "values"_a, "offsets"_a, "weights"_a,
        nb::sig("def rule_scores(features: numpy.typing.NDArray[numpy.int32],"
                " values: numpy.typing.NDArray[numpy.float32], offsets: numpy.typing.NDArray[numpy.int64],"
                " weights: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float32]"),
        "The weighted feature sum of each rule.");
}

}  // namespace smt
