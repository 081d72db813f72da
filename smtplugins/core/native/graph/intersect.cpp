// Intersection of a graph with an acceptor: Y. Bar-Hillel, M. Perles, E. Shamir, "On Formal Properties of Simple Phrase
// Structure Grammars" (1961), bottom-up, over the target sides of edges.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "base/exponential.hpp"
#include "graph/inference.hpp"

namespace smt {
namespace {

// A node of the product: a node of the graph whose words lead from one state to another.
struct Item {
  std::int32_t from;
  std::int32_t to;
  std::int32_t number;
};

// A partial edge of the product: its target side read up to here; its tails are in a list beside it.
struct Match {
  std::int32_t from;
  std::int32_t to;
  std::int32_t edge;
  double weight;
  std::size_t tails;
};

class Intersection {
 public:
  Intersection(const Graph& graph, const Targets& targets, const Acceptor& acceptor, std::size_t max_edges)
      : graph_(graph), targets_(targets), acceptor_(acceptor), max_edges_(max_edges), items_(graph.nodes()) {}

  Product run() {
    for (std::size_t v = 0; v < graph_.nodes(); ++v) {
      done_.clear();
      done_tails_.clear();
      if (graph_.is_start(v)) {
        for (std::size_t state = 0; state < acceptor_.states(); ++state) {
          const auto at = static_cast<std::int32_t>(state);
          items_[v].push_back({at, at, add_node(v, at, at)});
          edge_offsets_.push_back(edge_offsets_.back());
        }
        continue;
      }
      for (std::size_t e = graph_.first(v); e < graph_.last(v); ++e) match(e);
      gather(v);
    }
    finish();
    return std::move(product_);
  }

 private:
  // All ways to read an edge's target side, symbol by symbol.
  void match(std::size_t e) {
    const auto tails = graph_.tails(e);
    const std::int32_t rule = targets_.rules[e];
    if (rule < 0) {
      symbols_.resize(tails.size());
      for (std::size_t k = 0; k < tails.size(); ++k) symbols_[k] = -1 - static_cast<std::int32_t>(k);
    } else {
      const auto symbols = targets_.of(rule);
      symbols_.assign(symbols.begin(), symbols.end());
    }
    used_.assign(tails.size(), 0);
    for (const std::int32_t symbol : symbols_) {
      if (symbol < 0 && used_[static_cast<std::size_t>(-1 - symbol)]++ != 0) {
        throw std::invalid_argument("a rule must use each tail once to be intersected");
      }
    }
    if (std::find(used_.begin(), used_.end(), 0) != used_.end()) {
      throw std::invalid_argument("a rule must use each tail once to be intersected");
    }
    const auto edge = static_cast<std::int32_t>(e);
    now_.clear();
    now_tails_.clear();
    begin(edge, tails);
    for (const std::int32_t symbol : symbols_) {
      if (now_.empty()) return;
      next_.clear();
      next_tails_.clear();
      for (const Match& match : now_) {
        if (symbol >= 0) {
          read_word(match, symbol, tails.size());
        } else {
          read_tail(match, static_cast<std::size_t>(-1 - symbol), tails);
        }
      }
      now_.swap(next_);
      now_tails_.swap(next_tails_);
    }
    for (Match match : now_) {
      const auto from = now_tails_.begin() + static_cast<std::ptrdiff_t>(match.tails);
      match.tails = done_tails_.size();
      done_tails_.insert(done_tails_.end(), from, from + static_cast<std::ptrdiff_t>(tails.size()));
      done_.push_back(match);
    }
    check(product_.part.edges.size() + done_.size());
  }

  // Partial edges with nothing read, in each state from which the first symbol can be read.
  void begin(std::int32_t edge, std::span<const std::int32_t> tails) {
    const auto add = [&](std::int32_t state) {
      now_.push_back({state, state, edge, 0.0, now_tails_.size()});
      now_tails_.resize(now_tails_.size() + tails.size(), -1);
    };
    if (!symbols_.empty() && symbols_.front() < 0) {
      std::int32_t last = -1;
      for (const Item& item : items_[static_cast<std::size_t>(tails[static_cast<std::size_t>(-1 - symbols_.front())])]) {
        if (item.from != last) add(last = item.from);
      }
      return;
    }
    for (std::size_t state = 0; state < acceptor_.states(); ++state) {
      if (symbols_.empty() || has_arc(state, symbols_.front())) add(static_cast<std::int32_t>(state));
    }
  }

  bool has_arc(std::size_t state, std::int32_t word) const {
    return std::find(acceptor_.words.begin() + acceptor_.offsets[state],
                     acceptor_.words.begin() + acceptor_.offsets[state + 1],
                     word) != acceptor_.words.begin() + acceptor_.offsets[state + 1];
  }

  Match& extend(const Match& match, std::size_t arity, std::int32_t to) {
    check(product_.part.edges.size() + next_.size());
    const auto from = now_tails_.begin() + static_cast<std::ptrdiff_t>(match.tails);
    next_.push_back({match.from, to, match.edge, match.weight, next_tails_.size()});
    next_tails_.insert(next_tails_.end(), from, from + static_cast<std::ptrdiff_t>(arity));
    return next_.back();
  }

  void read_word(const Match& match, std::int32_t word, std::size_t arity) {
    const auto state = static_cast<std::size_t>(match.to);
    for (auto arc = static_cast<std::size_t>(acceptor_.offsets[state]);
         arc < static_cast<std::size_t>(acceptor_.offsets[state + 1]); ++arc) {
      if (acceptor_.words[arc] == word) extend(match, arity, acceptor_.targets[arc]).weight += acceptor_.weights[arc];
    }
  }

  void read_tail(const Match& match, std::size_t k, std::span<const std::int32_t> tails) {
    const std::vector<Item>& items = items_[static_cast<std::size_t>(tails[k])];
    auto item = std::lower_bound(items.begin(), items.end(), match.to,
                                 [](const Item& a, std::int32_t state) { return a.from < state; });
    for (; item != items.end() && item->from == match.to; ++item) {
      const Match& more = extend(match, tails.size(), item->to);
      next_tails_[more.tails + k] = item->number;
    }
  }

  // Turns the matches of a node's edges into nodes of the product, by states, with the edges into each.
  void gather(std::size_t v) {
    std::stable_sort(done_.begin(), done_.end(), [](const Match& a, const Match& b) {
      return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    for (std::size_t i = 0; i < done_.size(); ++i) {
      const Match& match = done_[i];
      if (i == 0 || match.from != done_[i - 1].from || match.to != done_[i - 1].to) {
        items_[v].push_back({match.from, match.to, add_node(v, match.from, match.to)});
      }
      const std::size_t arity = graph_.tails(static_cast<std::size_t>(match.edge)).size();
      const auto from = done_tails_.begin() + static_cast<std::ptrdiff_t>(match.tails);
      tails_.values.insert(tails_.values.end(), from, from + static_cast<std::ptrdiff_t>(arity));
      tails_.end_part();
      product_.part.edges.push_back(match.edge);
      product_.weights.push_back(match.weight);
      if (i + 1 == done_.size() || match.from != done_[i + 1].from || match.to != done_[i + 1].to) {
        edge_offsets_.push_back(static_cast<std::int64_t>(tails_.size()));
      }
    }
  }

  std::int32_t add_node(std::size_t v, std::int32_t from, std::int32_t to) {
    check(product_.part.nodes.size());
    product_.part.nodes.push_back(static_cast<std::int32_t>(v));
    product_.states.push_back(from);
    product_.states.push_back(to);
    return static_cast<std::int32_t>(product_.part.nodes.size() - 1);
  }

  // Joins final states in one goal: a node on top, unless there is only one without a weight. Then drops the rest.
  void finish() {
    std::vector<Item> finals;
    if (graph_.nodes() > 0 && acceptor_.states() > 0) {
      for (const Item& item : items_.back()) {
        if (item.from == 0 && acceptor_.finals[static_cast<std::size_t>(item.to)] != kMinusInfinity) {
          finals.push_back(item);
        }
      }
    }
    if (finals.empty()) {
      product_ = {};
      return;
    }
    auto goal = static_cast<std::size_t>(finals.front().number);
    if (finals.size() > 1 || acceptor_.finals[static_cast<std::size_t>(finals.front().to)] != 0.0) {
      goal = product_.part.nodes.size();
      product_.part.nodes.push_back(-1);
      product_.states.insert(product_.states.end(), {0, -1});
      for (const Item& item : finals) {
        tails_.values.push_back(item.number);
        tails_.end_part();
        product_.part.edges.push_back(-1);
        product_.weights.push_back(acceptor_.finals[static_cast<std::size_t>(item.to)]);
      }
      edge_offsets_.push_back(static_cast<std::int64_t>(tails_.size()));
    }
    const Graph whole(std::move(edge_offsets_), std::move(tails_));
    const std::vector<std::uint8_t> keep(whole.edges(), 1);
    GraphPart cut = restricted(whole, keep, goal);
    Product left;
    for (std::int32_t& node : cut.nodes) {
      const auto at = static_cast<std::size_t>(node);
      left.states.insert(left.states.end(), {product_.states[2 * at], product_.states[2 * at + 1]});
      node = product_.part.nodes[at];
    }
    for (std::int64_t& edge : cut.edges) {
      const auto at = static_cast<std::size_t>(edge);
      left.weights.push_back(product_.weights[at]);
      edge = product_.part.edges[at];
    }
    left.part = std::move(cut);
    product_ = std::move(left);
  }

  void check(std::size_t count) const {
    if (count > max_edges_) throw std::length_error("the intersection has more edges than max_edges allows");
  }

  const Graph& graph_;
  const Targets& targets_;
  const Acceptor& acceptor_;
  std::size_t max_edges_;
  std::vector<std::vector<Item>> items_;  // of each node, by their states
  Product product_;
  std::vector<std::int64_t> edge_offsets_{0};
  Parts<std::int32_t> tails_;
  std::vector<std::int32_t> symbols_;
  std::vector<std::uint8_t> used_;
  std::vector<Match> now_, next_, done_;
  std::vector<std::int32_t> now_tails_, next_tails_, done_tails_;
};

}  // namespace

Product intersect(const Graph& graph, const Targets& targets, const Acceptor& acceptor, std::size_t max_edges) {
  return Intersection(graph, targets, acceptor, max_edges).run();
}

}  // namespace smt
