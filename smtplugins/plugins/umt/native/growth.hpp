// Undirected greedy decoding: one tree grows edge by edge, upwards and downwards, and nothing is taken back.
//
// A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014),
// algorithm 1. Of the queue each open place keeps its best candidate: candidates are scored when a place opens, and
// again when what is known around it changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bounds.hpp"
#include "part.hpp"

namespace smt::umt {

struct Action {
  std::int64_t edge = 0;
  Place place;
  std::int32_t slot = -1;
};

struct BadAction : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

struct Grown {
  std::vector<Action> actions;
  std::vector<double> scores;  // of each action when it was taken
  std::vector<double> values;  // actions times components
  std::int64_t scored = 0;     // candidates
};

struct Ranked {
  std::vector<Action> actions;
  std::vector<double> scores;
  std::vector<double> filled;  // what was counted for the branch that the edge fills, and does not count any more
};

// How the bounds of missing branches become features: none, their sum, or one for each link of an edge, the last of
// which stands for all further ones.
struct BoundOptions {
  std::size_t components = 1;
  double scale = 1.0;       // bounds are divided by it
  bool joins = false;       // what the best branches add where they join is in the bounds
  bool difference = false;  // from the bound of the branch that the edge fills: in the sum alone
};

class Growth {
 public:
  // Weights are those of the bounds' components, then of each part's.
  Growth(std::vector<std::shared_ptr<Part>> parts, const BoundOptions& options);
  std::size_t components() const noexcept { return components_; }

  // Bounds are made of the rules' own scores `bounds` and, with a weight for each part, of the parts' estimates.
  void begin(const SearchForest& input, std::span<const float> scores, std::span<const float> bounds,
             std::span<const double> weights, std::span<const double> estimates);
  std::size_t parts() const noexcept { return parts_.size(); }
  // Replays actions, and goes on with the best until the tree is complete.
  Grown follow(std::span<const Action> prefix);
  // The same, drawing from actions by exp(score / temperature).
  Grown draw(std::span<const Action> prefix, double temperature, std::uint64_t seed);
  // What could be done after these actions, the best first.
  Ranked ranked(std::span<const Action> prefix);
  // The values that each of some actions would have after the prefix: actions times components.
  std::vector<double> values(std::span<const Action> prefix, std::span<const Action> actions);

 private:
  struct Open {
    Place place;
    std::int32_t node = -1;
    double score = 0.0;  // of the best
    Candidate best;
  };
  void restart(std::span<const Action> prefix, Grown* grown);
  // An action's edge, and which open place it goes to.
  std::pair<std::size_t, Candidate> fitted(const Action& action) const;
  // The values of an edge at an open place; gives its score.
  double describe(const Open& open, const Candidate& edge, double* values) const;
  void put(std::size_t open, const Candidate& edge, double score, Grown* grown);
  void collect(const Open& open);
  void evaluate(const Open& open);
  void find_best(Open& open);
  double filled_by(const Open& open) const noexcept;
  double bound_of(const Open& open, std::int32_t bundle, std::int32_t slot, double* values) const noexcept;

  std::vector<std::shared_ptr<Part>> parts_;
  BoundOptions options_;
  std::size_t components_;
  Index index_;
  Bounds bounds_;
  std::vector<float> scores_, under_;
  std::vector<double> weights_;
  bool lazy_ = true;  // whether places need their best

  std::vector<Open> open_;
  std::vector<std::int32_t> steps_;  // the bundle of each step's edge
  std::vector<Place> changed_;
  std::vector<Joining> joining_;
  std::int64_t scored_ = 0;

  // Of the place at hand.
  std::vector<Candidate> candidates_;
  std::vector<double> totals_;
  std::vector<double> values_;
};

}  // namespace smt::umt
