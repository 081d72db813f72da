// References of segments, and the statistics of hypotheses compared with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/forest.hpp"
#include "metrics/text.hpp"

namespace smt {

// A text as metrics see it; characters are empty if not needed.
struct MetricText {
  std::span<const std::int32_t> words;
  std::span<const std::int32_t> characters;
};

// Compares hypotheses with the references of one segment after another. One for each thread.
class SegmentScorer {
 public:
  SegmentScorer() = default;
  SegmentScorer(const SegmentScorer&) = delete;
  SegmentScorer& operator=(const SegmentScorer&) = delete;
  virtual ~SegmentScorer() = default;

  virtual std::size_t width() const noexcept = 0;  // statistics in a row
  // The references must stay valid until the next call; there is at least one.
  virtual void set(std::span<const MetricText> references) = 0;
  virtual void score(const MetricText& hypothesis, double* row) = 0;
};

// Averages the references of a segment into one and compares hypotheses with it, in rows as of SegmentScorer.
class AggregateScorer {
 public:
  AggregateScorer() = default;
  AggregateScorer(const AggregateScorer&) = delete;
  AggregateScorer& operator=(const AggregateScorer&) = delete;
  virtual ~AggregateScorer() = default;

  // The weights sum to one.
  virtual void add(const MetricText& reference, double weight) = 0;
  virtual void score(const MetricText& hypothesis, double* row) = 0;
};

// The metric and its view of a text.
class MetricKind {
 public:
  enum class Words { kNone, kPlain, kPunctuation };  // kPunctuation splits punctuation as chrF++ does
  enum class Characters { kNone, kWithoutBlanks, kAll, kSingleBlanks };

  MetricKind() = default;
  MetricKind(const MetricKind&) = delete;
  MetricKind& operator=(const MetricKind&) = delete;
  virtual ~MetricKind() = default;
  virtual std::unique_ptr<SegmentScorer> scorer() const = 0;
  virtual std::unique_ptr<AggregateScorer> aggregate() const { return nullptr; }  // or none

  Words words = Words::kNone;
  Characters characters = Characters::kNone;
};

struct ChrfOptions {
  std::size_t characters = 6;
  std::size_t words = 0;
  double beta = 2.0;
  bool whitespace = false;
  bool eps_smoothing = false;
};

// Statistics: length, length of the closest reference, matches of each order, n-grams of each order.
std::unique_ptr<MetricKind> bleu_kind(std::size_t order);
// Statistics for each order, characters before words: n-grams of the hypothesis, of the best reference, matches.
std::unique_ptr<MetricKind> chrf_kind(const ChrfOptions& options);
// Statistics: edits and length of the reference with the fewest edits per symbol.
std::unique_ptr<MetricKind> error_rate_kind(bool characters);
// Statistics: edits with shifts against the reference that needs the fewest, mean length of the references.
std::unique_ptr<MetricKind> ter_kind();
// Statistics: match size, length, length of the reference with the best F.
std::unique_ptr<MetricKind> gtm_kind(double exponent);

// Scores of rows of statistics, computed as sacrebleu does.
struct BleuOptions {
  enum class Smoothing { kNone, kFloor, kAddK, kExp };
  std::size_t order = 4;
  Smoothing smoothing = Smoothing::kExp;
  double value = 0.0;
  bool effective_order = false;
};
double bleu_score(const double* row, const BleuOptions& options) noexcept;
double chrf_score(const double* row, const ChrfOptions& options) noexcept;

class MetricReferences {
 public:
  explicit MetricReferences(std::shared_ptr<const MetricKind> kind) : kind_(std::move(kind)) {}

  // Adds a reference to the current segment; end_segment() throws std::invalid_argument if there are none.
  void add(const TextView& reference);
  void end_segment();

  const MetricKind& kind() const noexcept { return *kind_; }
  std::size_t size() const noexcept { return segments_.size(); }
  std::size_t references() const noexcept { return words_.size(); }  // of all segments
  std::size_t width() const { return kind_->scorer()->width(); }
  const MetricWords& vocabulary() const noexcept { return vocabulary_; }

  // Row i compares hypothesis i with the references of segment segments[i], a number below size().
  void stats(std::span<const TextView> hypotheses, std::span<const std::int32_t> segments, int threads,
             double* rows) const;
  // The same for words by their ids in vocabulary(). Only for kinds that see plain words and no characters.
  void stats_of_ids(std::span<const std::int64_t> offsets, std::span<const std::int32_t> ids,
                    std::span<const std::int32_t> segments, int threads, double* rows) const;
  // Row i * size() + j compares hypothesis i with segment j.
  void matrix(std::span<const TextView> hypotheses, int threads, double* rows) const;
  // Row i compares hypothesis i with the mean of all references, of whatever segment, which have a weight each.
  // Throws std::invalid_argument if the kind has no aggregate().
  void aggregate(std::span<const TextView> hypotheses, std::span<const double> weights, double* rows) const;

 private:
  MetricText reference(std::size_t number) const noexcept;
  void set(SegmentScorer& scorer, std::size_t segment, std::vector<MetricText>& references) const;
  template <class Score>
  void by_segments(std::span<const std::int32_t> segments, int threads, Score score) const;

  std::shared_ptr<const MetricKind> kind_;
  MetricWords vocabulary_;
  Parts<std::int32_t> words_, characters_;  // of each reference
  Parts<std::int32_t> segments_;            // the numbers of each segment's references
};

}  // namespace smt
