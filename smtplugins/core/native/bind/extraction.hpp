// What the extractions of phrase pairs and of rules share.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/sort.hpp"
#include "extract/bitext.hpp"
#include "extract/lexical.hpp"
#include "extract/packing.hpp"

namespace smt {

inline std::string_view view(const nanobind::bytes& bytes) noexcept { return {bytes.c_str(), bytes.size()}; }
inline nanobind::bytes bytes_of(const std::string& text) { return nanobind::bytes(text.data(), text.size()); }

// An extractor with its lexical tables. It counts without the GIL, so it has a lock of its own.
template <class Extractor>
class LockedExtractor {
 public:
  void feed(const nanobind::bytes& source, const nanobind::bytes& target, const nanobind::bytes& links) {
    const std::string_view source_text = view(source), target_text = view(target), link_text = view(links);
    nanobind::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    check_open();
    extractor_.feed(source_text, target_text, link_text);
  }
  nanobind::bytes pack() {
    std::string packed;
    {
      nanobind::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      check_open();
      packed = pack_counts(extractor_.bitext(), extractor_.lexical(), extractor_.pairs());
    }
    return bytes_of(packed);
  }
  void add_packed(const nanobind::bytes& packed) {
    const std::string_view bytes = view(packed);
    nanobind::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    check_open();
    smt::add_packed(bytes, extractor_.bitext(), extractor_.lexical(), extractor_.pairs());
  }
  void read_lexical(bool forward, const nanobind::bytes& lines) {
    const std::string_view text = view(lines);
    nanobind::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    Bitext& bitext = extractor_.bitext();
    if (forward) {
      forward_.read(text, bitext.source_words(), bitext.target_words());
    } else {
      backward_.read(text, bitext.target_words(), bitext.source_words());
    }
  }
  nanobind::bytes lexical(bool forward) {
    std::string text;
    {
      nanobind::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      const Bitext& bitext = extractor_.bitext();
      text = forward ? forward_.text(bitext.source_words(), bitext.target_words())
                     : backward_.text(bitext.target_words(), bitext.source_words());
    }
    return bytes_of(text);
  }

  std::uint64_t sentences() const { return extractor_.bitext().sentences(); }
  std::uint64_t empty() const { return extractor_.bitext().empty(); }
  std::uint64_t skipped() const { return extractor_.bitext().skipped(); }
  bool spilled() const { return extractor_.pairs().spilled(); }

 protected:
  template <class... Arguments>
  LockedExtractor(std::uint64_t memory, std::string folder, Arguments&&... arguments)
      : memory_(memory),
        folder_(std::make_shared<SpillFolder>(std::move(folder))),
        extractor_(std::forward<Arguments>(arguments)..., memory, folder_) {}

  void check_open() const {
    if (finished_) throw std::logic_error("the extraction is finished");
  }
  void count_words(LexicalCounting counting) {
    nanobind::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    forward_ = extractor_.lexical().target_given_source(counting);
    backward_ = extractor_.lexical().source_given_target(counting);
  }
  // Under the lock.
  void finish_counting() {
    check_open();
    finished_ = true;
    extractor_.finish();
  }

  std::mutex mutex_;
  std::uint64_t memory_;
  std::shared_ptr<SpillFolder> folder_;
  Extractor extractor_;
  LexicalTable forward_, backward_;
  bool finished_ = false;
};

template <class Locked>
void bind_extractor(nanobind::class_<Locked>& bound) {
  using namespace nanobind::literals;
  bound
      .def("feed", &Locked::feed, "source"_a, "target"_a, "links"_a, "Feed whole lines, equally many of each side.")
      .def("pack", &Locked::pack, "The counts as bytes, which another extraction adds to its own; none may be on disk.")
      .def("add_packed", &Locked::add_packed, "packed"_a, "Add counts of an extraction with the same options.")
      .def("read_lexical", &Locked::read_lexical, "forward"_a, "lines"_a,
           "Add whole lines of a lexical table; forward: p(target word | source word).")
      .def("lexical", &Locked::lexical, "forward"_a, "The lines of a lexical table.")
      .def_prop_ro("sentences", &Locked::sentences)
      .def_prop_ro("empty", &Locked::empty, "The number of pairs with an empty side.")
      .def_prop_ro("skipped", &Locked::skipped, "The number of pairs with links outside the sentences.")
      .def_prop_ro("spilled", &Locked::spilled, "Whether counts went to disk.");
}

}  // namespace smt
