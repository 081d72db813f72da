// Python bindings of items and labels of sentence pairs; use labels/items.py and labels/labels.py.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "bind/arrays.hpp"
#include "bindings.hpp"
#include "items.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt::searn {
namespace {

using Rows = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct Found {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> spans, labels, parts;
  std::vector<std::uint8_t> kinds;
};

constexpr std::size_t kSpanFields = 4, kPartFields = 5;

void append(std::vector<std::int32_t>& rows, const Window& window) {
  rows.insert(rows.end(), {window.first_source, window.end_source, window.first_target, window.end_target});
}

class Batch {
 public:
  void add(std::int32_t sources, std::int32_t targets, std::span<const Point> links) {
    finder_.find(sources, targets, links);
    windows_.clear();
    for (const Item& item : finder_.items()) {
      windows_.push_back(item.window);
      append(found_.spans, item.window);
      found_.kinds.push_back(static_cast<std::uint8_t>(item.kind));
    }
    if (labeller_.label(windows_, found_.labels) > 1) throw std::logic_error("expected items that reduce to one");
    for (const Window& part : finder_.parts()) {
      found_.parts.push_back(static_cast<std::int32_t>(found_.offsets.size() - 1));
      append(found_.parts, part);
    }
    found_.offsets.push_back(static_cast<std::int64_t>(found_.kinds.size()));
  }
  Found take() { return std::exchange(found_, {}); }
  const std::vector<std::string>& names() const noexcept { return labeller_.names(); }

 private:
  ItemFinder finder_;
  Labeller labeller_;
  std::vector<Window> windows_;
  Found found_;
};

auto find_items(Input<std::int32_t> sources, Input<std::int32_t> targets, Input<std::int64_t> offsets, Rows links) {
  const std::size_t pairs = sources.shape(0), points = links.shape(0);
  if (targets.shape(0) != pairs || offsets.shape(0) != pairs + 1) throw nb::value_error("expected lengths and links of pairs");
  if (links.shape(1) != 2) throw nb::value_error("expected links of two numbers");
  std::vector<Point> all(points);
  Batch batch;
  Found result;
  {
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < points; ++i) all[i] = {links.data()[2 * i], links.data()[2 * i + 1]};
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::int64_t begin = offsets.data()[i], end = offsets.data()[i + 1];
      if (begin < 0 || end < begin || end > static_cast<std::int64_t>(points)) {
        throw std::invalid_argument("expected offsets that increase from 0 to the number of links");
      }
      if (sources.data()[i] < 0 || targets.data()[i] < 0) throw std::invalid_argument("expected lengths of 0 or more");
      batch.add(sources.data()[i], targets.data()[i],
                std::span(all).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    }
    result = batch.take();
  }
  const std::size_t items = result.kinds.size(), parts = result.parts.size() / kPartFields;
  return std::make_tuple(column(std::move(result.offsets)), table(std::move(result.spans), items, kSpanFields),
                         column(std::move(result.kinds)), column(std::move(result.labels)), batch.names(),
                         table(std::move(result.parts), parts, kPartFields));
}

auto label_spans(const std::vector<std::pair<std::int32_t, std::int32_t>>& targets) {
  std::vector<Window> windows;
  for (const auto& [first, end] : targets) {
    if (first < 0 || end < first) throw std::invalid_argument("expected spans that do not end before they begin");
    windows.push_back({0, 0, first, end});
  }
  Labeller labeller;
  std::vector<std::int32_t> numbers;
  const std::size_t left = labeller.label(windows, numbers);
  std::vector<std::string> labels;
  for (const std::int32_t number : numbers) labels.push_back(labeller.names()[static_cast<std::size_t>(number)]);
  return std::make_tuple(std::move(labels), left);
}

}  // namespace

void bind_items(nb::module_& m) {
  m.def("find_items", &find_items, "sources"_a, "targets"_a, "offsets"_a, "links"_a,
        "Find items of sentence pairs; sources and targets are sentence lengths, offsets where a pair's links begin. "
        "Returns offsets of each pair's items; begin and end of their source and target words; kinds (0 unaligned, "
        "1 linked, 2 crossing, 3 simple); labels as indices into the label names, which follow; parts of items: pair, "
        "begin and end of source and target words.");
  m.def("label_spans", &label_spans, "targets"_a,
        "Labels of items with these target spans (begin, end), and how many remain on the stack.");
}

}  // namespace smt::searn
