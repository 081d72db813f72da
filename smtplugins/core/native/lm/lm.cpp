#include "lm/lm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "search/rule_score.hpp"

namespace smt {
namespace {

// Memory reserved for a header's counts stays below this many entries: the header may be wrong.
constexpr std::uint64_t kTrusted = std::uint64_t{1} << 22U;

// A probability that exceeds 1 by less than this after backing off was 1 before the file's rounding.
constexpr float kRounding = 1e-3F;

std::uint64_t key_of(const WordId* words, int order) noexcept {
  auto key = static_cast<std::uint64_t>(words[order - 1]);
  for (int i = order - 2; i >= 0; --i) key = extend(key, words[i]);
  return key;
}

Weights marked(Weights weights, unsigned marks) noexcept {
  if ((marks & LmBuilder::kEnding) != 0) weights.prob = std::fabs(weights.prob);
  if ((marks & LmBuilder::kBeginning) != 0 && weights.backoff == 0.0F) weights.backoff = 0.0F;
  return weights;
}

template <class T>
void store(std::byte* at, const T& value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

WordId LanguageModel::find(std::string_view word) const noexcept {
  const std::uint64_t hash = hash_word(word);
  return with_lookup(tables_, [&](auto lookup) { return lookup.word_from(lookup.word_home(hash), hash); });
}

std::string_view LanguageModel::word(WordId id) const noexcept {
  const auto i = static_cast<std::size_t>(id);
  return {spellings_ + offsets_[i], offsets_[i + 1] - offsets_[i] - 1};
}

LanguageModel::State LanguageModel::begin(bool bos) const {
  State state;
  if (!bos) return state;
  if (tables_.begin == kUnknown) {
    throw std::invalid_argument("the language model has no <s>: score with bos=False");
  }
  const float backoff = tables_.backoff(tables_.begin);
  if (order() > 1 && has_extension(backoff)) {
    state.length = 1;
    state.words[0] = tables_.begin;
    state.backoff[0] = backoff;
  }
  return state;
}

WordId LanguageModel::end_marker() const {
  if (tables_.end == kUnknown) {
    throw std::invalid_argument("the language model has no </s>: score with eos=False");
  }
  return tables_.end;
}

std::vector<WordScore> LanguageModel::full_scores(std::string_view sentence, bool bos, bool eos) const {
  std::vector<WordScore> scores;
  State states[2] = {begin(bos), {}};
  int now = 0;
  const auto visit = [&](WordId word) {
    const Step scored = step(tables_, states[now], word, states[1 - now]);
    scores.push_back({scored.prob, scored.length, word == kUnknown});
    now = 1 - now;
  };
  for_each_word(sentence, [&](std::string_view word) { visit(find(word)); });
  if (eos) visit(end_marker());
  return scores;
}

template <class Table>
TableBuilder<Table>::TableBuilder(std::uint64_t expected) : expected_(expected) {
  resize(std::min(expected, kTrusted));
}

template <class Table>
void TableBuilder<Table>::resize(std::uint64_t entries) {
  const Memory old = std::exchange(memory_, Memory());
  const std::uint64_t slots = buckets(entries, kMultiplier);
  sized_for_ = entries;
  slots_ = Modulo(slots);
  memory_ = Memory::zeroed(slots * Table::kSlot);
  for (const std::byte* slot = old.data(); slot != old.data() + old.size(); slot += Table::kSlot) {
    const auto key = load<std::uint64_t>(slot);
    if (key != 0) std::memcpy(free_slot(key), slot, Table::kSlot);
  }
}

// A header's count is believed in steps; what it does not count, n-grams put in between, may fill the gaps up to a
// point.
template <class Table>
bool TableBuilder<Table>::crowded() const noexcept {
  if (sized_for_ < expected_) return used_ >= sized_for_;
  return used_ + 1 >= slots_.divisor() || (used_ > expected_ && used_ > slots_.divisor() / 8 * 7);
}

template <class Table>
std::byte* TableBuilder<Table>::free_slot(std::uint64_t key) noexcept {
  std::byte* const end = memory_.data() + memory_.size();
  std::byte* slot = memory_.data() + slots_(key) * Table::kSlot;
  for (;;) {
    const auto there = load<std::uint64_t>(slot);
    if (there == 0) return slot;
    if (there == key) return nullptr;
    slot += Table::kSlot;
    if (slot == end) slot = memory_.data();
  }
}

template <class Table>
std::byte* TableBuilder<Table>::find(std::uint64_t key) noexcept {
  return const_cast<std::byte*>(view().find(key));
}

template <class Table>
std::byte* TableBuilder<Table>::insert(std::uint64_t key) {
  if (crowded()) resize(sized_for_ < expected_ ? std::min(2 * sized_for_, expected_) : used_ + used_ / 4 + 1);
  std::byte* const slot = free_slot(key);
  if (slot == nullptr) return nullptr;
  store(slot, key);
  ++used_;
  return slot + sizeof key;
}

template <class Table>
std::uint64_t TableBuilder<Table>::settle() {
  if (sized_for_ != expected_) resize(std::max(used_, expected_));
  return sized_for_;
}

void LmBuilder::set_counts(std::vector<std::uint64_t> counts) {
  model_.unigrams_.reserve(std::min(counts[0], kTrusted) + 1);
  model_.unigrams_.push_back({kUnknownProb, -0.0F});
  constexpr std::string_view kName("<unk>\0", 6);
  model_.text_.assign(kName.begin(), kName.end());
  model_.offsets_ = {0, kName.size()};
  model_.tables_.order = static_cast<int>(counts.size());
  vocabulary_.emplace_back(counts[0]);
  model_.tables_.vocabulary = vocabulary_[0].view();
  for (std::size_t i = 1; i + 1 < counts.size(); ++i) middles_.emplace_back(counts[i]);
  if (counts.size() > 1) longest_.emplace_back(counts.back());
  model_.counts_ = std::move(counts);
}

bool LmBuilder::add_unigram(std::string_view word, Weights weights) {
  if (weights.backoff == 0.0F) weights.backoff = -0.0F;
  weights.prob = log10_prob(weights.prob);
  if (is_unknown(word)) {
    if (has_unknown_) return false;
    has_unknown_ = true;
    model_.unigrams_[kUnknown] = weights;
    return true;
  }
  std::byte* const value = vocabulary_[0].insert(hash_word(word));
  if (value == nullptr) return false;
  store(value, static_cast<WordId>(model_.unigrams_.size()));
  model_.tables_.vocabulary = vocabulary_[0].view();  // the table may have moved
  model_.unigrams_.push_back(weights);
  model_.text_.insert(model_.text_.end(), word.begin(), word.end());
  model_.text_.push_back('\0');
  model_.offsets_.push_back(model_.text_.size());
  return true;
}

void LmBuilder::end_unigrams() {
  LmTables& tables = model_.tables_;
  tables.begin = model_.find("<s>");
  tables.end = model_.find("</s>");
  tables.words = static_cast<WordId>(model_.unigrams_.size());
}

void LmBuilder::prefetch(const WordId* words, int order) const noexcept {
  const std::uint64_t ending = key_of(words + 1, order - 1);
  const std::uint64_t key = extend(ending, words[0]);
  if (order == model_.order()) {
    longest_[0].prefetch(key);
  } else {
    middles_[static_cast<std::size_t>(order - 2)].prefetch(key);
  }
  if (order > 2) {
    const auto& below = middles_[static_cast<std::size_t>(order - 3)];
    below.prefetch(ending);
    below.prefetch(key_of(words, order - 1));
  }
}

LmBuilder::Added LmBuilder::add(const WordId* words, int order, Weights weights) {
  if (weights.backoff == 0.0F) weights.backoff = -0.0F;
  weights.prob = log10_prob(weights.prob);
  const std::uint64_t ending = key_of(words + 1, order - 1);
  const std::uint64_t key = extend(ending, words[0]);
  if (order == model_.order()) {
    std::byte* const value = longest_[0].insert(key);
    if (value == nullptr) return Added::kTwice;
    store(value, weights.prob);
  } else {
    std::byte* const value = middles_[static_cast<std::size_t>(order - 2)].insert(key);
    if (value == nullptr) return Added::kTwice;
    store(value, weights);
  }
  // Scoring walks from the last word to longer and longer n-grams, only in contexts that exist; and a state keeps the
  // back-off of a context only if it keeps the shorter ones. Files are sorted in some way, so consecutive n-grams often
  // need the same entries.
  const bool context = order < model_.order() && has_extension(weights.backoff);
  const Asked asked{ending, order, context ? kEnding | kBeginning : kEnding};
  if (asked != ending_) require(words + 1, order - 1, asked.marks);
  ending_ = asked;
  const Asked before{key_of(words, order - 1), order, kBeginning};
  if (before != beginning_) require(words, order - 1, kBeginning);
  beginning_ = before;
  return above_one_ ? Added::kAboveOne : Added::kYes;
}

// A pruned file may lack the prefix or suffix of an n-gram: it gets its back-off value.
Weights LmBuilder::require(const WordId* words, int order, unsigned marks) {
  if (order == 1) {
    Weights& unigram = model_.unigrams_[static_cast<std::size_t>(words[0])];
    return unigram = marked(unigram, marks);
  }
  TableBuilder<MiddleTable>& table = middles_[static_cast<std::size_t>(order - 2)];
  const std::uint64_t key = key_of(words, order);
  std::byte* value = table.find(key);
  Weights weights{};
  if (value != nullptr) {
    weights = load<Weights>(value);
  } else {
    const float lower = log10_prob(require(words + 1, order - 1, kEnding).prob);
    const float prob = lower + require(words, order - 1, kBeginning).backoff;
    if (prob > kRounding) above_one_ = true;
    weights = {std::min(prob, -0.0F), -0.0F};
    value = table.insert(key);
  }
  const bool ended = !has_extension(weights.backoff);
  weights = marked(weights, marks);
  store(value, weights);
  if (marks == (kEnding | kBeginning) && ended) require(words + 1, order - 1, marks);
  return weights;
}

LanguageModel LmBuilder::finish() && {
  LmTables& tables = model_.tables_;
  const auto settle = [this](auto& table, std::size_t order, auto& view) {
    model_.counts_[order - 1] = table.settle();
    view = table.view();
    model_.memory_.push_back(table.release());
  };
  settle(vocabulary_[0], 1, tables.vocabulary);
  for (std::size_t i = 0; i < middles_.size(); ++i) settle(middles_[i], i + 2, tables.middles[i]);
  if (!longest_.empty()) settle(longest_[0], model_.counts_.size(), tables.longest);
  // KenLM reserves an entry for <unk> if the file has none.
  while (model_.unigrams_.size() <= model_.counts_[0]) model_.unigrams_.push_back({0.0F, 0.0F});
  tables.unigrams = reinterpret_cast<const std::byte*>(model_.unigrams_.data());
  model_.spellings_ = model_.text_.data();
  return std::move(model_);
}

}  // namespace smt
