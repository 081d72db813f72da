// Reads cdec grammars into columns. The format is described in smtformats/grammar/cdec.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rules.hpp"
#include "strings.hpp"

namespace smt {

class CdecScanner final : public RuleScanner {
 public:
  using RuleScanner::RuleScanner;

  // The most leading blanks that the bad line may have.
  std::size_t levels() const noexcept;
  // Whether the bad line is valid on its own but does not refine the coarser rule before it.
  bool is_bad_refinement() const noexcept { return bad_refinement_; }

 private:
  // A token on the target side.
  struct Gap {
    std::int32_t target = kUnknown;    // as in the target column; unknown for a word not seen there yet
    std::int32_t expected = kNoLabel;  // the label that the source side must have
  };
  // A token on the source side.
  struct Token {
    std::int32_t source = kUnknown;  // as in the source column
    std::uint8_t index = 0;
    bool bad = false;  // not UTF-8
  };
  static constexpr std::int32_t kUnknown = INT32_MIN;
  static constexpr std::int32_t kNoLabel = -1;
  static constexpr std::int32_t kAnyLabel = -2;

  // The feature of the previous rule at this position.
  struct Slot {
    char name[32] = {};  // with its '='; empty for an unnamed value
    std::size_t length = 0;
    std::uint32_t mask = 0;  // of its first 16 bytes
    std::uint32_t more = 0;  // of the others
    std::int32_t id = 0;
  };

  const char* scan_line(const char* p) override;
  // Each takes the start of its part of the line and returns the end; null on errors.
  const char* left_side(const char* p);
  const char* source_side(const char* p);
  const char* target_side(const char* p);
  const char* features(const char* p);
  const char* more_features(const char* p, std::size_t place);
  const char* tree(const char* p) const;

  bool add_feature(const char* p, std::size_t length, std::size_t place);
  bool check_level(std::size_t level);
  bool refines(std::size_t coarse) const noexcept;

  void classify(std::string_view text, Gap& gap);
  std::int32_t unlabelled(std::size_t place);

  Interner<Gap> tokens_{4096};
  std::vector<Token> known_;                        // by token
  std::array<std::int32_t, 128> labels_{kNoLabel};  // of this rule's source non-terminals, by index from 1
  std::size_t arity_ = 0;
  std::uint64_t all_used_[2] = {1, 0};  // a mask of these indices and 0
  std::vector<Slot> slots_;
  std::vector<std::int32_t> unlabelled_;  // by position, the name of an unnamed value
  std::vector<std::size_t> coarse_;       // by level, the last rule
  bool bad_refinement_ = false;
};

}  // namespace smt
