// Undirected greedy decoding: a tree grows edge by edge, upwards and downwards, without backtracking.
//
// A. Gesmundo and J. Henderson, "Undirected Machine Translation with Discriminative Reinforcement Learning" (2014),
// algorithm 1. Instead of a queue each open place keeps its best candidate: candidates are scored when a place opens,
// and again when its context changes.
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
  std::int64_t scored = 0;     // number of scored candidates
};

struct Ranked {
  std::vector<Action> actions;
  std::vector<double> scores;
  std::vector<double> filled;  // the bound of the branch that the edge replaces
};

// Number of bound features: 0 (none), 1 (their sum), or one for each link of an edge, the last for all further links.
struct BoundOptions {
  std::size_t components = 1;
  double scale = 1.0;       // divisor of bounds
  bool joins = false;       // add the scores of parts where best branches join
  bool difference = false;  // subtract the bound of the branch that the edge fills; only with one component
};

class Growth {
 public:
  // Weights: those of the bounds' components, then of each part's.
  Growth(std::vector<std::shared_ptr<Part>> parts, const BoundOptions& options);
  std::size_t components() const noexcept { return components_; }

  // Bounds are computed from the rule scores `bounds` plus the parts' estimates, weighted by `estimates`.
  void begin(const SearchForest& input, std::span<const float> scores, std::span<const float> bounds,
             std::span<const double> weights, std::span<const double> estimates);
  std::size_t parts() const noexcept { return parts_.size(); }
  // Replays a prefix of actions, then takes the best action until the tree is complete.
  Grown follow(std::span<const Action> prefix);
  // Replays a prefix, then samples actions with probability proportional to exp(score / temperature).
  Grown draw(std::span<const Action> prefix, double temperature, std::uint64_t seed);
  // The possible actions after a prefix, best first.
  Ranked ranked(std::span<const Action> prefix);
  // The values of each action after the prefix: actions times components.
  std::vector<double> values(std::span<const Action> prefix, std::span<const Action> actions);

 private:
  struct Open {
    Place place;
    std::int32_t node = -1;
    double score = 0.0;  // of the best candidate
    Candidate best;
  };
  void restart(std::span<const Action> prefix, Grown* grown);
  // Checks an action; returns its open place and candidate.
  std::pair<std::size_t, Candidate> fitted(const Action& action) const;
  // Computes the values of an edge at an open place; returns its score.
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
  bool lazy_ = true;  // whether places keep their best candidate

  std::vector<Open> open_;
  std::vector<std::int32_t> steps_;  // the bundle of each step's edge
  std::vector<Place> changed_;
  std::vector<Joining> joining_;
  std::int64_t scored_ = 0;

  // Buffers for the current place.
  std::vector<Candidate> candidates_;
  std::vector<double> totals_;
  std::vector<double> values_;
};

}  // namespace smt::umt
