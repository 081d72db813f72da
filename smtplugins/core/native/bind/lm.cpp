// The language model and its readers, for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "lm/arpa.hpp"
#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "lm/kenlm_file.hpp"
#include "lm/lm.hpp"
#include "lm/lm_batch.hpp"
#include "search/rule_score.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using Scores = std::tuple<Column<double>, Column<std::int32_t>>;
using States = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>;
using StatesInput = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::string_view utf8(nb::handle text, const char* what) {
  if (!PyUnicode_Check(text.ptr())) throw nb::type_error(what);
  Py_ssize_t size = 0;
  const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (data == nullptr) throw nb::python_error();
  return {data, static_cast<std::size_t>(size)};
}

// A word of a file may be any bytes.
nb::object decode(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// Concatenated strings. A copy: without the GIL another thread may change the list.
struct Texts {
  Texts(const nb::list& list, const char* what) {
    offsets.reserve(list.size() + 1);
    for (nb::handle item : list) {
      text.append(utf8(item, what));
      offsets.push_back(static_cast<std::int64_t>(text.size()));
    }
    text.append(kTextPadding, ' ');
  }
  std::size_t size() const noexcept { return offsets.size() - 1; }

  std::string text;
  std::vector<std::int64_t> offsets{0};
};

void check_threads(int threads) {
  if (threads < 1) throw nb::value_error("threads must be 1 or more");
}

void check_ids(const LanguageModel& model, const std::int32_t* ids, std::size_t size) {
  const auto known = static_cast<std::uint32_t>(model.words());
  std::uint32_t greatest = 0;
  for (std::size_t i = 0; i < size; ++i) greatest = std::max(greatest, static_cast<std::uint32_t>(ids[i]));
  if (greatest >= known) throw nb::value_error("an id is not of this model's vocabulary");
}

// score(scores) without the GIL.
template <class Score>
Scores score_all(std::size_t size, Score score) {
  auto probs = std::make_unique<double[]>(size);
  auto unknown = std::make_unique<std::int32_t[]>(size);
  {
    const nb::gil_scoped_release unlocked;
    score(SentenceScores{probs.get(), unknown.get()});
  }
  return {column(std::move(probs), size), column(std::move(unknown), size)};
}

Scores score_sentences(const LanguageModel& model, const nb::list& sentences, bool bos, bool eos, int threads) {
  check_threads(threads);
  const Texts texts(sentences, "a sentence must be a str");
  return score_all(texts.size(), [&](SentenceScores scores) {
    score_texts(model, texts.text.data(), texts.offsets.data(), texts.size(), bos, eos, threads, scores);
  });
}

Scores score_arrays(const LanguageModel& model, Input<std::int32_t> ids, Input<std::int64_t> offsets, bool bos, bool eos,
                 int threads) {
  check_threads(threads);
  const std::size_t words = ids.shape(0);
  const std::size_t bounds = offsets.shape(0);
  if (bounds == 0 || offsets(0) != 0 || offsets(bounds - 1) != static_cast<std::int64_t>(words)) {
    throw nb::value_error("offsets must run from 0 to the number of ids");
  }
  for (std::size_t i = 1; i < bounds; ++i) {
    if (offsets(i) < offsets(i - 1)) throw nb::value_error("offsets must not fall");
  }
  check_ids(model, ids.data(), words);
  return score_all(bounds - 1, [&](SentenceScores scores) {
    score_ids(model, ids.data(), offsets.data(), bounds - 1, bos, eos, threads, scores);
  });
}

std::vector<std::tuple<double, int, bool>> full_scores(const LanguageModel& model, const nb::str& sentence, bool bos,
                                                       bool eos) {
  std::vector<std::tuple<double, int, bool>> scores;
  for (const WordScore& score : model.full_scores(utf8(sentence, "a sentence must be a str"), bos, eos)) {
    scores.emplace_back(score.prob, score.length, score.unknown);
  }
  return scores;
}

WordId id(const LanguageModel& model, const nb::str& word) { return model.find(utf8(word, "a word must be a str")); }

nb::object word(const LanguageModel& model, WordId id) {
  if (!model.has_spellings()) throw nb::value_error("the file came without the words");
  if (id < 0 || static_cast<std::size_t>(id) >= model.words()) {
    throw nb::index_error("the id is not of this model's vocabulary");
  }
  return decode(model.word(id));
}

Column<std::int32_t> ids(const LanguageModel& model, const nb::list& words) {
  const Texts texts(words, "a word must be a str");
  auto ids = std::make_unique<WordId[]>(texts.size());
  {
    const nb::gil_scoped_release unlocked;
    find_words(model, texts.text.data(), texts.offsets.data(), texts.size(), ids.get());
  }
  return column(std::move(ids), texts.size());
}

// A right state by itself, and as a row of an array: the length, the words, the bits of the back-offs.
using State = LanguageModel::State;

bool fits(const State& state, const LanguageModel& model) { return state.length < model.order(); }

std::tuple<double, State> score_word(const LanguageModel& model, const State& state, WordId word) {
  check_ids(model, &word, 1);
  if (!fits(state, model)) throw nb::value_error("the state is of a model of higher order");
  State next;
  const float prob = step(model.tables(), state, word, next).prob;
  return {prob, next};
}

std::size_t width(const LanguageModel& model) { return 2 * static_cast<std::size_t>(model.order()) - 1; }

void write_row(const State& state, std::size_t context, std::int32_t* row) {
  std::fill(row, row + 1 + 2 * context, 0);
  row[0] = state.length;
  for (std::size_t i = 0; i < state.length; ++i) {
    row[1 + i] = state.words[i];
    row[1 + context + i] = std::bit_cast<std::int32_t>(state.backoff[i]);
  }
}

void read_row(const std::int32_t* row, std::size_t context, State& state) {
  state.length = static_cast<std::uint8_t>(row[0]);
  for (std::size_t i = 0; i < state.length; ++i) {
    state.words[i] = row[1 + i];
    state.backoff[i] = std::bit_cast<float>(row[1 + context + i]);
  }
}

States states(const LanguageModel& model, std::size_t size, bool bos) {
  const std::size_t columns = width(model);
  if (size > PTRDIFF_MAX / sizeof(std::int32_t) / columns) throw nb::value_error("too many states");
  const State state = model.begin(bos);
  auto rows = std::make_unique<std::int32_t[]>(size * columns);
  for (std::size_t i = 0; i < size; ++i) write_row(state, columns / 2, &rows[i * columns]);
  std::int32_t* const data = rows.get();
  return States(data, {size, columns}, owner_of(std::move(rows)));
}

std::tuple<Column<float>, States> step_all(const LanguageModel& model, StatesInput states, Input<std::int32_t> words) {
  const std::size_t size = words.shape(0);
  const std::size_t columns = width(model);
  const std::size_t context = columns / 2;
  if (states.shape(0) != size || states.shape(1) != columns) {
    throw nb::value_error("states must have a row for each word and this model's number of columns");
  }
  check_ids(model, words.data(), size);
  for (std::size_t i = 0; i < size; ++i) {
    if (states(i, 0) < 0 || static_cast<std::size_t>(states(i, 0)) > context) {
      throw nb::value_error("a row is not a state of this model");
    }
  }
  auto probs = std::make_unique<float[]>(size);
  auto rows = std::make_unique<std::int32_t[]>(size * columns);
  {
    const nb::gil_scoped_release unlocked;
    constexpr std::size_t kBatch = 32;
    const LmTables& lm = model.tables();
    State before[kBatch];
    State after;
    for (std::size_t first = 0; first < size; first += kBatch) {
      const std::size_t count = std::min(kBatch, size - first);
      for (std::size_t i = 0; i < count; ++i) {
        read_row(states.data() + (first + i) * columns, context, before[i]);
        prefetch_step(lm, before[i], words(first + i));
      }
      for (std::size_t i = 0; i < count; ++i) {
        probs[first + i] = step(lm, before[i], words(first + i), after).prob;
        write_row(after, context, &rows[(first + i) * columns]);
      }
    }
  }
  std::int32_t* const data = rows.get();
  return {column(std::move(probs), size), States(data, {size, columns}, owner_of(std::move(rows)))};
}

// A chart state with the model that its pointers belong to.
struct Fragment {
  nb::object model;
  std::variant<ChartState<4>, ChartState<6>, ChartState<kMaxOrder>> state;
};

std::tuple<double, Fragment> score_rule(const nb::object& self, const std::vector<WordId>& symbols,
                                        const std::vector<const Fragment*>& gaps, bool bos) {
  const auto& model = nb::cast<const LanguageModel&>(self);
  model.begin(bos);  // checks
  for (const Fragment* gap : gaps) {
    if (gap == nullptr || !gap->model.is(self)) throw nb::value_error("a gap's state is not of this model");
  }
  for (const WordId symbol : symbols) {
    if (symbol >= 0) check_ids(model, &symbol, 1);
    if (symbol < 0 && static_cast<std::size_t>(-1 - static_cast<std::int64_t>(symbol)) >= gaps.size()) {
      throw nb::value_error("symbol -1 - k is a gap that has no state");
    }
  }
  return for_order(model.order(), [&](auto order) {
    constexpr int kOrder = decltype(order)::value;
    ChartState<kOrder> state;
    RuleScorer<kOrder> scorer(model.tables(), state);
    if (bos) scorer.begin_sentence();
    for (const WordId symbol : symbols) {
      if (symbol >= 0) {
        scorer.terminal(symbol);
      } else {
        scorer.gap(std::get<ChartState<kOrder>>(gaps[static_cast<std::size_t>(-1 - symbol)]->state));
      }
    }
    const double score = scorer.finish();
    return std::make_tuple(score, Fragment{self, state});
  });
}

// The reader may be fed without the GIL, so it has one of its own.
class LockedReader {
 public:
  void feed(const nb::bytes& bytes) {
    const std::string_view text(bytes.c_str(), bytes.size());
    const nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    reader_.feed(text);
  }
  LanguageModel finish() {
    const nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    return reader_.finish();
  }

 private:
  std::mutex mutex_;
  ArpaReader reader_;
};

void raise_os_error(const std::system_error& error, const std::string& path) {
  const nb::object value = nb::module_::import_("builtins").attr("OSError")(error.code().value(),
                                                                          error.code().message(), nb::str(path.c_str()));
  PyErr_SetObject(value.type().ptr(), value.ptr());
  throw nb::python_error();
}

LanguageModel load_binary(const std::string& path, bool copy) {
  try {
    const nb::gil_scoped_release unlocked;
    return KenlmFile::load(path, copy);
  } catch (const std::system_error& error) {
    raise_os_error(error, path);
  }
  return {};
}

void write_binary(const LanguageModel& model, const std::string& path) {
  try {
    const nb::gil_scoped_release unlocked;
    KenlmFile::write(model, path);
  } catch (const std::system_error& error) {
    raise_os_error(error, path);
  }
}

void raise_file_error(const std::exception_ptr& thrown, void* /*unused*/) {
  const auto raise = [](const char* name, const auto&... values) {
    const nb::object type = nb::module_::import_("smtplugins.core.lm.ngram_model").attr(name);
    const nb::object value = type(values...);
    PyErr_SetObject(type.ptr(), value.ptr());
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const ArpaError& error) {
    raise("ArpaError", error.line, decode(error.expected), decode(error.found));
  } catch (const KenlmFileError& error) {
    raise("KenlmFileError", decode(error.expected), decode(error.found));
  }
}

}  // namespace

void bind_lm(nb::module_& m) {
  nb::register_exception_translator(raise_file_error);

  nb::class_<State>(m, "LmState", "The words that a language model needs to score the next word.")
      .def("__eq__", [](const State& a, const State& b) { return a == b; }, nb::is_operator(),
           nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const State& state) { return static_cast<Py_hash_t>(hash(state) >> 1U); })
      .def_prop_ro(
          "words", [](const State& state) { return std::vector<WordId>(state.words, state.words + state.length); },
          "The ids of the words, the latest first.");

  nb::class_<Fragment>(m, "LmChartState",
                       "A chart state: what a language model needs of a string to score the words before and after it.")
      .def(
          "__eq__", [](const Fragment& a, const Fragment& b) { return a.model.is(b.model) && a.state == b.state; },
          nb::is_operator(),
           nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Fragment& fragment) {
        return std::visit([](const auto& state) { return static_cast<Py_hash_t>(hash(state) >> 1U); },
                          fragment.state);
      })
      .def_prop_ro(
          "open", [](const Fragment& fragment) {
            return std::visit([](const auto& state) { return static_cast<int>(state.left.length); }, fragment.state);
          },
          "The number of first words whose probabilities may depend on preceding words.")
      .def_prop_ro(
          "full", [](const Fragment& fragment) {
            return std::visit([](const auto& state) { return state.left.full; }, fragment.state);
          },
          "Whether the words after the string are independent of the words before it.")
      .def_prop_ro(
          "words",
          [](const Fragment& fragment) {
            return std::visit(
                [](const auto& state) {
                  return std::vector<WordId>(state.right.words, state.right.words + state.right.length);
                },
                fragment.state);
          },
          "The ids of the last words on which following words may depend, the latest first.");

  nb::class_<LanguageModel>(m, "LanguageModel", "A back-off n-gram language model. Scores are log10.")
      .def_prop_ro("order", &LanguageModel::order, "The length of the longest n-grams.")
      .def_prop_ro("counts", &LanguageModel::counts, "n-grams of each order, as the file's header has them.")
      .def_prop_ro("has_words", &LanguageModel::has_spellings, "Whether the file has the words, and not only hashes.")
      .def_prop_ro("kind", &LanguageModel::kind, "The kind of KenLM file that it is, or would be written as.")
      .def_prop_ro("vocabulary_size", &LanguageModel::words,
                   "The number of words, <unk> included; ids run from 0 (<unk>) to one less.")
      .def("id", &id, "word"_a, "The id of a word; 0 if it is not known.")
      .def("ids", &ids, "words"_a,
           nb::sig("def ids(self, words: list[str]) -> numpy.typing.NDArray[numpy.int32]"), "The ids of many words.")
      .def("word", &word, "word_id"_a, nb::sig("def word(self, word_id: int) -> str"), "The word of an id.")
      .def("score_sentences", &score_sentences, "sentences"_a, "bos"_a = true, "eos"_a = true, "threads"_a = 1,
           nb::sig("def score_sentences(self, sentences: list[str], bos: bool = True, eos: bool = True,"
                   " threads: int = 1)"
                   " -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]"),
           "Each sentence's log10 probability and number of unknown words. Spaces and tabs separate words.")
      .def("score_ids", &score_arrays, "ids"_a, "offsets"_a, "bos"_a = true, "eos"_a = true, "threads"_a = 1,
           nb::sig("def score_ids(self, ids: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int64],"
                   " bos: bool = True, eos: bool = True, threads: int = 1)"
                   " -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]"),
           "Score sentences of word ids: sentence i is ids[offsets[i]:offsets[i + 1]].")
      .def("full_scores", &full_scores, "sentence"_a, "bos"_a = true, "eos"_a = true,
           "For each word its log10 probability, the length of the matched n-gram, and whether it is "
           "unknown.")
      .def("begin_state", [](const LanguageModel& model) { return model.begin(true); }, "The state after <s>.")
      .def("null_state", [](const LanguageModel&) { return State(); }, "The state without words.")
      .def("score_word", &score_word, "state"_a, "word_id"_a,
           "The log10 probability of a word after a state, and the state after the word.")
      .def("states", &states, "size"_a, "bos"_a = true,
           nb::sig("def states(self, size: int, bos: bool = True) -> numpy.typing.NDArray[numpy.int32]"),
           "Begin states (null states without `bos`) as rows of an array. The first `order` numbers of a row, its "
           "length and words, identify the state; the rest are the bits of back-offs.")
      .def("step", &step_all, "states"_a, "words"_a,
           nb::sig("def step(self, states: numpy.typing.NDArray[numpy.int32], words: numpy.typing.NDArray[numpy.int32])"
                   " -> tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int32]]"),
           "The log10 probabilities of words, each after the state in its row, and the states after the words.")
      .def("score_rule", &score_rule, "symbols"_a, "gaps"_a = std::vector<const Fragment*>{}, "bos"_a = false,
           nb::sig("def score_rule(self, symbols: collections.abc.Sequence[int],"
                   " gaps: collections.abc.Sequence[LmChartState] = (), bos: bool = False)"
                   " -> tuple[float, LmChartState]"),
           "The score of words (ids, 0 or more) and gaps (-1 - k stands for gaps[k]) beyond the gaps' own scores, and "
           "the state of the whole. `bos`: <s> precedes them.")
      .def("write_binary", &write_binary, "path"_a, "Write a KenLM probing file, which KenLM loads, too. A model from a KenLM file is written as it was.");

  m.def("load_binary", &load_binary, "path"_a, "copy"_a = false, "Map or copy a KenLM binary file of any kind.");
  nb::class_<LockedReader>(m, "ArpaReader",
                           "Read an ARPA file fed in pieces of any size. Raises ArpaError.")
      .def(nb::init<>())
      .def("feed", &LockedReader::feed, "data"_a)
      .def("finish", &LockedReader::finish, "The language model; the reader is used up.");
}

}  // namespace smt
