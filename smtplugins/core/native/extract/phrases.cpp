#include "extract/phrases.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "extract/links.hpp"

namespace smt {
namespace {

constexpr std::array<const char*, 4> kNames = {"mono", "swap", "dleft", "dright"};
constexpr std::size_t kCodeBytes = 2;

// The corners of consistent stretches: for each target place, the source places where a stretch with this last target
// place ends or begins.
class Corners {
 public:
  Corners(int sources, int targets)
      : sources_(static_cast<std::size_t>(sources)), ends_(sources_ * static_cast<std::size_t>(targets)), begins_(ends_) {}
  void add(const Stretch& stretch) {
    ends_[cell(stretch.last_source, stretch.last_target)] = true;
    begins_[cell(stretch.first_source, stretch.last_target)] = true;
  }
  bool ends(int source, int target) const { return inside(source, target) && ends_[cell(source, target)]; }
  bool begins(int source, int target) const { return inside(source, target) && begins_[cell(source, target)]; }

 private:
  std::size_t cell(int source, int target) const noexcept {
    return static_cast<std::size_t>(target) * sources_ + static_cast<std::size_t>(source);
  }
  bool inside(int source, int target) const noexcept {
    return source >= 0 && target >= 0 && static_cast<std::size_t>(source) < sources_ &&
           cell(source, target) < ends_.size();
  }

  std::size_t sources_;
  std::vector<bool> ends_, begins_;
};

// The sentence pair as seen from a stretch towards the previous phrase, or mirrored, towards the next phrase.
struct Sight {
  const AlignmentGrid& grid;
  bool behind;
  int near, far;  // source places next to the stretch: on the near side and on the other
  int target;     // the target place next to it

  Sight(const AlignmentGrid& grid_, const Stretch& stretch, bool behind_)
      : grid(grid_),
        behind(behind_),
        near(behind_ ? stretch.last_source + 1 : stretch.first_source - 1),
        far(behind_ ? stretch.first_source - 1 : stretch.last_source + 1),
        target(behind_ ? stretch.last_target + 1 : stretch.first_target - 1) {}
  // Whether some(source) for a source place beyond the near one, or the far one, up to the last one given.
  template <class Some>
  bool beyond_near(int last, Some some) const {
    if (behind) return upwards(near + 1, last, some);
    return downwards(near - 1, some);
  }
  template <class Some>
  bool beyond_far(int last, Some some) const {
    if (behind) return downwards(far - 1, some);
    return upwards(far + 1, last, some);
  }
  bool near_linked() const noexcept { return grid.linked(near, target); }
  bool far_linked() const noexcept { return grid.linked(far, target); }

 private:
  template <class Some>
  static bool upwards(int source, int last, Some some) {
    for (; source <= last; ++source) {
      if (some(source)) return true;
    }
    return false;
  }
  template <class Some>
  static bool downwards(int source, Some some) {
    for (; source >= 0; --source) {
      if (some(source)) return true;
    }
    return false;
  }
};

std::optional<Orientation> by_words(const Sight& sight, OrientationKind kind) {
  bool near = sight.near_linked(), far = sight.far_linked();
  if (near && !far) return Orientation::kMonotone;
  if (kind == OrientationKind::kMonotonicity) return std::nullopt;
  if (!near && far) return Orientation::kSwap;
  if (kind == OrientationKind::kMsd) return std::nullopt;
  const auto linked = [&](int source) { return sight.grid.linked(source, sight.target); };
  const int last = sight.grid.sources() - 1;
  near = near || sight.beyond_near(last, linked);
  far = far || sight.beyond_far(last, linked);
  if (near != far) return near ? Orientation::kRight : Orientation::kLeft;
  return std::nullopt;
}

// `corners` are those of all possible neighbours; `known` is the orientation from the smaller stretches.
std::optional<Orientation> by_corners(const Sight& sight, OrientationKind kind, const Corners& corners,
                                      std::optional<Orientation> known) {
  // After a stretch, one would expect the corners of neighbours at their first target places. Moses' extractor uses
  // those at their last places there, too, and tables must equal its tables.
  const auto nearest = [&](int source) {
    return sight.behind ? corners.begins(source, sight.target) : corners.ends(source, sight.target);
  };
  const auto farthest = [&](int source) {
    return sight.behind ? corners.ends(source, sight.target) : corners.begins(source, sight.target);
  };
  const bool near = sight.near_linked(), far = sight.far_linked();
  if (known == Orientation::kMonotone || (near && !far) || nearest(sight.near)) return Orientation::kMonotone;
  if (kind == OrientationKind::kMonotonicity) return std::nullopt;
  if (known == Orientation::kSwap || (!near && far) || farthest(sight.far)) return Orientation::kSwap;
  if (kind == OrientationKind::kMsd) return std::nullopt;
  if (known) return known;
  const int last = sight.grid.sources() - 2;  // Moses leaves out the last word of the sentence
  if (sight.beyond_near(last, nearest)) return Orientation::kRight;
  if (sight.beyond_far(last, farthest)) return Orientation::kLeft;
  return std::nullopt;
}

void append_words(std::string& out, const WordList& list, const std::vector<std::uint32_t>& words, int first, int last) {
  for (int i = first; i <= last; ++i) {
    out += list.word(words[static_cast<std::size_t>(i)]);
    out += ' ';
  }
}

const char* name_of(Orientation orientation, OrientationKind kind) noexcept {
  if (orientation == Orientation::kMonotone) return "mono";
  if (kind == OrientationKind::kMonotonicity) return "nomono";
  if (kind == OrientationKind::kMsd && orientation != Orientation::kSwap) return "other";
  return kNames[static_cast<std::size_t>(orientation)];
}

}  // namespace

void AlignmentGrid::set(const SentencePair& pair) {
  sources_ = static_cast<int>(pair.source.size());
  targets_ = static_cast<int>(pair.target.size());
  if (of_target_.size() < pair.target.size()) of_target_.resize(pair.target.size());
  for (std::size_t i = 0; i < pair.target.size(); ++i) of_target_[i].clear();
  for (const Link& link : pair.links) of_target_[link.target].push_back(link.source);
  below_source_.assign(pair.source.size() + 1, 0);
  below_target_.assign(pair.target.size() + 1, 0);
  cells_.assign((pair.source.size() + 2) * (pair.target.size() + 2), 0);
  const auto mark = [this](int source, int target) {
    cells_[index(source + 1) * (index(targets_) + 2) + index(target + 1)] = 1;
  };
  mark(-1, -1);
  mark(sources_, targets_);
  for (int target = 0; target < targets_; ++target) {
    std::vector<std::uint16_t>& linked_to = of_target_[index(target)];
    std::sort(linked_to.begin(), linked_to.end());
    linked_to.erase(std::unique(linked_to.begin(), linked_to.end()), linked_to.end());
    for (const std::uint16_t source : linked_to) {
      mark(source, target);
      ++below_source_[source + std::size_t{1}];
    }
    below_target_[index(target) + 1] = below_target_[index(target)] + static_cast<std::uint32_t>(linked_to.size());
  }
  for (std::size_t i = 0; i < pair.source.size(); ++i) below_source_[i + 1] += below_source_[i];
}

bool AlignmentGrid::linked(int source, int target) const noexcept {
  return cells_[index(source + 1) * (index(targets_) + 2) + index(target + 1)] != 0;
}

bool AlignmentGrid::consistent(const Stretch& stretch) const noexcept {
  const auto inside = [](int first, int last, int words) { return first >= 0 && first <= last && last < words; };
  const auto [first_source, last_source, first_target, last_target] = stretch;
  if (!inside(first_source, last_source, sources_) || !inside(first_target, last_target, targets_)) return false;
  for (int target = first_target; target <= last_target; ++target) {
    const auto& linked_to = of_target(target);
    if (!linked_to.empty() && (linked_to.front() < first_source || linked_to.back() > last_source)) return false;
  }
  const std::uint32_t links = below_source_[index(last_source) + 1] - below_source_[index(first_source)];
  return links > 0 && links == below_target_[index(last_target) + 1] - below_target_[index(first_target)];
}

template <class Visit>
void AlignmentGrid::for_stretches(int limit, Visit visit) const {
  for (int first_target = 0; first_target < targets_; ++first_target) {
    int least = sources_, most = -1;
    const int end = limit < targets_ - first_target ? first_target + limit : targets_;
    for (int last_target = first_target; last_target < end; ++last_target) {
      const auto& linked_to = of_target_[index(last_target)];
      if (!linked_to.empty()) {
        least = std::min<int>(least, linked_to.front());
        most = std::max<int>(most, linked_to.back());
      }
      if (most < 0 || most - least >= limit) continue;
      // All links of the target side are among those of the source side; the numbers are equal if none leads out.
      if (below_source_[index(most) + 1] - below_source_[index(least)] !=
          below_target_[index(last_target) + 1] - below_target_[index(first_target)]) {
        continue;
      }
      for (int first = least; first >= 0 && most - first < limit && (first == least || !source_linked(first)); --first) {
        for (int last = most; last < sources_ && last - first < limit && (last == most || !source_linked(last));
             ++last) {
          visit(Stretch{first, last, first_target, last_target});
        }
      }
    }
  }
}

PhraseExtractor::PhraseExtractor(PhraseOptions options, bool skip_bad, bool count_words, std::uint64_t memory,
                                 std::shared_ptr<SpillFolder> folder)
    : options_(options), count_words_(count_words), bitext_(skip_bad), pairs_(memory, std::move(folder)) {}

void PhraseExtractor::feed(std::string_view source, std::string_view target, std::string_view links) {
  bitext_.parse(source, target, links, [this](const SentencePair& pair, bool sound) {
    if (count_words_) lexical_.add(pair);
    if (!sound) return;
    extract(pair);
    pairs_.relieve(bitext_.source_words(), bitext_.target_words());
  });
}

void PhraseExtractor::feed(std::string_view source, std::string_view target, std::string_view links,
                           std::span<const PlacedStretch> stretches) {
  std::uint64_t number = 0;
  const Codes none{};
  bitext_.parse(source, target, links, [&](const SentencePair& pair, bool sound) {
    if (count_words_) lexical_.add(pair);
    if (sound) grid_.set(pair);
    for (; !stretches.empty() && stretches.front().pair == number; stretches = stretches.subspan(1)) {
      if (!sound) continue;
      const Stretch& stretch = stretches.front().stretch;
      if (!grid_.consistent(stretch)) {
        throw std::invalid_argument("a stretch without links, or one that they lead out of");
      }
      const bool is_small = stretch.last_source - stretch.first_source < options_.max_length &&
                            stretch.last_target - stretch.first_target < options_.max_length;
      if (is_small) add(pair, stretch, none);
    }
    ++number;
    pairs_.relieve(bitext_.source_words(), bitext_.target_words());
  });
  if (!stretches.empty()) throw std::invalid_argument("stretches are not in the order of the sentence pairs");
}

void PhraseExtractor::finish() { pairs_.finish(bitext_.source_words(), bitext_.target_words()); }

std::array<std::string, 3> PhraseExtractor::take_lines() { return std::exchange(lines_, {}); }

void PhraseExtractor::extract(const SentencePair& pair) {
  const auto [by_word, by_phrase, by_tree] = options_.orientations;
  const bool look_around = by_phrase != OrientationKind::kNone || by_tree != OrientationKind::kNone;
  grid_.set(pair);
  const Codes none{};
  if (by_word == OrientationKind::kNone && !look_around) {
    grid_.for_stretches(options_.max_length, [&](const Stretch& stretch) { add(pair, stretch, none); });
    return;
  }
  stretches_.clear();
  Corners small(look_around ? grid_.sources() : 0, grid_.targets());
  Corners all = small;
  const int limit = by_tree != OrientationKind::kNone ? std::max(grid_.sources(), grid_.targets()) : options_.max_length;
  grid_.for_stretches(limit, [&](const Stretch& stretch) {
    const bool is_small = stretch.last_source - stretch.first_source < options_.max_length &&
                          stretch.last_target - stretch.first_target < options_.max_length;
    if (is_small) stretches_.push_back(stretch);
    if (!look_around) return;
    if (is_small) small.add(stretch);
    all.add(stretch);
  });
  for (const Stretch& stretch : stretches_) {
    Codes codes{};
    for (std::size_t side = 0; side < 2; ++side) {
      const Sight sight(grid_, stretch, side == 1);
      std::optional<Orientation> phrase_orientation;
      if (by_word != OrientationKind::kNone) codes[side] = by_words(sight, by_word).value_or(Orientation::kRight);
      if (by_phrase != OrientationKind::kNone) {
        phrase_orientation = by_corners(sight, by_phrase, small, std::nullopt);
        codes[2 + side] = phrase_orientation.value_or(Orientation::kRight);
      }
      if (by_tree != OrientationKind::kNone) {
        codes[4 + side] = by_corners(sight, by_tree, all, phrase_orientation).value_or(Orientation::kRight);
      }
    }
    add(pair, stretch, codes);
  }
}

void PhraseExtractor::add(const SentencePair& pair, const Stretch& stretch, const Codes& codes) {
  const auto [first_source, last_source, first_target, last_target] = stretch;
  variant_.assign(kCodeBytes, '\0');
  for (int target = first_target; target <= last_target; ++target) {
    for (const std::uint16_t source : grid_.of_target(target)) {
      variant_ += static_cast<char>(source - first_source);
      variant_ += static_cast<char>(target - first_target);
    }
  }
  const std::size_t links = (variant_.size() - kCodeBytes) / 2;
  variant_[0] = static_cast<char>(links >> 8U);
  variant_[1] = static_cast<char>(links & 0xFFU);
  unsigned packed = 0;
  for (const Orientation code : codes) packed = packed << 2U | static_cast<unsigned>(code);
  variant_ += static_cast<char>(packed >> 8U);
  variant_ += static_cast<char>(packed & 0xFFU);
  const auto side = [](const std::vector<std::uint32_t>& words, int first, int last) {
    return WordSpan(words).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1));
  };
  pairs_.add(side(pair.source, first_source, last_source), side(pair.target, first_target, last_target), variant_);
  if (keep_lines_) write_lines(pair, stretch, codes);
}

void PhraseExtractor::write_lines(const SentencePair& pair, const Stretch& stretch, const Codes& codes) {
  std::string source, target;
  append_words(source, bitext_.source_words(), pair.source, stretch.first_source, stretch.last_source);
  append_words(target, bitext_.target_words(), pair.target, stretch.first_target, stretch.last_target);
  auto& [plain, inverse, oriented] = lines_;
  plain += source + "||| " + target + "|||";
  inverse += target + "||| " + source + "|||";
  for (int place = stretch.first_target; place <= stretch.last_target; ++place) {
    for (const std::uint16_t linked : grid_.of_target(place)) {
      const auto from = static_cast<unsigned>(linked - stretch.first_source);
      const auto to = static_cast<unsigned>(place - stretch.first_target);
      append_link(plain += ' ', from, to);
      append_link(inverse += ' ', to, from);
    }
  }
  plain += '\n';
  inverse += '\n';
  oriented += source + "||| " + target + "|||";
  const auto& kinds = options_.orientations;
  const bool several = kinds[1] != OrientationKind::kNone || kinds[2] != OrientationKind::kNone;
  for (std::size_t i = 0; i < kExtractions; ++i) {
    if (i > 0 && several) oriented += " |";
    if (kinds[i] != OrientationKind::kNone) {
      oriented += std::string(" ") + name_of(codes[2 * i], kinds[i]) + " " + name_of(codes[2 * i + 1], kinds[i]);
    } else if (several) {
      oriented += ' ';
    }
  }
  oriented += '\n';
}

PhraseVariant phrase_variant(std::string_view bytes) noexcept {
  PhraseVariant variant;
  variant.links = bytes.substr(kCodeBytes, bytes.size() - 2 * kCodeBytes);
  unsigned packed = static_cast<unsigned>(static_cast<unsigned char>(bytes[bytes.size() - 2])) << 8U |
                    static_cast<unsigned char>(bytes[bytes.size() - 1]);
  for (std::size_t i = variant.codes.size(); i-- > 0; packed >>= 2U) {
    variant.codes[i] = static_cast<Orientation>(packed & 3U);
  }
  return variant;
}

}  // namespace smt
