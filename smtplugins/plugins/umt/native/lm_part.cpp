#include "lm_part.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lm_fragments.hpp"
#include "rule_score.hpp"

namespace smt::umt {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int32_t kUnseen = -1;

template <int N>
class LmPart final : public Part {
 public:
  LmPart(std::shared_ptr<AnyLmScorer> scorer, LmMode mode)
      : owner_(std::move(scorer)),
        lm_(owner_->lm()),
        markers_(owner_->options().markers),
        scale_(owner_->options().scale),
        mode_(mode),
        context_(static_cast<std::size_t>(lm_.order) - 1),
        memos_(kMemos),
        fragments_(lm_, markers_) {}

  std::size_t components() const noexcept override { return mode_ == LmMode::kSplit ? 3 * (context_ + 1) : 1; }

  void begin(const Index& index) override {
    index_ = &index;
    const TargetRules& rules = index.input->rules;
    items_at_.assign(rules.targets.size(), kUnseen);
    items_.clear();
    fragments_.clear();
    // Words of another sentence may mean something else to a scorer that was set anew; joins are of the model's ids.
    reset();
  }

  void estimate(double weight, std::span<float> bounds) override {
    for (std::size_t rule = 0; rule < bounds.size(); ++rule) {
      double sum = 0.0;
      for (const std::int32_t item : items_of(static_cast<std::int32_t>(rule))) {
        if (item >= 0) sum += fragments_[item].score;
      }
      bounds[rule] += static_cast<float>(weight * scale_ * sum);
    }
  }

  void begin_branches(std::size_t nodes) override { branches_.resize(nodes); }

  double joins(std::int32_t bundle, std::int32_t rule) override {
    const auto tails = index_->tails(bundle);
    const bool ends = index_->tops(bundle) && !markers_;
    RuleScorer<N> scorer(lm_, branch_);
    bool empty = !ends;
    if (ends) scorer.begin_sentence();
    for (const std::int32_t item : items_of(rule)) {
      const Fragment* const words = item >= 0 ? &fragments_[item] : nullptr;
      const Chart& next =
          words != nullptr
              ? words->state
              : branches_[static_cast<std::size_t>(tails[static_cast<std::size_t>(-1 - item)])];
      if (empty) {
        scorer.first_gap(next);
        empty = next.empty();
      } else {
        scorer.gap(next, joined(scorer.right(), next.left));
      }
    }
    if (ends) scorer.terminal(lm_.end);
    return scale_ * scorer.finish();
  }

  void keep_branch(std::int32_t node) override { branches_[static_cast<std::size_t>(node)] = branch_; }

  void reset() override {
    pieces_.clear();
    places_.clear();
    first_place_.clear();
  }

  void score(Place place, std::span<const Candidate> edges, double* values, std::size_t stride) override {
    const Around around = around_of(place);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      double* const at = values + i * stride;
      if (mode_ == LmMode::kDelta) {
        *at = scale_ * delta(around, edges[i], nullptr);
      } else {
        rescore(around, edges[i], at);
      }
    }
  }

  void attach(Place place, const Candidate& edge, std::vector<Place>& changed) override;

 private:
  using Chart = ChartState<N>;

  using Fragment = typename LmFragments<N>::Fragment;

  // A piece of the tree's text, and the places at its ends.
  struct Piece {
    Chart state;
    std::int32_t before = kNone;
    std::int32_t behind = kNone;
    // For scoring anew; all as far as a context goes.
    std::uint8_t known = 0;  // words there are, <s> included
    std::uint8_t count = 0;  // of its first words, none if the sentence begins with it
    bool begun = false;
    WordId words[N - 1] = {};
  };
  // An open place is between two pieces; what is around the tree is between the last and the first.
  struct Between {
    Place place;
    std::int32_t left = kNone;
    std::int32_t right = kNone;
  };
  struct Around {
    const Piece* left = nullptr;
    const Piece* right = nullptr;
  };
  struct alignas(64) Memo {
    std::uint64_t key = 0;
    Joined<N> joined;
  };
  static constexpr std::size_t kMemos = std::size_t{1} << 13U;

  std::span<const std::int32_t> target(const Candidate& edge) const noexcept {
    return index_->input->rules.targets[static_cast<std::size_t>(edge.rule)];
  }
  std::span<const std::int32_t> items_of(std::int32_t rule);
  std::int32_t between(Place place) const noexcept {
    return first_place_[static_cast<std::size_t>(place.step)] + place.link;
  }
  Around around_of(Place place) const noexcept {
    if (place.step < 0) return {};
    const Between& at = places_[static_cast<std::size_t>(between(place))];
    // The target side has no place for a tail that it drops: what comes there is text of its own.
    if (at.left == kNone) return {};
    return {&pieces_[static_cast<std::size_t>(at.left)], &pieces_[static_cast<std::size_t>(at.right)]};
  }

  // Writes pieces one behind the other, if somebody wants to have them.
  class Writer {
   public:
    Writer(LmPart& part, std::vector<Piece>* made) : part_(part), made_(made), scorer_(part.lm_, piece_.state) {}
    void begin_sentence() noexcept {
      scorer_.begin_sentence();
      empty_ = false;
    }
    void end_sentence() noexcept { scorer_.terminal(part_.lm_.end); }
    void put(const Fragment& next) {
      put(next.state, next.score, next.begins);
    }
    void put(const Piece& next) {
      put(next.state, 0.0, false);
    }
    // The piece ends here.
    void cut() {
      score_ += scorer_.finish();
      if (made_ != nullptr) made_->push_back(piece_);
      scorer_.reset();
      empty_ = true;
    }
    double score() const noexcept { return score_; }

   private:
    void put(const Chart& next, double own, bool begins) {
      if (empty_) {
        scorer_.first_gap(next, own);
        // An empty piece leaves the place of the first to the next one.
        empty_ = !begins && next.empty();
      } else {
        scorer_.gap(next, part_.joined(scorer_.right(), next.left), own);
      }
    }
    LmPart& part_;
    std::vector<Piece>* made_;
    Piece piece_;
    RuleScorer<N> scorer_;
    double score_ = 0.0;
    bool empty_ = true;
  };

  const Joined<N>& joined(const RightState<N>& before, const LeftState<N>& after) {
    const std::uint64_t key = smt::hash(after, smt::hash(before)) | 1U;
    Memo& memo = memos_[(key >> 40U) & (kMemos - 1)];
    if (memo.key != key) {
      memo.joined = join(lm_, before, after);
      memo.key = key;
    }
    return memo.joined;
  }

  double delta(const Around& around, const Candidate& edge, std::vector<Piece>* made);
  void rescore(const Around& around, const Candidate& edge, double* values);
  template <class Visit>
  void walk(const Around& around, const Candidate& edge, Visit visit);
  void keep_first(const Around& around, const Candidate& edge, std::vector<Piece>& made) const;

  std::shared_ptr<AnyLmScorer> owner_;
  const LmTables& lm_;
  const bool markers_;
  const double scale_;
  const LmMode mode_;
  const std::size_t context_;  // words
  std::vector<Memo> memos_;

  const Index* index_ = nullptr;
  // Of the sentence: each rule's fragments (their numbers) and gaps (-1 - k), once it was asked for: how many they are,
  // and then they.
  std::vector<std::int32_t> items_at_;
  std::vector<std::int32_t> items_;
  LmFragments<N> fragments_;

  std::vector<Chart> branches_;  // of nodes, while bounds are found
  Chart branch_;
  std::vector<Piece> pieces_, made_;
  std::vector<Between> places_;
  std::vector<std::int32_t> first_place_;  // of each step: that of its head, which those of its tails follow
};

template <int N>
std::span<const std::int32_t> LmPart<N>::items_of(std::int32_t rule) {
  std::int32_t& at = items_at_[static_cast<std::size_t>(rule)];
  if (at == kUnseen) {
    const auto symbols = index_->input->rules.targets[static_cast<std::size_t>(rule)];
    at = static_cast<std::int32_t>(items_.size());
    items_.push_back(0);
    fragments_.split(symbols, [this](std::int32_t symbol) { return owner_->word(symbol); },
                     [this](std::int32_t item) { items_.push_back(item); });
    items_[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(items_.size()) - at - 1;
  }
  return {items_.data() + at + 1, static_cast<std::size_t>(items_[static_cast<std::size_t>(at)])};
}

// What is known of the text grows by an edge: its pieces in the order of the target side, those that were there before
// and changed among them. Of a tree of several pieces the ones in the middle stay as they are.
template <int N>
double LmPart<N>::delta(const Around& around, const Candidate& edge, std::vector<Piece>* made) {
  const auto items = items_of(edge.rule);
  const bool upwards = edge.slot >= 0;
  const bool whole = index_->tops(edge.bundle) && (upwards || around.left == nullptr);
  const bool ends = whole && !markers_;
  Writer writer(*this, made);
  if (ends) writer.begin_sentence();
  if (!upwards && around.left != nullptr) writer.put(*around.left);
  for (const std::int32_t item : items) {
    if (item >= 0) {
      writer.put(fragments_[item]);
    } else if (-1 - item != edge.slot) {
      writer.cut();
    } else {
      // The ring is cut where the tree was open: its first piece comes first here.
      writer.put(*around.right);
      if (around.left != around.right) {
        writer.cut();
        writer.put(*around.left);
      }
    }
  }
  if (!upwards && around.right != nullptr) writer.put(*around.right);
  if (ends) writer.end_sentence();
  writer.cut();
  return writer.score();
}

// Visits each word that is scored: its probability, and how many words of context are known.
template <int N>
template <class Visit>
void LmPart<N>::walk(const Around& around, const Candidate& edge, Visit visit) {
  const bool upwards = edge.slot >= 0;
  const bool whole = index_->tops(edge.bundle) && (upwards || around.left == nullptr);
  const bool ends = whole && !markers_;
  RightState<N> states[2];
  int now = 0;
  std::size_t known = 0;
  const auto word = [&](WordId id) {
    const Step scored = step(lm_, states[now], id, states[1 - now]);
    now = 1 - now;
    visit(static_cast<double>(scored.prob), known);
    known = std::min(known + 1, context_);
  };
  const auto clear = [&] {
    states[now].length = 0;
    known = 0;
  };
  const auto begin = [&] {
    Chart state;
    RuleScorer<N> scorer(lm_, state);
    scorer.begin_sentence();
    states[now] = state.right;
    known = std::min<std::size_t>(1, context_);
  };
  const auto first_words = [&](const Piece& piece) {
    for (std::size_t i = 0; i < piece.count; ++i) word(piece.words[i]);
  };
  // Behind a piece its own last words are the context, if they are enough.
  const auto resume = [&](const Piece& piece) {
    states[now] = piece.state.right;
    known = piece.known;
  };
  clear();
  if (ends) begin();
  if (!upwards && around.left != nullptr) resume(*around.left);
  bool first = true;
  for (const std::int32_t symbol : target(edge)) {
    if (symbol >= 0) {
      const WordId id = owner_->word(symbol);
      if (markers_ && first && id == lm_.begin) {
        begin();
      } else {
        word(id);
      }
    } else if (-1 - symbol != edge.slot) {
      clear();
    } else {
      first_words(*around.right);
      // A short piece is all context itself, together with what stands before it.
      const bool enough = around.left->known == context_ || around.left->begun;
      if (around.left != around.right || enough) resume(*around.left);
    }
    first = false;
  }
  if (!upwards && around.right != nullptr) first_words(*around.right);
  if (ends) word(lm_.end);
}

template <int N>
void LmPart<N>::rescore(const Around& around, const Candidate& edge, double* values) {
  if (mode_ == LmMode::kRescored) {
    double sum = 0.0;
    walk(around, edge, [&](double prob, std::size_t) { sum += prob; });
    *values = scale_ * sum;
    return;
  }
  const std::size_t lengths = context_ + 1;
  std::fill_n(values, 3 * lengths, 0.0);
  walk(around, edge, [&](double prob, std::size_t known) {
    values[known] += scale_ * prob;
    values[lengths + known] += 1.0;
  });
  for (std::size_t n = 0; n < lengths; ++n) {
    if (values[lengths + n] > 0.0) values[2 * lengths + n] = values[n] / values[lengths + n];
  }
}

// The first words of the pieces that `delta` made.
template <int N>
void LmPart<N>::keep_first(const Around& around, const Candidate& edge, std::vector<Piece>& made) const {
  const bool upwards = edge.slot >= 0;
  const bool ends = index_->tops(edge.bundle) && (upwards || around.left == nullptr) && !markers_;
  std::size_t at = 0;
  const auto more = [&](std::size_t words) {
    made[at].known = static_cast<std::uint8_t>(std::min(made[at].known + words, context_));
  };
  const auto word = [&](WordId id) {
    Piece& piece = made[at];
    if (piece.count < context_ && !piece.begun) piece.words[piece.count++] = id;
  };
  const auto begin = [&] {
    made[at].begun = true;
    more(1);
  };
  const auto put = [&](const Piece& piece) {
    if (piece.begun) made[at].begun = true;
    for (std::size_t i = 0; i < piece.count; ++i) word(piece.words[i]);
    more(piece.known);
  };
  if (ends) begin();
  if (!upwards && around.left != nullptr) put(*around.left);
  bool first = true;
  for (const std::int32_t symbol : target(edge)) {
    if (symbol >= 0) {
      const WordId id = owner_->word(symbol);
      if (markers_ && first && id == lm_.begin) {
        begin();
      } else {
        word(id);
        more(1);
      }
    } else if (-1 - symbol != edge.slot) {
      ++at;
    } else {
      put(*around.right);
      if (around.left != around.right) {
        ++at;
        put(*around.left);
      }
    }
    first = false;
  }
  if (!upwards && around.right != nullptr) put(*around.right);
  if (ends) word(lm_.end);
}

template <int N>
void LmPart<N>::attach(Place place, const Candidate& edge, std::vector<Place>& changed) {
  const bool upwards = edge.slot >= 0;
  const auto tails = index_->tails(edge.bundle);
  const std::int32_t filled = place.step < 0 ? kNone : between(place);
  const Around around = around_of(place);
  made_.clear();
  delta(around, edge, &made_);
  if (mode_ != LmMode::kDelta) keep_first(around, edge, made_);

  // Places of the step, between no pieces yet.
  const auto step = static_cast<std::int32_t>(first_place_.size());
  first_place_.push_back(static_cast<std::int32_t>(places_.size()));
  for (std::size_t link = 0; link <= tails.size(); ++link) {
    places_.push_back({{step, static_cast<std::int32_t>(link)}, kNone, kNone});
  }
  const bool has_head = (upwards || place.step < 0) && !index_->tops(edge.bundle);
  const std::int32_t head = has_head ? between({step, 0}) : kNone;

  // Pieces that go on from old ones stand where these stood; what was known at their other ends may have changed.
  const std::int32_t old_left = filled == kNone ? kNone : places_[static_cast<std::size_t>(filled)].left;
  const std::int32_t old_right = filled == kNone ? kNone : places_[static_cast<std::size_t>(filled)].right;
  const auto begins_alike = [](const Piece& a, const Piece& b) {
    return a.state.left == b.state.left && a.count == b.count && std::equal(a.words, a.words + a.count, b.words);
  };
  const auto ends_alike = [](const Piece& a, const Piece& b) {
    return a.state.right == b.state.right && a.known == b.known;
  };
  const auto tell = [&](std::int32_t at, bool differs) {
    if (at != kNone && at != filled && differs) changed.push_back(places_[static_cast<std::size_t>(at)].place);
  };
  const auto replace = [&](std::int32_t number, const Piece& made, std::int32_t before, std::int32_t behind) {
    pieces_[static_cast<std::size_t>(number)] = made;
    pieces_[static_cast<std::size_t>(number)].before = before;
    pieces_[static_cast<std::size_t>(number)].behind = behind;
    if (before != kNone) places_[static_cast<std::size_t>(before)].right = number;
    if (behind != kNone) places_[static_cast<std::size_t>(behind)].left = number;
  };
  const auto add = [&](const Piece& made, std::int32_t before, std::int32_t behind) {
    pieces_.emplace_back();
    replace(static_cast<std::int32_t>(pieces_.size()) - 1, made, before, behind);
  };

  // The places between the pieces made, in their order; where the tree was is none.
  std::vector<std::int32_t> cuts;
  bool drops = upwards;
  bool inner = false;
  std::size_t tree = 0;  // which piece goes on with the tree's first
  for (const std::int32_t item : items_of(edge.rule)) {
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
  const std::size_t last = made_.size() - 1;
  if (drops) {
    // Around the tree there is nothing any more.
    pieces_[static_cast<std::size_t>(old_right)].before = kNone;
    pieces_[static_cast<std::size_t>(old_left)].behind = kNone;
  } else if (upwards) {
    // Of a tree of several pieces the first and the last go on; one that is a single piece has words on both sides.
    const Piece first_was = pieces_[static_cast<std::size_t>(old_right)];
    const Piece last_was = pieces_[static_cast<std::size_t>(old_left)];
    for (std::size_t i = 0; i <= last; ++i) {
      const std::int32_t before = i == 0 ? head : cuts[i - 1];
      const std::int32_t behind = i == last ? head : cuts[i];
      if (i == tree) {
        const std::int32_t next = inner ? first_was.behind : behind;
        if (inner) tell(next, !ends_alike(made_[i], first_was));
        replace(old_right, made_[i], before, next);
      } else if (inner && i == tree + 1) {
        const std::int32_t previous = last_was.before;
        tell(previous, !begins_alike(made_[i], last_was));
        replace(old_left, made_[i], previous, behind);
      } else {
        add(made_[i], before, behind);
      }
    }
    return;
  }
  if (old_left == kNone || drops) {
    for (std::size_t i = 0; i <= last; ++i) add(made_[i], i == 0 ? head : cuts[i - 1], i == last ? head : cuts[i]);
    return;
  }
  const Piece left_was = pieces_[static_cast<std::size_t>(old_left)];
  const Piece right_was = pieces_[static_cast<std::size_t>(old_right)];
  for (std::size_t i = 0; i <= last; ++i) {
    const std::int32_t before = i == 0 ? left_was.before : cuts[i - 1];
    const std::int32_t behind = i == last ? right_was.behind : cuts[i];
    // A tree that has become one piece may be short enough for words around it to see each other.
    const bool closed = last == 0 && before == behind;
    if (i == 0) tell(before, closed || !begins_alike(made_[i], left_was));
    if (i == last) tell(behind, closed || !ends_alike(made_[i], right_was));
    if (i == 0) {
      replace(old_left, made_[i], before, behind);
    } else if (i == last) {
      replace(old_right, made_[i], before, behind);
    } else {
      add(made_[i], before, behind);
    }
  }
}

}  // namespace

std::shared_ptr<Part> make_lm_part(std::shared_ptr<AnyLmScorer> scorer, LmMode mode) {
  const int order = scorer->lm().order;
  return for_order(order, [&](auto n) -> std::shared_ptr<Part> {
    return std::make_shared<LmPart<decltype(n)::value>>(std::move(scorer), mode);
  });
}

}  // namespace smt::umt
