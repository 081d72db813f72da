// The reader of ProbingPT folders, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "bind_columns.hpp"
#include "bindings.hpp"
#include "probing/rows.hpp"
#include "probing/sources.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<T> span(const Array<T>& array) {
  return {array.data(), array.size()};
}

// Checks that offsets rise from 0 to the number of items.
void check(std::span<const std::int64_t> offsets, std::size_t items) {
  bool good = !offsets.empty() && offsets.front() == 0 && static_cast<std::size_t>(offsets.back()) == items;
  for (std::size_t i = 1; good && i < offsets.size(); ++i) good = offsets[i - 1] <= offsets[i];
  if (!good) throw std::invalid_argument("offsets must increase from 0 to the number of items");
}

nb::object hashes(nb::bytes blob, const Array<const std::int64_t>& offsets) {
  const auto bounds = span(offsets);
  check(bounds, blob.size());
  const std::string_view text(blob.c_str(), blob.size());
  Growing<std::uint64_t> found;
  for (std::size_t i = 1; i < bounds.size(); ++i) {
    const auto first = static_cast<std::size_t>(bounds[i - 1]);
    found.push(probing_hash(text.substr(first, static_cast<std::size_t>(bounds[i]) - first)));
  }
  return column(found);
}

nb::dict rows(const Array<const std::uint8_t>& data, std::size_t scores) {
  ProbingRows read;
  {
    nb::gil_scoped_release unlocked;
    read = probing_rows({reinterpret_cast<const char*>(data.data()), data.size()}, scores);
  }
  nb::dict found;
  found["fault"] = read.fault;
  found["expected"] = read.expected != nullptr ? read.expected : "";
  found["starts"] = column(read.starts);
  found["ends"] = column(read.ends);
  found["places"] = column(read.places);
  found["points"] = column(read.points);
  found["scores"] = column(read.scores);
  found["words"] = column(read.words);
  found["word_ends"] = column(read.word_ends);
  return found;
}

nb::tuple keys(nb::bytes blob, const Array<const std::int64_t>& offsets, const Array<const std::int32_t>& source,
               const Array<const std::int64_t>& source_offsets, const Array<const std::int32_t>& target,
               const Array<const std::int64_t>& target_offsets) {
  check(span(offsets), blob.size());
  check(span(source_offsets), source.size());
  check(span(target_offsets), target.size());
  const auto below = [&](std::int32_t word) { return word >= 0 && static_cast<std::size_t>(word) + 1 < offsets.size(); };
  bool good = source_offsets.size() == target_offsets.size();
  for (const std::int32_t word : span(source)) good = good && below(word);
  for (const std::int32_t word : span(target)) good = good && below(word);
  if (!good) throw std::invalid_argument("phrases must be numbers of words, as many sources as targets");
  Texts found;
  {
    nb::gil_scoped_release unlocked;
    found = probing_keys({blob.c_str(), blob.size()}, span(offsets), {span(source), span(source_offsets)},
                         {span(target), span(target_offsets)});
  }
  return nb::make_tuple(bytes(found.blob), column(found.offsets));
}

std::int64_t logarithms(const Array<float>& scores, bool are_logarithms) {
  nb::gil_scoped_release unlocked;
  return probing_logarithms(scores.data(), scores.size(), are_logarithms);
}

nb::tuple sources(const Array<const std::uint64_t>& keys, const Array<const std::uint64_t>& words,
                  const Array<const std::int32_t>& order, const Array<const std::int64_t>& known, const Array<const std::int32_t>& known_words,
                  const Array<const std::int64_t>& known_offsets, std::size_t longest, std::uint64_t steps) {
  const auto numbers = span(known);
  const auto symbols = span(known_words);
  const auto bounds = span(known_offsets);
  check(bounds, symbols.size());
  bool good = bounds.size() == numbers.size() + 1;
  good = good && order.size() == words.size();
  for (const std::int32_t word : span(order)) good = good && word >= 0 && static_cast<std::size_t>(word) < words.size();
  for (const std::int64_t number : numbers) good = good && number >= 0 && static_cast<std::size_t>(number) < keys.size();
  for (const std::int32_t symbol : symbols) good = good && symbol >= 0 && static_cast<std::size_t>(symbol) < words.size();
  if (!good) throw std::invalid_argument("known phrases must have numbers of keys and words");
  Growing<std::int32_t> found;
  Growing<std::int64_t> offsets;
  {
    nb::gil_scoped_release unlocked;
    ProbingSources phrases(span(keys), span(words), span(order), longest);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto first = static_cast<std::size_t>(bounds[i]);
      phrases.set(static_cast<std::size_t>(numbers[i]), symbols.subspan(first, static_cast<std::size_t>(bounds[i + 1]) - first));
    }
    phrases.find(steps);
    offsets.push(0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      found.append(phrases.phrase(i).data(), phrases.phrase(i).size());
      offsets.push(static_cast<std::int64_t>(found.size()));
    }
  }
  return nb::make_tuple(column(found), column(offsets));
}

}  // namespace

void bind_probing(nb::module_& m) {
  m.def("probing_hashes", &hashes, "blob"_a, "offsets"_a, nb::sig("def probing_hashes(blob: bytes, offsets: typing.Any) -> typing.Any"),
        "The 64-bit hashes of words, as Moses and KenLM compute them.");
  m.def("probing_rows", &rows, "data"_a, "scores"_a, nb::sig("def probing_rows(data: typing.Any, scores: int) -> dict[str, typing.Any]"),
        "Read the target phrases of a ProbingPT folder into arrays; `fault` is the byte of the first bad one, or -1.");
  m.def("probing_keys", &keys, "blob"_a, "offsets"_a, "source"_a, "source_offsets"_a, "target"_a, "target_offsets"_a,
        nb::sig("def probing_keys(blob: bytes, offsets: typing.Any, source: typing.Any, source_offsets: typing.Any, "
                "target: typing.Any, target_offsets: typing.Any) -> tuple[typing.Any, typing.Any]"),
        "Spell phrase pairs as `source ||| target`; return bytes and offsets.");
  m.def("probing_logarithms", &logarithms, "scores"_a, "are_logarithms"_a,
        nb::sig("def probing_logarithms(scores: typing.Any, are_logarithms: bool) -> int"),
        "Convert stored scores to natural logarithms in place; return the position of the first bad one, or -1.");
  m.def("probing_sources", &sources, "keys"_a, "words"_a, "order"_a, "known"_a, "known_words"_a, "known_offsets"_a, "longest"_a, "steps"_a,
        nb::sig("def probing_sources(keys: typing.Any, words: typing.Any, order: typing.Any, known: typing.Any, known_words: typing.Any, "
                "known_offsets: typing.Any, longest: int, steps: int) -> tuple[typing.Any, typing.Any]"),
        "Find the words of source phrases by their keys; return numbers of words and offsets, empty for unknown phrases.");
}

}  // namespace smt
