#include "sequences.hpp"

#include <algorithm>

#include "draws.hpp"

namespace smt::searn {

// The last two labels, and the last word of each fragment on the stack.
struct Sequences::State {
  std::int32_t before = 0, last = 0;
  std::vector<std::int32_t> stack;
};

struct Sequences::Scratch {
  explicit Scratch(std::size_t labels) : scores(labels), votes(labels) {}
  std::vector<double> scores, votes;
};

Sequences::Sequences(const SequenceColumns& columns)
    : columns_(columns),
      width_(std::size_t{!columns.label.empty()} + std::size_t{!columns.label2.empty()} +
             std::size_t{!columns.depth.empty()} + std::size_t{!columns.fragment.empty()}) {}

void Sequences::begin(State& state) const {
  state.before = state.last = static_cast<std::int32_t>(columns_.labels);
  state.stack.clear();
}

void Sequences::rows(const State& state, std::int32_t* history) const noexcept {
  const SequenceColumns& c = columns_;
  const auto before = static_cast<std::size_t>(state.before), last = static_cast<std::size_t>(state.last);
  if (!c.label.empty()) *history++ = c.label[last];
  if (!c.label2.empty()) *history++ = c.label2[before * (c.labels + 1) + last];
  if (!c.depth.empty()) *history++ = c.depth[std::min(state.stack.size(), c.depth.size() - 1)];
  if (!c.fragment.empty()) {
    const std::size_t words = c.fragment.size() - 2;
    const std::size_t none = words + 1;
    const std::int32_t top = state.stack.empty() ? 0 : state.stack.back();
    *history++ = c.fragment[state.stack.empty() ? none : (top < 0 ? words : static_cast<std::size_t>(top))];
  }
}

void Sequences::advance(State& state, std::size_t item, std::int32_t label) const {
  const SequenceColumns& c = columns_;
  state.before = state.last;
  state.last = label;
  if (c.depth.empty() && c.fragment.empty()) return;
  state.stack.push_back(c.last.empty() ? -1 : c.last[item]);
  const auto at = static_cast<std::size_t>(label);
  for (auto k = c.operation_starts[at]; k < c.operation_starts[at + 1] && state.stack.size() > 1; ++k) {
    const std::int32_t right = state.stack.back();
    state.stack.pop_back();
    std::int32_t& left = state.stack.back();
    // If one fragment is empty, the last word is the other's.
    const bool in_order = c.operations[static_cast<std::size_t>(k)] != 0;
    if (in_order ? right >= 0 : left < 0) left = right;
  }
}

void Sequences::score(std::size_t item, const std::int32_t* history, const float* weights,
                      double* scores) const noexcept {
  const SequenceColumns& c = columns_;
  const std::size_t labels = c.labels;
  std::fill_n(scores, labels, 0.0);
  const auto stop = static_cast<std::size_t>(c.starts[item + 1]);
  for (auto k = static_cast<std::size_t>(c.starts[item]); k < stop; ++k) {
    add_row(scores, weights + static_cast<std::size_t>(c.ids[k]) * labels, c.values.empty() ? 1.0 : c.values[k],
            labels);
  }
  for (std::size_t h = 0; h < width_; ++h) {
    if (history[h] >= 0) add_row(scores, weights + static_cast<std::size_t>(history[h]) * labels, 1.0, labels);
  }
}

std::int32_t Sequences::best(std::size_t item, const std::int32_t* history, const Mixture& mixture,
                             std::size_t policy, Scratch& scratch) const {
  const std::size_t size = mixture.weights.size() / mixture.voting.size();
  score(item, history, mixture.weights.data() + policy * size, scratch.scores.data());
  return static_cast<std::int32_t>(highest(scratch.scores.data(), columns_.labels));
}

std::int32_t Sequences::choose(std::size_t item, const std::int32_t* history, const Mixture& mixture, Decide decide,
                               std::uint64_t key, Scratch& scratch) const {
  const std::size_t policies = mixture.voting.size();
  if (decide == Decide::kOptimal || policies == 0) return columns_.gold[item];
  if (decide == Decide::kDraw) {
    double total = 0.0;
    for (const double share : mixture.shares) total += share;
    const double wanted = uniform(key) * total;
    std::size_t drawn = 0;
    double end = mixture.shares[0];
    while (drawn < policies && wanted >= end) end += mixture.shares[++drawn];
    return drawn == 0 ? columns_.gold[item] : best(item, history, mixture, drawn - 1, scratch);
  }
  if (policies == 1) return best(item, history, mixture, 0, scratch);
  std::fill(scratch.votes.begin(), scratch.votes.end(), 0.0);
  for (std::size_t p = 0; p < policies; ++p) {
    scratch.votes[static_cast<std::size_t>(best(item, history, mixture, p, scratch))] += mixture.voting[p];
  }
  return static_cast<std::int32_t>(highest(scratch.votes.data(), columns_.labels));
}

void Sequences::follow(std::size_t first, std::size_t last, const Mixture& mixture, Decide decide, std::uint64_t key,
                       std::int32_t* taken, std::int32_t* history) const {
  State state;
  Scratch scratch(columns_.labels);
  for (std::size_t s = first; s < last; ++s) {
    const std::uint64_t own = chained(chained(key, s), 0);
    begin(state);
    const auto start = static_cast<std::size_t>(columns_.offsets[s]);
    const auto stop = static_cast<std::size_t>(columns_.offsets[s + 1]);
    for (std::size_t item = start; item < stop; ++item) {
      rows(state, history);
      *taken = choose(item, history, mixture, decide, chained(own, item - start), scratch);
      advance(state, item, *taken++);
      history += width_;
    }
  }
}

void Sequences::complete(std::size_t first, std::size_t last, const Mixture& mixture, Decide decide,
                         std::size_t samples, std::uint64_t key, const std::int32_t* taken, double* costs) const {
  State state, tried;
  Scratch scratch(columns_.labels);
  std::vector<std::int32_t> history(width_);
  if (decide != Decide::kDraw) samples = 1;
  for (std::size_t s = first; s < last; ++s) {
    const std::uint64_t own = chained(chained(key, s), 1);
    begin(state);
    const auto start = static_cast<std::size_t>(columns_.offsets[s]);
    const auto stop = static_cast<std::size_t>(columns_.offsets[s + 1]);
    for (std::size_t item = start; item < stop; ++item) {
      for (std::size_t label = 0; label < columns_.labels; ++label) {
        const std::uint64_t here = chained(chained(own, item - start), label);
        double wrong = 0.0;
        for (std::size_t sample = 0; sample < samples; ++sample) {
          const std::uint64_t mine = chained(here, sample);
          tried = state;
          advance(tried, item, static_cast<std::int32_t>(label));
          for (std::size_t next = item + 1; next < stop; ++next) {
            rows(tried, history.data());
            const std::int32_t chosen =
                choose(next, history.data(), mixture, decide, chained(mine, next - start), scratch);
            wrong += chosen != columns_.gold[next];
            advance(tried, next, chosen);
          }
        }
        *costs++ = (static_cast<std::int32_t>(label) != columns_.gold[item]) + wrong / static_cast<double>(samples);
      }
      advance(state, item, *taken++);
    }
  }
}

}  // namespace smt::searn
