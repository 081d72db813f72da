// What a tree that grows in any order is made of, and what it asks of features that look beyond a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/forest.hpp"

namespace smt::umt {

// Where an edge can be put: beside the edge of step `step`, at its head (link 0) or at its tail k (link k + 1). The
// first edge of all has nothing beside it: step -1.
struct Place {
  std::int32_t step = -1;
  std::int32_t link = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

// An edge that could be put at a place: by its head (slot -1) or by its tail `slot`.
struct Candidate {
  std::int64_t edge = 0;  // its position in forest.rules.values
  std::int32_t bundle = 0;
  std::int32_t rule = 0;
  std::int32_t slot = -1;
};

// A forest as searches that go up and down see it.
struct Index {
  struct Use {
    std::int32_t bundle;
    std::int32_t slot;
  };
  const SearchForest* input = nullptr;
  std::vector<std::int32_t> heads;  // of bundles
  std::vector<std::int32_t> first_use;
  std::vector<Use> uses;            // of node v as a tail: [first_use[v], first_use[v + 1])
  std::vector<std::int32_t> leaves; // bundles without tails
  std::int32_t goal = -1;

  void set(const SearchForest& given);
  std::span<const std::int32_t> tails(std::int32_t bundle) const noexcept {
    return input->forest.tails[static_cast<std::size_t>(bundle)];
  }
  std::span<const Use> uses_of(std::int32_t node) const noexcept {
    const auto v = static_cast<std::size_t>(node);
    return {uses.data() + first_use[v], static_cast<std::size_t>(first_use[v + 1] - first_use[v])};
  }
  bool tops(std::int32_t bundle) const noexcept { return heads[static_cast<std::size_t>(bundle)] == goal; }
  // Of an edge by its number alone.
  Candidate edge(std::int64_t number, std::int32_t slot) const noexcept;
};

// A feature at work on one tree after the other, in one thread.
class Part {
 public:
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  virtual ~Part() = default;

  virtual std::size_t components() const noexcept = 0;
  // The next sentence. What it is given stays as it is until the next call.
  virtual void begin(const Index& index) = 0;
  // Adds to each rule's bound a guess at what it brings wherever it is put, times a weight.
  virtual void estimate(double /*weight*/, std::span<float> /*bounds*/) {}
  // What an edge adds by joining the best branches below it, which is what the parts keep of a node: for bounds, too.
  // First of all so many nodes are told; an edge whose joins were asked for last may be kept as its head's best.
  virtual void begin_branches(std::size_t /*nodes*/) {}
  virtual double joins(std::int32_t /*bundle*/, std::int32_t /*rule*/) { return 0.0; }
  virtual void keep_branch(std::int32_t /*node*/) {}
  // No edge is there.
  virtual void reset() = 0;
  // What each of these edges would add at the place: edge i's first value is values[i * stride].
  virtual void score(Place place, std::span<const Candidate> edges, double* values, std::size_t stride) = 0;
  // Puts an edge there, which is the next step. Other places where edges would now add something else are told.
  virtual void attach(Place place, const Candidate& edge, std::vector<Place>& changed) = 0;
};

}  // namespace smt::umt
