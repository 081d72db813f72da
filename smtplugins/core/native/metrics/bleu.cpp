// BLEU (K. Papineni and others, 2002): clipped matches of n-grams, and scores as sacrebleu computes them.
#include <algorithm>
#include <cmath>

#include "metrics/segments.hpp"
#include "metrics/ngram_average.hpp"
#include "metrics/ngram_index.hpp"

namespace smt {
namespace {

void fill_totals(double* row, std::size_t order, std::size_t length) noexcept {
  for (std::size_t n = 1; n <= order; ++n) {
    row[1 + order + n] = static_cast<double>(length < n ? 0 : length - n + 1);
  }
}

class BleuScorer final : public SegmentScorer {
 public:
  explicit BleuScorer(std::size_t order) : order_(order) {}

  std::size_t width() const noexcept override { return 2 + 2 * order_; }

  void set(std::span<const MetricText> references) override {
    texts_.clear();
    for (const MetricText& reference : references) texts_.push_back(reference.words);
    index_.build(texts_, order_);
  }

  void score(const MetricText& hypothesis, double* row) override {
    const std::size_t length = hypothesis.words.size();
    row[0] = static_cast<double>(length);
    row[1] = static_cast<double>(closest(length));
    std::fill(row + 2, row + 2 + order_, 0.0);
    index_.count(hypothesis.words, row + 2);
    fill_totals(row, order_, length);
  }

 private:
  // Of equally close lengths the shorter.
  std::size_t closest(std::size_t length) const noexcept {
    std::size_t best = texts_.front().size();
    const auto distance = [&](std::size_t other) { return std::max(length, other) - std::min(length, other); };
    for (const NgramIndex::Symbols reference : texts_) {
      const std::size_t size = reference.size();
      if (distance(size) < distance(best) || (distance(size) == distance(best) && size < best)) best = size;
    }
    return best;
  }

  std::size_t order_;
  std::vector<NgramIndex::Symbols> texts_;
  NgramIndex index_;
};

class BleuAggregate final : public AggregateScorer {
 public:
  explicit BleuAggregate(std::size_t order) : order_(order), average_(order) {}

  void add(const MetricText& reference, double weight) override { average_.add(reference.words, weight); }

  void score(const MetricText& hypothesis, double* row) override {
    const std::size_t length = hypothesis.words.size();
    row[0] = static_cast<double>(length);
    row[1] = average_.total(1);
    std::fill(row + 2, row + 2 + order_, 0.0);
    average_.match(hypothesis.words, row + 2);
    fill_totals(row, order_, length);
  }

 private:
  std::size_t order_;
  NgramAverage average_;
};

class BleuKind final : public MetricKind {
 public:
  explicit BleuKind(std::size_t order) : order_(order) { words = Words::kPlain; }
  std::unique_ptr<SegmentScorer> scorer() const override { return std::make_unique<BleuScorer>(order_); }
  std::unique_ptr<AggregateScorer> aggregate() const override { return std::make_unique<BleuAggregate>(order_); }

 private:
  std::size_t order_;
};

}  // namespace

std::unique_ptr<MetricKind> bleu_kind(std::size_t order) { return std::make_unique<BleuKind>(order); }

double bleu_score(const double* row, const BleuOptions& options) noexcept {
  const double length = row[0];
  const double reference = row[1];
  const double* const correct = row + 2;
  const double* const total = correct + options.order;
  double penalty = 1.0;
  if (length < reference) penalty = length > 0 ? std::exp(1 - reference / length) : 0.0;
  if (std::all_of(correct, total, [](double matches) { return matches == 0; })) return 0.0;

  constexpr double kLogOfNothing = -9999999999.0;
  double smoothed = 1.0;
  double sum = 0.0;
  std::size_t effective = options.order;
  bool ended = false;
  for (std::size_t n = 1; n <= options.order; ++n) {
    const double added = options.smoothing == BleuOptions::Smoothing::kAddK && n > 1 ? options.value : 0.0;
    const double matches = correct[n - 1] + added;
    const double all = total[n - 1] + added;
    ended = ended || all == 0;
    if (ended) {
      if (options.effective_order) break;
      sum += kLogOfNothing;
      continue;
    }
    if (options.effective_order) effective = n;
    double precision = 0.0;
    if (matches != 0) {
      precision = 100.0 * matches / all;
    } else if (options.smoothing == BleuOptions::Smoothing::kExp) {
      smoothed *= 2;
      precision = 100.0 / (smoothed * all);
    } else if (options.smoothing == BleuOptions::Smoothing::kFloor) {
      precision = 100.0 * options.value / all;
    }
    sum += precision == 0 ? kLogOfNothing : std::log(precision);
  }
  return penalty * std::exp(sum / static_cast<double>(effective));
}

}  // namespace smt
