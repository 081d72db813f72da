// Items of word alignments, the leaves of a binary tree over both sides, and their labels for a shift-reduce parser.
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

// A span of words on each side, ends exclusive.
struct Window {
  std::int32_t first_source = 0, end_source = 0, first_target = 0, end_target = 0;
  friend auto operator<=>(const Window&, const Window&) = default;
};

enum class ItemKind : std::uint8_t {
  kUnaligned,  // a source word without links, and so without target words
  kLinked,     // linked words
  kCrossing,   // several groups of linked words with crossing spans
  kSimple,     // several groups in an order without reducible neighbours
};

struct Item {
  Window window;
  ItemKind kind;
};

// Finds the items of sentence pairs, one pair at a time.
class ItemFinder {
 public:
  // Throws if a link is outside the sentences; without links there are no items.
  void find(std::int32_t sources, std::int32_t targets, std::span<const Point> links);
  const std::vector<Item>& items() const noexcept { return items_; }  // by source
  // The items found inside items of several groups, sorted by window.
  const std::vector<Window>& parts() const noexcept { return parts_; }

 private:
  struct Group {  // linked words, or merged groups
    Window window;
    std::int32_t members;
  };
  struct Entry {  // a stack entry: neighbouring blocks that are contiguous on the target side
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

  std::vector<std::size_t> parents_;        // union-find over source words, then target words
  std::vector<Window> groups_;              // groups of linked words
  std::vector<std::int32_t> source_group_;  // group of each word, -1 for none
  std::vector<std::int32_t> target_group_;
  std::vector<Group> blocks_;               // groups without overlaps, in source order
  std::vector<Window> covers_;              // the blocks with adjacent unlinked target words
  std::vector<Entry> stack_;
  std::vector<std::pair<std::size_t, std::size_t>> simple_;  // first and last block of simple permutations
  std::vector<Item> items_;
  std::vector<Window> parts_;
};

// Labels items by the eager reductions that follow each.
class Labeller {
 public:
  // Label items by their target spans; items without target words are reduced at once. Writes the id of each item's
  // label and returns how many elements remain on the stack.
  std::size_t label(std::span<const Window> items, std::vector<std::int32_t>& labels);
  // The labels by id.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  std::map<std::string, std::int32_t, std::less<>> numbers_;
  std::vector<std::string> names_;
  std::vector<Window> stack_;
};

}  // namespace smt::searn
