// Reads the text of a cdec grammar into columns. What a line may be is described in smtformats/grammar/cdec.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "growing.hpp"
#include "strings.hpp"

namespace smt {

struct GrammarLimits {
  std::size_t line = 0;      // bytes, the line's end included
  std::size_t symbols = 0;   // a side
  std::size_t features = 0;  // a rule; points of its alignment, too
};

struct Nothing {};

struct GrammarTable {
  Growing<std::int32_t> lhs;
  Growing<std::uint8_t> level;
  Growing<std::int32_t> source, target;  // source: a word, or -1 - label; target: a word, or -1 - place in the source
  Growing<std::int64_t> source_offsets, target_offsets;
  Growing<std::int32_t> features;
  Growing<float> values;
  Growing<std::int64_t> feature_offsets;
  Growing<std::int16_t> points;  // pairs
  Growing<std::int64_t> point_offsets;
  Texts words;
  Interner<Nothing> labels{64}, names{64};

  GrammarTable();
};

// The line that could not be read. What is wrong with it is for the reader of single lines to say.
struct GrammarFault {
  std::uint64_t line = 0;
  std::string text;
  std::size_t levels = 0;   // how many leading blanks it might have had at most
  bool refinement = false;  // it is sound in itself, but does not refine the coarser rule before it
};

class GrammarScanner {
 public:
  explicit GrammarScanner(GrammarLimits limits);

  // The next piece of the file, cut anywhere. False at a fault; the scanner is then spent.
  bool feed(std::string_view bytes);
  // The same for the end of the file.
  bool finish();

  const GrammarFault& fault() const noexcept { return fault_; }
  std::uint64_t lines() const noexcept { return line_; }
  GrammarTable& table() noexcept { return table_; }

 private:
  // What a token is on the target side.
  struct Gap {
    std::int32_t target = kUnknown;    // as in the target column; unknown if it is a word there that has not come yet
    std::int32_t expected = kNoLabel;  // the label that the source side must have
  };
  // What it is on the source side.
  struct Token {
    std::int32_t source = kUnknown;  // as in the source column
    std::uint8_t index = 0;
    bool bad = false;  // not UTF-8
  };
  static constexpr std::int32_t kUnknown = INT32_MIN;
  static constexpr std::int32_t kNoLabel = -1;
  static constexpr std::int32_t kAnyLabel = -2;

  // A feature as the rule before had it at this place.
  struct Slot {
    char name[32] = {};  // with its '='; none for a bare number
    std::size_t length = 0;
    std::uint32_t mask = 0;  // a bit for each of its first 16 bytes
    std::uint32_t more = 0;  // and of the others
    std::int32_t id = 0;
  };

  bool scan(const char* begin, const char* end);
  void fail(std::string_view text);

  // Each takes the place where its part of the line begins and gives the one where it ends; null if it is bad.
  const char* rule(const char* p);
  const char* left_side(const char* p);
  const char* source_side(const char* p);
  const char* target_side(const char* p);
  const char* features(const char* p);
  const char* more_features(const char* p, std::size_t place);
  const char* alignment(const char* p);
  const char* tree(const char* p) const;

  bool same_left(const char* p) const noexcept;
  bool add_feature(const char* p, std::size_t length, std::size_t place);
  void know_features(std::size_t count);
  bool end_rule(std::size_t level);
  bool refines(std::size_t coarse) const noexcept;

  void classify(std::string_view text, Gap& gap);
  std::int32_t unlabelled(std::size_t place);

  GrammarLimits limits_;
  GrammarTable table_;
  GrammarFault fault_;
  std::string carry_;  // what is behind the last line scanned
  std::uint64_t line_ = 0;
  bool open_ = false;  // the last line has no end of its own
  bool closed_ = false;

  Interner<Gap> tokens_{1024};
  std::vector<Token> known_;                 // by token
  std::vector<std::int32_t> source_labels_;  // of this rule's source non-terminals, by index from 1
  std::uint64_t all_used_[2] = {1, 0};       // a bit for each of these indices, and for 0
  std::vector<Slot> slots_;
  std::vector<std::int32_t> unlabelled_;   // by place, the name of a bare number
  std::vector<std::uint64_t> name_line_;   // by name, the last line that had it
  std::vector<std::size_t> name_place_;    // and where its value stands
  std::vector<std::size_t> coarse_;        // by level, the last rule
  std::string left_;                       // the text before the target side of the rule before, if it may recur
  std::size_t left_length_ = 0;
};

}  // namespace smt
