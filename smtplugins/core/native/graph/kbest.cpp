// k-best derivations: L. Huang and D. Chiang, "Better k-best Parsing" (2005), algorithm 3.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/exponential.hpp"
#include "graph/inference.hpp"

namespace smt {
namespace {

constexpr std::int64_t kFirsts = -1;  // ranks that are all 0

// An edge with a rank in the list of each tail, kept in the arena from `ranks` on.
struct Candidate {
  double score;
  std::int32_t edge;
  std::int64_t ranks;
};

struct Ranked {
  Candidate candidate;
  std::int64_t words = 0;  // offset of its words
  std::int32_t length = 0;
};

// Heaps have the best on top; of equal ones the first edge, then the oldest candidate.
bool worse(const Candidate& a, const Candidate& b) noexcept {
  if (a.score != b.score) return a.score < b.score;
  return a.edge != b.edge ? a.edge > b.edge : a.ranks > b.ranks;
}

struct Node {
  std::vector<Candidate> heap;
  std::vector<Ranked> ranked;
  Candidate open{};         // the last popped candidate, whose neighbours are not all in the heap
  std::int32_t place = -1;  // the next tail to step; -1 if none is open
  bool begun = false;
  bool done = false;
};

class Lazy {
 public:
  Lazy(const Graph& graph, std::span<const double> scores, const Targets* targets, std::size_t k)
      : graph_(graph), scores_(scores), targets_(targets), k_(k), nodes_(graph.nodes()), best_(graph.nodes() + 1) {
    inside(graph, scores, Semiring::kMax, best_);
  }

  Derivations run() {
    Derivations derivations;
    const std::size_t goal = graph_.nodes() - 1;
    if (best_[goal] == kMinusInfinity) return derivations;
    while (nodes_[goal].ranked.size() < k_ && fill(goal, nodes_[goal].ranked.size())) {
    }
    for (std::size_t rank = 0; rank < std::min(nodes_[goal].ranked.size(), k_); ++rank) write(goal, rank, derivations);
    return derivations;
  }

 private:
  struct Request {
    std::size_t node;
    std::size_t rank;
  };

  std::int32_t rank(const Candidate& candidate, std::size_t place) const {
    return candidate.ranks == kFirsts ? 0 : ranks_[static_cast<std::size_t>(candidate.ranks) + place];
  }

  // Extends a node's list to a rank; false if it has fewer derivations. Requests go down so many nodes that recursion
  // could overflow: the stack is explicit.
  bool fill(std::size_t node, std::size_t rank) {
    stack_.assign(1, {node, rank});
    while (!stack_.empty()) {
      const auto [v, wanted] = stack_.back();
      Node& at = nodes_[v];
      if (!at.begun) begin(v);
      if (at.done || at.ranked.size() > wanted) {
        stack_.pop_back();
      } else if (at.place >= 0) {
        step(at);
      } else if (at.heap.empty()) {
        at.done = true;
      } else if (targets_ == nullptr || can_be_spelt(at.heap.front())) {
        pop(v);
      }
    }
    return nodes_[node].ranked.size() > rank;
  }

  void begin(std::size_t v) {
    Node& at = nodes_[v];
    at.begun = true;
    if (graph_.is_start(v)) {
      at.ranked.push_back({{0.0, -1, kFirsts}});
      at.done = true;
      return;
    }
    at.heap.reserve(graph_.last(v) - graph_.first(v));
    const std::int32_t* const pairs = graph_.pairs();
    for (std::size_t e = graph_.first(v); e < graph_.last(v); ++e) {
      double score = scores_[e] + best_[static_cast<std::size_t>(pairs[2 * e])] +
                     best_[static_cast<std::size_t>(pairs[2 * e + 1])];
      const auto tails = graph_.tails(e);
      for (std::size_t i = 2; i < tails.size(); ++i) score += best_[static_cast<std::size_t>(tails[i])];
      if (score != kMinusInfinity) at.heap.push_back({score, static_cast<std::int32_t>(e), kFirsts});
    }
    // Without equal words, no list needs more than k derivations, nor more than k edges.
    if (targets_ == nullptr && at.heap.size() > k_) {
      const auto end = at.heap.begin() + static_cast<std::ptrdiff_t>(k_);
      std::nth_element(at.heap.begin(), end, at.heap.end(),
                       [](const Candidate& a, const Candidate& b) { return worse(b, a); });
      at.heap.erase(end, at.heap.end());
    }
    std::make_heap(at.heap.begin(), at.heap.end(), worse);
  }

  // Whether the derivations below exist yet; if not, requests one. Their scores show that they will exist.
  bool can_be_spelt(const Candidate& candidate) {
    for (const std::int32_t tail : graph_.tails(static_cast<std::size_t>(candidate.edge))) {
      const auto t = static_cast<std::size_t>(tail);
      // Ranks above 0 are used only when they exist.
      if (nodes_[t].ranked.empty()) {
        stack_.push_back({t, 0});
        return false;
      }
    }
    return true;
  }

  void pop(std::size_t v) {
    Node& at = nodes_[v];
    std::pop_heap(at.heap.begin(), at.heap.end(), worse);
    const Candidate popped = at.heap.back();
    at.heap.pop_back();
    // The first candidate steps at every tail, others only from their last stepped tail on: so each is reached once,
    // from one that is not worse.
    const auto arity = static_cast<std::int32_t>(graph_.tails(static_cast<std::size_t>(popped.edge)).size());
    std::int32_t place = arity - 1;
    while (place > 0 && rank(popped, static_cast<std::size_t>(place)) == 0) --place;
    at.open = popped;
    at.place = arity == 0 ? -1 : place;
    Ranked entry{popped};
    if (targets_ == nullptr || is_new(v, entry)) at.ranked.push_back(entry);
  }

  // Pushes the neighbour at the next tail, if that tail's list is long enough; else requests it.
  void step(Node& at) {
    const auto tails = graph_.tails(static_cast<std::size_t>(at.open.edge));
    const auto place = static_cast<std::size_t>(at.place);
    const auto below = static_cast<std::size_t>(tails[place]);
    const auto next = static_cast<std::size_t>(rank(at.open, place)) + 1;
    Node& tail = nodes_[below];
    if (tail.ranked.size() <= next && !tail.done) {
      // With all ranks 0 the list may still be empty; the score of rank 0 is known anyway.
      stack_.push_back({below, next});
      return;
    }
    if (next < tail.ranked.size()) {
      const auto start = static_cast<std::int64_t>(ranks_.size());
      double score = scores_[static_cast<std::size_t>(at.open.edge)];
      for (std::size_t k = 0; k < tails.size(); ++k) {
        const std::int32_t r = k == place ? static_cast<std::int32_t>(next) : rank(at.open, k);
        const auto t = static_cast<std::size_t>(tails[k]);
        score += r == 0 ? best_[t] : nodes_[t].ranked[static_cast<std::size_t>(r)].candidate.score;
        ranks_.push_back(r);
      }
      at.heap.push_back({score, at.open.edge, start});
      std::push_heap(at.heap.begin(), at.heap.end(), worse);
    }
    at.place = place + 1 < tails.size() ? at.place + 1 : -1;
  }

  // Writes the words of a derivation; false if its node already has one with the same words.
  bool is_new(std::size_t v, Ranked& entry) {
    entry.words = static_cast<std::int64_t>(words_.size());
    const Candidate& candidate = entry.candidate;
    const auto tails = graph_.tails(static_cast<std::size_t>(candidate.edge));
    const auto append = [&](std::size_t place) {
      const Node& tail = nodes_[static_cast<std::size_t>(tails[place])];
      const Ranked& below = tail.ranked[static_cast<std::size_t>(rank(candidate, place))];
      const auto length = static_cast<std::size_t>(below.length);
      check_room(length);
      const std::size_t end = words_.size();
      words_.resize(end + length);
      std::copy_n(words_.begin() + below.words, length, words_.begin() + static_cast<std::ptrdiff_t>(end));
    };
    const std::int32_t rule = targets_->rules[static_cast<std::size_t>(candidate.edge)];
    if (rule < 0) {
      for (std::size_t k = 0; k < tails.size(); ++k) append(k);
    } else {
      for (const std::int32_t symbol : targets_->of(rule)) {
        if (symbol < 0) {
          append(static_cast<std::size_t>(-1 - symbol));
        } else {
          check_room(1);
          words_.push_back(symbol);
        }
      }
    }
    const auto begin = words_.begin() + entry.words;
    entry.length = static_cast<std::int32_t>(words_.end() - begin);
    std::uint64_t hash = 0x9E3779B97F4A7C15ULL * (v + 1);
    for (auto at = begin; at != words_.end(); ++at) {
      hash = (hash ^ static_cast<std::uint64_t>(*at)) * 0xFF51AFD7ED558CCDULL;
      hash ^= hash >> 32U;
    }
    const auto [from, to] = seen_.equal_range(hash);
    for (auto at = from; at != to; ++at) {
      const auto [node, index] = at->second;
      if (node != v) continue;
      const Ranked& other = nodes_[node].ranked[index];
      if (other.length == entry.length && std::equal(begin, words_.end(), words_.begin() + other.words)) {
        words_.resize(static_cast<std::size_t>(entry.words));
        return false;
      }
    }
    seen_.emplace(hash, std::pair(v, nodes_[v].ranked.size()));
    return true;
  }

  void check_room(std::size_t more) const {
    if (words_.size() + more > 8 * kMaxDerivation) throw std::length_error("derivations of too many words");
  }

  void write(std::size_t goal, std::size_t at, Derivations& derivations) {
    std::vector<std::int32_t>& edges = derivations.edges.values;
    todo_.assign(1, {goal, at});
    while (!todo_.empty()) {
      const auto [v, r] = todo_.back();
      todo_.pop_back();
      // A list of which only the best score was used is still empty.
      if (r == 0) fill(v, 0);
      const Candidate& candidate = nodes_[v].ranked[r].candidate;
      if (candidate.edge < 0) continue;
      if (edges.size() == kMaxDerivation) throw std::length_error("derivations of too many edges");
      edges.push_back(candidate.edge);
      const auto tails = graph_.tails(static_cast<std::size_t>(candidate.edge));
      for (std::size_t k = tails.size(); k-- > 0;) {
        todo_.push_back({static_cast<std::size_t>(tails[k]), static_cast<std::size_t>(rank(candidate, k))});
      }
    }
    derivations.edges.end_part();
    derivations.scores.push_back(nodes_[goal].ranked[at].candidate.score);
  }

  const Graph& graph_;
  std::span<const double> scores_;
  const Targets* targets_;
  std::size_t k_;
  std::vector<Node> nodes_;
  std::vector<double> best_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::int32_t> words_;
  std::unordered_multimap<std::uint64_t, std::pair<std::size_t, std::size_t>> seen_;  // of node and words: where it is
  std::vector<Request> stack_;
  std::vector<Request> todo_;
};

}  // namespace

Derivations kbest(const Graph& graph, std::span<const double> scores, std::size_t k, const Targets* targets) {
  if (graph.empty() || k == 0) return {};
  return Lazy(graph, scores, targets, k).run();
}

}  // namespace smt
