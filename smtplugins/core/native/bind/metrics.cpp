// Statistics and scores of metrics, for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "metrics/segments.hpp"
#include "metrics/ngram_gain.hpp"
#include "metrics/tokens_13a.hpp"
#include "metrics/word_posteriors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using Rectangle = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T, std::size_t N>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<N>>;

constexpr std::size_t kMostOrder = 1000;

template <class T, class... Sizes>
auto array(std::unique_ptr<T[]> values, Sizes... sizes) {
  T* const data = values.get();
  return Array<T, sizeof...(Sizes)>(data, {sizes...}, owner_of(std::move(values)));
}

std::size_t product(std::size_t a, std::size_t b) {
  if (b != 0 && a > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(double) / b) throw std::bad_alloc();
  return a * b;
}

// Views of Python strings, kept alive: without the GIL another thread may change the list, but never a string.
class HeldTexts {
 public:
  explicit HeldTexts(const nb::list& list) {
    objects_.reserve(list.size());
    views_.reserve(list.size());
    for (nb::handle item : list) {
      if (!PyUnicode_Check(item.ptr())) throw nb::type_error("a text must be a str");
      objects_.push_back(nb::borrow(item));
      views_.push_back(view_of(item.ptr()));
    }
  }
  std::span<const TextView> views() const noexcept { return views_; }
  std::size_t size() const noexcept { return views_.size(); }

  static TextView view_of(PyObject* text) {
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(text) != 0) throw nb::python_error();
#endif
    return {PyUnicode_DATA(text), static_cast<std::size_t>(PyUnicode_GET_LENGTH(text)),
            static_cast<int>(PyUnicode_KIND(text))};
  }

 private:
  std::vector<nb::object> objects_;
  std::vector<TextView> views_;
};

MetricReferences made(const nb::list& segments, std::shared_ptr<const MetricKind> kind) {
  check(segments.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()), "too many segments");
  std::vector<HeldTexts> held;
  held.reserve(segments.size());
  for (nb::handle texts : segments) {
    if (!PyList_Check(texts.ptr())) throw nb::type_error("the references of a segment must be a list of str");
    held.emplace_back(nb::borrow<nb::list>(texts));
  }
  MetricReferences references(std::move(kind));
  const nb::gil_scoped_release unlocked;
  for (const HeldTexts& texts : held) {
    for (const TextView& view : texts.views()) references.add(view);
    references.end_segment();
  }
  return references;
}

MetricReferences bleu(const nb::list& references, std::size_t order) {
  check(order >= 1 && order <= kMostOrder, "the order must be from 1 to 1000");
  return made(references, bleu_kind(order));
}

ChrfOptions chrf_options(std::size_t characters, std::size_t words, double beta, bool whitespace, bool eps_smoothing) {
  check(characters >= 1 && characters <= kMostOrder && words <= kMostOrder, "orders must be from 1 to 1000");
  check(std::isfinite(beta), "beta must be finite");
  return {characters, words, beta, whitespace, eps_smoothing};
}

MetricReferences chrf(const nb::list& references, std::size_t characters, std::size_t words, double beta,
                      bool whitespace, bool eps_smoothing) {
  return made(references, chrf_kind(chrf_options(characters, words, beta, whitespace, eps_smoothing)));
}

MetricReferences error_rate(const nb::list& references, bool characters) {
  return made(references, error_rate_kind(characters));
}

MetricReferences ter(const nb::list& references) { return made(references, ter_kind()); }

MetricReferences gtm(const nb::list& references, double exponent) {
  check(std::isfinite(exponent) && exponent >= 1.0, "the exponent must be 1 or more");
  return made(references, gtm_kind(exponent));
}

using Segments = std::optional<Input<std::int32_t>>;

// A copy: whoever has the array may change it.
std::vector<std::int32_t> numbers_of(const MetricReferences& references, const Segments& given, std::size_t size) {
  std::vector<std::int32_t> segments(size);
  if (given.has_value()) {
    check(given->shape(0) == size, "expected the number of a segment for each hypothesis");
    segments.assign(given->data(), given->data() + size);
  } else {
    check(references.size() == size, "expected as many hypotheses as segments");
    for (std::size_t i = 0; i < size; ++i) segments[i] = static_cast<std::int32_t>(i);
  }
  for (const std::int32_t segment : segments) {
    const bool known = segment >= 0 && static_cast<std::size_t>(segment) < references.size();
    check(known, "expected numbers of segments, found one without a segment");
  }
  return segments;
}

Array<double, 2> stats(const MetricReferences& references, const nb::list& hypotheses, const Segments& given,
                       int threads) {
  check(threads >= 1, "threads must be 1 or more");
  const HeldTexts texts(hypotheses);
  const std::vector<std::int32_t> segments = numbers_of(references, given, texts.size());
  const std::size_t width = references.width();
  auto rows = std::make_unique_for_overwrite<double[]>(product(texts.size(), width));
  {
    const nb::gil_scoped_release unlocked;
    references.stats(texts.views(), segments, threads, rows.get());
  }
  return array(std::move(rows), texts.size(), width);
}

Array<double, 2> stats_of_ids(const MetricReferences& references, Input<std::int64_t> offsets,
                              Input<std::int32_t> ids, const Segments& given, int threads) {
  check(threads >= 1, "threads must be 1 or more");
  const MetricKind& kind = references.kind();
  check(kind.characters == MetricKind::Characters::kNone && kind.words == MetricKind::Words::kPlain,
        "this metric needs texts: it does not look at words alone");
  const std::size_t bounds = offsets.shape(0);
  const std::vector<std::int64_t> ends(offsets.data(), offsets.data() + bounds);
  const std::vector<std::int32_t> words(ids.data(), ids.data() + ids.shape(0));
  bool good = bounds > 0 && ends.front() == 0 && ends.back() == static_cast<std::int64_t>(words.size());
  for (std::size_t i = 1; good && i < bounds; ++i) good = ends[i - 1] <= ends[i];
  check(good, "offsets must increase from 0 to the number of ids");
  const std::vector<std::int32_t> segments = numbers_of(references, given, bounds - 1);
  const std::size_t width = references.width();
  auto rows = std::make_unique_for_overwrite<double[]>(product(bounds - 1, width));
  {
    const nb::gil_scoped_release unlocked;
    references.stats_of_ids(ends, words, segments, threads, rows.get());
  }
  return array(std::move(rows), bounds - 1, width);
}

Array<double, 3> matrix(const MetricReferences& references, const nb::list& hypotheses, int threads) {
  check(threads >= 1, "threads must be 1 or more");
  const HeldTexts texts(hypotheses);
  const std::size_t width = references.width();
  auto rows = std::make_unique_for_overwrite<double[]>(product(product(texts.size(), references.size()), width));
  {
    const nb::gil_scoped_release unlocked;
    references.matrix(texts.views(), threads, rows.get());
  }
  return array(std::move(rows), texts.size(), references.size(), width);
}

Array<double, 2> aggregate(const MetricReferences& references, const nb::list& hypotheses, Input<double> given) {
  const std::vector<double> weights(given.data(), given.data() + given.shape(0));
  for (const double weight : weights) {
    check(std::isfinite(weight) && weight >= 0, "weights must be finite and not negative");
  }
  const HeldTexts texts(hypotheses);
  const std::size_t width = references.width();
  auto rows = std::make_unique_for_overwrite<double[]>(product(texts.size(), width));
  {
    const nb::gil_scoped_release unlocked;
    references.aggregate(texts.views(), weights, rows.get());
  }
  return array(std::move(rows), texts.size(), width);
}

Array<std::int32_t, 1> word_numbers(const MetricReferences& references, const nb::list& words) {
  const HeldTexts texts(words);
  auto numbers = std::make_unique_for_overwrite<std::int32_t[]>(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    numbers[i] = with_characters(texts.views()[i], [&](auto word) { return references.vocabulary().find(word); });
  }
  return array(std::move(numbers), texts.size());
}

nb::str tokens_13a(const nb::str& text) {
  return with_characters(HeldTexts::view_of(text.ptr()), [](auto characters) {
    using Character = typename decltype(characters)::value_type;
    std::vector<Character> tokens;
    tokenize_13a(characters, tokens);
    PyObject* const joined = PyUnicode_FromKindAndData(static_cast<int>(sizeof(Character)), tokens.data(),
                                                       static_cast<Py_ssize_t>(tokens.size()));
    if (joined == nullptr) throw nb::python_error();
    return nb::steal<nb::str>(joined);
  });
}

template <class Score>
Array<double, 1> scores_of(const Rectangle& stats, std::size_t width, Score score) {
  check(stats.shape(1) == width, "expected rows of statistics of this metric's width");
  const std::size_t size = stats.shape(0);
  auto scores = std::make_unique_for_overwrite<double[]>(size);
  {
    const nb::gil_scoped_release unlocked;
    for (std::size_t i = 0; i < size; ++i) scores[i] = score(stats.data() + i * width);
  }
  return array(std::move(scores), size);
}

Array<double, 1> bleu_scores(Rectangle stats, std::size_t order, const std::string& smooth_method, double smooth_value,
                             bool effective_order) {
  check(order >= 1 && order <= kMostOrder, "the order must be from 1 to 1000");
  BleuOptions options{order, BleuOptions::Smoothing::kNone, smooth_value, effective_order};
  if (smooth_method == "floor") {
    options.smoothing = BleuOptions::Smoothing::kFloor;
  } else if (smooth_method == "add-k") {
    options.smoothing = BleuOptions::Smoothing::kAddK;
  } else if (smooth_method == "exp") {
    options.smoothing = BleuOptions::Smoothing::kExp;
  } else {
    check(smooth_method == "none", "the smoothing method must be none, floor, add-k or exp");
  }
  return scores_of(stats, 2 + 2 * order, [&](const double* row) { return bleu_score(row, options); });
}

Array<double, 1> chrf_scores(Rectangle stats, std::size_t characters, std::size_t words, double beta, bool eps_smoothing) {
  const ChrfOptions options = chrf_options(characters, words, beta, false, eps_smoothing);
  return scores_of(stats, 3 * (characters + words), [&](const double* row) { return chrf_score(row, options); });
}

std::shared_ptr<GainScorer> gain_scorer(const std::vector<Input<std::int32_t>>& references, Input<double> gains) {
  check(gains.shape(0) >= 2 && gains.shape(0) <= kMostOrder + 1, "expected a gain for a word and for each order");
  const std::vector<double> values(gains.data(), gains.data() + gains.shape(0));
  for (const double gain : values) check(std::isfinite(gain), "gains must be finite");
  std::vector<std::vector<std::int32_t>> held;
  for (const Input<std::int32_t>& words : references) {
    held.emplace_back(words.data(), words.data() + words.shape(0));
    for (const std::int32_t word : held.back()) check(word >= 0, "words of references are numbers from 0");
  }
  const std::vector<NgramIndex::Symbols> texts(held.begin(), held.end());
  return std::make_shared<GainScorer>(texts, values);
}

auto posteriors_of(Input<std::int32_t> words, Input<std::int64_t> offsets, Input<double> probabilities) {
  const std::vector<std::int32_t> ids = values_of(words);
  const std::vector<std::int64_t> bounds = values_of(offsets);
  const std::vector<double> weights = values_of(probabilities);
  check_offsets(bounds, ids.size(), "offsets must increase from 0 to the number of words");
  check(weights.size() + 1 == bounds.size(), "expected a probability for each text");
  std::vector<double> sums;
  {
    nb::gil_scoped_release unlocked;
    sums = word_posteriors({ids, bounds}, weights);
  }
  auto values = std::make_unique<double[]>(sums.size());
  std::copy(sums.begin(), sums.end(), values.get());
  return array(std::move(values), sums.size());
}

}  // namespace

void bind_metrics(nb::module_& m) {
  nb::class_<MetricReferences>(m, "MetricReferences", "References of segments, for one metric.")
      .def_static("bleu", &bleu, "references"_a, "order"_a = 4,
                  nb::sig("def bleu(references: list[list[str]], order: int = 4) -> MetricReferences"),
                  "Rows: length, closest reference length, matches of each order, n-grams of each order.")
      .def_static("chrf", &chrf, "references"_a, "characters"_a = 6, "words"_a = 0, "beta"_a = 2.0,
                  "whitespace"_a = false, "eps_smoothing"_a = false,
                  nb::sig("def chrf(references: list[list[str]], characters: int = 6, words: int = 0,"
                          " beta: float = 2.0, whitespace: bool = False, eps_smoothing: bool = False)"
                          " -> MetricReferences"),
                  "Rows: for each order n-grams of the hypothesis, of the best reference, matches; characters first.")
      .def_static("error_rate", &error_rate, "references"_a, "characters"_a = false,
                  nb::sig("def error_rate(references: list[list[str]], characters: bool = False) -> MetricReferences"),
                  "Rows: edits and length of the reference with the fewest edits per word or character.")
      .def_static("ter", &ter, "references"_a,
                  nb::sig("def ter(references: list[list[str]]) -> MetricReferences"),
                  "Rows: edits, with shifts, of the reference that needs the fewest; mean length of the references.")
      .def_static("gtm", &gtm, "references"_a, "exponent"_a = 1.0,
                  nb::sig("def gtm(references: list[list[str]], exponent: float = 1.0) -> MetricReferences"),
                  "Rows: match size, length, length of the reference with the best F.")
      .def("__len__", &MetricReferences::size)
      .def_prop_ro("width", &MetricReferences::width, "The length of a row.")
      .def("stats", &stats, "hypotheses"_a, "segments"_a = nb::none(), "threads"_a = 1,
           nb::sig("def stats(self, hypotheses: list[str], segments: numpy.typing.NDArray[numpy.int32] | None = None,"
                   " threads: int = 1) -> numpy.typing.NDArray[numpy.float64]"),
           "A row for each hypothesis against the references of its segment; by default hypothesis i is of segment i.")
      .def("stats_of_ids", &stats_of_ids, "offsets"_a, "ids"_a, "segments"_a = nb::none(), "threads"_a = 1,
           nb::sig("def stats_of_ids(self, offsets: numpy.typing.NDArray[numpy.int64],"
                   " ids: numpy.typing.NDArray[numpy.int32],"
                   " segments: numpy.typing.NDArray[numpy.int32] | None = None, threads: int = 1)"
                   " -> numpy.typing.NDArray[numpy.float64]"),
           "A row for each hypothesis of word `numbers`: hypothesis i is ids[offsets[i]:offsets[i + 1]].")
      .def("numbers", &word_numbers, "words"_a,
           nb::sig("def numbers(self, words: list[str]) -> numpy.typing.NDArray[numpy.int32]"),
           "The references' ids of words, -1 for words in no reference.")
      .def("matrix", &matrix, "hypotheses"_a, "threads"_a = 1,
           nb::sig("def matrix(self, hypotheses: list[str], threads: int = 1)"
                   " -> numpy.typing.NDArray[numpy.float64]"),
           "Rows of each hypothesis against each segment: hypotheses x segments x width.")
      .def("aggregate", &aggregate, "hypotheses"_a, "weights"_a,
           nb::sig("def aggregate(self, hypotheses: list[str], weights: numpy.typing.NDArray[numpy.float64])"
                   " -> numpy.typing.NDArray[numpy.float64]"),
           "A row for each hypothesis against the weighted mean of all references; for BLEU and chrF.");
  m.def("word_posteriors", &posteriors_of, "words"_a, "offsets"_a, "probabilities"_a,
        nb::sig("def word_posteriors(words: numpy.typing.NDArray[numpy.int32],"
                " offsets: numpy.typing.NDArray[numpy.int64], probabilities: numpy.typing.NDArray[numpy.float64])"
                " -> numpy.typing.NDArray[numpy.float64]"),
        "For each word the probability of the texts that have it where a Levenshtein alignment puts it.");
  m.def("tokenize_13a", &tokens_13a, "text"_a,
        "The tokens of mteval-v13a with single blanks between them, as by sacrebleu's tokenizer 13a.");
  m.def("bleu_scores", &bleu_scores, "stats"_a, "order"_a, "smooth_method"_a, "smooth_value"_a, "effective_order"_a,
        nb::sig("def bleu_scores(stats: numpy.typing.NDArray[numpy.float64], order: int, smooth_method: str,"
                " smooth_value: float, effective_order: bool) -> numpy.typing.NDArray[numpy.float64]"),
        "BLEU of each row.");
  m.def("chrf_scores", &chrf_scores, "stats"_a, "characters"_a, "words"_a, "beta"_a, "eps_smoothing"_a,
        nb::sig("def chrf_scores(stats: numpy.typing.NDArray[numpy.float64], characters: int, words: int, beta: float,"
                " eps_smoothing: bool) -> numpy.typing.NDArray[numpy.float64]"),
        "chrF of each row.");
  nb::class_<GainScorer, Scorer>(m, "GainScorer", "Fixed gains of words and of n-grams of references.")
      .def(nb::new_(&gain_scorer), "references"_a, "gains"_a)
      .def(
          "set_gain",
          [](GainScorer& scorer, Input<std::int32_t> ngram, double gain) {
            check(std::isfinite(gain), "gains must be finite");
            scorer.set_gain({ngram.data(), ngram.shape(0)}, gain);
          },
          "ngram"_a, "gain"_a, "Set the gain of an n-gram of the references. Not during a search.")
      .def(
          "set_words",
          [](GainScorer& scorer, Input<std::int32_t> words) {
            scorer.set_words(std::vector<std::int32_t>(words.data(), words.data() + words.shape(0)));
          },
          "words"_a, "The references' ids of the words of target sides, negative for none. Not during a search.");
}

}  // namespace smt
