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

#include "base/sort.hpp"
#include "bind/bindings.hpp"
#include "bind/extraction.hpp"
#include "extract/lexical.hpp"
#include "extract/rule_counts.hpp"
#include "extract/rule_tables.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace smt {
namespace {

constexpr int kMaxThreads = 1024;

class LockedRuleExtraction : public LockedExtractor<RuleExtractor> {
 public:
  LockedRuleExtraction(const RuleLimits& limits, int format, bool skip_bad, bool count_words, int threads,
                       std::uint64_t memory, std::string folder)
      : LockedExtractor(memory, std::move(folder), limits, checked(format) != RuleFormat::kMoses, skip_bad,
                        count_words, checked(limits, threads)),
        threads_(threads),
        format_(checked(format)) {}

  void count_lexical() {
    count_words(format_ == RuleFormat::kMoses  ? LexicalCounting::kMoses
                : format_ == RuleFormat::kCdec ? LexicalCounting::kExact
                                               : LexicalCounting::kLinks);
  }
  void finish() {
    nb::gil_scoped_release unlocked;
    const std::lock_guard<std::mutex> lock(mutex_);
    finish_counting();
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

  std::uint64_t rules() const { return table_ == nullptr ? 0 : table_->rules(); }

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

  int threads_;
  RuleFormat format_;
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

  nb::class_<LockedRuleExtraction> bound(m, "RuleExtraction", "Extract the rules of word-aligned text into a table.");
  bound.def(nb::init<const RuleLimits&, int, bool, bool, int, std::uint64_t, std::string>(), "limits"_a, "format"_a,
            "skip_bad"_a, "count_words"_a, "threads"_a, "memory"_a, "folder"_a, "format: 0 Moses, 1 cdec, 2 Joshua.");
  bind_extractor(bound);
  bound.def("count_lexical", &LockedRuleExtraction::count_lexical,
            "Make lexical tables from the counted words, as the toolkit of the format does.")
      .def("finish", &LockedRuleExtraction::finish, "Finish counting.")
      .def("next", &LockedRuleExtraction::next, "More lines of the table; empty at the end.")
      .def_prop_ro("rules", &LockedRuleExtraction::rules, "The number of distinct rules.");
}

}  // namespace smt
