// Word alignments as items of a binary tree over source and target, and the items as labels of a shift-reduce parser.
//
// D. Zhang, L. Sun and W. Li, "A Structured Prediction Approach for Statistical Machine Translation" (2008), sections
// 3.1 and 3.2. Simple permutations are found as by H. Zhang, D. Gildea and D. Chiang, "Extracting Synchronous Grammar
// Rules From Word-Level Alignments in Linear Time" (2008), by looking down the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smt::searn {

struct Point {
  std::int32_t source, target;
};

// Words of both sides, ends not included.
struct Window {
  std::int32_t first_source = 0, end_source = 0, first_target = 0, end_target = 0;
  friend auto operator<=>(const Window&, const Window&) = default;
};

enum class ItemKind : std::uint8_t {
  kUnaligned,  // a source word without links, which has no target words
  kLinked,     // words that are linked to each other
  kCrossing,   // several groups of linked words, of which one reaches around another and is split by it
  kSimple,     // several of both, in an order that no two neighbours can be reduced in
};

struct Item {
  Window window;
  ItemKind kind;
};

// The items of sentence pairs, one pair at a time.
class ItemFinder {
 public:
  // Links lie inside of the sentences; there are no items if there are no links.
  void find(std::int32_t sources, std::int32_t targets, std::span<const Point> links);
  const std::vector<Item>& items() const noexcept { return items_; }  // by source
  // What the same procedure finds inside of items that consist of several groups, in the order of windows.
  const std::vector<Window>& parts() const noexcept { return parts_; }

 private:
  struct Group {  // linked words, or those that are merged with them
    Window window;
    std::int32_t members;
  };
  struct Entry {  // of the stack: blocks next to each other whose ranks are next to each other
    std::size_t first_block, last_block, low, high;
  };

  void link(std::int32_t sources, std::int32_t targets, std::span<const Point> links);
  void close();
  bool merge_overlaps(bool by_source);
  void attach(std::int32_t targets);
  void find_simple();
  void emit(std::int32_t sources);
  void add_inner(const Group& block);
  Window closure(Window window) const;
  std::size_t root(std::size_t word) noexcept;

  std::vector<std::size_t> parents_;        // of source words, then target words
  std::vector<Window> groups_;              // of linked words
  std::vector<std::int32_t> source_group_;  // of each word, -1 for none
  std::vector<std::int32_t> target_group_;
  std::vector<Group> blocks_;               // groups that are whole on both sides, by source
  std::vector<Window> covers_;              // the blocks with the unlinked target words next to them
  std::vector<Entry> stack_;
  std::vector<std::pair<std::size_t, std::size_t>> simple_;  // blocks that are one item, first and last
  std::vector<Item> items_;
  std::vector<Window> parts_;
};

// How the stack of items is reduced after each: '+' in order, '-' in reverse order.
class Labeller {
 public:
  // `targets` are first and end of each item's target words; items without any are reduced at once. Gives the number of
  // each item's label, and how many stay on the stack.
  std::size_t label(std::span<const Window> items, std::vector<std::int32_t>& labels);
  // Labels in the order of their numbers.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
  std::vector<std::string> names_;
  std::vector<Window> stack_;
};

}  // namespace smt::searn
