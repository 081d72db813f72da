// What all scanners that go on behind a line they cannot read have for Python.
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

// A scanner may be fed without the interpreter's lock, so it has one of its own.
template <class Scanner>
class Locked {
 public:
  template <class First, class... Args>
    requires(!std::same_as<std::remove_cvref_t<First>, Locked>)
  explicit Locked(First&& first, Args&&... args) : scanner_(std::forward<First>(first), std::forward<Args>(args)...) {}

  // What a function does with the scanner, in which no Python object may be touched.
  template <class Function>
  auto apart(Function function) {
    nanobind::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return function(scanner_);
  }

  // The arrays of what it has read, once.
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
          "data"_a, "The next piece of the file. False at a line that cannot be read; `resume` goes on behind it.")
      .def(
          "resume", [](Self& self) { return self.apart([](Scanner& scanner) { return scanner.resume(); }); },
          "Goes on behind a line that could not be read, as `feed` or `finish` would have.")
      .def(
          "finish", [](Self& self) { return self.apart([](Scanner& scanner) { return scanner.finish(); }); },
          "The end of the file, as `feed`.")
      .def(
          "columns", [columns_of](Self& self) { return self.columns(columns_of); }, nb::sig("def columns(self) -> dict[str, typing.Any]"),
           "The arrays, and each string table as its bytes and offsets. The scanner is spent.")
      .def_prop_ro(
          "fault", [](const Self& self) { return nb::bytes(self.scanner().fault().data(), self.scanner().fault().size()); },
          "The line that could not be read, with its end.")
      .def_prop_ro(
          "lines", [](const Self& self) { return self.scanner().lines(); }, "How many lines were read, that one, too.");
}

}  // namespace smt
