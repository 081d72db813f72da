// Confusion grammars, for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bindings.hpp"
#include "groups.hpp"
#include "pairs.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::cdlm {
namespace {

constexpr const char* kOffsets = "expected offsets that increase from 0 to the end of their values";

// Counting runs without the GIL, so the object has its own lock.
class LockedConfusions {
 public:
  LockedConfusions(bool same_lhs, bool glue, bool identity, bool same_rule, std::uint32_t gaps, std::uint64_t memory,
                   const std::string& folder)
      : memory_(memory),
        confused_(Choices{same_lhs, glue, identity, same_rule, gaps}, memory / 2, folder) {}

  void add(const Input<std::int32_t>& lhs, const Input<std::uint8_t>& level, const Input<std::int32_t>& source,
           const Input<std::int64_t>& source_offsets, const Input<std::int32_t>& target,
           const Input<std::int64_t>& target_offsets, const Input<std::int32_t>& words,
           const Input<std::int32_t>& labels, const Input<float>& scores) {
    const RuleView rules{view(lhs),    view(level),          view(source), view(source_offsets),
                         view(target), view(target_offsets), view(words),  view(labels),
                         view(scores)};
    check(scores.shape(0) == 0 || scores.shape(0) == rules.lhs.size(), "expected a score for each rule");
    work(rules, [&] { confused_.add_rules(rules); });
  }
  void add_edges(const Input<std::int32_t>& lhs, const Input<std::int32_t>& source,
                 const Input<std::int64_t>& source_offsets, const Input<std::int32_t>& target,
                 const Input<std::int64_t>& target_offsets, const Input<std::int32_t>& words,
                 const Input<std::int32_t>& labels, const Input<std::int32_t>& edges,
                 const Input<std::int64_t>& groups) {
    const std::vector<std::uint8_t> level(lhs.shape(0), 0);
    const RuleView rules{view(lhs),    level,                view(source), view(source_offsets),
                         view(target), view(target_offsets), view(words),  view(labels),
                         {}};
    check_numbers(view(edges), 0, rules.lhs.size(), "expected numbers of rules");
    check_offsets(view(groups), edges.shape(0), "expected offsets of groups that increase from 0 to the end");
    work(rules, [&] { confused_.add_edges(rules, view(edges), view(groups)); });
  }

  void finish(std::uint32_t cap, bool most_often, bool wordless, const Input<std::uint8_t>& text,
              const Input<std::int64_t>& offsets) {
    check_offsets(view(offsets), text.shape(0), "expected offsets of words that increase from 0 to the end");
    check(offsets.shape(0) > words_, "expected the text of each word");
    const auto* const bytes = reinterpret_cast<const char*>(text.data());
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pairs_ != nullptr) throw std::logic_error("the confusions are finished");
    text_.assign(bytes, bytes + text.shape(0));
    offsets_.assign(offsets.data(), offsets.data() + offsets.shape(0));
    confused_.finish(cap, most_often);
    pairs_ = std::make_unique<Pairs>(confused_, words(), wordless, memory_ / 4);
    producer_ = std::make_unique<Producer>(*pairs_);
  }
  void rewind() {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished();
    producer_ = std::make_unique<Producer>(*pairs_);
  }
  void format(int format, const std::string& label, const std::string& cost) {
    check(format >= 0 && format <= 2, "no such format");
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    finished();
    writer_ = std::make_unique<LineWriter>(*pairs_, words(), static_cast<LineFormat>(format), label, cost);
  }
  nb::bytes next_lines() {
    std::string lines;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      finished();
      if (writer_ == nullptr) throw std::logic_error("expected a format to be set first");
      lines = producer_->next_lines(*writer_);
    }
    return nb::bytes(lines.data(), lines.size());
  }
  std::tuple<Column<std::uint32_t>, Column<std::uint32_t>, Column<std::uint64_t>> next_pairs() {
    PairColumns found;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      finished();
      found = producer_->next_columns();
    }
    return {column(std::move(found.inputs)), column(std::move(found.outputs)), column(std::move(found.times))};
  }
  std::tuple<Column<std::int32_t>, Column<std::int64_t>> sides() {
    const std::lock_guard<std::mutex> lock(mutex_);
    finished();
    const RankedSides& sides = pairs_->sides();
    std::vector<std::int64_t> offsets;
    offsets.reserve(sides.offsets().size());
    for (const std::size_t one : sides.offsets()) offsets.push_back(static_cast<std::int64_t>(one));
    return {column(std::vector<std::int32_t>(sides.symbols().begin(), sides.symbols().end())),
            column(std::move(offsets))};
  }

  std::uint64_t rules() const { return confused_.counts().rules; }
  std::uint64_t left_out() const { return confused_.counts().left_out; }
  std::uint64_t groups() const { return confused_.counts().groups; }
  std::uint64_t uncapped() const { return confused_.counts().uncapped; }
  std::uint64_t capped() const { return confused_.counts().capped; }
  std::uint64_t without_input() const { return pairs_ == nullptr ? 0 : pairs_->without_input(); }
  std::uint64_t written() const { return producer_ == nullptr ? 0 : producer_->written(); }
  bool spilled() const { return confused_.spilled(); }

 private:
  WordTexts words() const noexcept { return {text_, offsets_}; }
  void finished() const {
    if (pairs_ == nullptr) throw std::logic_error("the confusions are not finished");
  }
  template <class Work>
  void work(const RuleView& rules, Work add) {
    check(rules.level.size() == rules.lhs.size(), "expected a level for each rule");
    const std::size_t offsets = rules.lhs.size() + 1;
    check(rules.source_offsets.size() == offsets && rules.target_offsets.size() == offsets,
          "expected an offset more than rules");
    check_offsets(rules.source_offsets, rules.source.size(), kOffsets);
    check_offsets(rules.target_offsets, rules.target.size(), kOffsets);
    const auto labels = static_cast<std::int64_t>(rules.labels.size());
    check_numbers(rules.lhs, 0, rules.labels.size(), "expected numbers of labels");
    check_numbers(rules.source, -labels, rules.words.size(), "expected numbers of words and labels");
    check_numbers(rules.target, -(std::int64_t{1} << 30U), rules.words.size(), "expected numbers of words and gaps");
    for (const std::int32_t one : rules.words) {
      check(one >= 0, "expected numbers of words from 0");
      words_ = std::max(words_, static_cast<std::size_t>(one) + 1);
    }
    for (const std::int32_t one : rules.labels) check(one >= 0, "expected numbers of labels from 0");
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (pairs_ != nullptr) throw std::logic_error("the confusions are finished");
    add();
  }

  std::mutex mutex_;
  std::uint64_t memory_;
  std::size_t words_ = 0;
  Confused confused_;
  std::vector<char> text_;
  std::vector<std::int64_t> offsets_;
  std::unique_ptr<Pairs> pairs_;
  std::unique_ptr<LineWriter> writer_;
  std::unique_ptr<Producer> producer_;  // declared last, so that it is destroyed before what it uses
};

void raise_disk_error(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const DiskError& error) {
    const nb::tuple arguments = nb::make_tuple(error.number, std::strerror(error.number), error.path);
    PyErr_SetObject(PyExc_OSError, arguments.ptr());
  }
}

}  // namespace

void bind_confusions(nb::module_& m) {
  nb::register_exception_translator(raise_disk_error);
  nb::class_<LockedConfusions>(m, "Confusions", "Collects confusable target sides and produces pairs of them.")
      .def(nb::init<bool, bool, bool, bool, std::uint32_t, std::uint64_t, std::string>(), nb::kw_only(), "same_lhs"_a,
           "glue"_a, "identity"_a, "same_rule"_a, "gaps"_a, "memory"_a, "folder"_a)
      .def("add", &LockedConfusions::add, "lhs"_a, "level"_a, "source"_a, "source_offsets"_a, "target"_a,
           "target_offsets"_a, "words"_a, "labels"_a, "scores"_a,
           "Add the rules of a grammar; words, labels: map its numbers to ours; scores: higher is better.")
      .def("add_edges", &LockedConfusions::add_edges, "lhs"_a, "source"_a, "source_offsets"_a, "target"_a,
           "target_offsets"_a, "words"_a, "labels"_a, "edges"_a, "groups"_a,
           "Add the edges of a graph, as rule numbers, with the offsets of their groups.")
      .def("finish", &LockedConfusions::finish, "cap"_a, "most_often"_a, "wordless"_a, "text"_a, "offsets"_a,
           "End adding; text, offsets: the words.")
      .def("rewind", &LockedConfusions::rewind, "Restart at the first pair.")
      .def("format", &LockedConfusions::format, "format"_a, "label"_a, "cost"_a,
           "Set the format of lines: 0 cdec, 1 Joshua, 2 Moses; cost: the feature name, or empty.")
      .def("next_lines", &LockedConfusions::next_lines, "The next lines, empty at the end.")
      .def("next_pairs", &LockedConfusions::next_pairs,
           "The next inputs, outputs and counts; empty at the end.")
      .def("sides", &LockedConfusions::sides, "The sides that pairs refer to: symbols and offsets.")
      .def_prop_ro("rules", &LockedConfusions::rules, "Rules or edges read.")
      .def_prop_ro("left_out", &LockedConfusions::left_out, "Rules or edges left out.")
      .def_prop_ro("groups", &LockedConfusions::groups)
      .def_prop_ro("uncapped", &LockedConfusions::uncapped, "Pairs, summed over groups.")
      .def_prop_ro("capped", &LockedConfusions::capped, "Pairs after applying the cap.")
      .def_prop_ro("without_input", &LockedConfusions::without_input,
                   "Capped pairs with an input side that no rule can have.")
      .def_prop_ro("written", &LockedConfusions::written, "Distinct pairs written.")
      .def_prop_ro("spilled", &LockedConfusions::spilled, "Whether data beyond the memory limit were kept in a file.");
}

}  // namespace smt::cdlm
