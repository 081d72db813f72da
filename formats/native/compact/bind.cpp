// Moses' compact tables, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "compact/phrase_table.hpp"
#include "compact/reordering_table.hpp"
#include "compact/bind_phrase_rows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using compact::BadTable;

template <class T>
using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::string_view text_of(const Given<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)};
}

template <class T>
nb::object array(std::vector<T> values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* const data = kept->data();
  const std::size_t size = kept->size();
  nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  kept.release();
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

void check(bool good, const char* what) {
  if (!good) throw nb::value_error(what);
}

void raise_bad_table(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const BadTable& bad) {
    const nb::object type = nb::module_::import_("smtformats.errors").attr("FormatError");
    const nb::object error = type(bad.expected, bad.found, "file"_a = bad.file);
    PyErr_SetObject(type.ptr(), error.ptr());
  }
}

// A reordering table with the bytes that it refers to.
class Reordering {
 public:
  explicit Reordering(Given<std::uint8_t> file) : file_(file), table_(text_of(file)) {}
  const compact::ReorderingTable& table() const noexcept { return table_; }

  // Scores row after row; NaN for phrases that are not there.
  nb::object find(const std::vector<std::string>& keys) const {
    std::vector<float> scores(keys.size() * table_.scores());
    {
      nb::gil_scoped_release unlocked;
      for (std::size_t i = 0; i < keys.size(); ++i) write(keys[i], row(scores, i));
    }
    return array(std::move(scores));
  }

  nb::object find_rules(Given<std::uint8_t> words, Given<std::int64_t> word_offsets, Given<std::int32_t> source,
                        Given<std::int64_t> source_offsets, Given<std::int32_t> target,
                        Given<std::int64_t> target_offsets, Given<std::int32_t> chosen, bool paired) const {
    const std::string_view text = text_of(words);
    std::vector<float> scores(chosen.shape(0) * table_.scores());
    {
      nb::gil_scoped_release unlocked;
      std::string key;
      const auto part = [](const Given<std::int64_t>& bounds, std::int64_t i, std::size_t end) {
        check(i >= 0 && static_cast<std::uint64_t>(i) + 1 < bounds.shape(0), "a rule or word is not there");
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t first = bounds(at), last = bounds(at + 1);
        check(first >= 0 && first <= last && static_cast<std::uint64_t>(last) <= end,
              "offsets must rise and not lead out of their column");
        return std::pair{static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
      };
      const auto append = [&](const Given<std::int32_t>& side, const Given<std::int64_t>& bounds, std::int32_t rule) {
        const auto [first, last] = part(bounds, rule, side.shape(0));
        for (std::size_t i = first; i < last; ++i) {
          const auto [begin, end] = part(word_offsets, side(i), text.size());
          if (i > first) key += ' ';
          key += text.substr(begin, end - begin);
        }
        key += " ||| ";
      };
      for (std::size_t i = 0; i < chosen.shape(0); ++i) {
        key.clear();
        append(source, source_offsets, chosen(i));
        if (paired) append(target, target_offsets, chosen(i));
        write(key, row(scores, i));
      }
    }
    return array(std::move(scores));
  }

 private:
  std::span<float> row(std::vector<float>& scores, std::size_t i) const {
    return std::span(scores).subspan(i * table_.scores(), table_.scores());
  }
  void write(std::string_view key, std::span<float> row) const {
    if (!table_.find(key, row)) std::fill(row.begin(), row.end(), std::numeric_limits<float>::quiet_NaN());
  }

  Given<std::uint8_t> file_;
  compact::ReorderingTable table_;
};

void add_rows(PhraseRows& rows, const std::vector<std::string_view>& source, const compact::Translations& translations) {
  rows.begin(source);
  for (const compact::Translation& translation : translations) {
    for (const auto& [s, t] : translation.points) {
      // A phrase found by a wrong fingerprint may have others.
      if (s < source.size() && t < translation.words.size()) rows.point(s, t);
    }
    rows.add(translation.words, translation.scores);
  }
}

// A phrase table with the bytes that it refers to.
class Phrases {
 public:
  explicit Phrases(Given<std::uint8_t> file) : file_(file), table_(text_of(file)) {}
  const compact::PhraseTable& table() const noexcept { return table_; }

  nb::dict find(const std::vector<std::string>& phrases) const {
    PhraseRows rows([this](std::uint32_t word) { return table_.target_word(word); });
    {
      nb::gil_scoped_release unlocked;
      compact::PhraseLookup lookup(table_);
      std::vector<std::string_view> words;
      for (const std::string& phrase : phrases) {
        words.clear();
        for (std::string_view rest = phrase; !rest.empty();) {
          const std::size_t end = std::min(rest.find(' '), rest.size());
          if (end > 0) words.push_back(rest.substr(0, end));
          rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        if (const auto found = lookup.find(words)) add_rows(rows, words, *found);
      }
    }
    return rows.columns();
  }

 private:
  Given<std::uint8_t> file_;
  compact::PhraseTable table_;
};

constexpr const char* kCodings[] = {"None", "REnc", "PREnc"};

}  // namespace

void bind_compact(nb::module_& m) {
  nb::register_exception_translator(raise_bad_table);

  nb::class_<Reordering>(m, "CompactReordering", "A compact reordering table of Moses, in the bytes of its file.")
      .def(nb::init<Given<std::uint8_t>>(), "file"_a,
           nb::sig("def __init__(self, file: numpy.typing.NDArray[numpy.uint8]) -> None"))
      .def("__len__", [](const Reordering& self) { return self.table().size(); })
      .def_prop_ro("scores", [](const Reordering& self) { return self.table().scores(); }, "Scores of each phrase.")
      .def_prop_ro("fingerprint_bits", [](const Reordering& self) { return self.table().fingerprint_bits(); },
                   "Bits of the fingerprints that phrases are known by.")
      .def("find", &Reordering::find, "keys"_a,
           nb::sig("def find(self, keys: Sequence[str]) -> numpy.typing.NDArray[numpy.float32]"),
           "The scores of phrases or pairs of them, each with ` ||| ` after it; NaN for those that are not there.")
      .def("find_rules", &Reordering::find_rules, "words"_a, "word_offsets"_a, "source"_a, "source_offsets"_a,
           "target"_a, "target_offsets"_a, "chosen"_a, "paired"_a,
           nb::sig("def find_rules(self, words: numpy.typing.NDArray[numpy.uint8],"
                   " word_offsets: numpy.typing.NDArray[numpy.int64], source: numpy.typing.NDArray[numpy.int32],"
                   " source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32],"
                   " target_offsets: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int32],"
                   " paired: bool) -> numpy.typing.NDArray[numpy.float32]"),
           "The same for the `chosen` rows of columns; for their source sides if not `paired`.");

  nb::class_<Phrases>(m, "CompactPhrases", "A compact phrase table of Moses, in the bytes of its file.")
      .def(nb::init<Given<std::uint8_t>>(), "file"_a,
           nb::sig("def __init__(self, file: numpy.typing.NDArray[numpy.uint8]) -> None"))
      .def("__len__", [](const Phrases& self) { return self.table().size(); })
      .def_prop_ro("scores", [](const Phrases& self) { return self.table().scores(); }, "Scores of each translation.")
      .def_prop_ro("longest", [](const Phrases& self) { return self.table().longest(); },
                   "Words of the longest source phrase.")
      .def_prop_ro("coding", [](const Phrases& self) { return kCodings[static_cast<int>(self.table().coding())]; },
                   "How target words are written: None, REnc or PREnc.")
      .def_prop_ro("has_alignments", [](const Phrases& self) { return self.table().has_alignments(); },
                   "Whether there are alignment points.")
      .def_prop_ro("fingerprint_bits", [](const Phrases& self) { return self.table().fingerprint_bits(); },
                   "Bits of the fingerprints that source phrases are known by.")
      .def("find", &Phrases::find, "phrases"_a,
           nb::sig("def find(self, phrases: Sequence[str]) -> dict[str, typing.Any]"),
           "The translations of phrases, words separated by single blanks, as arrays of columns.");
}

}  // namespace smt
