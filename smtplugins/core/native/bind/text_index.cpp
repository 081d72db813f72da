// Bindings of text look-up.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bind/arrays.hpp"
#include "bind/bindings.hpp"
#include "base/text_index.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view kBar = " ||| ";

TextColumn column_of(const Input<std::uint8_t>& text, const Input<std::int64_t>& offsets) {
  const std::span<const std::int64_t> bounds = view(offsets);
  check(!bounds.empty() && bounds.size() <= most, "there must be an offset more than texts, and fewer than 2^31");
  check(bounds.front() >= 0 && static_cast<std::uint64_t>(bounds.back()) <= text.shape(0) &&
            std::is_sorted(bounds.begin(), bounds.end()),
        "offsets must rise and not lead out of the text");
  return {{reinterpret_cast<const char*>(text.data()), text.shape(0)}, bounds};
}

Column<std::uint64_t> text_slots(Input<std::uint8_t> text, Input<std::int64_t> offsets) {
  auto made = std::make_unique<LargeVector<std::uint64_t>>();
  {
    nb::gil_scoped_release unlocked;
    *made = TextIndex::slots_of(column_of(text, offsets));
  }
  std::uint64_t* const slots = made->data();
  const std::size_t size = made->size();
  return Column<std::uint64_t>(slots, {size}, owner_of(std::move(made)));
}

// An index and the arrays it refers to.
class PairIndex {
 public:
  PairIndex(Input<std::uint8_t> text, Input<std::int64_t> offsets, Input<std::uint64_t> slots)
      : text_(text), offsets_(offsets), slots_(slots), index_(sound(text, offsets, slots)) {}

  Column<std::int32_t> find(nb::sequence sources, std::optional<nb::sequence> targets) const {
    const std::size_t size = nb::len(sources);
    check(!targets || nb::len(*targets) == size, "there must be as many targets as sources");
    auto rows = std::make_unique_for_overwrite<std::int32_t[]>(size);
    std::string key;
    for (std::size_t i = 0; i < size; ++i) {
      key.clear();
      const bool known = append(key, sources[i]) && (!targets || (key.append(kBar), append(key, (*targets)[i])));
      rows[i] = known ? index_.find(key) : TextIndex::none;
    }
    return column(std::move(rows), size);
  }

  Column<std::int32_t> find_rules(Input<std::uint8_t> words, Input<std::int64_t> word_offsets, Input<std::int32_t> source,
                                 Input<std::int64_t> source_offsets, Input<std::int32_t> target,
                                 Input<std::int64_t> target_offsets, Input<std::int32_t> chosen, bool paired) const {
    const TextColumn texts = column_of(words, word_offsets);
    const std::size_t size = chosen.shape(0);
    auto rows = std::make_unique_for_overwrite<std::int32_t[]>(size);
    {
      nb::gil_scoped_release unlocked;
      std::string key;
      const auto append = [&](const Input<std::int32_t>& side, const Input<std::int64_t>& bounds, std::size_t rule) {
        check(rule + 1 < bounds.shape(0), "a rule is not there");
        const std::int64_t first = bounds(rule), last = bounds(rule + 1);
        check(first >= 0 && first <= last && static_cast<std::size_t>(last) <= side.shape(0),
              "offsets must rise and not lead out of the symbols");
        for (auto at = static_cast<std::size_t>(first); at < static_cast<std::size_t>(last); ++at) {
          check(side(at) >= 0 && static_cast<std::size_t>(side(at)) < texts.size(), "a phrase must have words alone");
          if (at > static_cast<std::size_t>(first)) key += ' ';
          key += texts[static_cast<std::size_t>(side(at))];
        }
      };
      for (std::size_t i = 0; i < size; ++i) {
        check(chosen(i) >= 0, "a rule is not there");
        const auto rule = static_cast<std::size_t>(chosen(i));
        key.clear();
        append(source, source_offsets, rule);
        if (paired) {
          key.append(kBar);
          append(target, target_offsets, rule);
        }
        rows[i] = index_.find(key);
      }
    }
    return column(std::move(rows), size);
  }

 private:
  static TextIndex sound(const Input<std::uint8_t>& text, const Input<std::int64_t>& offsets,
                         const Input<std::uint64_t>& slots) {
    nb::gil_scoped_release unlocked;
    const TextColumn texts = column_of(text, offsets);
    check(TextIndex::is_sound(view(slots), texts.size()), "the slots are not those of the texts");
    return {texts, view(slots)};
  }

  // False if the string cannot be UTF-8: then no file contains it.
  static bool append(std::string& key, nb::handle text) {
    if (!PyUnicode_Check(text.ptr())) throw nb::type_error("a phrase must be a str");
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) {
      if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
      PyErr_Clear();
      return false;
    }
    key.append(data, static_cast<std::size_t>(size));
    return true;
  }

  Input<std::uint8_t> text_;
  Input<std::int64_t> offsets_;
  Input<std::uint64_t> slots_;
  TextIndex index_;
};

}  // namespace

void bind_text_index(nb::module_& m) {
  m.def("text_slots", &text_slots, "text"_a, "offsets"_a,
        nb::sig("def text_slots(text: numpy.typing.NDArray[numpy.uint8], offsets: numpy.typing.NDArray[numpy.int64])"
                " -> numpy.typing.NDArray[numpy.uint64]"),
        "A hash table of texts, as an array that can be cached. Of equal texts the last counts.");

  nb::class_<PairIndex>(m, "PairIndex", "Look up phrase pairs, `source ||| target`, or phrases among texts.")
      .def(nb::init<Input<std::uint8_t>, Input<std::int64_t>, Input<std::uint64_t>>(), "text"_a, "offsets"_a, "slots"_a,
           nb::sig("def __init__(self, text: numpy.typing.NDArray[numpy.uint8],"
                   " offsets: numpy.typing.NDArray[numpy.int64], slots: numpy.typing.NDArray[numpy.uint64]) -> None"),
           "`slots` is the result of `text_slots` for the texts.")
      .def("find", &PairIndex::find, "sources"_a, "targets"_a.none(),
           nb::sig("def find(self, sources: Sequence[str], targets: Sequence[str] | None)"
                   " -> numpy.typing.NDArray[numpy.int32]"),
           "The numbers of phrase pairs, or of phrases without targets; -1 for missing ones.")
      .def("find_rules", &PairIndex::find_rules, "words"_a, "word_offsets"_a, "source"_a, "source_offsets"_a, "target"_a,
           "target_offsets"_a, "chosen"_a, "paired"_a,
           nb::sig("def find_rules(self, words: numpy.typing.NDArray[numpy.uint8],"
                   " word_offsets: numpy.typing.NDArray[numpy.int64], source: numpy.typing.NDArray[numpy.int32],"
                   " source_offsets: numpy.typing.NDArray[numpy.int64], target: numpy.typing.NDArray[numpy.int32],"
                   " target_offsets: numpy.typing.NDArray[numpy.int64], chosen: numpy.typing.NDArray[numpy.int32],"
                   " paired: bool) -> numpy.typing.NDArray[numpy.int32]"),
           "The numbers of the `chosen` rows of columns as phrase pairs; of their source sides if not `paired`.");
}

}  // namespace smt
