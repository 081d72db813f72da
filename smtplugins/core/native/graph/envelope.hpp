// Upper envelopes of a set of lines and of all derivations of a hypergraph, for exact line search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "search/forest.hpp"
#include "graph/graph.hpp"

namespace smt {

// Differences and quotients of numbers up to this do not overflow.
inline constexpr double kMostScore = 1e150;

// Which line is the highest where: lines[k] from starts[k], the first of them minus infinity, to starts[k + 1].
struct Envelope {
  std::vector<double> starts;
  std::vector<std::int32_t> lines;
};

// The places of a line that are searched, from low <= 0 to high >= 0.
struct Reach {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

// Buffers reused between searches.
class EnvelopeSearch {
 public:
  // Appends the envelope of the lines values[i] + t * slopes[i] to one, without what begins or ends out of reach; best
  // is the first of the highest at t = 0. Of equal lines the first counts. Numbers are within kMostScore.
  void append(std::span<const double> values, std::span<const double> slopes, std::size_t best, const Reach& reach,
              Envelope& to);

 private:
  void walk(std::span<const double> values, std::span<const double> slopes, std::int32_t first, double place,
            double sign, double limit);

  std::vector<std::int32_t> left_;     // lines that may overtake what is highest
  std::vector<std::int32_t> passed_;   // lines beyond the best one, in order of their starts
  std::vector<double> at_;             // their starts, as distances from 0
};

std::size_t highest(std::span<const double> values);

// The envelope of a graph: a derivation for each line, as edges from the top down.
struct GraphEnvelope {
  std::vector<double> starts;
  std::vector<double> values;
  std::vector<double> slopes;
  Parts<std::int32_t> edges;
};

// Values and slopes of edges add up. A graph without nodes has no line.
GraphEnvelope graph_envelope(const Graph& graph, std::span<const double> values, std::span<const double> slopes);

}  // namespace smt
