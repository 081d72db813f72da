#include "metrics/ngram_gain.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "lm/lm_state.hpp"

namespace smt {

GainScorer::GainScorer(std::span<const NgramIndex::Symbols> references, const std::vector<double>& gains)
    : context_(gains.size() - 2), word_gain_(gains[0]) {
  const std::size_t order = gains.size() - 1;
  index_.build(references, order);
  for (std::size_t v = 0; v < index_.nodes(); ++v) {
    const std::size_t length = index_.length(static_cast<std::int32_t>(v));
    node_gains_.push_back(length > 0 ? gains[length] : 0.0);
  }
  node_words_.assign(index_.nodes() * context_, -1);
  // The words of a node's n-gram, read again from the references, as nodes store only suffixes.
  for (const NgramIndex::Symbols text : references) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::int32_t node = NgramIndex::kRoot;
      for (std::size_t n = 1; n <= std::min(context_, text.size() - i); ++n) {
        node = index_.child(node, text[i + n - 1]);
        std::copy_n(text.begin() + static_cast<std::ptrdiff_t>(i), n,
                    node_words_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(node) * context_));
      }
    }
  }
}

void GainScorer::set_gain(NgramIndex::Symbols ngram, double gain) {
  std::int32_t node = NgramIndex::kRoot;
  for (const std::int32_t symbol : ngram) {
    node = index_.child(node, symbol);
    if (node == NgramIndex::kNone) throw std::invalid_argument("no reference has this n-gram");
  }
  if (node == NgramIndex::kRoot) throw std::invalid_argument("an n-gram has a word at least");
  node_gains_[static_cast<std::size_t>(node)] = gain;
}

GainScorer::State GainScorer::read(const std::byte* state) noexcept {
  State result;
  std::memcpy(&result, state, sizeof result);
  return result;
}

// The gain of an n-gram and its suffixes, of those longer than `above` words.
double GainScorer::gain(std::int32_t node, std::size_t above) const noexcept {
  double sum = 0.0;
  for (; index_.length(node) > above; node = index_.suffix(node)) sum += node_gains_[static_cast<std::size_t>(node)];
  return sum;
}

GainScorer::State GainScorer::of_word(std::int32_t symbol) const noexcept {
  const auto i = static_cast<std::size_t>(symbol);
  const std::int32_t word = i < words_.size() ? words_[i] : -1;
  const std::int32_t node = word < 0 ? NgramIndex::kNone : index_.child(NgramIndex::kRoot, word);
  if (node == NgramIndex::kNone || context_ == 0) return {NgramIndex::kRoot, NgramIndex::kRoot, 0};
  return {node, node, context_ > 1 ? 1 : 0};
}

double GainScorer::append(State& state, const State& next) const noexcept {
  const std::size_t known = index_.length(next.left);
  const std::int32_t* const words = node_words_.data() + static_cast<std::size_t>(next.left) * context_;
  double sum = 0.0;
  std::int32_t right = state.right;
  bool crossing = index_.length(right) > 0;
  for (std::size_t k = 1; k <= known && crossing; ++k) {
    const std::int32_t node = index_.step(right, words[k - 1], context_ + 1);
    sum += gain(node, k);
    right = index_.length(node) > context_ ? index_.suffix(node) : node;
    crossing = index_.length(node) > k;
  }
  if (state.whole != 0) {
    std::size_t k = 0;
    for (; k < known && index_.length(state.left) < context_; ++k) {
      const std::int32_t node = index_.child(state.left, words[k]);
      if (node == NgramIndex::kNone) break;
      state.left = node;
    }
    // With the maximum number of words, it does not matter whether there are more.
    state.whole = k == known && next.whole != 0 && index_.length(state.left) < context_ ? 1 : 0;
  }
  // A string that is not a known n-gram as a whole keeps its own suffix; so does one that no n-gram spans.
  const bool reaches = next.whole != 0 && (crossing || known == 0);
  state.right = reaches ? right : next.right;
  return sum;
}

double GainScorer::target_gain(std::span<const std::int32_t> target, std::span<const std::byte* const> tails,
                               State& state) const {
  double sum = 0.0;
  for (const std::int32_t symbol : target) {
    if (symbol < 0) {
      sum += append(state, read(tails[static_cast<std::size_t>(-1 - symbol)]));
      continue;
    }
    const auto i = static_cast<std::size_t>(symbol);
    const std::int32_t word = i < words_.size() ? words_[i] : -1;
    const std::int32_t node = word < 0 ? NgramIndex::kNone : index_.child(NgramIndex::kRoot, word);
    sum += word_gain_ + (node == NgramIndex::kNone ? 0.0 : node_gains_[static_cast<std::size_t>(node)]);
    sum += append(state, of_word(symbol));
  }
  return sum;
}

void GainScorer::prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) {
  targets_.clear();
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::span<const std::int32_t> target = rules.targets[static_cast<std::size_t>(chosen[i])];
    targets_.push_back(target);
    double sum = 0.0;
    for (std::size_t at = 0; at < target.size();) {
      std::size_t end = at;
      while (end < target.size() && target[end] >= 0) ++end;
      State state = empty();
      sum += target_gain(target.subspan(at, end - at), {}, state);
      at = end + 1;
    }
    estimates[i] = static_cast<float>(sum);
  }
}

void GainScorer::combine(const Batch& batch) {
  for (std::size_t i = 0; i < batch.size; ++i) {
    State state = empty();
    const double sum = target_gain(targets_[static_cast<std::size_t>(batch.rules[i])], batch.tails_of(i), state);
    *batch.values(i) = static_cast<float>(sum);
    std::memcpy(batch.state(i), &state, sizeof state);
  }
}

std::uint64_t GainScorer::hash(const std::byte* state) const noexcept {
  const State piece = read(state);
  const std::uint64_t ends = static_cast<std::uint64_t>(static_cast<std::uint32_t>(piece.left)) << 32U |
                             static_cast<std::uint32_t>(piece.right);
  return mix(mix(0, ends), static_cast<std::uint64_t>(piece.whole));
}

bool GainScorer::equal(const std::byte* a, const std::byte* b) const noexcept {
  return std::memcmp(a, b, sizeof(State)) == 0;
}

}  // namespace smt
