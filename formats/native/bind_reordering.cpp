// The scanner of reordering tables, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "bind_columns.hpp"
#include "bind_scanner.hpp"
#include "bindings.hpp"
#include "reordering.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {

void bind_reordering(nb::module_& m) {
  using Self = Locked<ReorderingScanner>;
  const auto columns_of = [](ReorderingRows& rows) {
    nb::dict found;
    found["keys"] = nb::make_tuple(bytes(rows.keys.blob), column(rows.keys.offsets));
    found["values"] = column(rows.values);
    return found;
  };
  bind_scanner<ReorderingScanner>(m, "ReorderingScanner",
                                  "Read a Moses reordering table into columns; fed in pieces of any size.", columns_of)
      .def(nb::init<std::size_t>(), "max_line"_a)
      .def(
          "expect",
          [](Self& self, std::size_t fields, std::size_t numbers) {
            self.apart([=](ReorderingScanner& scanner) { scanner.expect(fields, numbers); });
          },
          "fields"_a, "numbers"_a, "Set the numbers of fields and scores per line. Until then no line can be read.")
      .def(
          "add",
          [](Self& self, std::string_view key, const std::vector<double>& values) {
            self.apart([&](ReorderingScanner& scanner) { scanner.add(key, values); });
          },
          "key"_a, "values"_a, "Add a row parsed by Python.");
}

}  // namespace smt
