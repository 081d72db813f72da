// Bindings of vocabularies, target sides and table limits.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "lm/lm_batch.hpp"
#include "grammar/table_limit.hpp"
#include "base/vocabulary.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

Column<float> table_scores(const LanguageModel& model, Input<std::int32_t> target, Input<std::int64_t> offsets,
                           Input<std::uint8_t> text, Input<std::int64_t> text_offsets, bool markers, int threads) {
  check(threads > 0, "threads must be 1 or more");
  std::unique_ptr<float[]> scores;
  const std::span<const std::int64_t> bounds = view(offsets);
  {
    const nb::gil_scoped_release unlocked;
    check_part_offsets(bounds, target.shape(0));
    check_part_offsets(view(text_offsets), text.shape(0));
    const std::span<const std::int32_t> symbols = view(target);
    const std::size_t words = text_offsets.shape(0) - 1;
    std::vector<WordId> ids(words);
    std::string padded(reinterpret_cast<const char*>(text.data()), text.shape(0));
    padded.append(kTextPadding, ' ');
    find_words(model, padded.data(), text_offsets.data(), words, ids.data());
    const auto known = static_cast<std::int64_t>(words);
    check(std::all_of(symbols.begin(), symbols.end(), [known](std::int32_t symbol) { return symbol < known; }),
          "a symbol is not among the words");
    scores = std::make_unique<float[]>(bounds.size() - 1);
    fragment_scores(model, {symbols, bounds, ids}, markers, threads, scores.get());
  }
  return column(std::move(scores), bounds.size() - 1);
}

// Any Python string; lone surrogates are encoded, too.
constexpr const char* kAlone = "surrogatepass";

// Calls visit(text) with the bytes of a string.
template <class Visit>
auto with_text(nb::handle word, Visit visit) {
  if (!PyUnicode_Check(word.ptr())) throw nb::type_error("a word must be a str");
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(word.ptr(), &size);
  if (data != nullptr) return visit(std::string_view(data, static_cast<std::size_t>(size)));
  if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
  PyErr_Clear();
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(word.ptr(), "utf-8", kAlone));
  if (!bytes.is_valid()) throw nb::python_error();
  return visit(std::string_view(PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))));
}

nb::object decoded(std::string_view text) {
  PyObject* const word = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), kAlone);
  if (word == nullptr) throw nb::python_error();
  return nb::steal(word);
}

nb::list ids_of(Vocabulary& vocabulary, nb::iterable words) {
  nb::list ids;
  for (nb::handle word : words) {
    ids.append(with_text(word, [&](std::string_view text) { return vocabulary.add(text); }));
  }
  return ids;
}

Column<std::int32_t> ids_of_table(Vocabulary& vocabulary, Input<std::uint8_t> text, Input<std::int64_t> offsets) {
  check_part_offsets(view(offsets), text.shape(0));
  const std::size_t words = offsets.shape(0) - 1;
  const char* const begin = reinterpret_cast<const char*>(text.data());
  auto ids = std::make_unique_for_overwrite<std::int32_t[]>(words);
  for (std::size_t i = 0; i < words; ++i) {
    const auto size = static_cast<std::size_t>(offsets(i + 1) - offsets(i));
    ids[i] = vocabulary.add({begin + offsets(i), size});
  }
  return column(std::move(ids), words);
}

nb::list words_from(const Vocabulary& vocabulary, std::int32_t first) {
  nb::list words;
  for (std::int32_t number = std::max(first, 0); number < vocabulary.size(); ++number) {
    words.append(decoded(vocabulary.word(number)));
  }
  return words;
}

Column<std::int32_t> model_ids(const Vocabulary& vocabulary, const LanguageModel& model, std::int32_t first) {
  check(first >= 0 && first <= vocabulary.size(), "the first word is not there");
  const auto begin = static_cast<std::size_t>(first);
  const auto words = static_cast<std::size_t>(vocabulary.size()) - begin;
  const std::span<const std::int64_t> ends = vocabulary.ends();
  std::string padded(vocabulary.text().substr(static_cast<std::size_t>(ends[begin])));
  padded.append(kTextPadding, ' ');
  std::vector<std::int64_t> offsets(words + 1);
  for (std::size_t i = 0; i <= words; ++i) offsets[i] = ends[begin + i] - ends[begin];
  auto ids = std::make_unique_for_overwrite<std::int32_t[]>(words);
  find_words(model, padded.data(), offsets.data(), words, ids.get());
  return column(std::move(ids), words);
}

}  // namespace

void bind_grammar(nb::module_& m) {
  // Its methods keep the GIL, so that no two change it at a time.
  nb::class_<Vocabulary>(m, "Vocabulary", "Strings numbered in order of first use.")
      .def(nb::init<>())
      .def("__len__", &Vocabulary::size)
      .def(
          "find",
          [](const Vocabulary& self, nb::str word) {
            return with_text(word, [&](std::string_view text) { return self.find(text); });
          },
          "word"_a, "The number of a string, or -1.")
      .def(
          "id",
          [](Vocabulary& self, nb::str word) {
            return with_text(word, [&](std::string_view text) { return self.add(text); });
          },
          "word"_a, "The number of a string; a new string gets the next number.")
      .def("ids", &ids_of, "words"_a, nb::sig("def ids(self, words: collections.abc.Iterable[str]) -> list[int]"),
           "The numbers of many strings.")
      .def("ids_of_table", &ids_of_table, "text"_a, "offsets"_a,
           nb::sig("def ids_of_table(self, text: numpy.typing.NDArray[numpy.uint8],"
                   " offsets: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.int32]"),
           "The numbers of strings given as UTF-8 bytes.")
      .def("words_from", &words_from, "first"_a, nb::sig("def words_from(self, first: int) -> list[str]"),
           "The strings from a number on.")
      .def("ids_in", &model_ids, "model"_a, "first"_a = 0,
           nb::sig("def ids_in(self, model: LanguageModel, first: int = 0) -> numpy.typing.NDArray[numpy.int32]"),
           "A language model's ids of the strings from a number on.");

  m.def("fragment_scores", &table_scores, "model"_a, "target"_a, "offsets"_a, "text"_a, "text_offsets"_a,
        "markers"_a = true, "threads"_a = 1,
        nb::sig("def fragment_scores(model: LanguageModel, target: numpy.typing.NDArray[numpy.int32],"
                " offsets: numpy.typing.NDArray[numpy.int64], text: numpy.typing.NDArray[numpy.uint8],"
                " text_offsets: numpy.typing.NDArray[numpy.int64], markers: bool = True, threads: int = 1)"
                " -> numpy.typing.NDArray[numpy.float32]"),
        "log10 probability of the words of each target side, summed over runs between gaps; `text` spells the words.");
}

}  // namespace smt
