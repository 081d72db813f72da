// Bindings of phrase extraction.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/sort.hpp"
#include "bind/bindings.hpp"
#include "bind/extraction.hpp"
#include "extract/bitext.hpp"
#include "extract/lexical.hpp"
#include "extract/phrases.hpp"
#include "extract/tables.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

// Extraction, classes of columns, previous, next, with the target side.
using TableSpec = std::tuple<std::size_t, std::vector<std::vector<std::size_t>>, bool, bool, bool>;

// Sentence pair, first and last source word, first and last target word.
using Rows = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
constexpr std::size_t kStretchFields = 5;

class LockedExtraction : public LockedExtractor<PhraseExtractor> {
 public:
  LockedExtraction(int max_length, const std::vector<int>& orientations, bool skip_bad, bool count_words,
                   bool keep_lines, std::uint64_t memory, std::string folder)
      : LockedExtractor(memory, std::move(folder), checked(max_length, orientations), skip_bad, count_words),
        plain_(orientations == std::vector<int>(kExtractions, 0)) {
    extractor_.keep_lines(keep_lines);
  }

  void feed_stretches(const nb::bytes& source, const nb::bytes& target, const nb::bytes& links, Rows rows) {
    const std::string_view source_text = view(source), target_text = view(target), link_text = view(links);
    if (rows.shape(1) != kStretchFields) throw nb::value_error("expected five numbers for each stretch");
    if (!plain_) throw nb::value_error("expected no orientations with given stretches: they have no orientations");
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    check_open();
    std::vector<PlacedStretch> stretches(rows.shape(0));
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const std::int32_t* const row = rows.data() + kStretchFields * i;
      if (row[0] < 0) throw std::invalid_argument("sentence pairs are numbered from 0");
      stretches[i] = {static_cast<std::uint64_t>(row[0]), {row[1], row[2], row[3], row[4]}};
    }
    extractor_.feed(source_text, target_text, link_text, stretches);
  }
  std::vector<nb::bytes> take_lines() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<nb::bytes> all;
    for (const std::string& lines : extractor_.take_lines()) all.push_back(bytes_of(lines));
    return all;
  }
  void count_lexical() { count_words(LexicalCounting::kMoses); }
  void finish(int smoothing, const std::vector<TableSpec>& tables, double reordering_smoothing, double penalty) {
    if (smoothing < 0 || smoothing > 2) throw nb::value_error("no such smoothing");
    std::vector<ReorderingTable> wanted;
    for (const auto& [extraction, columns, before, behind, with_target] : tables) {
      if (extraction >= kExtractions || columns.empty() || columns.size() > 4) throw nb::value_error("no such table");
      ReorderingTable table{extraction, {}, before, behind, with_target};
      for (const std::vector<std::size_t>& column : columns) {
        table.classes.emplace_back();
        for (const std::size_t orientation : column) {
          if (orientation > 3) throw nb::value_error("no such orientation");
          table.classes.back().push_back(static_cast<Orientation>(orientation));
        }
      }
      wanted.push_back(std::move(table));
    }
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    finish_counting();
    tables_ = std::make_unique<PhraseTables>(extractor_, forward_, backward_, static_cast<Smoothing>(smoothing),
                                             std::move(wanted), reordering_smoothing, penalty, memory_, folder_);
  }
  std::optional<std::vector<nb::bytes>> next(std::size_t bytes) {
    bool more = false;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (tables_ == nullptr) throw std::logic_error("the extraction is not finished");
      more = tables_->next(bytes);
    }
    if (!more) return std::nullopt;
    std::vector<nb::bytes> all = {bytes_of(tables_->phrases())};
    for (const std::string& lines : tables_->reordering()) all.push_back(bytes_of(lines));
    return all;
  }

  std::uint64_t occurrences() const { return extractor_.pairs().occurrences(); }
  std::uint64_t pairs() const { return tables_ == nullptr ? 0 : tables_->pairs(); }

 private:
  static PhraseOptions checked(int max_length, const std::vector<int>& orientations) {
    if (max_length < 1 || max_length > kMaxPhraseLength) throw nb::value_error("phrases have 1 to 255 words");
    if (orientations.size() != kExtractions) throw nb::value_error("a kind of orientation for each extraction is needed");
    PhraseOptions options;
    options.max_length = max_length;
    for (std::size_t i = 0; i < kExtractions; ++i) {
      if (orientations[i] < 0 || orientations[i] > 3) throw nb::value_error("no such kind of orientation");
      options.orientations[i] = static_cast<OrientationKind>(orientations[i]);
    }
    return options;
  }

  bool plain_;
  std::unique_ptr<PhraseTables> tables_;
};

// A word of the text may be any bytes.
nb::object decode(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

void raise_errors(const std::exception_ptr& thrown, void* /*unused*/) {
  const auto raise = [](const nb::handle& type, const nb::object& arguments) {
    const nb::object value = nb::steal(PyObject_CallObject(type.ptr(), arguments.ptr()));
    if (value.is_valid()) PyErr_SetObject(type.ptr(), value.ptr());
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const BitextError& error) {
    raise(nb::module_::import_("smtplugins.core.extract.phrase_pairs").attr("BadBitext"),
          nb::make_tuple(error.side, error.line, decode(error.expected), decode(error.found)));
  } catch (const SmoothingError& error) {
    raise(nb::module_::import_("smtplugins.core.extract.phrase_pairs").attr("NoSmoothing"), nb::make_tuple(error.what()));
  } catch (const DiskError& error) {
    raise(PyExc_OSError, nb::make_tuple(error.number, std::strerror(error.number), error.path));
  }
}

}  // namespace

void bind_extract(nb::module_& m) {
  nb::register_exception_translator(raise_errors);

  nb::class_<LockedExtraction> bound(m, "PhraseExtraction", "Extract the phrase pairs of word-aligned text into tables.");
  bound.def(nb::init<int, std::vector<int>, bool, bool, bool, std::uint64_t, std::string>(), "max_length"_a,
            "orientations"_a, "skip_bad"_a, "count_words"_a, "keep_lines"_a, "memory"_a, "folder"_a,
            "orientations: for word-based, phrase-based and hierarchical extraction 0 none, 1 monotonicity, 2 msd, 3 mslr.");
  bind_extractor(bound);
  bound.def("feed_stretches", &LockedExtraction::feed_stretches, "source"_a, "target"_a, "links"_a, "stretches"_a,
            "Feed lines of which only these stretches are phrase pairs: rows of sentence pair (from 0, in this call), "
            "first and last source word, first and last target word, in the order of the pairs.")
      .def("take_lines", &LockedExtraction::take_lines, "New lines of Moses' files extract, extract.inv and extract.o.")
      .def("count_lexical", &LockedExtraction::count_lexical, "Make lexical tables from the counted words.")
      .def("finish", &LockedExtraction::finish, "smoothing"_a, "tables"_a, "reordering_smoothing"_a,
           "penalty"_a = 0.0,
           "Finish counting. smoothing: 0 none, 1 Good-Turing, 2 Kneser-Ney. tables: extraction, the orientations of "
           "each column, whether there are columns for the previous and the next phrase, and whether the target side "
           "counts. penalty: a last score of each phrase pair, unless it is 0.")
      .def("next", &LockedExtraction::next, "bytes"_a,
           "More lines of the phrase table and of each reordering table, or None.")
      .def_prop_ro("occurrences", &LockedExtraction::occurrences, "The number of phrase pair occurrences.")
      .def_prop_ro("pairs", &LockedExtraction::pairs, "The number of distinct phrase pairs.");
}

}  // namespace smt
