#include "extract/rules.hpp"

#include <algorithm>
#include <limits>

namespace smt {
namespace {

constexpr int kUnlinked = -1;
constexpr std::size_t kLengths = 3;  // numbers before the symbols of an entry

constexpr std::uint64_t kSeed = 0x9E3779B97F4A7C15U;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t number) noexcept {
  hash = (hash ^ number) * 0xFF51AFD7ED558CCDU;
  return hash ^ hash >> 32U;
}

std::uint64_t hash_of(std::span<const std::uint32_t> numbers) noexcept {
  std::uint64_t hash = kSeed;
  for (const std::uint32_t number : numbers) hash = mixed(hash, number);
  return hash;
}

}  // namespace

std::vector<std::string> RuleSymbols::words() const {
  if (!numbered_) return {"[X][X]", "[X]"};
  std::vector<std::string> words;
  for (std::uint32_t i = 1; i <= gaps_; ++i) words.push_back("[X," + std::to_string(i) + "]");
  return words;
}

void RuleFinder::search(const SentencePair& pair) {
  pair_ = &pair;
  for (const Entry& entry : entries_) slots_[entry.slot] = 0;
  text_.clear();
  entries_.clear();
  places_.clear();
  read_links(pair);
  find_phrases();
  order_by_start();
  for (const Phrase& phrase : phrases_) {
    found_.clear();
    gaps_.clear();
    const int source_words = phrase.last_source - phrase.first_source + 1;
    const int target_words = phrase.last_target - phrase.first_target + 1;
    if (source_words <= limits_.source_words && target_words <= limits_.target_words) add_rule(phrase);
    if (limits_.gaps > 0) {
      collect_inside(phrase);
      const int linked = linked_before_[static_cast<std::size_t>(phrase.last_target) + 1] -
                         linked_before_[static_cast<std::size_t>(phrase.first_target)];
      add_gaps(phrase, 0, source_words, target_words, linked);
    }
    add_counts();
  }
}

void RuleFinder::add_counts() {
  const float share = limits_.counts == RuleCounts::kShares ? 1.0F / static_cast<float>(found_.size()) : 1.0F;
  for (const Found& rule : found_) {
    if (limits_.counts == RuleCounts::kPlaces && !is_new_place(rule)) continue;
    entries_[rule.entry].count += share;
  }
}

bool RuleFinder::is_new_place(const Found& rule) {
  return places_.insert(mixed(rule.place, rule.entry)).second;
}

void RuleFinder::read_links(const SentencePair& pair) {
  const std::size_t sources = pair.source.size(), targets = pair.target.size();
  link_begin_.assign(targets + 1, 0);
  for (const Link& link : pair.links) ++link_begin_[link.target + 1U];
  for (std::size_t t = 0; t < targets; ++t) link_begin_[t + 1] += link_begin_[t];
  link_sources_.resize(pair.links.size());
  std::vector<std::uint32_t>& next = target_place_;
  next.assign(link_begin_.begin(), link_begin_.end() - 1);
  for (const Link& link : pair.links) link_sources_[next[link.target]++] = link.source;
  std::uint32_t kept = 0;
  for (std::size_t t = 0; t < targets; ++t) {
    const auto begin = link_sources_.begin() + link_begin_[t], end = link_sources_.begin() + link_begin_[t + 1];
    std::sort(begin, end);
    const auto last = std::unique(begin, end);
    link_begin_[t] = kept;
    kept = static_cast<std::uint32_t>(std::copy(begin, last, link_sources_.begin() + kept) - link_sources_.begin());
  }
  link_begin_[targets] = kept;

  lowest_target_.assign(sources, std::numeric_limits<int>::max());
  highest_target_.assign(sources, kUnlinked);
  linked_before_.assign(targets + 1, 0);
  for (std::size_t t = 0; t < targets; ++t) {
    for (std::size_t i = link_begin_[t]; i < link_begin_[t + 1]; ++i) {
      const std::size_t s = link_sources_[i];
      lowest_target_[s] = std::min(lowest_target_[s], static_cast<int>(t));
      highest_target_[s] = static_cast<int>(t);
    }
    linked_before_[t + 1] = linked_before_[t] + (link_begin_[t + 1] > link_begin_[t] ? 1 : 0);
  }
}

// By length and start of the target side, descending start and end of the source side: Moses' order, so that counts are
// added up in the same order.
void RuleFinder::find_phrases() {
  phrases_.clear();
  const int sources = static_cast<int>(pair_->source.size()), targets = static_cast<int>(pair_->target.size());
  const auto is_linked = [this](int s) { return highest_target_[static_cast<std::size_t>(s)] != kUnlinked; };
  const auto is_target_linked = [this](int t) {
    return link_begin_[static_cast<std::size_t>(t) + 1] > link_begin_[static_cast<std::size_t>(t)];
  };
  for (int length = 1; length <= limits_.span && length <= targets; ++length) {
    for (int first = 0; first + length <= targets; ++first) {
      const int last = first + length - 1;
      if (limits_.tight && !(is_target_linked(first) && is_target_linked(last))) continue;
      int low = sources, high = -1;
      for (int t = first; t <= last; ++t) {
        const std::size_t begin = link_begin_[static_cast<std::size_t>(t)];
        const std::size_t end = link_begin_[static_cast<std::size_t>(t) + 1];
        if (begin == end) continue;
        low = std::min(low, static_cast<int>(link_sources_[begin]));
        high = std::max(high, static_cast<int>(link_sources_[end - 1]));
      }
      if (high < 0 || high - low >= limits_.span || !is_consistent(first, last, low, high)) continue;
      for (int start = low; start >= 0 && start > high - limits_.span && (start == low || !is_linked(start)); --start) {
        for (int end = high;
             end < sources && end < start + limits_.span && (end == high || !is_linked(end)); ++end) {
          phrases_.push_back({first, last, start, end});
          if (limits_.tight) break;
        }
        if (limits_.tight) break;
      }
    }
  }
}

bool RuleFinder::is_consistent(int first_target, int last_target, int first_source, int last_source) const noexcept {
  for (auto s = static_cast<std::size_t>(first_source); s <= static_cast<std::size_t>(last_source); ++s) {
    if (highest_target_[s] == kUnlinked) continue;
    if (lowest_target_[s] < first_target || highest_target_[s] > last_target) return false;
  }
  return true;
}

void RuleFinder::order_by_start() {
  const std::size_t targets = pair_->target.size();
  start_.assign(targets + 2, 0);
  for (const Phrase& phrase : phrases_) ++start_[static_cast<std::size_t>(phrase.first_target) + 2];
  for (std::size_t t = 2; t < targets + 2; ++t) start_[t] += start_[t - 1];
  by_start_.resize(phrases_.size());
  for (const Phrase& phrase : phrases_) by_start_[start_[static_cast<std::size_t>(phrase.first_target) + 1]++] = phrase;
}

void RuleFinder::collect_inside(const Phrase& phrase) {
  inside_.clear();
  const std::size_t begin = start_[static_cast<std::size_t>(phrase.first_target)];
  const std::size_t end = start_[static_cast<std::size_t>(phrase.last_target) + 1];
  const int source_words = phrase.last_source - phrase.first_source + 1;
  const int target_words = phrase.last_target - phrase.first_target + 1;
  for (std::size_t i = begin; i < end; ++i) {
    const Phrase& inner = by_start_[i];
    if (inner.last_target > phrase.last_target || inner.first_source < phrase.first_source ||
        inner.last_source > phrase.last_source) {
      continue;
    }
    const int source_size = inner.last_source - inner.first_source + 1;
    const int target_size = inner.last_target - inner.first_target + 1;
    // The whole phrase is no gap of itself, even if rules need no words beside gaps.
    if (target_size == target_words || source_size < limits_.source_gap || target_size < limits_.target_gap ||
        source_words - source_size < limits_.words || target_words - target_size < limits_.words) {
      continue;
    }
    inside_.push_back(inner);
  }
}

bool RuleFinder::fits(const Phrase& gap) const noexcept {
  const int room = limits_.adjacent_source ? 0 : 1;
  for (const Phrase& other : gaps_) {
    if (gap.first_source <= other.last_source + room && gap.last_source + room >= other.first_source) return false;
  }
  return true;
}

void RuleFinder::add_gaps(const Phrase& phrase, std::size_t from, int source_words, int target_words, int linked) {
  const int gaps = static_cast<int>(gaps_.size()) + 1;
  const bool last = gaps == limits_.gaps;
  for (std::size_t i = from; i < inside_.size(); ++i) {
    const Phrase gap = inside_[i];
    const int source_left = source_words - (gap.last_source - gap.first_source + 1);
    const int target_left = target_words - (gap.last_target - gap.first_target + 1);
    const bool allowed = source_left + gaps <= limits_.source_symbols && target_left + gaps <= limits_.target_symbols;
    if (last && !allowed) continue;
    if (source_left < limits_.words || target_left < limits_.words || !fits(gap)) continue;
    const int linked_left = linked - (linked_before_[static_cast<std::size_t>(gap.last_target) + 1] -
                                      linked_before_[static_cast<std::size_t>(gap.first_target)]);
    if (limits_.linked_word && linked_left == 0 && (source_left > 0 || target_left > 0)) continue;
    gaps_.push_back(gap);
    if (allowed) add_rule(phrase);
    if (!last) {
      const int next = gap.last_target + (limits_.adjacent_target ? 1 : 2);
      std::size_t behind = i + 1;
      while (behind < inside_.size() && inside_[behind].first_target < next) ++behind;
      add_gaps(phrase, behind, source_left, target_left, linked_left);
    }
    gaps_.pop_back();
  }
}

void RuleFinder::add_rule(const Phrase& phrase) {
  const std::size_t begin = text_.size();
  text_.resize(begin + kLengths);
  std::uint64_t words = kSeed;  // the places of the source words

  source_place_.resize(pair_->source.size());
  std::uint32_t sources = 0, source_gaps = 0;
  for (int s = phrase.first_source; s <= phrase.last_source; ++s, ++sources) {
    const auto at = static_cast<std::size_t>(s);
    source_place_[at] = sources;
    const auto gap =
        std::find_if(gaps_.begin(), gaps_.end(), [s](const Phrase& candidate) { return candidate.first_source == s; });
    if (gap == gaps_.end()) {
      text_.push_back(pair_->source[at]);
      words = mixed(words, at);
    } else {
      text_.push_back(symbols_.gap(source_gaps++));
      s = gap->last_source;
    }
  }
  if (!symbols_.numbered()) text_.push_back(symbols_.head());
  text_[begin] = static_cast<std::uint32_t>(text_.size() - begin - kLengths);

  target_place_.resize(pair_->target.size());
  std::uint32_t targets = 0;
  auto gap = gaps_.begin();
  for (int t = phrase.first_target; t <= phrase.last_target; ++t, ++targets) {
    const auto at = static_cast<std::size_t>(t);
    target_place_[at] = targets;
    if (gap == gaps_.end() || gap->first_target != t) {
      text_.push_back(pair_->target[at]);
    } else {
      const auto before = std::count_if(gaps_.begin(), gaps_.end(), [&gap](const Phrase& other) {
        return other.first_source < gap->first_source;
      });
      text_.push_back(symbols_.gap(static_cast<std::uint32_t>(before)));
      t = gap->last_target;
      ++gap;
    }
  }
  if (!symbols_.numbered()) text_.push_back(symbols_.head());
  const std::size_t links = text_.size();
  text_[begin + 1] = static_cast<std::uint32_t>(links - begin - kLengths) - text_[begin];

  gap = gaps_.begin();
  for (int t = phrase.first_target; t <= phrase.last_target; ++t) {
    if (gap != gaps_.end() && gap->first_target == t) {
      t = gap->last_target;
      ++gap;
      continue;
    }
    const auto at = static_cast<std::size_t>(t);
    for (std::size_t i = link_begin_[at]; i < link_begin_[at + 1]; ++i) {
      text_.push_back(packed_link(source_place_[link_sources_[i]], target_place_[at]));
    }
  }
  for (const Phrase& filler : gaps_) {
    text_.push_back(packed_link(source_place_[static_cast<std::size_t>(filler.first_source)],
                                target_place_[static_cast<std::size_t>(filler.first_target)]));
  }
  text_[begin + 2] = static_cast<std::uint32_t>(text_.size() - links);
  found_.push_back({entry_of(begin), words});
}

// The entry of the rule written last, removed again if the rule exists already.
std::uint32_t RuleFinder::entry_of(std::size_t begin) {
  if (2 * (entries_.size() + 1) > slots_.size()) grow();
  const std::span<const std::uint32_t> written(text_.data() + begin, text_.size() - begin);
  const std::uint64_t hash = hash_of(written);
  std::size_t at = hash & (slots_.size() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    const Entry& entry = entries_[slots_[at] - 1];
    // Lengths come first, so that no rule is a prefix of another.
    if (entry.hash == hash && std::equal(written.begin(), written.end(), text_.data() + entry.begin)) {
      text_.resize(begin);
      return slots_[at] - 1;
    }
  }
  entries_.push_back({begin, hash, 0.0F, static_cast<std::uint32_t>(at)});
  slots_[at] = static_cast<std::uint32_t>(entries_.size());
  return slots_[at] - 1;
}

void RuleFinder::grow() {
  slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), 0);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t at = entries_[i].hash & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(i + 1);
    entries_[i].slot = static_cast<std::uint32_t>(at);
  }
}

FoundRule RuleFinder::rule(const Entry& entry) const noexcept {
  const std::uint32_t* at = text_.data() + entry.begin;
  const std::size_t sources = at[0], targets = at[1], links = at[2];
  at += kLengths;
  return {{at, sources}, {at + sources, targets}, {at + sources + targets, links}, entry.count};
}

}  // namespace smt
