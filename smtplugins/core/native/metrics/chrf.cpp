// chrF and chrF++ (M. Popovic, 2015 and 2017) as sacrebleu defines them.
#include <algorithm>

#include "metrics/segments.hpp"
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

class ChrfKind final : public MetricKind {
 public:
  explicit ChrfKind(const ChrfOptions& options) : options_(options) {
    words = options.words > 0 ? Words::kPunctuation : Words::kNone;
    characters = options.whitespace ? Characters::kAll : Characters::kWithoutBlanks;
  }
  std::unique_ptr<SegmentScorer> scorer() const override { return std::make_unique<ChrfScorer>(options_); }

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
