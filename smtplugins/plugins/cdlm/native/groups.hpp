// Groups of confusable target sides, which translate the same, collected from grammars and graphs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.hpp"
#include "sides.hpp"

namespace smt::cdlm {

// A failed read or write.
struct DiskError : std::runtime_error {
  DiskError(int number_, std::string path_);
  int number;
  std::string path;
};

// A target side and its count in the group. A group's first member is a header with the number of sides.
struct Member {
  std::uint32_t side, times;
};
inline constexpr std::uint32_t kHeader = 0xFFFFFFFFU;

// Stores groups in sequence: in memory up to a limit, beyond it in a file that is mapped for reading.
class GroupStore {
 public:
  GroupStore(std::uint64_t memory, std::string path) : memory_(memory), path_(std::move(path)) {}
  ~GroupStore();
  GroupStore(const GroupStore&) = delete;
  GroupStore& operator=(const GroupStore&) = delete;
  void add(std::span<const Member> members);
  void finish();
  std::span<const Member> all() const noexcept { return all_; }
  bool spilled() const noexcept { return file_ != nullptr || mapped_.size() != 0; }

 private:
  void flush();

  std::uint64_t memory_;
  std::string path_;
  std::FILE* file_ = nullptr;
  std::vector<Member> buffer_;
  Memory mapped_;
  std::span<const Member> all_;
};

// Rules as columns, with the numbers of their words and labels in this store; scores, if any, rank target sides.
struct RuleView {
  std::span<const std::int32_t> lhs;
  std::span<const std::uint8_t> level;
  std::span<const std::int32_t> source;
  std::span<const std::int64_t> source_offsets;
  std::span<const std::int32_t> target;
  std::span<const std::int64_t> target_offsets;
  std::span<const std::int32_t> words, labels;
  std::span<const float> scores;
};

struct Choices {
  bool same_lhs;   // confuse only rules with the same left-hand side
  bool glue;       // include rules without words on the source side
  bool identity;   // confuse sides with themselves
  bool same_rule;  // in graphs: confuse a rule with itself
  std::uint32_t gaps;  // maximum number of gaps
};

struct Counts {
  std::uint64_t rules = 0;     // rules or edges read
  std::uint64_t left_out = 0;  // of these, excluded by the options
  std::uint64_t groups = 0;
  std::uint64_t uncapped = 0;  // pairs of sides, summed over groups
  std::uint64_t capped = 0;
};

class Confused {
 public:
  Confused(const Choices& choices, std::uint64_t memory, const std::string& folder);

  void add_rules(const RuleView& rules);
  // Adds edges by group, given as rule numbers. Rules with the same number of gaps are confused.
  void add_edges(const RuleView& rules, std::span<const std::int32_t> edges, std::span<const std::int64_t> groups);
  // Groups rules by source side, with at most `cap` target sides each (0: all): those with the best scores or highest
  // counts, ties in order.
  void finish(std::uint32_t cap, bool most_often);

  const Choices& choices() const noexcept { return choices_; }
  const Counts& counts() const noexcept { return counts_; }
  bool spilled() const noexcept { return store_.spilled(); }
  std::span<const Member> groups() const noexcept { return store_.all(); }
  SideTable& sides() noexcept { return sides_; }
  // For each side, the identity pairs that come from the same rule and are subtracted.
  std::uint64_t same_rule(std::uint32_t side) const noexcept {
    return side < same_rule_.size() ? same_rule_[side] : 0;
  }

 private:
  struct Found {  // a rule of a grammar
    std::uint32_t source, side;
    float score;
  };
  struct Kind {  // a rule of a graph
    std::uint32_t side, rule, lhs, gaps;
  };
  struct Best {
    std::uint32_t side, times;
    float score;
    std::uint64_t place;
  };
  bool is_glue(const RuleView& rules, std::size_t rule) const noexcept;
  Symbols source_of(const RuleView& rules, std::size_t rule);
  bool read_target(const RuleView& rules, std::size_t rule);  // into target_ and gaps_; false if it has too many gaps
  void put(std::span<const Member> members);

  Choices choices_;
  Counts counts_;
  SideTable sides_, sources_;
  std::vector<Found> found_;
  std::vector<std::uint64_t> same_rule_;
  GroupStore store_;
  std::vector<std::int32_t> source_, target_;
  std::vector<bool> filled_;
  std::uint32_t gaps_ = 0;
};

}  // namespace smt::cdlm
