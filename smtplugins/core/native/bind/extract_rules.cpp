// Bindings of hierarchical rule extraction.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bind/bindings.hpp"
#include "extract/lexical.hpp"
#include "extract/rule_counts.hpp"
#include "extract/rule_tables.hpp"
#include "extract/sort.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

constexpr int kMaxThreads = 1024;

std::string_view view(const nb::bytes& bytes) noexcept { return {bytes.c_str(), bytes.size()}; }
nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }

// The counting runs without the GIL, so the object has one of its own.
class LockedRuleExtraction {
 public:
  LockedRuleExtraction(const RuleLimits& limits, int format, bool skip_bad, bool count_words, int threads,
                       std::uint64_t memory, std::string folder)
      : memory_(memory),
        threads_(checked(limits, threads)),
        format_(checked(format)),
        folder_(std::make_shared<SpillFolder>(std::move(folder))),
        extractor_(limits, format_ != RuleFormat::kMoses, skip_bad, count_words, threads, memory, folder_) {}

  void feed(const nb::bytes& source, const nb::bytes& target, const nb::bytes& links) {
    const std::string_view source_text = view(source), target_text = view(target), link_text = view(links);
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (table_ != nullptr) throw std::logic_error("the extraction is finished");
    extractor_.feed(source_text, target_text, link_text);
  }
  void count_lexical() {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    const LexicalCounting counting = format_ == RuleFormat::kMoses  ? LexicalCounting::kMoses
                                     : format_ == RuleFormat::kCdec ? LexicalCounting::kExact
                                                                    : LexicalCounting::kLinks;
    forward_ = extractor_.lexical().target_given_source(counting);
    backward_ = extractor_.lexical().source_given_target(counting);
  }
  void read_lexical(bool forward, const nb::bytes& lines) {
    const std::string_view text = view(lines);
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    Bitext& bitext = extractor_.bitext();
    if (forward) {
      forward_.read(text, bitext.source_words(), bitext.target_words());
    } else {
      backward_.read(text, bitext.target_words(), bitext.source_words());
    }
  }
  nb::bytes lexical(bool forward) {
    std::string text;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      const Bitext& bitext = extractor_.bitext();
      text = forward ? forward_.text(bitext.source_words(), bitext.target_words())
                     : backward_.text(bitext.target_words(), bitext.source_words());
    }
    return bytes_of(text);
  }
  void finish() {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (table_ != nullptr) throw std::logic_error("the extraction is finished");
    extractor_.finish();
    table_ = std::make_unique<RuleTable>(extractor_, forward_, backward_, format_, threads_, memory_,
                                         folder_);
  }
  nb::bytes next() {
    std::string lines;
    {
      nb::gil_scoped_release unlocked;
      const std::lock_guard<std::mutex> lock(mutex_);
      if (table_ == nullptr) throw std::logic_error("the extraction is not finished");
      lines = table_->next();
    }
    return bytes_of(lines);
  }

  std::uint64_t sentences() const { return extractor_.bitext().sentences(); }
  std::uint64_t empty() const { return extractor_.bitext().empty(); }
  std::uint64_t skipped() const { return extractor_.bitext().skipped(); }
  std::uint64_t rules() const { return table_ == nullptr ? 0 : table_->rules(); }
  bool spilled() const { return extractor_.pairs().spilled(); }

 private:
  static RuleFormat checked(int format) {
    if (format < 0 || format > 2) throw nb::value_error("no such format");
    return static_cast<RuleFormat>(format);
  }
  static int checked(const RuleLimits& limits, int threads) {
    if (limits.span < 1 || limits.span > kMaxRuleSpan) throw nb::value_error("phrases have 1 to 255 words");
    if (limits.source_words < 1 || limits.target_words < 1 || limits.source_symbols < 1 || limits.target_symbols < 1) {
      throw nb::value_error("rules have a symbol or more");
    }
    if (limits.gaps < 0 || limits.gaps > kMaxRuleSpan) throw nb::value_error("rules have 0 to 255 gaps");
    if (limits.source_gap < 1 || limits.target_gap < 1) throw nb::value_error("gaps have a word or more");
    if (limits.words < 0) throw nb::value_error("expected 0 or more words");
    if (threads < 1 || threads > kMaxThreads) throw nb::value_error("there are 1 to 1024 threads");
    return threads;
  }

  std::mutex mutex_;
  std::uint64_t memory_;
  int threads_;
  RuleFormat format_;
  std::shared_ptr<SpillFolder> folder_;
  RuleExtractor extractor_;
  LexicalTable forward_, backward_;
  std::unique_ptr<RuleTable> table_;
};

}  // namespace

void bind_extract_rules(nb::module_& m) {
  nb::class_<RuleLimits>(m, "RuleLimits", "Limits of rules: see core.extract.hierarchical_rules.")
      .def(
          "__init__",
          [](RuleLimits* self, int span, int source_words, int target_words, int source_symbols, int target_symbols,
             int gaps, int source_gap, int target_gap, int words, bool adjacent_source, bool adjacent_target,
             bool linked_word, bool tight, int counts) {
            if (counts < 0 || counts > 2) throw nb::value_error("no such way to count");
            new (self) RuleLimits{span,       source_words, target_words,    source_symbols,  target_symbols,
                                  gaps,       source_gap,   target_gap,      words,           adjacent_source,
                                  adjacent_target, linked_word, tight, static_cast<RuleCounts>(counts)};
          },
          nb::kw_only(), "span"_a, "source_words"_a, "target_words"_a, "source_symbols"_a, "target_symbols"_a, "gaps"_a,
          "source_gap"_a, "target_gap"_a, "words"_a, "adjacent_source"_a, "adjacent_target"_a, "linked_word"_a,
          "tight"_a, "counts"_a, "counts: 0 shares, 1 phrases, 2 places.");

  nb::class_<LockedRuleExtraction>(m, "RuleExtraction", "Extract the rules of word-aligned text into a table.")
      .def(nb::init<const RuleLimits&, int, bool, bool, int, std::uint64_t, std::string>(), "limits"_a, "format"_a,
           "skip_bad"_a, "count_words"_a, "threads"_a, "memory"_a, "folder"_a, "format: 0 Moses, 1 cdec, 2 Joshua.")
      .def("feed", &LockedRuleExtraction::feed, "source"_a, "target"_a, "links"_a,
           "Feed whole lines, equally many of each side.")
      .def("count_lexical", &LockedRuleExtraction::count_lexical, "Lexical tables from the words that were counted, as the toolkit of the format does it.")
      .def("read_lexical", &LockedRuleExtraction::read_lexical, "forward"_a, "lines"_a,
           "Add whole lines of a lexical table; forward: p(target word | source word).")
      .def("lexical", &LockedRuleExtraction::lexical, "forward"_a, "The lines of a lexical table.")
      .def("finish", &LockedRuleExtraction::finish, "Finish counting.")
      .def("next", &LockedRuleExtraction::next, "More lines of the table; empty at the end.")
      .def_prop_ro("sentences", &LockedRuleExtraction::sentences)
      .def_prop_ro("empty", &LockedRuleExtraction::empty, "The number of pairs with an empty side.")
      .def_prop_ro("skipped", &LockedRuleExtraction::skipped, "The number of pairs with links outside the sentences.")
      .def_prop_ro("rules", &LockedRuleExtraction::rules, "The number of distinct rules.")
      .def_prop_ro("spilled", &LockedRuleExtraction::spilled, "Whether counts went to disk.");
}

}  // namespace smt
