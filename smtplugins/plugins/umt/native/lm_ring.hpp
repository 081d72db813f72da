// The text of a growing tree, as pieces and the open places between them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lm/lm_state.hpp"
#include "part.hpp"

namespace smt::umt {

// A piece of text and the places at its ends. It keeps as many words for rescoring as a context has.
template <int N>
struct LmPiece {
  ChartState<N> state;
  std::int32_t before = -1;
  std::int32_t behind = -1;
  std::uint8_t known = 0;  // number of words, <s> included
  std::uint8_t count = 0;  // number of first words kept, 0 if the sentence begins with the piece
  bool begun = false;
  WordId words[N - 1] = {};
};

// Pieces and places alternate on a ring: as long as the tree's head is open, the outside of the tree is a place between
// its last piece and its first.
template <int N>
class LmRing {
 public:
  using Piece = LmPiece<N>;
  struct Around {
    const Piece* left = nullptr;
    const Piece* right = nullptr;
  };

  void clear() {
    pieces_.clear();
    places_.clear();
    first_place_.clear();
  }

  // The pieces beside a place; none for the first edge.
  Around around(Place place) const noexcept {
    if (place.step < 0) return {};
    const Between& at = places_[static_cast<std::size_t>(between(place))];
    // A tail that the target side drops has no neighbours: its text stands alone.
    if (at.left == kNone) return {};
    return {&pieces_[static_cast<std::size_t>(at.left)], &pieces_[static_cast<std::size_t>(at.right)]};
  }

  // Attaches an edge. `items` is its target side, with gap k as -1 - k; `made` has the new pieces from left to right,
  // including the grown neighbours. Appends the places whose neighbours have changed to `changed`.
  void attach(const Index& index, Place place, const Candidate& edge, std::span<const std::int32_t> items,
              const std::vector<Piece>& made, std::vector<Place>& changed);

 private:
  static constexpr std::int32_t kNone = -1;
  struct Between {
    Place place;
    std::int32_t left = kNone;
    std::int32_t right = kNone;
  };

  std::int32_t between(Place place) const noexcept {
    return first_place_[static_cast<std::size_t>(place.step)] + place.link;
  }
  static bool begins_alike(const Piece& a, const Piece& b) noexcept {
    return a.state.left == b.state.left && a.count == b.count && std::equal(a.words, a.words + a.count, b.words);
  }
  static bool ends_alike(const Piece& a, const Piece& b) noexcept {
    return a.state.right == b.state.right && a.known == b.known;
  }
  void replace(std::int32_t number, const Piece& made, std::int32_t before, std::int32_t behind) {
    Piece& piece = pieces_[static_cast<std::size_t>(number)];
    piece = made;
    piece.before = before;
    piece.behind = behind;
    if (before != kNone) places_[static_cast<std::size_t>(before)].right = number;
    if (behind != kNone) places_[static_cast<std::size_t>(behind)].left = number;
  }
  void add(const Piece& made, std::int32_t before, std::int32_t behind) {
    pieces_.emplace_back();
    replace(static_cast<std::int32_t>(pieces_.size()) - 1, made, before, behind);
  }

  std::vector<Piece> pieces_;
  std::vector<Between> places_;
  std::vector<std::int32_t> first_place_;  // for each step the place of its head, followed by those of its tails
};

template <int N>
void LmRing<N>::attach(const Index& index, Place place, const Candidate& edge, std::span<const std::int32_t> items,
                       const std::vector<Piece>& made, std::vector<Place>& changed) {
  const bool upwards = edge.slot >= 0;
  const auto tails = index.tails(edge.bundle);
  const std::int32_t filled = place.step < 0 ? kNone : between(place);

  // The places of the step, not yet between pieces.
  const auto step = static_cast<std::int32_t>(first_place_.size());
  first_place_.push_back(static_cast<std::int32_t>(places_.size()));
  for (std::size_t link = 0; link <= tails.size(); ++link) {
    places_.push_back({{step, static_cast<std::int32_t>(link)}, kNone, kNone});
  }
  const bool has_head = (upwards || place.step < 0) && !index.tops(edge.bundle);
  const std::int32_t head = has_head ? between({step, 0}) : kNone;

  // Grown pieces replace the old ones; the state at their other ends may have changed.
  const std::int32_t old_left = filled == kNone ? kNone : places_[static_cast<std::size_t>(filled)].left;
  const std::int32_t old_right = filled == kNone ? kNone : places_[static_cast<std::size_t>(filled)].right;
  const auto tell = [&](std::int32_t at, bool differs) {
    if (at != kNone && at != filled && differs) changed.push_back(places_[static_cast<std::size_t>(at)].place);
  };
  // The places between the new pieces, in order; kNone at the old tree.
  std::vector<std::int32_t> cuts;
  bool drops = upwards;
  bool inner = false;
  std::size_t tree = 0;  // the piece that extends the tree's first piece
  for (const std::int32_t item : items) {
    if (item >= 0) continue;
    if (-1 - item != edge.slot) {
      cuts.push_back(between({step, -item}));
      continue;
    }
    drops = false;
    tree = cuts.size();
    inner = old_left != old_right;
    if (inner) cuts.push_back(kNone);
  }
  const std::size_t last = made.size() - 1;
  if (drops) {
    // The target side drops the tree: nothing is around it.
    pieces_[static_cast<std::size_t>(old_right)].before = kNone;
    pieces_[static_cast<std::size_t>(old_left)].behind = kNone;
  } else if (upwards) {
    // A tree of several pieces grows at its first and last piece, a tree of a single piece on both sides of it.
    const Piece first_was = pieces_[static_cast<std::size_t>(old_right)];
    const Piece last_was = pieces_[static_cast<std::size_t>(old_left)];
    for (std::size_t i = 0; i <= last; ++i) {
      const std::int32_t before = i == 0 ? head : cuts[i - 1];
      const std::int32_t behind = i == last ? head : cuts[i];
      if (i == tree) {
        const std::int32_t next = inner ? first_was.behind : behind;
        if (inner) tell(next, !ends_alike(made[i], first_was));
        replace(old_right, made[i], before, next);
      } else if (inner && i == tree + 1) {
        const std::int32_t previous = last_was.before;
        tell(previous, !begins_alike(made[i], last_was));
        replace(old_left, made[i], previous, behind);
      } else {
        add(made[i], before, behind);
      }
    }
    return;
  }
  if (old_left == kNone || drops) {
    for (std::size_t i = 0; i <= last; ++i) add(made[i], i == 0 ? head : cuts[i - 1], i == last ? head : cuts[i]);
    return;
  }
  const Piece left_was = pieces_[static_cast<std::size_t>(old_left)];
  const Piece right_was = pieces_[static_cast<std::size_t>(old_right)];
  for (std::size_t i = 0; i <= last; ++i) {
    const std::int32_t before = i == 0 ? left_was.before : cuts[i - 1];
    const std::int32_t behind = i == last ? right_was.behind : cuts[i];
    // A tree that has become a single piece may be shorter than a context.
    const bool closed = last == 0 && before == behind;
    if (i == 0) tell(before, closed || !begins_alike(made[i], left_was));
    if (i == last) tell(behind, closed || !ends_alike(made[i], right_was));
    if (i == 0) {
      replace(old_left, made[i], before, behind);
    } else if (i == last) {
      replace(old_right, made[i], before, behind);
    } else {
      add(made[i], before, behind);
    }
  }
}

}  // namespace smt::umt
