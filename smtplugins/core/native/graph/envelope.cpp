#include "graph/envelope.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "wide.hpp"

namespace smt {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// This many lines of an envelope are found by one pass each over the remaining lines; then the rest is sorted.
constexpr int kPasses = 16;
// Ends of the reach with a margin: a part of them for rounding errors, and so little that 0 is within.
constexpr double kBeyond = 1.0 + 1e-9, kLeast = 1e-300;

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

// Whether a line is above the best one at either end of the reach: a look without divisions, which answers for most
// lists of a narrow region.
struct Above {
  bool low, high;
};

SMT_WIDE Above above(const double* values, const double* slopes, std::size_t size, std::size_t best, double low,
                     double high) {
  const double top = values[best], own = slopes[best];
  std::int64_t down = 0, up = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double rise = slopes[i] - own, fall = top - values[i];
    down += static_cast<std::int64_t>(rise * low > fall);
    up += static_cast<std::int64_t>(rise * high > fall);
  }
  return {down != 0, up != 0};
}

}  // namespace

void EnvelopeSearch::append(std::span<const double> values, std::span<const double> slopes, std::size_t best,
                            const Reach& reach, Envelope& to) {
  const double top = values[best], own = slopes[best];
  const double low = reach.low * kBeyond - kLeast, high = reach.high * kBeyond + kLeast;
  const Above ends = above(values.data(), slopes.data(), values.size(), best, low, high);
  // A line of the envelope meets the best one within reach. The first is the one that rises most as it falls behind.
  const auto side = [&](bool any, double sign, double limit, double end) {
    passed_.clear();
    at_.clear();
    if (!any) return;
    left_.resize(values.size() + 1);
    std::int32_t* last = left_.data();
    for (std::size_t i = 0; i < values.size(); ++i) {
      *last = static_cast<std::int32_t>(i);
      last += static_cast<int>(sign * (slopes[i] - own) * end > top - values[i]);  // no branch to guess
    }
    left_.resize(static_cast<std::size_t>(last - left_.data()));
    double most = 0.0;
    std::int32_t first = -1;
    for (const std::int32_t line : left_) {
      const auto i = static_cast<std::size_t>(line);
      const double turned = sign * (slopes[i] - own) / (top - values[i]);
      if (turned > most) {
        most = turned;
        first = line;
      }
    }
    if (first < 0) return;
    const auto line = static_cast<std::size_t>(first);
    const double place = (top - values[line]) / (sign * (slopes[line] - own));
    if (!(place < kInfinity) || place > limit) return;
    walk(values, slopes, first, place, sign, limit);
  };
  side(ends.low, -1.0, -reach.low, -low);
  // A line that begins at a place on the way down ends there on the way up.
  for (std::size_t k = passed_.size(); k-- > 0;) {
    to.starts.push_back(k + 1 == passed_.size() ? -kInfinity : 0.0 - at_[k + 1]);
    to.lines.push_back(passed_[k]);
  }
  to.starts.push_back(passed_.empty() ? -kInfinity : 0.0 - at_.front());
  to.lines.push_back(static_cast<std::int32_t>(best));
  side(ends.high, 1.0, reach.high, high);
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
