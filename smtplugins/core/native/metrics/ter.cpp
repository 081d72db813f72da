// Translation edit rate: edits after greedy shifts of word sequences (Snover and others, 2006), with Tercom's limits.
//
// The edit distance is computed in a beam around the diagonal. A shift leaves the words before and after a span where
// they are, so only the rows of the span are computed for it: the distance is the least sum, over the cells of the
// span's last row, of the cost from the beginning and the cost to the end, as of the words before the shift.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "metrics/segments.hpp"

namespace smt {
namespace {

constexpr std::int64_t kBeam = 25;           // cells of a row on either side of the diagonal
constexpr std::int64_t kLongestShift = 10;   // words
constexpr std::int64_t kFarthestShift = 50;  // positions between the shifted words and their match in the reference
constexpr int kMostCandidates = 1000;        // shifts tried for a hypothesis
constexpr std::int32_t kFar = 1 << 29;       // the cost of a cell outside the beam

using Words = std::span<const std::int32_t>;

// The columns first to last - 1 of a row are in the beam. Its buffer has the columns from before to after - 1, which
// neighbouring rows read.
struct BeamRow {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::size_t offset = 0;
};

// The beam of a hypothesis and a reference by their lengths. Row i and column j stand before word i and word j.
class Beam {
 public:
  void set(std::size_t rows, std::size_t columns) {
    const auto height = static_cast<std::int64_t>(rows);
    const auto width = static_cast<std::int64_t>(columns);
    const double ratio = rows == 0 ? 1.0 : static_cast<double>(columns) / static_cast<double>(rows);
    std::int64_t beam = kBeam;
    if (static_cast<double>(kBeam) < ratio / 2) {
      beam = static_cast<std::int64_t>(std::ceil(ratio / 2 + static_cast<double>(kBeam)));
    }
    rows_.resize(rows + 1);
    rows_[0].first = 0;
    rows_[0].last = width + 1;
    for (std::int64_t i = 1; i <= height; ++i) {
      const auto diagonal = static_cast<std::int64_t>(std::floor(static_cast<double>(i) * ratio));
      BeamRow& row = rows_[static_cast<std::size_t>(i)];
      row.first = std::max<std::int64_t>(0, diagonal - beam);
      row.last = i == height ? width + 1 : std::min(width + 1, diagonal + beam);
    }
    size_ = 0;
    for (std::size_t i = 0; i <= rows; ++i) {
      BeamRow& row = rows_[i];
      row.before = std::min(row.first, i == 0 ? row.first : rows_[i - 1].first) - 1;
      row.after = std::max(row.last, i == rows ? row.last : rows_[i + 1].last) + 1;
      row.offset = size_;
      size_ += static_cast<std::size_t>(row.after - row.before);
    }
  }

  const BeamRow& operator[](std::size_t i) const noexcept { return rows_[i]; }
  std::size_t size() const noexcept { return size_; }  // cells of all buffers

 private:
  std::vector<BeamRow> rows_;
  std::size_t size_ = 0;
};

// The costs of a row by column.
class CostRow {
 public:
  CostRow(std::int32_t* cells, std::int64_t before) noexcept : cells_(cells), before_(before) {}
  std::int32_t& operator[](std::int64_t column) const noexcept { return cells_[column - before_]; }

 private:
  std::int32_t* cells_;
  std::int64_t before_;
};

class TerDistance {
 public:
  void set_reference(Words reference) {
    // The symbol before the first is compared by cells whose cost does not depend on it.
    reference_.assign(1, -1);
    reference_.insert(reference_.end(), reference.begin(), reference.end());
  }

  std::size_t edits(Words hypothesis) {
    const std::size_t length = reference_.size() - 1;
    if (length == 0 || hypothesis.empty()) return std::max(length, hypothesis.size());
    words_.assign(hypothesis.begin(), hypothesis.end());
    shifted_.resize(words_.size());
    beam_.set(words_.size(), length);
    forward_.assign(beam_.size(), kFar);
    backward_.assign(beam_.size(), kFar);
    candidates_ = 0;
    std::size_t shifts = 0;
    fill_forward();
    while (cost() > 0 && shift()) {
      ++shifts;
      fill_forward();
    }
    return shifts + static_cast<std::size_t>(cost());
  }

 private:
  // Moves the words from start to start + length - 1 before the word that stands at target.
  struct Shift {
    std::int32_t gain = 0;
    std::int64_t start = 0;
    std::int64_t length = 0;
    std::int64_t target = 0;

    // The order of preference; no two different shifts are equal in it.
    auto rank() const noexcept { return std::tuple(gain, length, -start, -target); }
  };

  CostRow row(std::vector<std::int32_t>& cells, std::size_t i) const noexcept {
    return {cells.data() + beam_[i].offset, beam_[i].before};
  }
  std::int64_t length() const noexcept { return static_cast<std::int64_t>(reference_.size()) - 1; }
  std::int32_t cost() noexcept { return row(forward_, words_.size())[length()]; }
  bool match(std::int64_t word, std::int64_t reference) const noexcept {
    return words_[static_cast<std::size_t>(word)] == reference_[static_cast<std::size_t>(reference) + 1];
  }

  // The row below `above` for a word, in the beam of `place`.
  void fill_row(std::int32_t word, const BeamRow& place, CostRow above, CostRow below) const noexcept {
    std::int32_t left = kFar;
    for (std::int64_t j = place.first; j < place.last; ++j) {
      const std::int32_t diagonal = above[j - 1] + (reference_[static_cast<std::size_t>(j)] == word ? 0 : 1);
      left = std::min(std::min(diagonal, above[j] + 1), left + 1);
      below[j] = left;
    }
  }

  // Costs from the beginning, by row and column.
  void fill_forward() {
    const CostRow top = row(forward_, 0);
    for (std::int64_t j = 0; j < beam_[0].last; ++j) top[j] = static_cast<std::int32_t>(j);
    for (std::size_t i = 1; i <= words_.size(); ++i) {
      fill_row(words_[i - 1], beam_[i], row(forward_, i - 1), row(forward_, i));
    }
  }

  // Costs to the end of the rows from the second on.
  void fill_backward() {
    const std::size_t size = words_.size();
    const CostRow bottom = row(backward_, size);
    for (std::int64_t j = beam_[size].first; j <= length(); ++j) bottom[j] = static_cast<std::int32_t>(length() - j);
    for (std::size_t i = size - 1; i >= 1; --i) {
      const CostRow above = row(backward_, i);
      const CostRow below = row(backward_, i + 1);
      std::int32_t right = kFar;
      for (std::int64_t j = beam_[i].last - 1; j >= beam_[i].first; --j) {
        std::int32_t best = std::min(below[j], right) + 1;
        if (j < length()) best = std::min(best, below[j + 1] + (match(static_cast<std::int64_t>(i), j) ? 0 : 1));
        above[j] = right = best;
      }
    }
  }

  // Aligns each word of the reference with a position of the hypothesis, -1 before the first, and marks words in
  // edits. Of equally good edits substitution comes before deletion, and deletion before insertion, from the end.
  void align() {
    align_.assign(reference_.size(), -1);
    wrong_reference_.assign(reference_.size(), 0);
    wrong_.assign(words_.size() + 1, 0);
    auto i = static_cast<std::int64_t>(words_.size());
    std::int64_t j = length();
    while (i > 0 || j > 0) {
      const CostRow here = row(forward_, static_cast<std::size_t>(i));
      const bool below = i > 0;
      const CostRow above = row(forward_, static_cast<std::size_t>(below ? i - 1 : 0));
      const bool equal = below && j > 0 && match(i - 1, j - 1);
      if (below && j > 0 && here[j] == above[j - 1] + (equal ? 0 : 1)) {
        align_[static_cast<std::size_t>(j) - 1] = i - 1;
        wrong_[static_cast<std::size_t>(i)] = wrong_reference_[static_cast<std::size_t>(j)] = equal ? 0 : 1;
        --i;
        --j;
      } else if (below && here[j] == above[j] + 1) {
        wrong_[static_cast<std::size_t>(i)] = 1;
        --i;
      } else {
        align_[static_cast<std::size_t>(j) - 1] = i - 1;
        wrong_reference_[static_cast<std::size_t>(j)] = 1;
        --j;
      }
    }
    // From marks to counts.
    for (std::size_t k = 1; k < wrong_.size(); ++k) wrong_[k] += wrong_[k - 1];
    for (std::size_t k = 1; k < wrong_reference_.size(); ++k) wrong_reference_[k] += wrong_reference_[k - 1];
  }

  // Applies the best shift; false if none reduces the edit distance or too many were tried.
  bool shift() {
    align();
    fill_backward();
    best_ = Shift{};
    const auto size = static_cast<std::int64_t>(words_.size());
    bool any = false;
    for (std::int64_t start = 0; start < size; ++start) {
      const std::int64_t end = std::min(length(), start + kFarthestShift + 1);
      for (std::int64_t at = std::max<std::int64_t>(0, start - kFarthestShift); at < end; ++at) {
        const std::int64_t longest = std::min({kLongestShift, size - start, length() - at});
        for (std::int64_t words = 1; words <= longest; ++words) {
          if (!match(start + words - 1, at + words - 1)) break;
          any = try_targets(start, at, words, any);
          if (candidates_ >= kMostCandidates) return false;
        }
      }
    }
    if (!any || best_.gain <= 0) return false;
    perform(best_);
    words_.swap(shifted_);
    return true;
  }

  // Tries the positions of the reference's words from before the match to its end; true if there is a best shift.
  bool try_targets(std::int64_t start, std::int64_t match, std::int64_t length, bool any) {
    const auto wrong = [length](const std::vector<std::int32_t>& counts, std::int64_t from) {
      return counts[static_cast<std::size_t>(from + length)] != counts[static_cast<std::size_t>(from)];
    };
    const std::int64_t aligned = align_[static_cast<std::size_t>(match)];
    if (!wrong(wrong_, start) || !wrong(wrong_reference_, match)) return any;
    if (start <= aligned && aligned < start + length) return any;
    std::int64_t previous = -1;
    for (std::int64_t position = match - 1; position < match + length; ++position) {
      const std::int64_t target = position < 0 ? 0 : align_[static_cast<std::size_t>(position)] + 1;
      if (target == previous) continue;
      previous = target;
      ++candidates_;
      Shift candidate{0, start, length, target};
      candidate.gain = cost() - cost_after(candidate);
      if (!any || candidate.rank() > best_.rank()) best_ = candidate;
      any = true;
    }
    return any;
  }

  // Writes the words of the span that a shift changes into shifted_, and returns the span.
  std::pair<std::size_t, std::size_t> arrange(const Shift& shift) {
    const auto size = static_cast<std::int64_t>(words_.size());
    const std::int64_t end = shift.start + shift.length;
    std::int64_t first = shift.start;
    std::int64_t middle = end;
    // A target inside the words or at their end counts from their beginning: they move on by as much.
    std::int64_t last = shift.target > end ? shift.target : std::min(size, shift.target + shift.length);
    if (shift.target < shift.start) {
      first = shift.target;
      middle = shift.start;
      last = end;
    }
    const auto at = [&](std::int64_t k) { return words_.begin() + k; };
    std::rotate_copy(at(first), at(middle), at(last), shifted_.begin() + first);
    return {static_cast<std::size_t>(first), static_cast<std::size_t>(last)};
  }

  void perform(const Shift& shift) {
    const auto [first, last] = arrange(shift);
    std::copy_n(words_.begin(), first, shifted_.begin());
    std::copy(words_.begin() + static_cast<std::ptrdiff_t>(last), words_.end(),
              shifted_.begin() + static_cast<std::ptrdiff_t>(last));
  }

  std::int32_t cost_after(const Shift& shift) {
    auto [first, last] = arrange(shift);
    while (first < last && shifted_[first] == words_[first]) ++first;
    while (first < last && shifted_[last - 1] == words_[last - 1]) --last;
    if (first == last) return cost();
    rows_[0].resize(reference_.size() + 2);
    rows_[1].resize(reference_.size() + 2);
    CostRow above = row(forward_, first);
    for (std::size_t i = first + 1; i <= last; ++i) {
      const BeamRow& place = beam_[i];
      const CostRow below(rows_[i % 2].data(), -1);
      below[place.first - 1] = kFar;
      for (std::int64_t j = place.last; j < place.after; ++j) below[j] = kFar;
      fill_row(shifted_[i - 1], place, above, below);
      above = below;
    }
    const CostRow rest = row(backward_, last);
    std::int32_t best = kFar;
    for (std::int64_t j = beam_[last].first; j < beam_[last].last; ++j) best = std::min(best, above[j] + rest[j]);
    return best;
  }

  std::vector<std::int32_t> reference_;  // from 1
  std::vector<std::int32_t> words_, shifted_;
  Beam beam_;
  std::vector<std::int32_t> forward_, backward_;
  std::vector<std::int32_t> rows_[2];
  std::vector<std::int64_t> align_;                    // of the reference's words
  std::vector<std::int32_t> wrong_, wrong_reference_;  // how many of the first words are in edits
  int candidates_ = 0;
  Shift best_;
};

class TerScorer final : public SegmentScorer {
 public:
  std::size_t width() const noexcept override { return 2; }

  void set(std::span<const MetricText> references) override {
    references_.assign(references.begin(), references.end());
    std::size_t words = 0;
    for (const MetricText& reference : references) words += reference.words.size();
    length_ = static_cast<double>(words) / static_cast<double>(references.size());
  }

  void score(const MetricText& hypothesis, double* row) override {
    std::size_t fewest = 0;
    for (std::size_t k = 0; k < references_.size(); ++k) {
      distance_.set_reference(references_[k].words);
      const std::size_t edits = distance_.edits(hypothesis.words);
      if (k == 0 || edits < fewest) fewest = edits;
    }
    row[0] = static_cast<double>(fewest);
    row[1] = length_;
  }

 private:
  std::vector<MetricText> references_;
  double length_ = 0.0;
  TerDistance distance_;
};

class TerKind final : public MetricKind {
 public:
  TerKind() { words = Words::kPlain; }
  std::unique_ptr<SegmentScorer> scorer() const override { return std::make_unique<TerScorer>(); }
};

}  // namespace

std::unique_ptr<MetricKind> ter_kind() { return std::make_unique<TerKind>(); }

}  // namespace smt
