// chrF and chrF++ (M. Popovic, 2015 and 2017) as sacrebleu defines them.
#include <algorithm>
#include <array>

#include "metrics/segments.hpp"
#include "metrics/ngram_average.hpp"
#include "metrics/ngram_index.hpp"

namespace smt {
namespace {

class ChrfScorer final : public SegmentScorer {
 public:
  explicit ChrfScorer(const ChrfOptions& options)
      : options_(options), row_(3 * orders()), matches_(orders()) {}

  std::size_t width() const noexcept override { return 3 * orders(); }

  void set(std::span<const MetricText> references) override {
    references_ = references;
    if (characters_.size() < references.size()) {
      characters_.resize(references.size());
      words_.resize(references.size());
    }
    for (std::size_t k = 0; k < references.size(); ++k) {
      characters_[k].build({&references[k].characters, 1}, options_.characters);
      if (options_.words > 0) words_[k].build({&references[k].words, 1}, options_.words);
    }
  }

  void score(const MetricText& hypothesis, double* row) override {
    double best = -1.0;
    for (std::size_t k = 0; k < references_.size(); ++k) {
      std::fill(matches_.begin(), matches_.end(), 0.0);
      characters_[k].count(hypothesis.characters, matches_.data());
      if (options_.words > 0) words_[k].count(hypothesis.words, matches_.data() + options_.characters);
      double* const current = references_.size() == 1 ? row : row_.data();
      const MetricText& reference = references_[k];
      fill(current, 0, options_.characters, hypothesis.characters.size(), reference.characters.size());
      fill(current, options_.characters, options_.words, hypothesis.words.size(), reference.words.size());
      if (references_.size() == 1) return;
      const double score = chrf_score(current, options_);
      if (score > best) {
        best = score;
        std::copy(row_.begin(), row_.end(), row);
      }
    }
  }

 private:
  std::size_t orders() const noexcept { return options_.characters + options_.words; }

  void fill(double* row, std::size_t first, std::size_t orders, std::size_t length, std::size_t reference) {
    for (std::size_t k = 0; k < orders; ++k) {
      double* const cell = row + 3 * (first + k);
      // Orders without n-grams in the reference do not count.
      cell[0] = static_cast<double>(reference > k && length > k ? length - k : 0);
      cell[1] = static_cast<double>(reference > k ? reference - k : 0);
      cell[2] = matches_[first + k];
    }
  }

  ChrfOptions options_;
  std::span<const MetricText> references_;
  std::vector<NgramIndex> characters_, words_;
  std::vector<double> row_, matches_;
};

class ChrfAggregate final : public AggregateScorer {
 public:
  explicit ChrfAggregate(const ChrfOptions& options)
      : orders_{options.characters, options.words},
        // An index of n-grams needs an order from 1 on, even if it stays empty.
        averages_{NgramAverage(options.characters), NgramAverage(std::max<std::size_t>(options.words, 1))},
        matches_(options.characters + options.words) {}

  void add(const MetricText& reference, double weight) override {
    averages_[0].add(reference.characters, weight);
    averages_[1].add(reference.words, weight);
  }

  void score(const MetricText& hypothesis, double* row) override {
    std::fill(matches_.begin(), matches_.end(), 0.0);
    fill(0, hypothesis.characters, matches_.data(), row);
    if (orders_[1] > 0) fill(1, hypothesis.words, matches_.data() + orders_[0], row + 3 * orders_[0]);
  }

 private:
  void fill(std::size_t unit, NgramIndex::Symbols text, double* matches, double* row) {
    averages_[unit].match(text, matches);
    for (std::size_t k = 0; k < orders_[unit]; ++k) {
      double* const cell = row + 3 * k;
      // As above: orders without n-grams in any reference do not count.
      const double total = averages_[unit].total(k + 1);
      cell[0] = static_cast<double>(total > 0 && text.size() > k ? text.size() - k : 0);
      cell[1] = total;
      cell[2] = matches[k];
    }
  }

  std::array<std::size_t, 2> orders_;  // of characters and words
  std::array<NgramAverage, 2> averages_;
  std::vector<double> matches_;
};

class ChrfKind final : public MetricKind {
 public:
  explicit ChrfKind(const ChrfOptions& options) : options_(options) {
    words = options.words > 0 ? Words::kPunctuation : Words::kNone;
    characters = options.whitespace ? Characters::kAll : Characters::kWithoutBlanks;
  }
  std::unique_ptr<SegmentScorer> scorer() const override { return std::make_unique<ChrfScorer>(options_); }
  std::unique_ptr<AggregateScorer> aggregate() const override { return std::make_unique<ChrfAggregate>(options_); }

 private:
  ChrfOptions options_;
};

}  // namespace

std::unique_ptr<MetricKind> chrf_kind(const ChrfOptions& options) { return std::make_unique<ChrfKind>(options); }

double chrf_score(const double* row, const ChrfOptions& options) noexcept {
  constexpr double kEpsilon = 1e-16;
  const double factor = options.beta * options.beta;
  const std::size_t orders = options.characters + options.words;
  double smoothed = 0.0;
  double precision = 0.0;
  double recall = 0.0;
  std::size_t effective = 0;
  for (std::size_t k = 0; k < orders; ++k) {
    const double* const cell = row + 3 * k;
    const double p = cell[0] > 0 ? cell[2] / cell[0] : kEpsilon;
    const double r = cell[1] > 0 ? cell[2] / cell[1] : kEpsilon;
    const double below = factor * p + r;
    smoothed += below > 0 ? (1 + factor) * p * r / below : kEpsilon;
    if (cell[0] > 0 && cell[1] > 0) {
      precision += p;
      recall += r;
      ++effective;
    }
  }
  if (options.eps_smoothing) return 100 * smoothed / static_cast<double>(orders);
  if (effective == 0) return 0.0;
  precision /= static_cast<double>(effective);
  recall /= static_cast<double>(effective);
  if (precision + recall == 0) return 0.0;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

}  // namespace smt
