#include "block_scorer.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "lm/lm_state.hpp"
#include "search/rule_score.hpp"

namespace smt::localized {

BlockModel::BlockModel(std::vector<std::string_view> words, Runs sources, Runs targets,
                       std::span<const std::int64_t> starts, std::span<const std::int32_t> target_of,
                       BlockValues values, BigramValues bigrams)
    : sources_(sources, "source"),
      targets_(targets, "target"),
      values_(std::move(values)),
      bigrams_(std::move(bigrams)) {
  words_.reserve(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) words_.emplace(words[i], static_cast<std::int32_t>(i));
  blocks_.reserve(target_of.size());
  for (std::size_t p = 0; p + 1 < starts.size(); ++p) {
    for (std::int64_t b = starts[p]; b < starts[p + 1]; ++b) {
      blocks_.emplace(key(static_cast<std::int32_t>(p), target_of[static_cast<std::size_t>(b)]),
                      static_cast<std::int32_t>(b));
    }
  }
}

std::int32_t BlockModel::word(std::string_view text) const noexcept {
  const auto found = words_.find(text);
  return found == words_.end() ? kUnknown : found->second;
}

std::int32_t BlockModel::block(std::int32_t source, std::int32_t target) const noexcept {
  if (source < 0 || target < 0) return none();
  const auto found = blocks_.find(key(source, target));
  return found == blocks_.end() ? none() : found->second;
}

float BlockModel::bigram(std::int32_t first, std::int32_t second) const noexcept {
  const auto [begin, end] = std::ranges::equal_range(bigrams_.first, first);
  const auto low = bigrams_.second.begin() + (begin - bigrams_.first.begin());
  const auto high = low + (end - begin);
  const auto found = std::lower_bound(low, high, second);
  if (found == high || *found != second) return 0.0F;
  return bigrams_.weights[static_cast<std::size_t>(found - bigrams_.second.begin())];
}

bool BlockModel::matters(std::int32_t block) const noexcept {
  return std::ranges::binary_search(bigrams_.first, block);
}

void AnyBlockScorer::set_sentence(const std::vector<std::string>& words) {
  sentence_.clear();
  for (const std::string& word : words) sentence_.push_back(model().word(word));
}

std::int32_t AnyBlockScorer::block_of(std::span<const std::int32_t> target, std::int32_t first,
                                      std::int32_t last) const {
  if (first < 0 || static_cast<std::size_t>(last) > sentence_.size()) {
    throw std::invalid_argument("expected phrases within the current sentence, found a span outside it");
  }
  const std::span source(sentence_.data() + first, sentence_.data() + last);
  std::vector<std::int32_t> words;
  for (const std::int32_t symbol : target) {
    if (symbol < 0) continue;
    const auto i = static_cast<std::size_t>(symbol);
    words.push_back(i < block_words_.size() ? block_words_[i] : kUnknown);
  }
  return model().block(model().source(source), model().target(words));
}

namespace {

constexpr float kLn10 = 2.30258509F;

template <int N>
class BlockScorer final : public AnyBlockScorer {
 public:
  BlockScorer(std::shared_ptr<const BlockModel> model, const LmTables& lm, bool end)
      : AnyBlockScorer(std::move(model)), lm_(lm), end_(end) {}

  std::size_t components() const noexcept override { return kComponents; }
  std::size_t state_bytes() const noexcept override { return (sizeof(State) + 7) / 8 * 8; }

  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override {
    steps_.clear();
    words_.clear();
    if (!chosen.empty() && rules.firsts.empty()) {
      throw std::invalid_argument("expected phrases with source spans, found phrases without");
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto rule = static_cast<std::size_t>(chosen[i]);
      const auto target = rules.targets[rule];
      StepOf step{rules.firsts[rule], rules.lasts[rule], model().none(), static_cast<std::uint32_t>(words_.size()), 0};
      for (const std::int32_t symbol : target) {
        if (symbol >= 0) words_.push_back(lm_word(symbol));
      }
      step.end = static_cast<std::uint32_t>(words_.size());
      if (step.first < step.last) step.block = block_of(target, step.first, step.last);
      steps_.push_back(step);
      float* const guess = estimates + i * kComponents;
      std::fill(guess, guess + kComponents, 0.0F);
      if (step.first == step.last) continue;
      State none;
      none.lm.length = 0;
      State next;
      fill(step, none, kRight, first_word(step, none, next), guess);
    }
  }

  bool may_go_left(std::int32_t rule) const override {
    if (!forbids_left()) return true;
    return model().values().no_left[static_cast<std::size_t>(steps_[static_cast<std::size_t>(rule)].block)] == 0;
  }

  void combine(const Batch& batch) override {
    for (std::size_t i = 0; i < batch.size; ++i) {
      float* const values = batch.values(i);
      std::fill(values, values + kComponents, 0.0F);
      const StepOf& step = steps_[static_cast<std::size_t>(batch.rules[i])];
      const auto tails = batch.tails_of(i);
      if (tails.size() > 1) throw std::invalid_argument("expected phrases, found a rule with several children");
      const State before = tails.empty() ? begun() : read(tails[0]);
      State next = before;
      if (step.first < step.last) {
        const Orientation orientation = before.first < 0           ? kNeutral
                                        : before.last == step.first ? kRight
                                        : step.last == before.first ? kLeft
                                                                    : kNeutral;
        const float first = first_word(step, before, next);
        fill(step, before, orientation, first, values);
        next.first = step.first;
        next.last = step.last;
        next.block = model().matters(step.block) ? step.block : model().none();
      }
      write(batch.state(i), next);
    }
  }

  void finish(const std::byte* state, bool /*begun*/, float* values) override {
    if (!end_) return;
    const State before = read(state);
    RightState<N> after;
    const float score = kLn10 * step(lm_, before.lm, lm_.end, after).prob;
    values[before.first < 0 ? kNeutralFirst : kFirstOf] += score;
  }

  std::uint64_t hash(const std::byte* state) const noexcept override {
    const State one = read(state);
    const std::uint64_t place = static_cast<std::uint64_t>(static_cast<std::uint32_t>(one.first)) << 32U |
                                static_cast<std::uint32_t>(one.last);
    return mix(mix(smt::hash(one.lm), place), static_cast<std::uint32_t>(one.block));
  }
  bool equal(const std::byte* a, const std::byte* b) const noexcept override {
    const State one = read(a);
    const State other = read(b);
    return one.first == other.first && one.last == other.last && one.block == other.block && one.lm == other.lm;
  }

 private:
  struct State {
    RightState<N> lm;
    std::int32_t first = -1;  // source span of the last block, -1 before the first block
    std::int32_t last = -1;
    std::int32_t block = -1;
  };
  struct StepOf {
    std::int32_t first, last, block;
    std::uint32_t begin, end;  // range of its target words
  };

  static State read(const std::byte* state) noexcept {
    State found;
    std::memcpy(&found, state, sizeof found);
    return found;
  }
  static void write(std::byte* state, const State& found) noexcept { std::memcpy(state, &found, sizeof found); }

  State begun() const noexcept {
    State state;
    state.lm.length = 1;
    state.lm.words[0] = lm_.begin;
    state.lm.backoff[0] = lm_.backoff(lm_.begin);
    state.block = model().none();
    return state;
  }

  // Returns ln p of the first word; `next` gets the language model state after the last.
  float first_word(const StepOf& one, const State& before, State& next) const noexcept {
    float first = 0.0F;
    RightState<N> at = before.lm;
    for (std::uint32_t k = one.begin; k < one.end; ++k) {
      RightState<N> after;
      const float prob = step(lm_, at, words_[k], after).prob;
      if (k == one.begin) first = kLn10 * prob;
      at = after;
    }
    next.lm = at;
    return first;
  }

  void fill(const StepOf& one, const State& before, Orientation orientation, float first,
            float* values) const noexcept {
    const BlockValues& known = model().values();
    const auto block = static_cast<std::size_t>(one.block);
    const float unigram = known.unigram[block] / static_cast<float>(one.last - one.first);
    if (orientation == kNeutral) {
      values[kNeutralUnigram] = unigram;
      values[kNeutralFirst] = first;
      values[kNeutralRest] = known.rest[block];
      values[kNeutralLexical] = known.lexical[block];
      return;
    }
    values[kUnigramOf] = unigram;
    values[kOrientationOf] = orientation == kLeft ? known.left[block] : known.right[block];
    values[kFirstOf] = first;
    values[kRestOf] = known.rest[block];
    values[kLexicalOf] = known.lexical[block];
    values[kBigramOf] = model().bigram(before.block, one.block);
    values[kNoLeft] = orientation == kLeft && known.no_left[block] != 0 ? -1.0F : 0.0F;
  }

  const LmTables& lm_;
  bool end_;
  std::vector<StepOf> steps_;
  std::vector<WordId> words_;
};

}  // namespace

std::shared_ptr<AnyBlockScorer> make_block_scorer(std::shared_ptr<const BlockModel> model, const LmTables& lm,
                                                  bool end) {
  return for_order(lm.order, [&](auto n) -> std::shared_ptr<AnyBlockScorer> {
    return std::make_shared<BlockScorer<decltype(n)::value>>(std::move(model), lm, end);
  });
}

}  // namespace smt::localized
