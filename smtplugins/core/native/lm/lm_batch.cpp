#include "lm/lm_batch.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <thread>
#include <vector>

namespace smt {
namespace {

constexpr int kBatch = 64;
constexpr int kHistory = kMaxOrder;  // words of the previous batch, in front of a batch

// Sentences that a thread takes at a time.
constexpr std::size_t kShare = 256;

template <class Lookup>
class BatchScorer {
 public:
  BatchScorer(const Lookup& lookup, const LanguageModel& lm, bool bos, SentenceScores scores, std::size_t first)
      : lm_(lookup), order_(lm.order()), scores_(scores), next_(first) {
    const LanguageModel::State begin = lm.begin(bos);
    begin_word_ = begin.length == 0 ? kUnknown : begin.words[0];
    begin_backoff_ = begin.length == 0 ? -0.0F : begin.backoff[0];
    for (auto& column : backoff_) column[0] = -0.0F;
  }

  void begin_sentence() {
    starts_[size_] = true;
    push(begin_word_);
  }
  void add(WordId word) {
    starts_[size_] = false;
    push(word);
  }
  // A word by its hash.
  void add_hash(std::uint64_t hash) {
    starts_[size_] = false;
    pending_[size_] = lm_.word_home(hash);
    lm_.prefetch_word(pending_[size_]);
    hashes_[size_] = hash;
    by_hash_[by_hash_size_++] = static_cast<std::uint16_t>(size_);
    push(kUnknown);
  }
  void finish() {
    score();
    if (in_sentence_) end_sentence();
  }

 private:
  // Column 0 of the arrays with an extra column belongs to the last word of the previous batch.
  using Column = float[kBatch + 1];

  void push(WordId word) {
    words_[kHistory + size_] = word;
    if (++size_ == kBatch) score();
  }

  void score() {
    for (int k = 0; k < by_hash_size_; ++k) {
      const int i = by_hash_[k];
      words_[kHistory + i] = lm_.word_from(pending_[i], hashes_[i]);
    }
    by_hash_size_ = 0;
    score_words();
    for (int n = 2; n < order_; ++n) score_middle(n);
    if (order_ > 1) score_longest();
    add_up();
    std::memmove(words_, words_ + size_, kHistory * sizeof(WordId));
    for (int n = 1; n < order_; ++n) backoff_[n][0] = backoff_[n][size_];
    size_ = 0;
  }

  // Scores unigrams; active are the words that a bigram may end with.
  void score_words() {
    active_size_ = 0;
    for (int i = 0; i < size_; ++i) {
      const WordId word = words_[kHistory + i];
      Entry entry = lm_.unigram(word, nodes_[i]);
      if (starts_[i]) {
        entry.prob = -0.0F;
        entry.backoff = begin_backoff_;
        entry.independent = true;
      }
      prob_[i] = entry.prob;
      backoff_[1][i + 1] = entry.backoff;
      active_[active_size_] = i;
      active_size_ += !entry.independent && has_extension(backoff_[1][i]) ? 1 : 0;
    }
  }

  // Starts order n: begins look-ups, prefetches memory. Words that are not found back off.
  template <class Level>
  void ask(int n, const Level& level) {
    for (int k = 0; k < active_size_; ++k) {
      const int i = active_[k];
      places_[k] = level.home(nodes_[i], words_[kHistory + i - n + 1]);
      level.prefetch(places_[k]);
    }
    const float* const before = backoff_[n - 1];
    for (int i = 0; i < size_; ++i) prob_[i] += before[i];
  }

  void score_middle(int n) {
    const auto level = lm_.middle(n);
    ask(n, level);
    float* const backoff = backoff_[n];
    std::fill(backoff + 1, backoff + 1 + size_, -0.0F);
    int going_on = 0;
    for (int k = 0; k < active_size_; ++k) {
      const int i = active_[k];
      Entry entry;
      const bool matches = level.read(places_[k], nodes_[i], words_[kHistory + i - n + 1], entry);
      prob_[i] = matches ? entry.prob : prob_[i];
      backoff[i + 1] = matches ? entry.backoff : -0.0F;
      active_[going_on] = i;
      going_on += matches & !entry.independent & has_extension(backoff[i]) ? 1 : 0;
    }
    active_size_ = going_on;
  }

  void score_longest() {
    const auto level = lm_.longest();
    ask(order_, level);
    for (int k = 0; k < active_size_; ++k) {
      const int i = active_[k];
      Entry entry;
      const bool matches = level.read(places_[k], nodes_[i], words_[kHistory + i - order_ + 1], entry);
      prob_[i] = matches ? entry.prob : prob_[i];
    }
  }

  void add_up() {
    for (int i = 0; i < size_; ++i) {
      if (starts_[i]) {
        if (in_sentence_) end_sentence();
        in_sentence_ = true;
        continue;
      }
      total_ += static_cast<double>(prob_[i]);
      unknown_ += words_[kHistory + i] == kUnknown ? 1 : 0;
    }
  }

  void end_sentence() {
    scores_.probs[next_] = total_;
    scores_.unknown[next_] = unknown_;
    ++next_;
    total_ = 0.0;
    unknown_ = 0;
    in_sentence_ = false;
  }

  const Lookup lm_;
  int order_;
  WordId begin_word_;
  float begin_backoff_;

  int size_ = 0;
  bool starts_[kBatch];
  WordId words_[kHistory + kBatch] = {};
  float prob_[kBatch];
  Column backoff_[kMaxOrder];  // by order
  typename Lookup::Node nodes_[kBatch];
  int active_size_ = 0;
  int active_[kBatch];
  typename Lookup::Place places_[kBatch];
  int by_hash_size_ = 0;
  std::uint16_t by_hash_[kBatch];
  std::uint64_t hashes_[kBatch];
  typename Lookup::Place pending_[kBatch];

  SentenceScores scores_;
  std::size_t next_;
  bool in_sentence_ = false;
  double total_ = 0.0;
  std::int32_t unknown_ = 0;
};

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
constexpr std::uint64_t kHighs = 0x8080808080808080ULL;

// Sets the high bit of the lowest byte equal to `c`; bits above it may be wrong.
std::uint64_t where(std::uint64_t bytes, char c) noexcept {
  const std::uint64_t x = bytes ^ (kOnes * static_cast<unsigned char>(c));
  return (x - kOnes) & ~x & kHighs;
}

std::uint64_t bytes_at(const char* at) noexcept {
  std::uint64_t bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

// Calls visit(hash) for each word of a text; reads up to kTextPadding bytes past it.
template <class Visit>
void for_each_hash(const char* at, const char* end, Visit visit) {
  while (at < end) {
    if (*at == ' ' || *at == '\t') {
      ++at;
      continue;
    }
    const char* stop = at;
    for (;;) {
      const std::uint64_t bytes = bytes_at(stop);
      const std::uint64_t blanks = where(bytes, ' ') | where(bytes, '\t');
      if (blanks != 0) {
        stop += std::countr_zero(blanks) / 8;
        break;
      }
      stop += 8;
      if (stop >= end) break;
    }
    if (stop > end) stop = end;
    visit(hash_padded(at, static_cast<std::size_t>(stop - at)));
    at = stop;
  }
}

// Runs share(first, last) over shares of the sentences, on a number of threads.
template <class Share>
void in_parallel(std::size_t sentences, int threads, Share share) {
  const std::size_t useful = std::max<std::size_t>(1, (sentences + kShare - 1) / kShare);
  const std::size_t workers = std::min(static_cast<std::size_t>(std::max(threads, 1)), useful);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (;;) {
      const std::size_t first = next.fetch_add(kShare);
      if (first >= sentences) return;
      share(first, std::min(first + kShare, sentences));
    }
  };
  if (workers == 1) {
    if (sentences > 0) share(std::size_t{0}, sentences);
    return;
  }
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < workers; ++i) others.emplace_back(work);
  work();
}

// Runs put(scorer, first, last), which puts a share of the sentences into a scorer.
template <class Put>
void score_shares(const LanguageModel& lm, bool bos, std::size_t sentences, int threads, SentenceScores scores,
                  Put put) {
  lm.begin(bos);  // checks
  with_lookup(lm.tables(), [&](auto lookup) {
    in_parallel(sentences, threads, [&](std::size_t first, std::size_t last) {
      BatchScorer<decltype(lookup)> scorer(lookup, lm, bos, scores, first);
      put(scorer, first, last);
      scorer.finish();
    });
  });
}

}  // namespace

void score_ids(const LanguageModel& lm, const WordId* ids, const std::int64_t* offsets, std::size_t sentences, bool bos,
               bool eos, int threads, SentenceScores scores) {
  const WordId end = eos ? lm.end_marker() : kUnknown;
  score_shares(lm, bos, sentences, threads, scores, [&](auto& scorer, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      scorer.begin_sentence();
      for (std::int64_t j = offsets[i]; j < offsets[i + 1]; ++j) scorer.add(ids[j]);
      if (eos) scorer.add(end);
    }
  });
}

void score_texts(const LanguageModel& lm, const char* text, const std::int64_t* offsets, std::size_t sentences,
                 bool bos, bool eos, int threads, SentenceScores scores) {
  const WordId end = eos ? lm.end_marker() : kUnknown;
  score_shares(lm, bos, sentences, threads, scores, [&](auto& scorer, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      scorer.begin_sentence();
      for_each_hash(text + offsets[i], text + offsets[i + 1], [&](std::uint64_t hash) { scorer.add_hash(hash); });
      if (eos) scorer.add(end);
    }
  });
}

void find_words(const LanguageModel& lm, const char* text, const std::int64_t* offsets, std::size_t words,
                WordId* ids) {
  with_lookup(lm.tables(), [&](auto lookup) {
    std::uint64_t hashes[kBatch];
    typename decltype(lookup)::Place places[kBatch];
    for (std::size_t first = 0; first < words; first += kBatch) {
      const std::size_t count = std::min<std::size_t>(kBatch, words - first);
      for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t begin = offsets[first + i];
        hashes[i] = hash_padded(text + begin, static_cast<std::size_t>(offsets[first + i + 1] - begin));
        places[i] = lookup.word_home(hashes[i]);
        lookup.prefetch_word(places[i]);
      }
      for (std::size_t i = 0; i < count; ++i) ids[first + i] = lookup.word_from(places[i], hashes[i]);
    }
  });
}

}  // namespace smt
