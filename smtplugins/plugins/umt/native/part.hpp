// The elements of a tree that grows in any order, and the interface of its contextual features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "search/forest.hpp"

namespace smt::umt {

// Where an edge can be attached: to the edge of step `step`, at its head (link 0) or its tail k (link k + 1). The first
// edge has step -1.
struct Place {
  std::int32_t step = -1;
  std::int32_t link = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

// A candidate edge for a place, attached by its head (slot -1) or its tail `slot`.
struct Candidate {
  std::int64_t edge = 0;  // its position in forest.rules.values
  std::int32_t bundle = 0;
  std::int32_t rule = 0;
  std::int32_t slot = -1;
};

// A forest indexed for search in both directions.
struct Index {
  struct Use {
    std::int32_t bundle;
    std::int32_t slot;
  };
  const SearchForest* input = nullptr;
  std::vector<std::int32_t> heads;  // of bundles
  std::vector<std::int32_t> first_use;
  std::vector<Use> uses;            // bundles with node v as a tail: [first_use[v], first_use[v + 1])
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
  // The bundle of an edge.
  Candidate edge(std::int64_t number, std::int32_t slot) const noexcept;
};

// A contextual feature; scores one tree after another, in a single thread.
class Part {
 public:
  Part() = default;
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  virtual ~Part() = default;

  virtual std::size_t components() const noexcept = 0;
  // Begins a sentence. The index stays unchanged until the next call.
  virtual void begin(const Index& index) = 0;
  // Adds the weighted estimate of each rule out of context to its bound.
  virtual void estimate(double /*weight*/, std::span<float> /*bounds*/) {}
  // The score of joining an edge with the best branches below it, for bounds. `begin_branches` comes first, with the
  // number of nodes; `keep_branch` stores the edge of the last call of `joins` as the best branch of its head.
  virtual void begin_branches(std::size_t /*nodes*/) {}
  virtual double joins(std::int32_t /*bundle*/, std::int32_t /*rule*/) { return 0.0; }
  virtual void keep_branch(std::int32_t /*node*/) {}
  // Clears the tree.
  virtual void reset() = 0;
  // Scores candidate edges at a place: edge i's first value is values[i * stride].
  virtual void score(Place place, std::span<const Candidate> edges, double* values, std::size_t stride) = 0;
  // Attaches an edge as the next step. Appends the other places whose scores change to `changed`.
  virtual void attach(Place place, const Candidate& edge, std::vector<Place>& changed) = 0;
};

}  // namespace smt::umt
