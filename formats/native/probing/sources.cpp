#include "probing/sources.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "bytes.hpp"

namespace smt {
namespace {

constexpr std::uint64_t kMix = 0xC6A4A7935BD1E995U;
constexpr unsigned kFold = 47;
constexpr std::uint64_t kLowBits = (std::uint64_t{1} << 40U) - 1;
constexpr std::size_t kMostBetween = 4;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 26U;  // for a phrase beside a neighbour
constexpr unsigned kMostShift = 23;  // the low 40 bits must be known

bool is_multiple(std::uint64_t number, unsigned shift) { return (number & ((std::uint64_t{1} << shift) - 1)) == 0; }

}  // namespace

std::uint64_t probing_hash(std::string_view word) noexcept {
  std::uint64_t hash = word.size() * kMix;
  std::size_t at = 0;
  for (; at + 8 <= word.size(); at += 8) {
    std::uint64_t part = load8(word.data() + at) * kMix;
    part = (part ^ part >> kFold) * kMix;
    hash = (hash ^ part) * kMix;
  }
  if (at < word.size()) {
    std::uint64_t rest = 0;
    for (std::size_t i = at; i < word.size(); ++i) {
      rest |= std::uint64_t{static_cast<unsigned char>(word[i])} << 8U * (i - at);
    }
    hash = (hash ^ rest) * kMix;
  }
  hash = (hash ^ hash >> kFold) * kMix;
  return hash ^ hash >> kFold;
}

LowBits::LowBits(std::size_t count) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * count, 8));
  keys_.resize(slots);
  ids_.assign(slots, -1);
  mask_ = slots - 1;
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots));
}

void LowBits::add(std::uint64_t key, std::int32_t id) {
  std::size_t at = slot(key & kLowBits);
  while (ids_[at] >= 0) at = (at + 1) & mask_;
  keys_[at] = key;
  ids_[at] = id;
}

ProbingSources::ProbingSources(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> words,
                               std::span<const std::int32_t> order, std::size_t longest)
    : keys_(keys), hashes_(words), order_(order), ranks_(words.size()), longest_(longest), words_(words.size()), phrases_(keys.size()), found_(keys.size()) {
  for (std::size_t i = 0; i < words.size(); ++i) words_.add(words[i], static_cast<std::int32_t>(i));
  for (std::size_t i = 0; i < order.size(); ++i) ranks_[static_cast<std::size_t>(order[i])] = i;
}

bool ProbingSources::set(std::size_t phrase, std::span<const std::int32_t> words) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < words.size() && i < 64; ++i) key += hashes_[static_cast<std::size_t>(words[i])] << i;
  if (words.empty() || key != keys_[phrase]) return false;
  if (found_[phrase].empty()) {
    found_[phrase].assign(words.begin(), words.end());
    phrases_.add(keys_[phrase], static_cast<std::int32_t>(phrase));
  }
  return true;
}

void ProbingSources::find(std::uint64_t steps) {
  const std::uint64_t cost = keys_.size();
  bool more = true;
  while (more && steps >= cost) {
    while (steps >= cost && (pass(false) || pass(true))) steps -= cost;
    collect_followers();
    more = pass_apart(1, false, false, steps);
    for (std::size_t between = 2; !more && between <= kMostBetween; ++between) {
      more = pass_apart(between, true, true, steps);
    }
    for (std::size_t between = 2; !more && between <= 3; ++between) more = pass_apart(between, true, false, steps);
    more = more || pass_apart(2, false, false, steps);
  }
}

// Seeks each unknown phrase beside the phrase before it, or after it.
bool ProbingSources::pass(bool backwards) {
  bool found = false;
  const Words none;
  const Words* beside = &none;
  for (std::size_t n = 0; n < keys_.size(); ++n) {
    const std::size_t i = backwards ? keys_.size() - 1 - n : n;
    if (found_[i].empty() && (join(i, *beside, false) || join(i, *beside, true))) found = true;
    if (!found_[i].empty()) beside = &found_[i];
  }
  return found;
}

bool ProbingSources::pass_apart(std::size_t between, bool sorted, bool follow, std::uint64_t& steps) {
  bool found = false;
  const Words none;
  const Words* before = &none;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (found_[i].empty()) {
      std::size_t next = i + 1;
      while (next < keys_.size() && found_[next].empty()) ++next;
      const Words& after = next < keys_.size() ? found_[next] : none;
      if (sorted) {
        found = join_sorted(i, *before, after, between, follow, steps) || found;
      } else {
        found = join_apart(i, *before, between, steps) || join_apart(i, after, between, steps) || found;
      }
    }
    if (!found_[i].empty()) before = &found_[i];
  }
  return found;
}

// Is the phrase the first words of `before`, and a word or a known phrase after them?
bool ProbingSources::join(std::size_t i, const Words& before, bool with_phrases) {
  candidate_.clear();
  between_.clear();
  ambiguous_ = false;
  std::uint64_t rest = keys_[i];
  for (std::size_t length = 0; length <= before.size() && length <= kMostShift; ++length) {
    const auto shift = static_cast<unsigned>(length);
    if (rest == 0 && length > 0) consider(before, length, -1, -1);
    if (is_multiple(rest, shift)) {
      if (with_phrases) {
        phrases_.each(rest >> shift, shift, [&](std::int32_t id) { consider(before, length, -1, id); });
      } else {
        words_.each(rest >> shift, shift, [&](std::int32_t id) { consider(before, length, id, -1); });
      }
    }
    if (length < before.size()) rest -= hashes_[static_cast<std::size_t>(before[length])] << shift;
  }
  return take(i);
}

void ProbingSources::begin(bool follow, std::uint64_t steps) {
  candidate_.clear();
  between_.clear();
  ambiguous_ = false;
  follow_ = follow;
  steps_ = std::min(steps, kMostSteps);
}

// The same with `between` words in between.
bool ProbingSources::join_apart(std::size_t i, const Words& before, std::size_t between, std::uint64_t& steps) {
  begin(false, steps);
  const std::uint64_t given = steps_;
  std::uint64_t rest = keys_[i];
  for (std::size_t length = 0; length <= before.size() && length + between <= kMostShift; ++length) {
    const auto shift = static_cast<unsigned>(length);
    if (is_multiple(rest, shift)) complete(before, length, rest >> shift, between);
    if (length < before.size()) rest -= hashes_[static_cast<std::size_t>(before[length])] << shift;
  }
  steps -= given - steps_;
  // An interrupted search does not tell that no other phrase has the key.
  return steps_ > 0 && take(i);
}

// The same, if the phrase is between two known ones in the order of their words.
bool ProbingSources::join_sorted(std::size_t i, const Words& before, const Words& after, std::size_t between,
                                 bool follow, std::uint64_t& steps) {
  begin(follow, steps);
  const std::uint64_t given = steps_;
  std::size_t common = 0;
  while (common < before.size() && common < after.size() && before[common] == after[common]) ++common;
  const auto rank = [&](const Words& words, std::size_t at, std::size_t otherwise) {
    return at < words.size() ? ranks_[static_cast<std::size_t>(words[at])] : otherwise;
  };
  const auto try_words_of = [&](const Words& words, bool is_before) {
    std::uint64_t rest = keys_[i];
    for (std::size_t length = 0; length <= words.size() && length + between <= kMostShift; ++length) {
      const auto shift = static_cast<unsigned>(length);
      if (is_multiple(rest, shift) && (length > common || (length == common && is_before))) {
        const std::size_t first = length == common || is_before ? rank(before, length, 0) : 0;
        const std::size_t last = length == common || !is_before ? rank(after, length, order_.size()) : order_.size();
        complete_between(words, length, first, last, rest >> shift, between);
      }
      if (length < words.size()) rest -= hashes_[static_cast<std::size_t>(words[length])] << shift;
    }
  };
  try_words_of(before, true);
  try_words_of(after, false);
  steps -= given - steps_;
  return steps_ > 0 && take(i);
}

// Tries words of these ranks as the first in between.
void ProbingSources::complete_between(const Words& prefix, std::size_t length, std::size_t first, std::size_t last,
                                      std::uint64_t rest, std::size_t between) {
  for (std::size_t rank = first; rank < last; ++rank) complete_with(order_[rank], prefix, length, rest, between);
}

// Looks for what is left of a key after the first words of `before` and the words between, whose number is its shift.
void ProbingSources::complete(const Words& before, std::size_t length, std::uint64_t rest, std::size_t between) {
  const auto shift = static_cast<unsigned>(length + between_.size());
  if (between == 0) {
    if (steps_ > 0) --steps_;
    words_.each(rest, shift, [&](std::int32_t id) { consider(before, length, id, -1); });
    phrases_.each(rest, shift, [&](std::int32_t id) { consider(before, length, -1, id); });
    return;
  }
  if (follow_ && !followers_[static_cast<std::size_t>(between_.back())].empty()) {
    for (const std::int32_t word : followers_[static_cast<std::size_t>(between_.back())]) {
      complete_with(word, before, length, rest, between);
    }
  } else {
    for (std::size_t word = 0; word < hashes_.size(); ++word) {
      complete_with(static_cast<std::int32_t>(word), before, length, rest, between);
    }
  }
}

void ProbingSources::complete_with(std::int32_t word, const Words& before, std::size_t length, std::uint64_t rest,
                                   std::size_t between) {
  if (steps_ == 0) return;
  --steps_;
  const auto shift = static_cast<unsigned>(length + between_.size());
  const std::uint64_t left = rest - hashes_[static_cast<std::size_t>(word)];
  if ((left & 1U) != 0) return;
  between_.push_back(word);
  complete(before, length, left << shift >> shift >> 1U, between - 1);
  between_.pop_back();
}

void ProbingSources::collect_followers() {
  followers_.assign(hashes_.size(), {});
  for (const Words& phrase : found_) {
    for (std::size_t i = 1; i < phrase.size(); ++i) {
      followers_[static_cast<std::size_t>(phrase[i - 1])].push_back(phrase[i]);
    }
  }
  for (Words& words : followers_) {
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
  }
}

void ProbingSources::consider(const Words& before, std::size_t length, std::int32_t word, std::int32_t phrase) {
  Words words(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(length));
  words.insert(words.end(), between_.begin(), between_.end());
  if (word >= 0) words.push_back(word);
  if (phrase >= 0) {
    const Words& last = found_[static_cast<std::size_t>(phrase)];
    words.insert(words.end(), last.begin(), last.end());
  }
  if (words.size() > longest_) return;
  if (!candidate_.empty() && candidate_ != words) ambiguous_ = true;
  candidate_ = std::move(words);
}

bool ProbingSources::take(std::size_t i) { return !candidate_.empty() && !ambiguous_ && set(i, candidate_); }

}  // namespace smt
