// General text matching: I. D. Melamed, R. Green and J. P. Turian, "Precision and Recall of Machine Translation"
// (2003).
//
// A match pairs words of the hypothesis with equal ones of the reference, each at most once. Its size is
// (sum over its runs of length^e)^(1/e), a run being words that stand side by side in both. For e = 1 the largest match
// is any that leaves no pair out. For e > 1 finding the largest is NP-hard; as in GTM itself, the longest free run is
// taken repeatedly: of equally long ones the first in the hypothesis, then in the reference.
#include <algorithm>
#include <cmath>

#include "metrics/segments.hpp"

namespace smt {
namespace {

class GtmScorer final : public SegmentScorer {
 public:
  explicit GtmScorer(double exponent) : exponent_(exponent) {}

  std::size_t width() const noexcept override { return 3; }

  void set(std::span<const MetricText> references) override { references_ = references; }

  void score(const MetricText& hypothesis, double* row) override {
    double best = -1.0;
    const auto length = static_cast<double>(hypothesis.words.size());
    for (const MetricText& text : references_) {
      const double size = match(hypothesis.words, text.words);
      const auto reference = static_cast<double>(text.words.size());
      const double f = length + reference > 0 ? 2 * size / (length + reference) : 0.0;
      if (f > best) {
        best = f;
        row[0] = size;
        row[1] = length;
        row[2] = reference;
      }
    }
  }

 private:
  using Words = std::span<const std::int32_t>;
  struct Run {
    std::size_t length;
    std::size_t own;    // where it begins in the hypothesis
    std::size_t other;  // in the reference
    // The heap's top is the longest, then the first.
    bool operator<(const Run& b) const noexcept {
      if (length != b.length) return length < b.length;
      return own != b.own ? own > b.own : other > b.other;
    }
  };

  double match(Words own, Words other) {
    if (exponent_ == 1.0) return overlap(own, other);
    runs_.clear();
    // Each diagonal of the table of equal words, cut into runs.
    const auto diagonal = [&](std::size_t i, std::size_t j) {
      std::size_t length = 0;
      for (; i < own.size() && j < other.size(); ++i, ++j) {
        if (own[i] == other[j]) {
          ++length;
        } else {
          put(length, i, j);
          length = 0;
        }
      }
      put(length, i, j);
    };
    for (std::size_t i = own.size(); i-- > 1;) diagonal(i, 0);
    for (std::size_t j = 0; j < other.size(); ++j) diagonal(0, j);
    used_own_.assign(own.size(), 0);
    used_other_.assign(other.size(), 0);
    std::make_heap(runs_.begin(), runs_.end());
    double sum = 0.0;
    while (!runs_.empty()) {
      std::pop_heap(runs_.begin(), runs_.end());
      const Run run = runs_.back();
      runs_.pop_back();
      if (cut(run)) continue;
      std::fill_n(used_own_.begin() + static_cast<std::ptrdiff_t>(run.own), run.length, std::uint8_t{1});
      std::fill_n(used_other_.begin() + static_cast<std::ptrdiff_t>(run.other), run.length, std::uint8_t{1});
      sum += std::pow(static_cast<double>(run.length), exponent_);
    }
    return std::pow(sum, 1.0 / exponent_);
  }

  void put(std::size_t length, std::size_t own_end, std::size_t other_end) {
    if (length > 0) runs_.push_back({length, own_end - length, other_end - length});
  }

  // Whether words of the run were taken meanwhile; the rest of it goes back to the heap.
  bool cut(const Run& run) {
    bool taken = false;
    const std::size_t before = runs_.size();
    std::size_t free = 0;
    for (std::size_t k = 0; k < run.length; ++k) {
      if (used_own_[run.own + k] != 0 || used_other_[run.other + k] != 0) {
        put(free, run.own + k, run.other + k);
        free = 0;
        taken = true;
      } else {
        ++free;
      }
    }
    if (!taken) return false;
    put(free, run.own + run.length, run.other + run.length);
    for (std::size_t end = before + 1; end <= runs_.size(); ++end) {
      std::push_heap(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return true;
  }

  double overlap(Words own, Words other) {
    own_.assign(own.begin(), own.end());
    other_.assign(other.begin(), other.end());
    std::sort(own_.begin(), own_.end());
    std::sort(other_.begin(), other_.end());
    std::size_t common = 0;
    for (auto a = own_.begin(), b = other_.begin(); a != own_.end() && b != other_.end();) {
      if (*a == *b) {
        ++common;
        ++a;
        ++b;
      } else if (*a < *b) {
        ++a;
      } else {
        ++b;
      }
    }
    return static_cast<double>(common);
  }

  double exponent_;
  std::span<const MetricText> references_;
  std::vector<Run> runs_;
  std::vector<std::uint8_t> used_own_, used_other_;
  std::vector<std::int32_t> own_, other_;
};

class GtmKind final : public MetricKind {
 public:
  explicit GtmKind(double exponent) : exponent_(exponent) { words = Words::kPlain; }
  std::unique_ptr<SegmentScorer> scorer() const override { return std::make_unique<GtmScorer>(exponent_); }

 private:
  double exponent_;
};

}  // namespace

std::unique_ptr<MetricKind> gtm_kind(double exponent) { return std::make_unique<GtmKind>(exponent); }

}  // namespace smt
