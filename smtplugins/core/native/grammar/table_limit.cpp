#include "grammar/table_limit.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "search/rule_score.hpp"

namespace smt {
namespace {

// Target sides that a thread takes at a time.
constexpr std::size_t kShare = 4096;

// A table has few distinct runs of words, each many times, most of one word. So runs are cached word by word: the words
// so far are a number (of a single word its id), and a number and the next word are a key. An evicted key gets a new
// number when it comes again.
class SideScorer {
 public:
  SideScorer(const LanguageModel& lm, const TargetSides& sides, std::span<const float> firsts, bool markers)
      : lm_(lm),
        sides_(sides),
        firsts_(firsts),
        markers_(markers),
        bits_(std::clamp(static_cast<unsigned>(std::bit_width(sides.symbols.size())), kLeastBits, kMostBits)) {
    forget();
  }

  float operator()(std::size_t side) {
    const auto end = static_cast<std::size_t>(sides_.offsets[side + 1]);
    double sum = 0.0;
    float score = 0.0F;
    bool within = false;
    std::uint32_t piece = 0;
    std::size_t first = 0;
    for (auto at = static_cast<std::size_t>(sides_.offsets[side]); at < end; ++at) {
      const std::int32_t symbol = sides_.symbols[at];
      if (symbol < 0) {
        sum += static_cast<double>(score);
        score = 0.0F;
        within = false;
      } else if (!within) {
        within = true;
        first = at;
        piece = static_cast<std::uint32_t>(symbol);
        score = firsts_[piece];
      } else {
        const std::uint64_t key = std::uint64_t{piece} << 32U | static_cast<std::uint32_t>(symbol);
        Slot& slot = slots_[(key * 0x9E3779B97F4A7C15U) >> (64U - bits_)];
        if (slot.key != key) slot = {key, number(), scored(first, at)};
        piece = slot.piece;
        score = slot.score;
      }
    }
    return static_cast<float>(sum + static_cast<double>(score));
  }

 private:
  static constexpr unsigned kLeastBits = 6;
  static constexpr unsigned kMostBits = 16;  // a megabyte
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  struct Slot {
    std::uint64_t key;
    std::uint32_t piece;
    float score;  // log10
  };

  void forget() {
    slots_.assign(std::size_t{1} << bits_, {kEmpty, 0, 0.0F});
    next_ = static_cast<std::uint32_t>(firsts_.size());
  }
  std::uint32_t number() {
    if (next_ == std::numeric_limits<std::uint32_t>::max()) forget();
    return next_++;
  }

  // log10 of the words from the start of a run up to the last one.
  float scored(std::size_t first, std::size_t last) {
    if (first != first_ || last < next_word_) {
      first_ = first;
      next_word_ = first + 1;
      total_ = static_cast<double>(firsts_[static_cast<std::size_t>(sides_.symbols[first])]);
      state_ = {};
      if (markers_ && word(first) == lm_.tables().begin) {
        state_ = lm_.begin(true);
        open_ = false;
      } else {
        const Step scored = step(lm_.tables(), LanguageModel::State(), word(first), state_);
        open_ = !scored.independent && state_.length == 1;
      }
    }
    for (; next_word_ <= last; ++next_word_) {
      LanguageModel::State after;
      const Step scored = step(lm_.tables(), state_, word(next_word_), after);
      open_ = open_ && !scored.independent;
      total_ += static_cast<double>(open_ ? rest_of(lm_.tables(), scored) : scored.prob);
      open_ = open_ && after.length == state_.length + 1;
      state_ = after;
    }
    return static_cast<float>(total_);
  }

  WordId word(std::size_t at) const noexcept { return sides_.words[static_cast<std::size_t>(sides_.symbols[at])]; }

  const LanguageModel& lm_;
  const TargetSides& sides_;
  const std::span<const float> firsts_;
  const bool markers_;
  const unsigned bits_;
  std::vector<Slot> slots_;
  std::uint32_t next_ = 0;
  // The last run scored: its start, its end, its score.
  std::size_t first_ = std::numeric_limits<std::size_t>::max();
  std::size_t next_word_ = 0;
  double total_ = 0.0;
  bool open_ = false;  // the words before the run may still change its probability: rest costs stand in for them
  LanguageModel::State state_;
};

}  // namespace

void fragment_scores(const LanguageModel& lm, const TargetSides& sides, bool markers, int threads, float* scores) {
  if (markers) lm.begin(true);
  std::vector<float> firsts(sides.words.size());
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const WordId word = sides.words[i];
    LanguageModel::State after;
    const Step scored = step(lm.tables(), LanguageModel::State(), word, after);
    const float alone = scored.independent ? scored.prob : rest_of(lm.tables(), scored);
    firsts[i] = markers && word == lm.tables().begin ? 0.0F : alone;
  }
  const std::size_t count = sides.offsets.size() - 1;
  const std::size_t shares = (count + kShare - 1) / kShare;
  std::atomic<std::size_t> next{0};
  std::exception_ptr thrown;
  std::mutex throwing;
  const auto work = [&] {
    try {
      SideScorer score(lm, sides, firsts, markers);
      for (std::size_t share = next++; share < shares; share = next++) {
        const std::size_t end = std::min(count, (share + 1) * kShare);
        for (std::size_t side = share * kShare; side < end; ++side) scores[side] = score(side);
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(throwing);
      thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(static_cast<std::size_t>(std::max(threads, 1)), shares); ++i) {
      others.emplace_back(work);
    }
    work();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace smt
