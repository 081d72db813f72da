// Phrase pairs of word-aligned sentences, and their orientations.
//
// F. J. Och, C. Tillmann and H. Ney, "Improved Alignment Models for Statistical Machine Translation" (1999), section 4:
// a pair is consistent if it has a link and none leads out of it. Orientations: C. Tillmann, "A Unigram Orientation
// Model for Statistical Machine Translation" (2004), P. Koehn et al., "Edinburgh System Description for the 2005 IWSLT
// Speech Translation Evaluation" (2005), by words; M. Galley and C. Manning, "A Simple and Effective Hierarchical
// Phrase Reordering Model" (2008), by phrases and hierarchical ones; each as in Moses' extractor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/orientation.hpp"
#include "extract/bitext.hpp"
#include "extract/lexical.hpp"
#include "extract/pairs.hpp"

namespace smt {

// The distinctions: none, monotone or not, also swaps, also left and right discontinuous. Orientations are stored in
// two bits; those that a kind does not distinguish are kRight.
enum class OrientationKind : std::uint8_t { kNone, kMonotonicity, kMsd, kMslr };

inline constexpr std::size_t kExtractions = 3;  // by words, by phrases, hierarchical
inline constexpr int kMaxPhraseLength = 255;

struct PhraseOptions {
  int max_length = 7;
  std::array<OrientationKind, kExtractions> orientations{};
};

// A stretch of both sentences, ends included.
struct Stretch {
  int first_source, last_source, first_target, last_target;
};

// A stretch of one of several sentence pairs.
struct PlacedStretch {
  std::uint64_t pair;
  Stretch stretch;
};

// Queries about the links of one sentence pair.
class AlignmentGrid {
 public:
  void set(const SentencePair& pair);
  int sources() const noexcept { return sources_; }
  int targets() const noexcept { return targets_; }
  const std::vector<std::uint16_t>& of_target(int target) const noexcept {
    return of_target_[static_cast<std::size_t>(target)];
  }
  // Whether a stretch of these sentences has a link and none leads out.
  bool consistent(const Stretch& stretch) const noexcept;
  bool source_linked(int source) const noexcept { return below_source_[index(source)] != below_source_[index(source) + 1]; }
  // Also for the places before and after both sentences, which are linked to each other.
  bool linked(int source, int target) const noexcept;
  // Calls visit(stretch) for each consistent stretch whose sides are at most `limit` long: by target, its shorter ones
  // first, then by the source side, which grows to the right before it grows to the left.
  template <class Visit>
  void for_stretches(int limit, Visit visit) const;

 private:
  static std::size_t index(int place) noexcept { return static_cast<std::size_t>(place); }

  int sources_ = 0, targets_ = 0;
  std::vector<std::vector<std::uint16_t>> of_target_;  // ascending
  std::vector<std::uint32_t> below_source_, below_target_;  // links before each place
  std::vector<char> cells_;
};

class PhraseExtractor {
 public:
  PhraseExtractor(PhraseOptions options, bool skip_bad, bool count_words, std::uint64_t memory,
                  std::shared_ptr<SpillFolder> folder);

  // Feeds whole lines, equally many of each side.
  void feed(std::string_view source, std::string_view target, std::string_view links);
  // Feeds lines of which only these stretches are phrase pairs, in the order of the sentence pairs (0 is the first
  // line), unless too long or in a pair that is not sound. They have no orientations. Throws std::invalid_argument for
  // an inconsistent stretch.
  void feed(std::string_view source, std::string_view target, std::string_view links,
            std::span<const PlacedStretch> stretches);
  void finish();

  // With `lines` set: the lines of Moses' files extract, extract.inv and extract.o since the last call.
  void keep_lines(bool lines) noexcept { keep_lines_ = lines; }
  std::array<std::string, 3> take_lines();

  Bitext& bitext() noexcept { return bitext_; }
  const Bitext& bitext() const noexcept { return bitext_; }
  const LexicalCounts& lexical() const noexcept { return lexical_; }
  const PairCounter& pairs() const noexcept { return pairs_; }
  LexicalCounts& lexical() noexcept { return lexical_; }
  PairCounter& pairs() noexcept { return pairs_; }
  const PhraseOptions& options() const noexcept { return options_; }

 private:
  using Codes = std::array<Orientation, 2 * kExtractions>;  // to the previous and the next phrase; for each extraction
  void extract(const SentencePair& pair);
  void add(const SentencePair& pair, const Stretch& stretch, const Codes& codes);
  void write_lines(const SentencePair& pair, const Stretch& stretch, const Codes& codes);

  PhraseOptions options_;
  bool count_words_;
  bool keep_lines_ = false;
  Bitext bitext_;
  LexicalCounts lexical_;
  PairCounter pairs_;
  AlignmentGrid grid_;
  std::vector<Stretch> stretches_;
  std::string variant_;
  std::array<std::string, 3> lines_;
};

// A variant of a phrase pair: the number of links, the links by target and source, and the orientations.
struct PhraseVariant {
  std::string_view links;  // bytes: source, target, source, target ..
  std::array<Orientation, 2 * kExtractions> codes;
};
PhraseVariant phrase_variant(std::string_view bytes) noexcept;

}  // namespace smt
