#include "blocks.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

namespace smt::localized {

namespace {

std::uint64_t hash_of(std::span<const std::int32_t> words) noexcept {
  std::uint64_t hash = words.size();
  for (const std::int32_t word : words) {
    hash = (hash ^ static_cast<std::uint32_t>(word)) * 0x9E3779B97F4A7C15ULL;
    hash ^= hash >> 32U;
  }
  return hash;
}

}  // namespace

PhraseIndex::PhraseIndex(Runs phrases, const char* what) : phrases_(phrases) {
  const std::size_t slots = std::bit_ceil(2 * phrases.size() + 2);
  mask_ = slots - 1;
  slots_.assign(slots, -1);
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    const auto words = phrases[i];
    longest_ = std::max(longest_, words.size());
    std::uint64_t at = hash_of(words) & mask_;
    for (; slots_[at] >= 0; at = (at + 1) & mask_) {
      if (std::ranges::equal(phrases_[static_cast<std::size_t>(slots_[at])], words)) {
        throw std::invalid_argument(std::string("a ") + what + " phrase comes twice");
      }
    }
    slots_[at] = static_cast<std::int32_t>(i);
  }
}

std::vector<std::int32_t> number_phrases(Runs phrases, std::vector<std::int64_t>& kinds) {
  std::vector<std::int32_t> slots(std::bit_ceil(2 * phrases.size() + 2), -1);
  std::vector<std::int32_t> numbers(phrases.size());
  const std::uint64_t mask = slots.size() - 1;
  for (std::size_t i = 0; i < phrases.size(); ++i) {
    std::uint64_t at = hash_of(phrases[i]) & mask;
    const auto known = [&](std::int32_t kind) {
      return phrases[static_cast<std::size_t>(kinds[static_cast<std::size_t>(kind)])];
    };
    while (slots[at] >= 0 && !std::ranges::equal(known(slots[at]), phrases[i])) at = (at + 1) & mask;
    if (slots[at] < 0) {
      slots[at] = static_cast<std::int32_t>(kinds.size());
      kinds.push_back(static_cast<std::int64_t>(i));
    }
    numbers[i] = slots[at];
  }
  return numbers;
}

std::int32_t PhraseIndex::find(std::span<const std::int32_t> words) const noexcept {
  for (std::uint64_t at = hash_of(words) & mask_; slots_[at] >= 0; at = (at + 1) & mask_) {
    if (std::ranges::equal(phrases_[static_cast<std::size_t>(slots_[at])], words)) return slots_[at];
  }
  return -1;
}

BlockFinder::BlockFinder(std::vector<std::string_view> words, Runs sources, Runs targets,
                         std::span<const std::int64_t> starts, std::span<const std::int32_t> target_of)
    : sources_(sources, "source"), targets_(targets, "target"), starts_(starts), target_of_(target_of) {
  for (std::size_t i = 0; i < words.size(); ++i) words_.emplace(words[i], static_cast<std::int32_t>(i));
  first_place_.assign(targets.size(), -1);
  counts_.assign(target_of.size(), 0);
}

void BlockFinder::find_words(std::string_view text, std::vector<std::int32_t>& found) const {
  constexpr std::string_view kBlanks = " \t\n\r\v\f\x1c\x1d\x1e\x1f";  // word separators of text formats
  found.clear();
  std::size_t at = 0;
  while (true) {
    at = text.find_first_not_of(kBlanks, at);
    if (at == std::string_view::npos) return;
    const std::size_t stop = std::min(text.find_first_of(kBlanks, at), text.size());
    const auto known = words_.find(text.substr(at, stop - at));
    found.push_back(known == words_.end() ? kUnknown : known->second);
    at = stop;
  }
}

bool BlockFinder::agrees(const Occurrence& one) const noexcept {
  bool linked = false;
  for (std::int32_t i = one.first; i < one.last; ++i) {
    const Extent& to = source_links_[static_cast<std::size_t>(i)];
    if (to.low > to.high) continue;
    if (to.low < one.begin || to.high >= one.end) return false;
    linked = true;
  }
  for (std::int32_t j = one.begin; j < one.end; ++j) {
    const Extent& to = target_links_[static_cast<std::size_t>(j)];
    if (to.low <= to.high && (to.low < one.first || to.high >= one.last)) return false;
  }
  return linked;
}

void BlockFinder::find_occurrences(const std::span<const Link>* links) {
  occurrences_.clear();
  places_.clear();
  present_.clear();
  const std::size_t width = source_.size();
  const std::size_t length = target_.size();
  if (links != nullptr) {
    constexpr Extent kNone{std::numeric_limits<std::int32_t>::max(), -1};
    source_links_.assign(width, kNone);
    target_links_.assign(length, kNone);
    for (const Link& link : *links) {
      const auto s = static_cast<std::size_t>(link.source);
      const auto t = static_cast<std::size_t>(link.target);
      if (link.source < 0 || link.target < 0 || s >= width || t >= length) {
        throw std::invalid_argument("expected links between words of the sentences, found " +
                                    std::to_string(link.source) + "-" + std::to_string(link.target));
      }
      Extent& to = source_links_[s];
      to = {std::min(to.low, link.target), std::max(to.high, link.target)};
      Extent& from = target_links_[t];
      from = {std::min(from.low, link.source), std::max(from.high, link.source)};
    }
  }
  for (std::size_t begin = 0; begin < length; ++begin) {
    const std::size_t most = std::min(length, begin + targets_.longest());
    for (std::size_t end = begin + 1; end <= most && target_[end - 1] >= 0; ++end) {
      const std::int32_t phrase = targets_.find(std::span(target_).subspan(begin, end - begin));
      if (phrase < 0) continue;
      std::int32_t& first = first_place_[static_cast<std::size_t>(phrase)];
      if (first < 0) present_.push_back(phrase);
      places_.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(end), first});
      first = static_cast<std::int32_t>(places_.size()) - 1;
    }
  }
  for (std::size_t first = 0; first < width; ++first) {
    const std::size_t most = std::min(width, first + sources_.longest());
    for (std::size_t last = first + 1; last <= most && source_[last - 1] >= 0; ++last) {
      const std::int32_t phrase = sources_.find(std::span(source_).subspan(first, last - first));
      if (phrase < 0) continue;
      const std::int64_t stop = starts_[static_cast<std::size_t>(phrase) + 1];
      for (std::int64_t block = starts_[static_cast<std::size_t>(phrase)]; block < stop; ++block) {
        const auto target = static_cast<std::size_t>(target_of_[static_cast<std::size_t>(block)]);
        for (std::int32_t at = first_place_[target]; at >= 0;) {
          const Place& place = places_[static_cast<std::size_t>(at)];
          const Occurrence one{place.begin, place.end, static_cast<std::int32_t>(first),
                               static_cast<std::int32_t>(last), static_cast<std::int32_t>(block)};
          if (links == nullptr || agrees(one)) occurrences_.push_back(one);
          at = place.next;
        }
      }
    }
  }
  for (const std::int32_t phrase : present_) first_place_[static_cast<std::size_t>(phrase)] = -1;
  std::ranges::sort(occurrences_, {}, [](const Occurrence& one) {
    return std::tuple(one.begin, one.end, one.first, one.last);
  });
}

void BlockFinder::collect(std::string_view source, std::string_view target, const std::span<const Link>* links,
                          Events& events) {
  find_words(source, source_);
  find_words(target, target_);
  find_occurrences(links);
  // Sort occurrences by the end of their target sides, stably.
  ending_.assign(target_.size() + 2, 0);
  for (const Occurrence& one : occurrences_) ++counts_[static_cast<std::size_t>(one.block)];
  for (const Occurrence& one : occurrences_) ++ending_[static_cast<std::size_t>(one.end) + 1];
  for (std::size_t i = 1; i < ending_.size(); ++i) ending_[i] += ending_[i - 1];
  by_end_.resize(occurrences_.size());
  std::vector<std::int32_t>& filled = ending_;
  for (std::size_t i = 0; i < occurrences_.size(); ++i) {
    by_end_[static_cast<std::size_t>(filled[static_cast<std::size_t>(occurrences_[i].end)]++)] =
        static_cast<std::int32_t>(i);
  }
  // Now filled[e] is past the last occurrence that ends at e; the first is at the end of those of e - 1.
  const std::size_t bigrams = events.successor.size();
  const std::size_t neutrals = events.neutral.size();
  for (const Occurrence& one : occurrences_) {
    const auto begin = static_cast<std::size_t>(one.begin);
    bool alone = true;
    for (std::int32_t k = begin == 0 ? 0 : filled[begin - 1]; k < filled[begin]; ++k) {
      const Occurrence& below = occurrences_[static_cast<std::size_t>(by_end_[static_cast<std::size_t>(k)])];
      const bool right = below.last == one.first;
      if (!right && one.last != below.first) continue;
      events.predecessor.push_back(below.block);
      events.successor.push_back(one.block);
      events.orientation.push_back(right ? kRight : kLeft);
      alone = false;
    }
    if (!alone) continue;
    events.neutral.push_back(one.block);
    for (const std::size_t back : {std::size_t{2}, std::size_t{1}}) {
      events.before.push_back(begin < back ? kBoundary : target_[begin - back]);
    }
  }
  events.bigrams.push_back(static_cast<std::int64_t>(events.successor.size() - bigrams));
  events.neutrals.push_back(static_cast<std::int64_t>(events.neutral.size() - neutrals));
  events.occurrences.push_back(static_cast<std::int64_t>(occurrences_.size()));
}

}  // namespace smt::localized
