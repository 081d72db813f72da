// Features of plugins that are tables of C functions, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/bindings.hpp"
#include "search/table_scorer.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

std::string_view utf8(nb::handle text) {
  if (!PyUnicode_Check(text.ptr())) throw nb::type_error("expected a str");
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

// A C string: no NUL before its end.
std::string c_text(nb::handle text) {
  const std::string_view bytes = utf8(text);
  if (bytes.find('\0') != std::string_view::npos) throw nb::value_error("a text for features in C holds a NUL");
  return std::string(bytes);
}

std::vector<std::string> c_texts(const nb::list& texts) {
  std::vector<std::string> strings;
  for (nb::handle text : texts) strings.push_back(c_text(text));
  return strings;
}

void add_words(WordTexts& own, std::size_t first, const nb::list& words) {
  std::vector<std::string_view> views;
  for (nb::handle word : words) views.push_back(utf8(word));
  own.add(first, views);
}

// The table lives as long as its capsule, and this pointer keeps the capsule.
std::shared_ptr<const smt_feature_v1> prototype_of(nb::handle capsule) {
  if (!PyCapsule_IsValid(capsule.ptr(), SMT_FEATURE_V1_NAME)) {
    throw nb::type_error("expected a capsule named " SMT_FEATURE_V1_NAME);
  }
  const auto* const table =
      static_cast<const smt_feature_v1*>(PyCapsule_GetPointer(capsule.ptr(), SMT_FEATURE_V1_NAME));
  PyObject* const owner = nb::borrow(capsule).release().ptr();
  return {table, [owner](const smt_feature_v1*) {
            if (Py_IsInitialized() == 0) return;
            const nb::gil_scoped_acquire locked;
            Py_DECREF(owner);
          }};
}

// `release`, as all functions of a table, is called without the GIL.
struct Unlocked {
  void operator()(TableScorer* scorer) const {
    if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) {
      const nb::gil_scoped_release unlocked;
      delete scorer;
    } else {
      delete scorer;
    }
  }
};

std::shared_ptr<TableScorer> make_table_scorer(nb::handle capsule, const std::string& name) {
  std::shared_ptr<const smt_feature_v1> prototype = prototype_of(capsule);
  const nb::gil_scoped_release unlocked;
  return {new TableScorer(name, std::move(prototype)), Unlocked{}};
}

void start(TableScorer& scorer, nb::handle id, const nb::list& tokens, const nb::list& names, const nb::list& values,
           WordTexts& words) {
  if (names.size() != values.size()) throw nb::value_error("expected as many names of annotations as values");
  scorer.start(std::make_shared<const SentenceTexts>(c_text(id), c_texts(tokens), c_texts(names), c_texts(values),
                                                     words.shared_from_this()));
}

// A feature's message may be any bytes.
void raise_fault(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const FeatureFault& fault) {
    const std::string_view said = fault.what();
    const nb::object text =
        nb::steal(PyUnicode_DecodeUTF8(said.data(), static_cast<Py_ssize_t>(said.size()), "replace"));
    if (!text.is_valid()) return;
    PyErr_SetObject(nb::module_::import_("smtplugins.core.search.stateful_search").attr("NativeFault").ptr(), text.ptr());
  }
}

}  // namespace

void bind_table_scorer(nb::module_& m) {
  nb::register_exception_translator(raise_fault);

  nb::class_<WordTexts>(m, "WordTexts", "The words of ids, for features in C.")
      .def(nb::new_([] { return std::make_shared<WordTexts>(); }))
      .def("add", &add_words, "first"_a, "words"_a, nb::sig("def add(self, first: int, words: list[str]) -> None"),
           "Add words with the numbers from `first` on; numbers that have a word are skipped.")
      .def_prop_ro("serial", [](const WordTexts& own) { return own.table().serial; })
      .def("__len__", &WordTexts::size);

  nb::class_<TableScorer, Scorer>(m, "TableScorer", "The scorer of a feature in C, a function table (smt_feature.h).")
      .def(nb::new_(&make_table_scorer), "capsule"_a, "name"_a)
      .def("start", &start, "id"_a, "tokens"_a, "names"_a, "values"_a, "words"_a,
           nb::sig("def start(self, id: str, tokens: list[str], names: list[str], values: list[str],"
                   " words: WordTexts) -> None"),
           "Start this sentence for the next search; names and values are annotations.")
      .def_prop_ro("names", &TableScorer::names, "Names of the components.");
}

}  // namespace smt
