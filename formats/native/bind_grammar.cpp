// The grammar scanner, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "bindings.hpp"
#include "grammar.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

template <class T>
nb::object column(Growing<T>& values) {
  const std::size_t size = values.size();
  T* const data = values.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

nb::object strings(Texts& texts) {
  nb::bytes blob(texts.blob.data() != nullptr ? texts.blob.data() : "", texts.blob.size());
  return nb::make_tuple(blob, column(texts.offsets));
}

// The scanner may be fed without the interpreter's lock, so it has one of its own.
class LockedScanner {
 public:
  LockedScanner(std::size_t max_line, std::size_t max_symbols, std::size_t max_features)
      : scanner_({max_line, max_symbols, max_features}) {}

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
    GrammarTable& table = scanner_.table();
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

  nb::tuple fault() const {
    const GrammarFault& fault = scanner_.fault();
    return nb::make_tuple(fault.line, nb::bytes(fault.text.data(), fault.text.size()), fault.levels, fault.refinement);
  }

  std::uint64_t lines() const { return scanner_.lines(); }

 private:
  std::mutex mutex_;
  GrammarScanner scanner_;
  bool taken_ = false;
};

}  // namespace

void bind_grammar(nb::module_& m) {
  nb::class_<LockedScanner>(m, "GrammarScanner",
                            "Reads the text of a cdec grammar into columns, fed in pieces of any size.")
      .def(nb::init<std::size_t, std::size_t, std::size_t>(), "max_line"_a, "max_symbols"_a, "max_features"_a)
      .def("feed", &LockedScanner::feed, "data"_a, "False at a line that cannot be read; the scanner is then spent.")
      .def("finish", &LockedScanner::finish, "The same at the end of the file.")
      .def("columns", &LockedScanner::columns, nb::sig("def columns(self) -> dict[str, typing.Any]"),
           "The arrays, and each string table as its bytes and offsets. The scanner is spent.")
      .def("fault", &LockedScanner::fault, nb::sig("def fault(self) -> tuple[int, bytes, int, bool]"),
           "The bad line: its number, its bytes, how many leading blanks it might have, whether only that it does not "
           "refine the rule before is wrong with it.")
      .def_prop_ro("lines", &LockedScanner::lines, "How many lines were read.");
}

}  // namespace smt
