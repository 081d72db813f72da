// Upper envelopes and line search, for Python.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "graph/envelope.hpp"
#include "graph/line_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using Rectangle = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Doubles = Input<double>;

std::span<const double> checked(const double* data, std::size_t size, const char* message) {
  bool good = true;
  for (std::size_t i = 0; i < size; ++i) good &= std::abs(data[i]) <= kMostScore;  // false for nan
  if (!good) throw nb::value_error(message);
  return {data, size};
}

constexpr const char* kParted = "offsets must run from 0 to the number of lines";
constexpr const char* kFinite = "values and slopes must be finite numbers, of 1e150 at most";

Rows rows_of(const Rectangle& stats) {
  return {checked(stats.data(), stats.size(), "statistics must be finite numbers"), stats.shape(1)};
}

template <class Function>
auto unlocked(Function function) {
  nb::gil_scoped_release release;
  return function();
}

std::tuple<Column<double>, Column<std::int32_t>> upper_envelope(const Doubles& values, const Doubles& slopes) {
  if (values.shape(0) != slopes.shape(0)) throw nb::value_error("expected one slope for each value");
  if (values.shape(0) == 0) throw nb::value_error("expected lines, found none");
  if (values.shape(0) > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw nb::value_error("more than 2^31 lines");
  }
  const auto at = checked(values.data(), values.size(), kFinite);
  const auto by = checked(slopes.data(), slopes.size(), kFinite);
  Envelope envelope = unlocked([&] {
    Envelope lines;
    EnvelopeSearch().append(at, by, highest(at), {}, lines);
    return lines;
  });
  return {column(std::move(envelope.starts)), column(std::move(envelope.lines))};
}

using GraphFound = std::tuple<Column<double>, Column<double>, Column<double>, Column<std::int64_t>,
                              Column<std::int32_t>>;

GraphFound envelope_of_graph(const Graph& graph, const Doubles& values, const Doubles& slopes) {
  if (values.shape(0) != graph.edges() || slopes.shape(0) != graph.edges()) {
    throw nb::value_error("expected one value and one slope for each edge");
  }
  const auto at = checked(values.data(), values.size(), kFinite);
  const auto by = checked(slopes.data(), slopes.size(), kFinite);
  GraphEnvelope envelope = unlocked([&] { return graph_envelope(graph, at, by); });
  return {column(std::move(envelope.starts)), column(std::move(envelope.values)), column(std::move(envelope.slopes)),
          column(std::move(envelope.edges.offsets)), column(std::move(envelope.edges.values))};
}

using SurfacesFound = std::tuple<Column<std::int64_t>, Column<double>, Column<double>, Column<double>>;

SurfacesFound given(Surfaces surfaces) {
  return {column(std::move(surfaces.offsets)), column(std::move(surfaces.starts)), column(std::move(surfaces.sums)),
          column(std::move(surfaces.present))};
}

// A search and the arrays that it reads.
struct HeldSearch {
  Rectangle table;
  Rectangle stats;
  ListSearch search;
};

void make_search(HeldSearch* self, const Input<std::int64_t>& lists, const Rectangle& table, const Rectangle& stats) {
  check_offsets(view(lists), table.shape(1), kParted);
  const std::int64_t* const end = lists.data() + lists.shape(0);
  if (std::adjacent_find(lists.data(), end, std::greater_equal<>()) != end) {
    throw nb::value_error("expected lists with hypotheses, found a list without hypotheses");
  }
  if (stats.shape(0) != table.shape(1)) throw nb::value_error("expected a row of statistics for each hypothesis");
  if (table.shape(0) == 0) throw nb::value_error("expected features, found none");
  if (table.shape(1) > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw nb::value_error("more than 2^31 hypotheses");
  }
  const auto values = checked(table.data(), table.size(), "features must be finite numbers, of 1e150 at most");
  ListSearch search({lists.data(), end}, values, table.shape(0), rows_of(stats));
  new (self) HeldSearch{table, stats, std::move(search)};
}

SurfacesFound surfaces_of(const HeldSearch& self, const Doubles& weights, const Rectangle& directions,
                          const Doubles& low, const Doubles& high) {
  const std::size_t features = self.search.features();
  if (weights.shape(0) != features || directions.shape(1) != features) {
    throw nb::value_error("expected a weight and a direction for each feature");
  }
  const auto from = checked(weights.data(), weights.size(), "weights must be finite numbers");
  const auto along = checked(directions.data(), directions.size(), "directions must be finite numbers");
  if (low.shape(0) != directions.shape(0) || high.shape(0) != directions.shape(0)) {
    throw nb::value_error("expected a reach for each direction");
  }
  for (std::size_t d = 0; d < directions.shape(0); ++d) {
    if (!(low.data()[d] <= 0.0 && high.data()[d] >= 0.0)) throw nb::value_error("expected a reach that holds 0");
  }
  return given(unlocked([&] { return self.search.surfaces(from, along, view(low), view(high)); }));
}

SurfacesFound surface_of(const Input<std::int64_t>& items, const Doubles& starts, const Input<std::int64_t>& rows,
                         const Rectangle& stats) {
  check_offsets(view(items), starts.shape(0), kParted);
  if (rows.shape(0) != starts.shape(0)) throw nb::value_error("expected one row for each line");
  for (const std::int64_t row : view(rows)) {
    if (row < 0 || row >= static_cast<std::int64_t>(stats.shape(0))) throw nb::value_error("no such row");
  }
  for (const double start : view(starts)) {
    if (std::isnan(start)) throw nb::value_error("starts must be numbers");
  }
  const Rows table = rows_of(stats);
  return given(unlocked([&] {
    Surfaces surfaces;
    add_surface(view(items), view(starts), view(rows), table, surfaces);
    return surfaces;
  }));
}

}  // namespace

void bind_envelopes(nb::module_& m) {
  m.def("upper_envelope", &upper_envelope, "values"_a, "slopes"_a, "The start and index of each line of the envelope.");
  m.def("graph_envelope", &envelope_of_graph, "graph"_a, "values"_a, "slopes"_a,
        "The start, value and slope of each line, and derivations as offsets and edges.");
  nb::class_<HeldSearch>(m, "ListSearch", "N-best lists with dense features, for searches along lines.")
      .def("__init__", &make_search, "lists"_a, "table"_a, "stats"_a)
      .def("surfaces", &surfaces_of, "weights"_a, "directions"_a, "low"_a, "high"_a,
           "Offsets by direction, starts of intervals, sums of statistics, and the sums at t = 0.");
  m.def("summed_surface", &surface_of, "items"_a, "starts"_a, "rows"_a, "stats"_a,
        "The summed statistics along one direction, from consecutive envelopes.");
}

}  // namespace smt
