#include "metrics/segments.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace smt {
namespace {

// Hypotheses of one segment that a thread takes at a time: enough to amortise reading its references.
constexpr std::size_t kRun = 1024;

bool is_punctuation(std::uint32_t c) noexcept {
  return (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) || (c >= 0x7B && c <= 0x7E);
}

template <class Character, class Put>
void for_each_part(std::span<const Character> word, Put put) {
  if (word.size() > 1 && is_punctuation(word.back())) {
    put(word.first(word.size() - 1));
    put(word.last(1));
  } else if (word.size() > 1 && is_punctuation(word.front())) {
    put(word.first(1));
    put(word.subspan(1));
  } else {
    put(word);
  }
}

// The view of a text for a kind of metric; number(word) is the id of a word.
template <class Number>
void read(const MetricKind& kind, const TextView& text, Number number, std::vector<std::int32_t>& words,
          std::vector<std::int32_t>& characters) {
  with_characters(text, [&](auto all) {
    using Character = typename decltype(all)::value_type;
    using Word = std::span<const Character>;
    const auto put_word = [&](Word word) { words.push_back(number(word)); };
    if (kind.words == MetricKind::Words::kPlain) for_each_word(Word(all), put_word);
    if (kind.words == MetricKind::Words::kPunctuation) {
      for_each_word(Word(all), [&](Word word) { for_each_part(word, put_word); });
    }
    const auto put = [&](auto c) { characters.push_back(static_cast<std::int32_t>(c)); };
    switch (kind.characters) {
      case MetricKind::Characters::kNone:
        break;
      case MetricKind::Characters::kAll:
        for (const auto c : all) put(c);
        break;
      case MetricKind::Characters::kWithoutBlanks:
        for (const auto c : all) {
          if (!is_space(c)) put(c);
        }
        break;
      case MetricKind::Characters::kSingleBlanks: {
        const std::size_t before = characters.size();
        for_each_word(Word(all), [&](Word word) {
          if (characters.size() != before) put(' ');
          for (const auto c : word) put(c);
        });
        break;
      }
    }
  });
}

// Runs work(item) for the items on a number of threads; the first failure is thrown when all have ended.
template <class MakeWork>
void on_threads(std::size_t items, int threads, MakeWork make_work) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex lock;
  const auto loop = [&] {
    try {
      auto work = make_work();
      for (std::size_t i = next.fetch_add(1); i < items; i = next.fetch_add(1)) work(i);
    } catch (...) {
      const std::lock_guard<std::mutex> locked(lock);
      if (!failure) failure = std::current_exception();
      next = items;
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), items);
    others.reserve(wanted);
    for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

std::int32_t MetricWords::next_number() const {
  if (size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::length_error("too many words");
  }
  return static_cast<std::int32_t>(size());
}

void MetricWords::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& entry : old) {
    if (entry.number == kNone) continue;
    std::size_t slot = entry.hash & mask;
    while (slots_[slot].number != kNone) slot = (slot + 1) & mask;
    slots_[slot] = entry;
  }
}

void MetricReferences::add(const TextView& reference) {
  const auto number = [&](auto word) { return vocabulary_.add(word); };
  read(*kind_, reference, number, words_.values, characters_.values);
  words_.end_part();
  characters_.end_part();
  segments_.values.push_back(static_cast<std::int32_t>(words_.size() - 1));
}

void MetricReferences::end_segment() {
  if (static_cast<std::size_t>(segments_.offsets.back()) == segments_.values.size()) {
    throw std::invalid_argument("a segment has no reference");
  }
  segments_.end_part();
}

MetricText MetricReferences::reference(std::size_t number) const noexcept {
  return {words_[number], characters_[number]};
}

void MetricReferences::set(SegmentScorer& scorer, std::size_t segment, std::vector<MetricText>& references) const {
  references.clear();
  for (const std::int32_t number : segments_[segment]) {
    references.push_back(reference(static_cast<std::size_t>(number)));
  }
  scorer.set(references);
}

// Calls score(scorer, i) for each hypothesis i, grouped by segment.
template <class Score>
void MetricReferences::by_segments(std::span<const std::int32_t> segments, int threads, Score score) const {
  std::vector<std::int64_t> ends(size() + 1, 0);
  for (const std::int32_t segment : segments) ++ends[static_cast<std::size_t>(segment) + 1];
  for (std::size_t k = 1; k < ends.size(); ++k) ends[k] += ends[k - 1];
  std::vector<std::int64_t> order(segments.size());
  std::vector<std::int64_t> at(ends.begin(), ends.end() - 1);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    order[static_cast<std::size_t>(at[static_cast<std::size_t>(segments[i])]++)] = static_cast<std::int64_t>(i);
  }
  const std::size_t shares = (segments.size() + kRun - 1) / kRun;
  on_threads(shares, threads, [&] {
    return [&, scorer = kind_->scorer(), references = std::vector<MetricText>(),
            words = std::vector<std::int32_t>(), characters = std::vector<std::int32_t>()](std::size_t share) mutable {
      std::int32_t set_to = -1;
      for (std::size_t k = share * kRun; k < std::min((share + 1) * kRun, order.size()); ++k) {
        const auto i = static_cast<std::size_t>(order[k]);
        if (segments[i] != set_to) {
          set_to = segments[i];
          set(*scorer, static_cast<std::size_t>(set_to), references);
        }
        score(*scorer, i, words, characters);
      }
    };
  });
}

void MetricReferences::stats(std::span<const TextView> hypotheses, std::span<const std::int32_t> segments, int threads,
                             double* rows) const {
  const std::size_t columns = width();
  const auto number = [&](auto word) { return vocabulary_.find(word); };
  by_segments(segments, threads, [&](SegmentScorer& scorer, std::size_t i, std::vector<std::int32_t>& words,
                                     std::vector<std::int32_t>& characters) {
    words.clear();
    characters.clear();
    read(*kind_, hypotheses[i], number, words, characters);
    scorer.score({words, characters}, rows + i * columns);
  });
}

void MetricReferences::stats_of_ids(std::span<const std::int64_t> offsets, std::span<const std::int32_t> ids,
                                    std::span<const std::int32_t> segments, int threads, double* rows) const {
  const std::size_t columns = width();
  by_segments(segments, threads, [&](SegmentScorer& scorer, std::size_t i, std::vector<std::int32_t>& /*words*/,
                                     std::vector<std::int32_t>& /*characters*/) {
    const auto first = static_cast<std::size_t>(offsets[i]);
    const auto count = static_cast<std::size_t>(offsets[i + 1]) - first;
    scorer.score({ids.subspan(first, count), {}}, rows + i * columns);
  });
}

void MetricReferences::matrix(std::span<const TextView> hypotheses, int threads, double* rows) const {
  const std::size_t columns = width();
  Parts<std::int32_t> words;
  Parts<std::int32_t> characters;
  for (const TextView& hypothesis : hypotheses) {
    read(*kind_, hypothesis, [&](auto word) { return vocabulary_.find(word); }, words.values, characters.values);
    words.end_part();
    characters.end_part();
  }
  on_threads(size(), threads, [&] {
    return [&, scorer = kind_->scorer(), references = std::vector<MetricText>()](std::size_t segment) mutable {
      set(*scorer, segment, references);
      for (std::size_t i = 0; i < hypotheses.size(); ++i) {
        scorer->score({words[i], characters[i]}, rows + (i * size() + segment) * columns);
      }
    };
  });
}

void MetricReferences::aggregate(std::span<const TextView> hypotheses, std::span<const double> weights,
                                 double* rows) const {
  const std::unique_ptr<AggregateScorer> scorer = kind_->aggregate();
  if (!scorer) throw std::invalid_argument("this metric does not aggregate references");
  if (weights.size() != references()) throw std::invalid_argument("expected a weight for each reference");
  for (std::size_t k = 0; k < weights.size(); ++k) scorer->add(reference(k), weights[k]);
  const std::size_t columns = width();
  const auto number = [&](auto word) { return vocabulary_.find(word); };
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> characters;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    words.clear();
    characters.clear();
    read(*kind_, hypotheses[i], number, words, characters);
    scorer->score({words, characters}, rows + i * columns);
  }
}

}  // namespace smt
