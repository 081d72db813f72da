#include "graph/envelope.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace smt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// This many lines of an envelope are found by one pass each over the remaining lines; then the rest is sorted.
constexpr int kPasses = 16;
// Ends of the reach with a margin for rounding errors.
constexpr double kBeyond = 1.0 + 1e-9;

}  // namespace

std::size_t highest(std::span<const double> values) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] > values[best]) best = i;
  }
  return best;
}

// The successive highest lines as t goes up (sign 1) or down (sign -1): the line highest at a place, then the steeper
// ones that overtake it up to a limit. Envelopes are short: a pass for each line over the steeper ones costs less than
// sorting.
void EnvelopeSearch::walk(std::span<const double> values, std::span<const double> slopes, std::int32_t first,
                          double place, double sign, double limit) {
  const auto value = [&](std::int32_t line) { return values[static_cast<std::size_t>(line)]; };
  const auto slope = [&](std::int32_t line) { return sign * slopes[static_cast<std::size_t>(line)]; };
  passed_.assign(1, first);
  at_.assign(1, place);
  const auto take = [&](std::int32_t line, double at) {
    place = std::max(place, at);
    if (place == at_.back()) {
      passed_.back() = line;  // the previous line was highest at a single point
    } else {
      passed_.push_back(line);
      at_.push_back(place);
    }
  };
  std::int32_t from = first;
  for (int pass = 0; pass < kPasses; ++pass) {
    const double here = value(from), own = slope(from);
    std::size_t kept = 0;
    double nearest = kInfinity;
    std::int32_t next = -1;
    for (const std::int32_t line : left_) {
      const double steeper = slope(line) - own;
      if (!(steeper > 0.0)) continue;
      left_[kept++] = line;
      const double at = (here - value(line)) / steeper;
      if (at < nearest) {
        nearest = at;
        next = line;
      }
    }
    left_.resize(kept);
    if (next < 0 || nearest > limit) return;
    take(next, nearest);
    from = next;
  }
  // Many lines: sort the rest by slope; a line replaces previous ones that it overtakes before they begin.
  std::erase_if(left_, [&](std::int32_t line) { return !(slope(line) > slope(from)); });
  std::sort(left_.begin(), left_.end(), [&](std::int32_t a, std::int32_t b) {
    if (slope(a) != slope(b)) return slope(a) < slope(b);
    if (value(a) != value(b)) return value(a) > value(b);
    return a < b;
  });
  std::vector<std::int32_t> hull{from};
  std::vector<double> starts{place};
  for (const std::int32_t line : left_) {
    if (slope(line) == slope(hull.back())) continue;
    double at;
    for (;;) {
      at = (value(hull.back()) - value(line)) / (slope(line) - slope(hull.back()));
      if (hull.size() == 1 || at > starts.back()) break;
      hull.pop_back();
      starts.pop_back();
    }
    if (at == kInfinity) continue;
    hull.push_back(line);
    starts.push_back(std::max(at, place));
  }
  for (std::size_t i = 1; i < hull.size() && starts[i] <= limit; ++i) take(hull[i], starts[i]);
}

namespace {

// Whether no line is above the best one within reach: a look without divisions, which answers for most lists of a narrow
// region. A line that meets the best one at an end is left to others.
bool stays(std::span<const double> values, std::span<const double> slopes, std::size_t best, const Reach& reach) {
  if (!(reach.low < 0.0 && reach.high > 0.0 && reach.high - reach.low < kMostScore)) return false;
  const double top = values[best], own = slopes[best];
  const double high = reach.high * kBeyond, low = reach.low * kBeyond;
  double most[4] = {0.0, 0.0, 0.0, 0.0};
  const auto look = [&](std::size_t i, std::size_t k) {
    const double rise = slopes[i] - own, up = rise * high, down = rise * low;
    const double above = (up > down ? up : down) - (top - values[i]);
    most[k] = above > most[k] ? above : most[k];
  };
  const std::size_t size = values.size();
  std::size_t done = 0;
  for (; done + 4 <= size; done += 4) {
    for (std::size_t k = 0; k < 4; ++k) look(done + k, k);
  }
  for (; done < size; ++done) look(done, 0);
  return !(std::max({most[0], most[1], most[2], most[3]}) > 0.0);
}

}  // namespace

void EnvelopeSearch::append(std::span<const double> values, std::span<const double> slopes, std::size_t best,
                            const Reach& reach, Envelope& to) {
  // Line i meets the best one at t = fall / rise; the largest and the least rise / fall are the next ones up and down.
  // 0 / 0, a line equal to the best one, is not a number and never compares.
  const std::size_t size = values.size();
  const double* const value = values.data();
  const double* const slope = slopes.data();
  const double top = value[best], own = slope[best];
  if (stays(values, slopes, best, reach)) {
    to.starts.push_back(-kInfinity);
    to.lines.push_back(static_cast<std::int32_t>(best));
    return;
  }
  turned_.resize(size);
  double* const turned = turned_.data();
  for (std::size_t i = 0; i < size; ++i) turned[i] = (slope[i] - own) / (top - value[i]);
  double up[4] = {0.0, 0.0, 0.0, 0.0}, down[4] = {0.0, 0.0, 0.0, 0.0};
  const auto look = [&](double u, std::size_t k) {
    up[k] = u > up[k] ? u : up[k];
    down[k] = u < down[k] ? u : down[k];
  };
  std::size_t done = 0;
  for (; done + 4 <= size; done += 4) {
    for (std::size_t k = 0; k < 4; ++k) look(turned[done + k], k);
  }
  for (; done < size; ++done) look(turned[done], 0);
  const auto next = [&](double u) {
    return u == 0.0 ? best : static_cast<std::size_t>(std::find(turned, turned + size, u) - turned);
  };
  const std::size_t above = next(std::max({up[0], up[1], up[2], up[3]}));
  const std::size_t below = next(std::min({down[0], down[1], down[2], down[3]}));
  const auto side = [&](std::size_t first, double sign, double limit) {
    passed_.clear();
    at_.clear();
    const double place = (top - value[first]) / (sign * (slope[first] - own));
    if (first == best || !(place < kInfinity) || place > limit) return;
    left_.resize(size + 1);
    std::int32_t* steeper = left_.data();
    const double from = sign * slope[first];
    for (std::size_t i = 0; i < size; ++i) {
      *steeper = static_cast<std::int32_t>(i);
      steeper += sign * slope[i] > from;
    }
    left_.resize(static_cast<std::size_t>(steeper - left_.data()));
    walk(values, slopes, static_cast<std::int32_t>(first), place, sign, limit);
  };
  side(below, -1.0, -reach.low);
  // A line that begins at a place on the way down ends there on the way up.
  for (std::size_t k = passed_.size(); k-- > 0;) {
    to.starts.push_back(k + 1 == passed_.size() ? -kInfinity : 0.0 - at_[k + 1]);
    to.lines.push_back(passed_[k]);
  }
  to.starts.push_back(passed_.empty() ? -kInfinity : 0.0 - at_.front());
  to.lines.push_back(static_cast<std::int32_t>(best));
  side(above, 1.0, reach.high);
  if (!passed_.empty() && at_.front() == to.starts.back()) {  // the line best at 0 is best only there
    to.starts.pop_back();
    to.lines.pop_back();
  }
  to.starts.insert(to.starts.end(), at_.begin(), at_.end());
  to.lines.insert(to.lines.end(), passed_.begin(), passed_.end());
}

namespace {

// A line of a node's envelope: highest from start on. The lines of its tails are choices[first ..], one for each tail.
struct NodeLine {
  double slope;
  double value;
  double start;
  std::int32_t edge;
  std::int64_t first;
};

class GraphSearch {
 public:
  GraphSearch(const Graph& graph, std::span<const double> values, std::span<const double> slopes)
      : graph_(graph), values_(values), slopes_(slopes) {}

  GraphEnvelope run() {
    GraphEnvelope envelope;
    if (graph_.empty()) return envelope;
    for (std::size_t v = 0; v < graph_.nodes(); ++v) node(v);
    for (std::size_t k = begin(graph_.nodes() - 1); k < lines_.size(); ++k) {
      envelope.starts.push_back(lines_[k].start);
      envelope.values.push_back(lines_[k].value);
      envelope.slopes.push_back(lines_[k].slope);
      unfold(k, envelope.edges);
    }
    return envelope;
  }

 private:
  std::size_t begin(std::size_t node) const { return static_cast<std::size_t>(nodes_[node]); }
  std::size_t end(std::size_t node) const { return static_cast<std::size_t>(nodes_[node + 1]); }

  void node(std::size_t v) {
    if (graph_.is_start(v)) {
      lines_.push_back({0.0, 0.0, -kInfinity, -1, 0});
    } else {
      made_.clear();
      picked_.clear();
      for (std::size_t e = graph_.first(v); e < graph_.last(v); ++e) edge(e);
      join();
    }
    nodes_.push_back(static_cast<std::int64_t>(lines_.size()));
  }

  // The lines of an edge: the sums of its tails' lines, between consecutive starts of any of them.
  void edge(std::size_t e) {
    const auto tails = graph_.tails(e);
    at_.clear();
    for (const std::int32_t t : tails) at_.push_back(begin(static_cast<std::size_t>(t)));
    for (;;) {
      NodeLine line{slopes_[e], values_[e], 0.0, static_cast<std::int32_t>(e),
                    static_cast<std::int64_t>(picked_.size())};
      double next = kInfinity;
      for (std::size_t k = 0; k < tails.size(); ++k) {
        const NodeLine& below = lines_[at_[k]];
        line.slope += below.slope;
        line.value += below.value;
        picked_.push_back(static_cast<std::int64_t>(at_[k]));
        if (at_[k] + 1 < end(static_cast<std::size_t>(tails[k]))) next = std::min(next, lines_[at_[k] + 1].start);
      }
      made_.push_back(line);
      if (next == kInfinity) return;
      for (std::size_t k = 0; k < tails.size(); ++k) {
        if (at_[k] + 1 < end(static_cast<std::size_t>(tails[k])) && lines_[at_[k] + 1].start == next) ++at_[k];
      }
    }
  }

  // The envelope of all lines of a node's edges.
  void join() {
    std::sort(made_.begin(), made_.end(), [](const NodeLine& a, const NodeLine& b) {
      if (a.slope != b.slope) return a.slope < b.slope;
      if (a.value != b.value) return a.value > b.value;
      return a.first != b.first ? a.first < b.first : a.edge < b.edge;
    });
    const std::size_t first = lines_.size();
    for (NodeLine& line : made_) {
      line.start = -kInfinity;
      if (lines_.size() > first && line.slope == lines_.back().slope) continue;
      bool seen = true;
      while (lines_.size() > first) {
        const NodeLine& last = lines_.back();
        line.start = (last.value - line.value) / (line.slope - last.slope);
        if (line.start > last.start) {
          seen = line.start < kInfinity;
          break;
        }
        lines_.pop_back();
        line.start = -kInfinity;
      }
      if (seen) lines_.push_back(line);
    }
    for (std::size_t k = first; k < lines_.size(); ++k) {
      const auto count = static_cast<std::ptrdiff_t>(graph_.tails(static_cast<std::size_t>(lines_[k].edge)).size());
      const auto from = picked_.begin() + lines_[k].first;
      lines_[k].first = static_cast<std::int64_t>(choices_.size());
      choices_.insert(choices_.end(), from, from + count);
    }
  }

  void unfold(std::size_t line, Parts<std::int32_t>& edges) {
    stack_.assign(1, static_cast<std::int64_t>(line));
    while (!stack_.empty()) {
      const NodeLine& here = lines_[static_cast<std::size_t>(stack_.back())];
      stack_.pop_back();
      if (here.edge < 0) continue;
      edges.values.push_back(here.edge);
      for (std::size_t k = graph_.tails(static_cast<std::size_t>(here.edge)).size(); k-- > 0;) {
        stack_.push_back(choices_[static_cast<std::size_t>(here.first) + k]);
      }
    }
    edges.end_part();
  }

  const Graph& graph_;
  std::span<const double> values_;
  std::span<const double> slopes_;
  std::vector<NodeLine> lines_;
  std::vector<std::int64_t> nodes_{0};  // offsets of each node's lines
  std::vector<std::int64_t> choices_;
  std::vector<NodeLine> made_;
  std::vector<std::int64_t> picked_;
  std::vector<std::size_t> at_;
  std::vector<std::int64_t> stack_;
};

}  // namespace

GraphEnvelope graph_envelope(const Graph& graph, std::span<const double> values, std::span<const double> slopes) {
  return GraphSearch(graph, values, slopes).run();
}

}  // namespace smt
