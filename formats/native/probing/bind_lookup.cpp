// Look-ups in ProbingPT folders, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings.hpp"
#include "compact/bind_phrase_rows.hpp"
#include "probing/lookup.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

template <class T>
using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kMostScores = 20'000;

std::string_view text_of(const Given<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)};
}

void check(bool good, const char* what) {
  if (!good) throw nb::value_error(what);
}

void split(std::string_view phrase, std::vector<std::string_view>& words) {
  words.clear();
  while (!phrase.empty()) {
    const std::size_t end = std::min(phrase.find(' '), phrase.size());
    if (end > 0) words.push_back(phrase.substr(0, end));
    phrase.remove_prefix(std::min(end + 1, phrase.size()));
  }
}

// One side of the rules of a grammar's columns.
class Side {
 public:
  Side(std::string_view text, const Given<std::int64_t>& ends, const Given<std::int32_t>& symbols,
       const Given<std::int64_t>& bounds)
      : text_(text), ends_(ends), symbols_(symbols), bounds_(bounds) {}

  void words(std::int32_t rule, std::vector<std::string_view>& found) const {
    found.clear();
    const auto [first, last] = part(bounds_, rule, symbols_.shape(0));
    for (std::size_t i = first; i < last; ++i) {
      const auto [begin, end] = part(ends_, symbols_(i), text_.size());
      found.push_back(text_.substr(begin, end - begin));
    }
  }

 private:
  static std::pair<std::size_t, std::size_t> part(const Given<std::int64_t>& bounds, std::int64_t i, std::size_t end) {
    check(i >= 0 && static_cast<std::uint64_t>(i) + 1 < bounds.shape(0), "a rule or word is not there");
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t first = bounds(at), last = bounds(at + 1);
    check(first >= 0 && first <= last && static_cast<std::uint64_t>(last) <= end,
          "offsets must rise and not lead out of their column");
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
  }

  std::string_view text_;
  const Given<std::int64_t>& ends_;
  const Given<std::int32_t>& symbols_;
  const Given<std::int64_t>& bounds_;
};

// A table with the bytes that it refers to.
class Lookup {
 public:
  Lookup(Given<std::uint8_t> sources, Given<std::uint8_t> targets, Given<std::uint8_t> alignments,
         Given<std::uint8_t> hashes, Given<std::uint8_t> rows, std::size_t scores, std::size_t others,
         bool are_logarithms)
      : files_{sources, targets, alignments, hashes, rows} {
    check(scores >= 1 && scores <= kMostScores && others <= kMostScores, "too many scores, or none");
    const nb::gil_scoped_release unlocked;
    const auto text = [this](std::size_t i) { return text_of(files_[i]); };
    const ProbingFiles files{text(0), text(1), text(2), text(3), text(4)};
    table_ = std::make_unique<ProbingLookup>(files, scores, others, are_logarithms);
  }
  const ProbingLookup& table() const noexcept { return *table_; }

  nb::dict find(const std::vector<std::string>& phrases) const {
    PhraseRows rows([this](std::uint32_t word) { return table_->target_word(word); });
    {
      const nb::gil_scoped_release unlocked;
      ProbingRows found;
      std::vector<std::string_view> words;
      std::vector<std::size_t> chosen;
      for (std::size_t i = 0; i < phrases.size(); ++i) {
        split(phrases[i], words);
        const auto block = table_->find(words);
        if (!block) continue;
        table_->read(*block, found);
        chosen.push_back(i);
      }
      std::size_t row = 0;
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        split(phrases[chosen[i]], words);
        rows.begin(words);
        for (; row < static_cast<std::size_t>(found.ends[i]); ++row) add(found, row, rows);
      }
    }
    return rows.columns();
  }

  nb::object scores_of(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                       std::size_t first, std::size_t count) const {
    check(sources.size() == targets.size(), "as many sources as targets");
    return pairs(first, count, sources.size(), [&](std::size_t i, auto& one, auto& other) {
      split(sources[i], one);
      split(targets[i], other);
    });
  }

  nb::object scores_of_rules(Given<std::uint8_t> words, Given<std::int64_t> word_offsets, Given<std::int32_t> source,
                             Given<std::int64_t> source_offsets, Given<std::int32_t> target,
                             Given<std::int64_t> target_offsets, Given<std::int32_t> chosen, std::size_t first,
                             std::size_t count) const {
    const std::string_view text = text_of(words);
    const Side from(text, word_offsets, source, source_offsets), to(text, word_offsets, target, target_offsets);
    return pairs(first, count, chosen.shape(0), [&](std::size_t i, auto& one, auto& other) {
      from.words(chosen(i), one);
      to.words(chosen(i), other);
    });
  }

 private:
  void add(const ProbingRows& found, std::size_t row, PhraseRows& rows) const {
    const auto begin = static_cast<std::size_t>(row == 0 ? 0 : found.word_ends[row - 1]);
    const auto end = static_cast<std::size_t>(found.word_ends[row]);
    const auto points = table_->points(found.points[2 * row]);
    for (std::size_t k = 0; k + 1 < points.size(); k += 2) {
      rows.point(static_cast<std::size_t>(points[k]), static_cast<std::size_t>(points[k + 1]));
    }
    std::vector<float> scores(found.scores.data() + row * table_->width(),
                              found.scores.data() + row * table_->width() + table_->scores());
    table_->convert(scores);
    rows.add({found.words.data() + begin, end - begin}, scores);
  }

  // Scores row after row; NaN for pairs that are not there.
  template <class Words>
  nb::object pairs(std::size_t first, std::size_t count, std::size_t size, Words words) const {
    check(count >= 1 && first <= table_->width() && count <= table_->width() - first, "scores that are not there");
    Growing<float> scores;
    {
      const nb::gil_scoped_release unlocked;
      ProbingLookup::Pairs found(*table_, first);
      std::vector<std::string_view> source, target;
      std::vector<float> row(count);
      for (std::size_t i = 0; i < size; ++i) {
        words(i, source, target);
        if (!found.find(source, target, row)) std::fill(row.begin(), row.end(), std::numeric_limits<float>::quiet_NaN());
        scores.append(row.data(), count);
      }
    }
    return column(scores);
  }

  Given<std::uint8_t> files_[5];
  std::unique_ptr<const ProbingLookup> table_;
};

}  // namespace

void bind_probing_lookup(nb::module_& m) {
  nb::class_<Lookup>(m, "ProbingPhrases", "A ProbingPT folder of Moses, in the bytes of its files.")
      .def(nb::init<Given<std::uint8_t>, Given<std::uint8_t>, Given<std::uint8_t>, Given<std::uint8_t>,
                    Given<std::uint8_t>, std::size_t, std::size_t, bool>(),
           "sources"_a, "targets"_a, "alignments"_a, "hashes"_a, "rows"_a, "scores"_a, "others"_a, "are_logarithms"_a,
           nb::sig("def __init__(self, sources: numpy.typing.NDArray[numpy.uint8],"
                   " targets: numpy.typing.NDArray[numpy.uint8], alignments: numpy.typing.NDArray[numpy.uint8],"
                   " hashes: numpy.typing.NDArray[numpy.uint8], rows: numpy.typing.NDArray[numpy.uint8],"
                   " scores: int, others: int, are_logarithms: bool) -> None"))
      .def_prop_ro("source_words", [](const Lookup& self) { return self.table().source_words(); }, "Words of source sides.")
      .def_prop_ro("target_words", [](const Lookup& self) { return self.table().target_words(); }, "Words of target sides.")
      .def_prop_ro("has_rules", [](const Lookup& self) { return self.table().has_rules(); },
                   "Whether there are gaps or labels, as in rules.")
      .def("find", &Lookup::find, "phrases"_a,
           nb::sig("def find(self, phrases: Sequence[str]) -> dict[str, typing.Any]"),
           "The translations of phrases, words separated by single blanks, as arrays of columns.")
      .def("scores_of", &Lookup::scores_of, "sources"_a, "targets"_a, "first"_a, "count"_a,
           nb::sig("def scores_of(self, sources: Sequence[str], targets: Sequence[str], first: int, count: int)"
                   " -> numpy.typing.NDArray[numpy.float32]"),
           "Scores of phrase pairs from the `first` on; NaN for those that are not there.")
      .def("scores_of_rules", &Lookup::scores_of_rules, "words"_a, "word_offsets"_a, "source"_a, "source_offsets"_a,
           "target"_a, "target_offsets"_a, "chosen"_a, "first"_a, "count"_a,
           nb::sig("def scores_of_rules(self, words: numpy.typing.NDArray[numpy.uint8],"
                   " word_offsets: numpy.typing.NDArray[numpy.int64], source: numpy.typing.NDArray[numpy.int32],"
                   " source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32],"
                   " target_offsets: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int32],"
                   " first: int, count: int) -> numpy.typing.NDArray[numpy.float32]"),
           "The same for the `chosen` rows of columns.");
}

}  // namespace smt
