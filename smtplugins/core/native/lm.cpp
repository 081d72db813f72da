#include "lm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace smt {
namespace {

__extension__ using Wide = unsigned __int128;

// Where a key belongs among `size` slots: its upper bits count. No division, and any size will do.
std::size_t home(std::uint64_t key, std::size_t size) noexcept {
  return static_cast<std::size_t>((static_cast<Wide>(key) * size) >> 64);
}

// At most two slots of three are taken.
std::size_t slots_for(std::size_t entries) { return std::max(entries + entries / 2, entries + 1) + 1; }
bool crowded(std::size_t used, std::size_t slots) noexcept { return used + used / 2 >= slots; }

// Memory set aside because a header says so stays below this many entries: the header may be wrong.
constexpr std::size_t kTrusted = std::size_t{1} << 20;

// The key of an n-gram from that of its last words and the word before them.
std::uint64_t extend(std::uint64_t key, WordId word) noexcept {
  constexpr std::uint64_t kLater = 8978948897894561157ULL;
  constexpr std::uint64_t kEarlier = 17894857484156487943ULL;
  return (key * kLater) ^ ((1 + static_cast<std::uint64_t>(word)) * kEarlier);
}

std::uint64_t key_of(const WordId* words, int order) noexcept {
  auto key = static_cast<std::uint64_t>(words[order - 1]);
  for (int i = order - 2; i >= 0; --i) key = extend(key, words[i]);
  return key;
}

// MurmurHash64A (A. Appleby, public domain).
std::uint64_t hash(std::string_view text) noexcept {
  constexpr std::uint64_t kMix = 0xc6a4a7935bd1e995ULL;
  constexpr int kShift = 47;
  std::uint64_t h = text.size() * kMix;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t k;
    std::memcpy(&k, at, 8);
    k *= kMix;
    k ^= k >> kShift;
    h = (h ^ (k * kMix)) * kMix;
  }
  if (left > 0) {
    std::uint64_t k = 0;
    std::memcpy(&k, at, left);
    h = (h ^ k) * kMix;
  }
  h ^= h >> kShift;
  h *= kMix;
  return h ^ (h >> kShift);
}

bool has_extension(float backoff) noexcept { return backoff != 0.0F || !std::signbit(backoff); }
void mark_extension(float& backoff) noexcept {
  if (backoff == 0.0F) backoff = 0.0F;
}

// Calls visit(word) for each word of a sentence.
template <class Visit>
void for_each_word(std::string_view sentence, Visit visit) {
  const char* at = sentence.data();
  const char* const end = at + sentence.size();
  while (at != end) {
    if (*at == ' ' || *at == '\t') {
      ++at;
      continue;
    }
    const char* stop = at;
    while (stop != end && *stop != ' ' && *stop != '\t') ++stop;
    visit(std::string_view(at, static_cast<std::size_t>(stop - at)));
    at = stop;
  }
}

}  // namespace

LmVocabulary::LmVocabulary() : slots_(slots_for(1024)), offsets_{0} {
  text_ = "<unk>";
  offsets_.push_back(text_.size());
}

WordId LmVocabulary::find(std::string_view word) const noexcept {
  const std::uint64_t h = hash(word);
  for (std::size_t i = home(h, slots_.size());;) {
    const Slot& slot = slots_[i];
    // <unk> needs no slot of its own: it is what an empty one says.
    if (slot.id == kUnknown || slot.hash == h) return slot.id;
    if (++i == slots_.size()) i = 0;
  }
}

WordId LmVocabulary::add(std::string_view word) {
  if (find(word) != kUnknown) return -1;
  if (crowded(size(), slots_.size())) grow();
  const auto id = static_cast<WordId>(size());
  text_.append(word);
  offsets_.push_back(text_.size());
  const std::uint64_t h = hash(word);
  std::size_t i = home(h, slots_.size());
  while (slots_[i].id != kUnknown) {
    if (++i == slots_.size()) i = 0;
  }
  slots_[i] = {h, id};
  return id;
}

std::string_view LmVocabulary::word(WordId id) const {
  const auto i = static_cast<std::size_t>(id);
  return std::string_view(text_).substr(offsets_[i], offsets_[i + 1] - offsets_[i]);
}

void LmVocabulary::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.id == kUnknown) continue;
    std::size_t i = home(slot.hash, slots_.size());
    while (slots_[i].id != kUnknown) {
      if (++i == slots_.size()) i = 0;
    }
    slots_[i] = slot;
  }
}

NgramTable::NgramTable(std::size_t expected) : slots_(slots_for(std::min(expected, kTrusted))) {}

const Weights* NgramTable::find(std::uint64_t key) const noexcept {
  for (std::size_t i = home(key, slots_.size());;) {
    const Slot& slot = slots_[i];
    if (slot.key == key) return &slot.weights;
    if (slot.key == 0) return nullptr;
    if (++i == slots_.size()) i = 0;
  }
}

Weights* NgramTable::find(std::uint64_t key) noexcept {
  return const_cast<Weights*>(std::as_const(*this).find(key));
}

bool NgramTable::insert(std::uint64_t key, Weights weights) {
  if (crowded(used_ + 1, slots_.size())) grow();
  for (std::size_t i = home(key, slots_.size());;) {
    Slot& slot = slots_[i];
    if (slot.key == 0) {
      slot = {key, weights};
      ++used_;
      return true;
    }
    if (slot.key == key) return false;
    if (++i == slots_.size()) i = 0;
  }
}

void NgramTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.key == 0) continue;
    std::size_t i = home(slot.key, slots_.size());
    while (slots_[i].key != 0) {
      if (++i == slots_.size()) i = 0;
    }
    slots_[i] = slot;
  }
}

LanguageModel::State LanguageModel::begin(bool bos) const {
  State state;
  if (!bos) return state;
  if (begin_ == kUnknown) {
    throw std::invalid_argument("the language model has no <s>: score with bos=False");
  }
  const float backoff = unigrams_[static_cast<std::size_t>(begin_)].backoff;
  if (has_extension(backoff)) {
    state.length = 1;
    state.words[0] = begin_;
    state.backoff[0] = backoff;
  }
  return state;
}

WordId LanguageModel::end_marker() const {
  if (end_ == kUnknown) throw std::invalid_argument("the language model has no </s>: score with eos=False");
  return end_;
}

WordScore LanguageModel::step(const State& state, WordId word, State& next) const noexcept {
  const Weights* entry = &unigrams_[static_cast<std::size_t>(word)];
  double prob = entry->prob;
  next.words[0] = word;
  next.backoff[0] = entry->backoff;
  next.length = has_extension(entry->backoff) ? 1 : 0;

  int matched = 1;
  auto key = static_cast<std::uint64_t>(word);
  for (; matched <= state.length; ++matched) {
    key = extend(key, state.words[matched - 1]);
    entry = tables_[static_cast<std::size_t>(matched - 1)].find(key);
    if (entry == nullptr) break;
    prob = entry->prob;
    if (matched == order() - 1) {
      ++matched;
      break;  // the longest n-gram is nobody's context
    }
    next.words[matched] = state.words[matched - 1];
    next.backoff[matched] = entry->backoff;
    if (has_extension(entry->backoff)) next.length = matched + 1;
  }
  for (int i = matched; i <= state.length; ++i) prob += state.backoff[i - 1];
  return {prob, matched, word == kUnknown};
}

SentenceScore LanguageModel::score(std::string_view sentence, bool bos, bool eos) const {
  SentenceScore total;
  State states[2] = {begin(bos), {}};
  int now = 0;
  for_each_word(sentence, [&](std::string_view text) {
    const WordScore score = step(states[now], vocabulary_.find(text), states[1 - now]);
    total.prob += score.prob;
    total.unknown += score.unknown ? 1 : 0;
    now = 1 - now;
  });
  if (eos) total.prob += step(states[now], end_marker(), states[1 - now]).prob;
  return total;
}

SentenceScore LanguageModel::score(const WordId* words, std::size_t count, bool bos, bool eos) const {
  SentenceScore total;
  State states[2] = {begin(bos), {}};
  int now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const WordScore score = step(states[now], words[i], states[1 - now]);
    total.prob += score.prob;
    total.unknown += score.unknown ? 1 : 0;
    now = 1 - now;
  }
  if (eos) total.prob += step(states[now], end_marker(), states[1 - now]).prob;
  return total;
}

std::vector<WordScore> LanguageModel::full_scores(std::string_view sentence, bool bos, bool eos) const {
  std::vector<WordScore> scores;
  State states[2] = {begin(bos), {}};
  int now = 0;
  for_each_word(sentence, [&](std::string_view text) {
    scores.push_back(step(states[now], vocabulary_.find(text), states[1 - now]));
    now = 1 - now;
  });
  if (eos) scores.push_back(step(states[now], end_marker(), states[1 - now]));
  return scores;
}

void LmBuilder::set_counts(std::vector<std::uint64_t> counts) {
  model_.unigrams_.reserve(std::min<std::size_t>(counts[0], kTrusted) + 1);
  model_.unigrams_.push_back({kUnknownProb, -0.0F});
  model_.tables_.reserve(counts.size() - 1);
  for (std::size_t i = 1; i < counts.size(); ++i) model_.tables_.emplace_back(counts[i]);
  model_.counts_ = std::move(counts);
}

bool LmBuilder::add_unigram(std::string_view word, Weights weights) {
  if (weights.backoff == 0.0F) weights.backoff = -0.0F;
  if (LmVocabulary::is_unknown(word)) {
    if (has_unknown_) return false;
    has_unknown_ = true;
    model_.unigrams_[kUnknown] = weights;
    return true;
  }
  if (model_.vocabulary_.add(word) < 0) return false;
  model_.unigrams_.push_back(weights);
  return true;
}

void LmBuilder::end_unigrams() {
  model_.begin_ = model_.vocabulary_.find("<s>");
  model_.end_ = model_.vocabulary_.find("</s>");
}

bool LmBuilder::add(const WordId* words, int order, Weights weights) {
  if (weights.backoff == 0.0F) weights.backoff = -0.0F;
  if (!model_.tables_[static_cast<std::size_t>(order - 2)].insert(key_of(words, order), weights)) return false;
  // Scoring walks from the last word to longer and longer n-grams, and only in contexts that are there.
  require(words + 1, order - 1);
  mark_extension(require(words, order - 1).backoff);
  return true;
}

// The entry of an n-gram. A pruned file may lack it: then it gets the value that backing off gives it.
Weights& LmBuilder::require(const WordId* words, int order) {
  if (order == 1) return model_.unigrams_[static_cast<std::size_t>(words[0])];
  NgramTable& table = model_.tables_[static_cast<std::size_t>(order - 2)];
  const std::uint64_t key = key_of(words, order);
  if (Weights* found = table.find(key)) return *found;
  const float lower = require(words + 1, order - 1).prob;
  Weights& context = require(words, order - 1);
  const float prob = lower + context.backoff;
  mark_extension(context.backoff);
  table.insert(key, {prob, -0.0F});
  return *table.find(key);
}

}  // namespace smt
