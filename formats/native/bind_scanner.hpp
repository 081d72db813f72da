// The Python interface of scanners that can continue after a line they cannot read.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <concepts>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace smt {

// A scanner is fed without the GIL, so it has a lock of its own.
template <class Scanner>
class Locked {
 public:
  template <class First, class... Args>
    requires(!std::same_as<std::remove_cvref_t<First>, Locked>)
  explicit Locked(First&& first, Args&&... args) : scanner_(std::forward<First>(first), std::forward<Args>(args)...) {}

  // Calls a function with the scanner, without the GIL: it must not touch Python objects.
  template <class Function>
  auto apart(Function function) {
    nanobind::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return function(scanner_);
  }

  // Takes the arrays, once.
  template <class Function>
  nanobind::dict columns(Function columns_of) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::exchange(taken_, true)) throw std::logic_error("the columns were taken already");
    return columns_of(scanner_.table());
  }

  const Scanner& scanner() const noexcept { return scanner_; }

 private:
  std::mutex mutex_;
  Scanner scanner_;
  bool taken_ = false;
};

template <class Scanner, class Function>
nanobind::class_<Locked<Scanner>> bind_scanner(nanobind::module_& m, const char* name, const char* doc,
                                               Function columns_of) {
  namespace nb = nanobind;
  using namespace nb::literals;
  using Self = Locked<Scanner>;
  return nb::class_<Self>(m, name, doc)
      .def(
          "feed",
          [](Self& self, nb::bytes data) {
            const std::string_view text(data.c_str(), data.size());
            return self.apart([&](Scanner& scanner) { return scanner.feed(text); });
          },
          "data"_a, "Scan the next piece of the file. False at a line that cannot be read; `resume` continues after it.")
      .def(
          "resume", [](Self& self) { return self.apart([](Scanner& scanner) { return scanner.resume(); }); },
          "Continue after a line that could not be read; returns like `feed` or `finish`.")
      .def(
          "finish", [](Self& self) { return self.apart([](Scanner& scanner) { return scanner.finish(); }); },
          "End the file; returns like `feed`.")
      .def(
          "columns", [columns_of](Self& self) { return self.columns(columns_of); }, nb::sig("def columns(self) -> dict[str, typing.Any]"),
           "Return the arrays, and each string table as bytes and offsets. Can be called once.")
      .def_prop_ro(
          "fault", [](const Self& self) { return nb::bytes(self.scanner().fault().data(), self.scanner().fault().size()); },
          "The line that could not be read, with its newline.")
      .def_prop_ro(
          "lines", [](const Self& self) { return self.scanner().lines(); }, "The number of lines read, including that line.");
}

}  // namespace smt
