// Reads the text of a cdec grammar into columns. What a line may be is described in smtformats/grammar/cdec.py.
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

  // How many leading blanks the bad line might have at most.
  std::size_t levels() const noexcept;
  // Whether it is sound in itself, but does not refine the coarser rule before it.
  bool is_bad_refinement() const noexcept { return bad_refinement_; }

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

  const char* scan_line(const char* p) override;
  // Each takes the place where its part of the line begins and gives the one where it ends; null if it is bad.
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
  std::uint64_t all_used_[2] = {1, 0};  // a bit for each of these indices, and for 0
  std::vector<Slot> slots_;
  std::vector<std::int32_t> unlabelled_;  // by place, the name of a bare number
  std::vector<std::size_t> coarse_;       // by level, the last rule
  bool bad_refinement_ = false;
};

}  // namespace smt
