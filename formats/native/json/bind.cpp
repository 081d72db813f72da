// JSON lines with n-best lists, for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind_columns.hpp"
#include "bind_scanner.hpp"
#include "bindings.hpp"
#include "json/list_changes.hpp"
#include "json/list_line.hpp"
#include "json/list_scanner.hpp"
#include "json/spelling.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

using json::Item;

// Thrown at what the code in Python has to do, or to word an error for.
struct Unusual {};

// The bytes of a string without lone surrogates.
std::string_view utf8(nb::handle text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    throw Unusual();
  }
  return {bytes, static_cast<std::size_t>(size)};
}

// Calls a function; None if it meets something unusual.
template <class Function>
nb::object usual(Function function) {
  try {
    return function();
  } catch (const Unusual&) {
    return nb::none();
  }
}

void need(bool usual) {
  if (!usual) throw Unusual();
}

nb::object text_object(const char* begin, const char* end) {
  PyObject* const text = PyUnicode_DecodeUTF8(begin, end - begin, nullptr);
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

// A list filled in order; much faster than `append`.
class Filling {
 public:
  explicit Filling(std::size_t size) : list_(nb::steal(PyList_New(static_cast<Py_ssize_t>(size)))) {
    if (!list_.is_valid()) throw nb::python_error();
  }
  void add(nb::object value) { PyList_SET_ITEM(list_.ptr(), at_++, value.release().ptr()); }
  void add(double value) { add(nb::steal(PyFloat_FromDouble(value))); }
  nb::object done() { return std::move(list_); }

 private:
  nb::object list_;
  Py_ssize_t at_ = 0;
};

// Parts of a line, cut from its string: decoding them from bytes takes longer, unless they are ASCII.
class Cutting {
 public:
  Cutting(nb::handle line, const char* begin) : line_(line), at_(begin), ascii_(PyUnicode_IS_ASCII(line.ptr())) {}

  // The part between these; each begins at or after the end of the part before.
  nb::object part(const char* begin, const char* end) {
    if (ascii_) return text_object(begin, end);
    const Py_ssize_t first = place(begin);
    PyObject* const text = PyUnicode_Substring(line_.ptr(), first, place(end));
    if (text == nullptr) throw nb::python_error();
    return nb::steal(text);
  }

 private:
  Py_ssize_t place(const char* p) noexcept {
    chars_ += std::count_if(at_, p, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
    at_ = p;
    return chars_;
  }

  nb::handle line_;
  const char* at_;
  bool ascii_;
  Py_ssize_t chars_ = 0;
};

// Reads the lines of a stream one by one. Used by one thread, with the GIL.
class ListReader {
 public:
  ListReader(json::Names names) : line_(std::move(names)) {}

  nb::object read(nb::str line) {
    const std::string_view text = utf8(line);
    settle(text);
    const char* const begin = text_.data() + json::kFront;
    const char* const end = line_.read(begin);
    need(end != nullptr && end + 1 == text_.data() + text_.size() - kPadding);
    const auto& items = line_.items();
    Filling texts(items.size()), layouts(items.size()), values(items.size()), raw(items.size());
    const bool scored = items.front().has_total;
    Filling totals(scored ? items.size() : 0);
    know_layouts();
    Cutting text_parts(line, begin), raw_parts(line, begin);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Item& item = items[i];
      const std::string_view plain = item.text.text;
      texts.add(item.text.escaped ? decoded(item.text) : text_parts.part(plain.data(), plain.data() + plain.size()));
      const auto layout = static_cast<std::size_t>(item.layout);
      layouts.add(layouts_[layout]);
      const std::size_t count = line_.layouts()[layout].size();
      Filling row(count);
      for (std::size_t k = 0; k < count; ++k) row.add(line_.values()[item.values + k]);
      values.add(row.done());
      if (scored) totals.add(item.total);
      raw.add(raw_parts.part(item.begin, i + 1 < items.size() ? items[i + 1].begin : item.end));
    }
    nb::object id = line_.has_id() ? decoded(line_.id()) : nb::none();
    nb::object source = line_.has_source() ? decoded(line_.source()) : nb::none();
    std::string frame(begin, items.front().begin);
    frame.append(1, '\0').append(items.back().end, begin + text.size());
    nb::object all_totals = scored ? totals.done() : nb::none();
    return nb::make_tuple(id, source, texts.done(), layouts.done(), values.done(), all_totals, extras(),
                          text_object(frame.data(), frame.data() + frame.size()), raw.done());
  }

  // The changed texts of hypotheses, each with what follows it; None where the other code has to do it.
  nb::object change(nb::list elements, nb::list layouts, nb::list values, nb::object kept, nb::object totals) {
    Filling changed(nb::len(elements));
    nb::object last;
    for (std::size_t i = 0; i < nb::len(elements); ++i) {
      const std::string_view element = utf8(elements[i]);
      const std::size_t size = element.find_last_not_of(" \t\r\n,") + 1;
      settle(element.substr(0, size));
      nb::object layout = layouts[i];
      if (!layout.is(last)) {
        change_.keys.clear();
        for (const nb::handle name : layout) json::append_string(change_.keys.emplace_back(), utf8(name));
        for (std::string& key : change_.keys) key += ": ";
        last = layout;
      }
      change_.values.clear();
      for (const nb::handle value : values[i]) change_.values.push_back(nb::cast<double>(value));
      need(change_.values.size() == change_.keys.size());
      change_.kept = kept.is_none() ? change_.keys.size() : nb::cast<std::size_t>(kept[i]);
      const double total = totals.is_none() ? 0 : nb::cast<double>(totals[i]);
      change_.total = totals.is_none() ? nullptr : &total;
      if (change_.total == nullptr && change_.kept == change_.keys.size()) {
        changed.add(text_object(element.data(), element.data() + size));
        continue;
      }
      Item item;
      const char* const begin = text_.data() + json::kFront;
      const char* const end = line_.read_item(begin, item);
      std::string text;
      need(end == begin + size && change_.kept <= change_.keys.size() && json::change_item(item, change_, text));
      changed.add(text_object(text.data(), text.data() + text.size()));
    }
    return changed.done();
  }

 private:
  // Copies a line to where bytes around it can be read, with a newline.
  void settle(std::string_view line) {
    need(!line.empty());
    text_.assign(json::kFront, ' ').append(line);
    if (line.back() != '\n') text_ += '\n';
    text_.append(kPadding, '\0');
  }

  nb::object decoded(const json::String& string) {
    if (!string.escaped) return text_object(string.text.data(), string.text.data() + string.text.size());
    json::decode(string, decoded_);
    return text_object(decoded_.data(), decoded_.data() + decoded_.size());
  }

  void know_layouts() {
    const json::Layouts& known = line_.layouts();
    if (std::exchange(age_, known.age()) != known.age()) layouts_.clear();
    for (std::size_t i = layouts_.size(); i < known.size(); ++i) {
      Filling names(known[i].size());
      for (const std::string& name : known[i]) names.add(text_object(name.data(), name.data() + name.size()));
      layouts_.push_back(nb::steal(PyList_AsTuple(names.done().ptr())));
    }
  }

  nb::dict extras() {
    nb::dict columns;
    const auto& items = line_.items();
    for (const json::Extra& extra : line_.extras()) {
      const nb::object name = text_object(extra.name.data(), extra.name.data() + extra.name.size());
      if (!columns.contains(name)) {
        nb::list empty;
        for (std::size_t i = 0; i < items.size(); ++i) empty.append("");
        columns[name] = empty;
      }
      nb::cast<nb::list>(columns[name])[extra.item] = decoded(extra.value);
    }
    return columns;
  }

  json::ListLine line_;
  std::string text_;
  std::string decoded_;
  std::vector<nb::object> layouts_;
  std::size_t age_ = 0;
  json::Change change_;
};

nb::dict list_columns(json::ListTable& table) {
  nb::dict found;
  found["ids"] = strings(table.ids);
  found["offsets"] = column(table.offsets);
  found["lines"] = column(table.lines);
  found["sources"] = strings(table.sources);
  found["has_source"] = column(table.has_source);
  found["texts"] = strings(table.texts);
  found["names"] = strings(table.names.texts());
  found["features"] = column(table.features);
  found["values"] = column(table.values);
  found["feature_offsets"] = column(table.feature_offsets);
  found["totals"] = column(table.totals);
  nb::dict extras;
  for (json::ListTable::Column& extra : table.extras) extras[extra.name.c_str()] = strings(extra.texts);
  found["extras"] = extras;
  return found;
}

// A line of JSON with a list; None if a number is not finite.
nb::object spell_list(std::string_view head, nb::list texts, nb::object totals, nb::list layouts, nb::list values,
                      nb::list extras) {
  std::string out(head);
  std::vector<std::string> keys;
  nb::object last;
  for (std::size_t i = 0; i < nb::len(texts); ++i) {
    out += i == 0 ? "{\"text\": " : ", {\"text\": ";
    json::append_string(out, utf8(texts[i]));
    nb::object layout = layouts[i], row = values[i];
    if (!layout.is(last)) {
      keys.clear();
      for (const nb::handle name : layout) json::append_string(keys.emplace_back(), utf8(name));
      last = layout;
    }
    bool needed = true;
    if (!totals.is_none()) {
      const double total = nb::cast<double>(totals[i]);
      out += ", \"score\": ";
      need(json::append_number(out, total));
      needed = keys.size() != 1 || keys[0] != "\"score\"" || nb::len(row) != 1 || nb::cast<double>(row[0]) != total;
    }
    if (needed) {
      out += ", \"scores\": {";
      std::size_t k = 0;
      for (const nb::handle value : row) {
        need(k < keys.size());
        out.append(k == 0 ? "" : ", ").append(keys[k]).append(": ");
        need(json::append_number(out, nb::cast<double>(value)));
        ++k;
      }
      need(k == keys.size());
      out += '}';
    }
    for (const nb::handle extra : extras) {
      const std::string_view value = utf8(extra[1][i]);
      if (value.empty()) continue;
      out += ", ";
      json::append_string(out, utf8(extra[0]));
      out += ": ";
      json::append_string(out, value);
    }
    out += '}';
  }
  return text_object(out.data(), out.data() + out.size());
}

json::Names names_of(std::vector<std::string> lists, std::vector<std::string> texts, std::vector<std::string> ids,
                     std::vector<std::string> sources, std::vector<std::string> others) {
  return {std::move(lists), std::move(texts), std::move(ids), std::move(sources), std::move(others)};
}

}  // namespace

void bind_json(nb::module_& m) {
  using Strings = std::vector<std::string>;
  nb::class_<ListReader>(m, "JsonListReader", "Read and change lines of JSON with n-best lists in the usual shape.")
      .def(
          "__init__",
          [](ListReader* self, Strings lists, Strings texts, Strings ids, Strings sources, Strings others) {
            new (self) ListReader(names_of(lists, texts, ids, sources, others));
          },
          "lists"_a, "texts"_a, "ids"_a, "sources"_a, "others"_a)
      .def(
          "read", [](ListReader& self, nb::str line) { return usual([&] { return self.read(line); }); }, "line"_a,
          nb::sig("def read(self, line: str) -> tuple[typing.Any, ...] | None"),
          "Return id, source, texts, layouts, values, totals, extras, frame and raw texts; None for another shape.")
      .def(
          "change",
          [](ListReader& self, nb::list elements, nb::list layouts, nb::list values, nb::object kept,
             nb::object totals) {
            return usual([&] { return self.change(elements, layouts, values, kept, totals); });
          },
          "elements"_a, "layouts"_a, "values"_a, "kept"_a.none(), "totals"_a.none(),
          nb::sig("def change(self, elements: list[str], layouts: list[tuple[str, ...]], values: list[list[float]], "
                  "kept: list[int] | None, totals: list[float] | None) -> list[str] | None"),
          "Write new features and totals into hypotheses; None for another shape or a number that is not finite.");
  m.def(
      "spell_json_list",
      [](std::string_view head, nb::list texts, nb::object totals, nb::list layouts, nb::list values, nb::list extras) {
        return usual([&] { return spell_list(head, texts, totals, layouts, values, extras); });
      },
      "head"_a, "texts"_a, "totals"_a.none(), "layouts"_a, "values"_a, "extras"_a,
      nb::sig("def spell_json_list(head: str, texts: list[str], totals: list[float] | None, "
              "layouts: list[tuple[str, ...]], values: list[list[float]], "
              "extras: list[tuple[str, list[str]]]) -> str | None"),
      "Write hypotheses as JSON objects after a head; None for numbers that are not finite.");
  bind_scanner<json::ListScanner>(m, "JsonListScanner", "Read JSON lines with n-best lists into columns.", list_columns)
      .def(
          "__init__",
          [](Locked<json::ListScanner>* self, Strings lists, Strings texts, Strings ids, Strings sources,
             Strings others, std::size_t max_line) {
            new (self) Locked<json::ListScanner>(names_of(lists, texts, ids, sources, others), max_line);
          },
          "lists"_a, "texts"_a, "ids"_a, "sources"_a, "others"_a, "max_line"_a);
}
}  // namespace smt
