// Batched reductions of candidates; a template, included by the files that use it.
#pragma once

#include <utility>

#include "amasis_search.hpp"

namespace smt::searn {

// Beyond the maximum of a label, reductions keep the order.
inline bool reduces_in_order(std::uint32_t operations, std::int32_t k) noexcept {
  return k >= 32 || (operations >> static_cast<std::uint32_t>(k) & 1U) != 0;
}

template <class OnStep, class OnDone>
void AmasisSearcher::reduce(std::span<Candidate> batch, bool ending, OnStep step, OnDone done) {
  active_.clear();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].arc.count == 0) {
      done(i);
    } else {
      active_.push_back(i);
    }
  }
  for (std::int32_t round = 0; !active_.empty(); ++round) {
    batch_rules_.clear();
    batch_tails_.clear();
    batch_offsets_.assign(1, 0);
    for (const std::size_t i : active_) {
      const Candidate& c = batch[i];
      const bool in_order = reduces_in_order(c.arc.operations, round);
      batch_rules_.push_back(in_order ? plus_ : plus_ + 1);
      batch_tails_.push_back(state_of(nodes_[static_cast<std::size_t>(c.under)].state));
      batch_tails_.push_back(c.state);
      batch_offsets_.push_back(static_cast<std::int32_t>(batch_tails_.size()));
    }
    // Alternate buffers: states of the previous round are still in use.
    std::vector<std::uint64_t>& out = out_[round % 2];
    combine(out);
    next_.clear();
    const std::byte* record = reinterpret_cast<const std::byte*>(out.data());
    for (const std::size_t i : active_) {
      Candidate& c = batch[i];
      const Node& left = nodes_[static_cast<std::size_t>(c.under)];
      const bool in_order = reduces_in_order(c.arc.operations, round);
      const auto* const values = reinterpret_cast<const float*>(record);
      double score = weighed(values);
      if (!in_order) score += weights_[components_ + 1];
      if (ending) score += weights_[components_ + 2];
      c.arc.inside += left.inside + score;
      c.state = record + state_at_;
      if (options_.strings) c.string = in_order ? joined(left.string, c.string) : joined(c.string, left.string);
      if (c.fragment == empty) {
        c.root = left.root;
        c.fragment = left.fragment;
      } else if (left.fragment != empty) {
        c.root = in_order ? Root::kInOrder : Root::kReversed;
        if (!in_order) c.fragment = left.fragment;
      }
      c.under = left.below;
      step(i, score, values);
      if (round + 1 == c.arc.count) {
        done(i);
      } else {
        next_.push_back(i);
      }
      record += stride_;
    }
    std::swap(active_, next_);
  }
}

}  // namespace smt::searn
