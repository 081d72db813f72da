#include "lm_part.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lm/lm_fragments.hpp"
#include "lm_ring.hpp"
#include "search/rule_score.hpp"

namespace smt::umt {
namespace {

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
    // Word ids change with each sentence's vocabulary, but cached joins use the model's ids and stay valid.
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
    ring_.clear();
  }

  void score(Place place, std::span<const Candidate> edges, double* values, std::size_t stride) override {
    const Around around = ring_.around(place);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      double* const at = values + i * stride;
      if (mode_ == LmMode::kDelta) {
        *at = scale_ * delta(around, edges[i], nullptr);
      } else {
        rescore(around, edges[i], at);
      }
    }
  }

  void attach(Place place, const Candidate& edge, std::vector<Place>& changed) override {
    const Around around = ring_.around(place);
    made_.clear();
    delta(around, edge, &made_);
    if (mode_ != LmMode::kDelta) keep_first(around, edge, made_);
    ring_.attach(*index_, place, edge, items_of(edge.rule), made_, changed);
  }

 private:
  using Chart = ChartState<N>;

  using Fragment = typename LmFragments<N>::Fragment;

  using Piece = LmPiece<N>;
  using Around = typename LmRing<N>::Around;
  struct alignas(64) Memo {
    std::uint64_t key = 0;
    Joined<N> joined;
  };
  static constexpr std::size_t kMemos = std::size_t{1} << 13U;

  std::span<const std::int32_t> target(const Candidate& edge) const noexcept {
    return index_->input->rules.targets[static_cast<std::size_t>(edge.rule)];
  }
  std::span<const std::int32_t> items_of(std::int32_t rule);
  // Scores pieces from left to right, and stores them if `made` is not null.
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
    // Ends the piece.
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
        // After an empty piece the next one is still the first.
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
  template <class Reader>
  void read(const Around& around, const Candidate& edge, Reader& reader) const;
  template <class Visit>
  struct Walk;
  template <class Visit>
  void walk(const Around& around, const Candidate& edge, Visit visit) const {
    Walk<Visit> reader{lm_, context_, visit, {}};
    read(around, edge, reader);
  }
  struct Keep;
  void keep_first(const Around& around, const Candidate& edge, std::vector<Piece>& made) const {
    Keep reader{context_, made};
    read(around, edge, reader);
  }

  std::shared_ptr<AnyLmScorer> owner_;
  const LmTables& lm_;
  const bool markers_;
  const double scale_;
  const LmMode mode_;
  const std::size_t context_;  // words
  std::vector<Memo> memos_;

  const Index* index_ = nullptr;
  // Per sentence, on first use: each rule's number of items, then the items: fragment numbers, or gaps as -1 - k.
  std::vector<std::int32_t> items_at_;
  std::vector<std::int32_t> items_;
  LmFragments<N> fragments_;

  std::vector<Chart> branches_;  // states of the nodes' best branches, while bounds are computed
  Chart branch_;
  LmRing<N> ring_;
  std::vector<Piece> made_;
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

// Scores an edge by the change of known text. `made` gets the new and changed pieces in target order; of a tree of
// several pieces the inner ones do not change.
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
      // The place is outside the tree, so the piece on its right is the tree's first.
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

// Reads the text of an edge from left to right, with as much of the text around it as its scores depend on.
template <int N>
template <class Reader>
void LmPart<N>::read(const Around& around, const Candidate& edge, Reader& reader) const {
  const bool upwards = edge.slot >= 0;
  const bool ends = index_->tops(edge.bundle) && (upwards || around.left == nullptr) && !markers_;
  if (ends) reader.begin();
  if (!upwards && around.left != nullptr) reader.before(*around.left);
  bool first = true;
  for (const std::int32_t symbol : target(edge)) {
    if (symbol >= 0) {
      const WordId id = owner_->word(symbol);
      markers_ && first && id == lm_.begin ? reader.begin() : reader.word(id);
    } else if (-1 - symbol != edge.slot) {
      reader.cut();
    } else {
      reader.tree(*around.right, *around.left);
    }
    first = false;
  }
  if (!upwards && around.right != nullptr) reader.behind(*around.right);
  if (ends) reader.end(lm_.end);
}

// Visits each scored word with its probability and its number of known context words.
template <int N>
template <class Visit>
struct LmPart<N>::Walk {
  const LmTables& lm;
  const std::size_t context;
  Visit visit;
  RightState<N> states[2];
  int now = 0;
  std::size_t known = 0;

  void begin() {
    Chart state;
    RuleScorer<N> scorer(lm, state);
    scorer.begin_sentence();
    states[now] = state.right;
    known = std::min<std::size_t>(1, context);
  }
  void word(WordId id) {
    const Step scored = step(lm, states[now], id, states[1 - now]);
    now = 1 - now;
    visit(static_cast<double>(scored.prob), known);
    known = std::min(known + 1, context);
  }
  void end(WordId id) { word(id); }
  void cut() {
    states[now].length = 0;
    known = 0;
  }
  void before(const Piece& piece) {
    states[now] = piece.state.right;
    known = piece.known;
  }
  void behind(const Piece& piece) {
    for (std::size_t i = 0; i < piece.count; ++i) word(piece.words[i]);
  }
  void tree(const Piece& first, const Piece& last) {
    behind(first);
    // A short piece is context as a whole, together with the words before it.
    if (&first != &last || last.known == context || last.begun) before(last);
  }
};

// Stores the first words of the pieces made by `delta`.
template <int N>
struct LmPart<N>::Keep {
  const std::size_t context;
  std::vector<Piece>& made;
  std::size_t at = 0;

  void begin() {
    made[at].begun = true;
    more(1);
  }
  void word(WordId id) {
    keep(id);
    more(1);
  }
  void end(WordId id) { keep(id); }
  void cut() { ++at; }
  void before(const Piece& piece) {
    if (piece.begun) made[at].begun = true;
    for (std::size_t i = 0; i < piece.count; ++i) keep(piece.words[i]);
    more(piece.known);
  }
  void behind(const Piece& piece) { before(piece); }
  void tree(const Piece& first, const Piece& last) {
    before(first);
    if (&first == &last) return;
    cut();
    before(last);
  }

 private:
  void keep(WordId id) {
    Piece& piece = made[at];
    if (piece.count < context && !piece.begun) piece.words[piece.count++] = id;
  }
  void more(std::size_t words) {
    made[at].known = static_cast<std::uint8_t>(std::min(made[at].known + words, context));
  }
};

template <int N>
void LmPart<N>::rescore(const Around& around, const Candidate& edge, double* values) {
  if (mode_ == LmMode::kRescored) {
    double sum = 0.0;
    walk(around, edge, [&](double prob, std::size_t /*known*/) { sum += prob; });
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

}  // namespace

std::shared_ptr<Part> make_lm_part(std::shared_ptr<AnyLmScorer> scorer, LmMode mode) {
  const int order = scorer->lm().order;
  return for_order(order, [&](auto n) -> std::shared_ptr<Part> {
    return std::make_shared<LmPart<decltype(n)::value>>(std::move(scorer), mode);
  });
}

}  // namespace smt::umt
