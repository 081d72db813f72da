// The scanners of rules, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "bind_columns.hpp"
#include "bind_scanner.hpp"
#include "bindings.hpp"
#include "cdec.hpp"
#include "moses.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

nb::dict columns_of(RuleTable& table) {
  nb::dict found;
  found["lhs"] = column(table.lhs);
  found["level"] = column(table.level);
  found["source"] = column(table.source);
  found["source_offsets"] = column(table.source_offsets);
  found["target"] = column(table.target);
  found["target_offsets"] = column(table.target_offsets);
  found["features"] = column(table.features);
  found["values"] = column(table.values);
  found["feature_offsets"] = column(table.feature_offsets);
  found["points"] = column(table.points);
  found["point_offsets"] = column(table.point_offsets);
  found["words"] = strings(table.words);
  found["labels"] = strings(table.labels.texts());
  found["names"] = strings(table.names.texts());
  return found;
}

}  // namespace

void bind_rules(nb::module_& m) {
  using Cdec = Locked<CdecScanner>;
  bind_scanner<CdecScanner>(m, "CdecScanner", "Read a cdec grammar into columns; fed in pieces of any size.",
                            columns_of)
      .def(
          "__init__",
          [](Cdec* self, std::size_t max_line, std::size_t max_symbols, std::size_t max_features) {
            new (self) Cdec(RuleLimits{max_line, max_symbols, max_features});
          },
          "max_line"_a, "max_symbols"_a, "max_features"_a)
      .def_prop_ro(
          "levels", [](const Cdec& self) { return self.scanner().levels(); },
          "The most leading blanks that the line that could not be read may have.")
      .def_prop_ro(
          "is_bad_refinement", [](const Cdec& self) { return self.scanner().is_bad_refinement(); },
          "Whether that line's only error is that it does not refine the rule before it.");

  using Moses = Locked<MosesScanner>;
  bind_scanner<MosesScanner>(m, "MosesScanner",
                             "Read a Moses phrase table or rule table into columns; fed in pieces of any size.",
                             columns_of)
      .def(
          "__init__",
          [](Moses* self, std::size_t max_line, std::size_t max_symbols, std::size_t max_features, bool gaps,
             std::string prefix) {
            new (self) Moses(RuleLimits{max_line, max_symbols, max_features}, gaps, std::move(prefix));
          },
          "max_line"_a, "max_symbols"_a, "max_features"_a, "gaps"_a, "prefix"_a)
      .def(
          "expect",
          [](Moses& self, const std::vector<std::string>& names) {
            self.apart([&](MosesScanner& scanner) { scanner.expect(names); });
          },
          "names"_a, "Set the names of the scores of every line. Until then no line can be read.")
      .def(
          "add",
          [](Moses& self, const std::string& lhs, const MosesScanner::Symbols& source,
             const MosesScanner::Symbols& target, const std::vector<std::pair<std::string, double>>& features,
             const std::vector<std::pair<int, int>>& points) {
            self.apart([&](MosesScanner& scanner) { scanner.add(lhs, source, target, features, points); });
          },
          "lhs"_a, "source"_a, "target"_a, "features"_a, "points"_a,
          "Add a rule parsed by Python. A symbol is a word and 0, or a label and a gap index.");
}

}  // namespace smt
