// The language model and its reader, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "arpa.hpp"
#include "bindings.hpp"
#include "lm.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

template <class T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Scores = std::tuple<Column<double>, Column<std::int32_t>>;

template <class T>
Column<T> column(std::unique_ptr<T[]> values, std::size_t size) {
  nb::capsule owner(values.get(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return Column<T>(values.release(), {size}, owner);
}

std::string_view utf8(nb::handle text) {
  if (!PyUnicode_Check(text.ptr())) throw nb::type_error("a sentence must be a str");
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

// A word of an ARPA file may be any bytes.
nb::object decode(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Scores `size` sentences without the interpreter's lock; one(i) scores the i-th.
template <class One>
Scores score_all(std::size_t size, One one) {
  auto probs = std::make_unique<double[]>(size);
  auto unknown = std::make_unique<std::int32_t[]>(size);
  {
    nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < size; ++i) {
      const SentenceScore score = one(i);
      probs[i] = score.prob;
      unknown[i] = score.unknown;
    }
  }
  return {column(std::move(probs), size), column(std::move(unknown), size)};
}

Scores score_sentences(const LanguageModel& model, nb::list sentences, bool bos, bool eos) {
  // A copy: without the lock another thread may change the list.
  std::string text;
  std::vector<std::size_t> offsets{0};
  offsets.reserve(sentences.size() + 1);
  for (nb::handle sentence : sentences) {
    text.append(utf8(sentence));
    offsets.push_back(text.size());
  }
  return score_all(offsets.size() - 1, [&](std::size_t i) {
    return model.score(std::string_view(text).substr(offsets[i], offsets[i + 1] - offsets[i]), bos, eos);
  });
}

Scores score_ids(const LanguageModel& model, Input<std::int32_t> ids, Input<std::int64_t> offsets, bool bos,
                 bool eos) {
  const std::size_t words = ids.shape(0);
  const std::size_t bounds = offsets.shape(0);
  if (bounds == 0 || offsets(0) != 0 || offsets(bounds - 1) != static_cast<std::int64_t>(words)) {
    throw nb::value_error("offsets must run from 0 to the number of ids");
  }
  for (std::size_t i = 1; i < bounds; ++i) {
    if (offsets(i) < offsets(i - 1)) throw nb::value_error("offsets must not fall");
  }
  const auto known = static_cast<std::int64_t>(model.vocabulary().size());
  for (std::size_t i = 0; i < words; ++i) {
    if (ids(i) < 0 || ids(i) >= known) throw nb::value_error("an id is not of this model's vocabulary");
  }
  return score_all(bounds - 1, [&](std::size_t i) {
    const auto begin = offsets(i);
    return model.score(ids.data() + begin, static_cast<std::size_t>(offsets(i + 1) - begin), bos, eos);
  });
}

std::vector<std::tuple<double, int, bool>> full_scores(const LanguageModel& model, nb::str sentence, bool bos,
                                                       bool eos) {
  std::vector<std::tuple<double, int, bool>> scores;
  for (const WordScore& score : model.full_scores(utf8(sentence), bos, eos)) {
    scores.emplace_back(score.prob, score.length, score.unknown);
  }
  return scores;
}

nb::object word(const LanguageModel& model, WordId id) {
  if (id < 0 || static_cast<std::size_t>(id) >= model.vocabulary().size()) {
    throw nb::index_error("the id is not of this model's vocabulary");
  }
  return decode(model.vocabulary().word(id));
}

// The reader may be fed without the interpreter's lock, so it has one of its own.
class LockedReader {
 public:
  void feed(nb::bytes bytes) {
    const std::string_view text(bytes.c_str(), bytes.size());
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    reader_.feed(text);
  }
  LanguageModel finish() {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return reader_.finish();
  }

 private:
  std::mutex mutex_;
  ArpaReader reader_;
};

void raise_arpa_error(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ArpaError& error) {
    const nb::object type = nb::module_::import_("smtplugins.core.lm").attr("ArpaError");
    const nb::object value = type(error.line, decode(error.expected), decode(error.found));
    PyErr_SetObject(type.ptr(), value.ptr());
  }
}

}  // namespace

void bind_lm(nb::module_& m) {
  nb::register_exception_translator(raise_arpa_error);

  nb::class_<LanguageModel>(m, "LanguageModel", "A back-off n-gram language model. Scores are log10.")
      .def_prop_ro("order", &LanguageModel::order, "The length of the longest n-grams.")
      .def_prop_ro("counts", &LanguageModel::counts, "n-grams of each order, as the file's header has them.")
      .def_prop_ro(
          "vocabulary_size", [](const LanguageModel& model) { return model.vocabulary().size(); },
          "The number of words, <unk> included; ids run from 0 (<unk>) to one less.")
      .def(
          "index", [](const LanguageModel& model, nb::str text) { return model.vocabulary().find(utf8(text)); },
          "word"_a, "The id of a word; 0 if it is not known.")
      .def("word", &word, "word_id"_a, nb::sig("def word(self, word_id: int) -> str"), "The word of an id.")
      .def("score_sentences", &score_sentences, "sentences"_a, "bos"_a = true, "eos"_a = true,
           nb::sig("def score_sentences(self, sentences: list[str], bos: bool = True, eos: bool = True)"
                   " -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]"),
           "Each sentence's log10 probability and number of unknown words. Spaces and tabs part words.")
      .def("score_ids", &score_ids, "ids"_a, "offsets"_a, "bos"_a = true, "eos"_a = true,
           nb::sig("def score_ids(self, ids: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64],"
                   " bos: bool = True, eos: bool = True)"
                   " -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]"),
           "The same for word ids: sentence i is ids[offsets[i]:offsets[i + 1]].")
      .def("full_scores", &full_scores, "sentence"_a, "bos"_a = true, "eos"_a = true,
           "For each word its log10 probability, the length of the n-gram that matched, and whether it is "
           "unknown.");

  nb::class_<LockedReader>(m, "ArpaReader",
                           "Reads the text of an ARPA file, fed in pieces of any size. Faults are ArpaErrors.")
      .def(nb::init<>())
      .def("feed", &LockedReader::feed, "data"_a)
      .def("finish", &LockedReader::finish, "The language model; the reader is spent.");
}

}  // namespace smt
