// BUILDTREE of Algorithm 7.1: grow a tree by gains of splits, then optimise each leaf's parameter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conjunctions.hpp"
#include "leaf_search.hpp"
#include "trees.hpp"

namespace smt::bitree {

struct Incidence;

// Sums of pulls by atom over the rows of a node, dense for all atoms or sparse for those touched.
struct Sums {
  std::vector<double> by_atom;  // All 0 while it is not used.
  std::vector<std::uint8_t> seen;
  std::vector<std::uint32_t> touched;
  bool all = false;
};

class TreeGrowth {
 public:
  // Keeps references to all arguments, whose current values every tree uses.
  TreeGrowth(const Incidence& examples, const std::vector<std::int8_t>& labels, const std::vector<double>& weights,
             const std::vector<double>& odds, const std::vector<double>& pulls, const Conjunctions& known);

  // Grow a tree for lambda; return the change of the risk.
  double grow(const std::vector<double>& by_atom, double lambda, std::size_t depth);

  // The leaf of each row, and the change of each leaf's parameter.
  std::span<const std::uint32_t> leaf_of() const { return label_of_; }
  std::span<const double> changes() const { return changes_; }
  // Append the tree, pruned of branches that change nothing.
  void append(double lambda, TreeStore& trees) const;

 private:
  // A node not yet known to be a leaf or not. Its rows are the entries of `rows` with its label.
  struct Node {
    std::vector<std::uint32_t> rows;
    std::vector<Literal> path;  // Sorted.
    std::vector<Extension> extensions;
    Signature signature;
    std::uint32_t label = 0;
    std::size_t place = 0;  // In made_.
    std::size_t live = 0, entries = 0;
    double positive = 0, negative = 0;  // Sums of pulls by their signs.
    double value = 0, gain = 0;         // The conjunction's parameter, and its gain.

    double pull() const { return positive + negative; }
  };
  struct Made {
    std::int32_t split = -1;
    std::uint32_t yes = 0, no = 0, label = 0;
  };
  struct Split {
    double gain = 0;
    std::uint32_t atom = 0;
    bool found = false;
  };

  double gain_of(double pull, double value) const;
  void grow_from(Node node, std::unique_ptr<Sums> sums);
  bool may_split(const Node& node) const;
  void look_up(Node& node) const;
  Node child_of(const Node& node, Literal literal) const;
  Split best_split(const Node& node, const Sums& sums) const;
  void try_split(Split& best, double gain, std::uint32_t atom) const;
  void scan_all(Split& best, const Sums& sums, double pull) const;
  void scan_touched(Split& best, const Sums& sums, double pull) const;
  void scan_known(Split& best, const Node& node, const Sums& sums) const;
  void part(Node& node, std::uint32_t atom, Node& yes, Node& no);
  void count(Node& node) const;
  void compact(Node& node) const;
  void finish(const Node& node);

  std::unique_ptr<Sums> take_sums();
  void give_back(std::unique_ptr<Sums> sums);
  void fetch_ahead(const Node& node, std::size_t at) const;
  void add_up(const Node& node, Sums& sums) const;
  void take_away(const Node& node, Sums& sums) const;
  void take_away(const Sums& part, Sums& sums) const;
  bool many(const Node& node) const;
  std::unique_ptr<Sums> fitting(const Node& node, std::unique_ptr<Sums> sums);

  const Incidence& examples_;
  const std::vector<std::int8_t>& labels_;
  const std::vector<double>&weights_, &odds_, &pulls_;
  const Conjunctions& known_;
  double lambda_ = 0, largest_pull_ = 0, change_ = 0;
  std::size_t depth_ = 0;
  std::vector<std::uint32_t> label_of_;
  std::vector<double> changes_;
  std::vector<Made> made_;
  std::vector<std::unique_ptr<Sums>> free_;
  LeafExamples leaf_;
};

}  // namespace smt::bitree
