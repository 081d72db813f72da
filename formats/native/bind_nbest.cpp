// The scanner of n-best lists, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bind_columns.hpp"
#include "bindings.hpp"
#include "nbest/list_scanner.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

ListDialect dialect_of(std::string_view name) {
  if (name == "cdec") return ListDialect::kCdec;
  if (name == "moses") return ListDialect::kMoses;
  throw std::invalid_argument("expected cdec or moses as dialect");
}

// The scanner is fed without the GIL, so it has a lock of its own.
class LockedListScanner {
 public:
  LockedListScanner(std::string_view dialect, std::size_t max_line) : scanner_(dialect_of(dialect), max_line) {}

  bool feed(nb::bytes bytes) {
    const std::string_view text(bytes.c_str(), bytes.size());
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return scanner_.feed(text);
  }

  bool finish() {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return scanner_.finish();
  }

  nb::dict columns() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(taken_, true)) throw std::logic_error("the columns were taken already");
    ListTable& table = scanner_.table();
    nb::dict found;
    found["ids"] = strings(table.ids);
    found["offsets"] = column(table.offsets);
    found["lines"] = column(table.lines);
    found["texts"] = strings(table.texts);
    found["names"] = strings(table.names.texts());
    found["features"] = column(table.features);
    found["values"] = column(table.values);
    found["feature_offsets"] = column(table.feature_offsets);
    found["totals"] = column(table.totals);
    nb::dict extras;
    constexpr const char* kNames[] = {"segmentation", "alignment", "tree", "input"};
    for (std::size_t i = 0; i < kExtras; ++i) {
      if (table.extras[i].there) extras[kNames[i]] = strings(table.extras[i].texts);
    }
    found["extras"] = extras;
    return found;
  }

  nb::tuple fault() const {
    const ListFault& fault = scanner_.fault();
    return nb::make_tuple(fault.lines, nb::bytes(fault.unread.data(), fault.unread.size()));
  }

  std::uint64_t lines() const { return scanner_.lines(); }

 private:
  std::mutex mutex_;
  ListScanner scanner_;
  bool taken_ = false;
};

}  // namespace

void bind_nbest(nb::module_& m) {
  nb::class_<LockedListScanner>(m, "ListScanner", "Read n-best lists into columns; fed in pieces of any size.")
      .def(nb::init<std::string_view, std::size_t>(), "dialect"_a, "max_line"_a)
      .def("feed", &LockedListScanner::feed, "data"_a,
           "Scan the next piece of the file. False at a line left to the record parser; the scanner is then closed.")
      .def("finish", &LockedListScanner::finish, "End the file; returns like `feed`.")
      .def("columns", &LockedListScanner::columns, nb::sig("def columns(self) -> dict[str, typing.Any]"),
           "Return the arrays, and each string table as bytes and offsets. Can be called once.")
      .def("fault", &LockedListScanner::fault, nb::sig("def fault(self) -> tuple[int, bytes]"),
           "Return where it stopped: the number of lines before, and the text after them.")
      .def_prop_ro("lines", &LockedListScanner::lines, "The number of lines read.");
}

}  // namespace smt
