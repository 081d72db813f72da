#include "extract/tables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "extract/links.hpp"
#include "extract/numbers.hpp"

namespace smt {
namespace {

std::uint64_t count_of(const CountedPair& pair) noexcept {
  std::uint64_t count = 0;
  for (const Variant& variant : pair.variants) count += variant.count;
  return count;
}

bool same(WordSpan a, const std::vector<std::uint32_t>& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

PhraseTables::PhraseTables(PhraseExtractor& extractor, const LexicalTable& target_given_source,
                           const LexicalTable& source_given_target, Smoothing smoothing,
                           std::vector<ReorderingTable> reordering, double reordering_smoothing, double penalty,
                           std::uint64_t memory, std::shared_ptr<SpillFolder> folder)
    : extractor_(extractor),
      forward_(target_given_source),
      backward_(source_given_target),
      smoothing_(smoothing),
      reordering_(std::move(reordering)),
      reordering_smoothing_(reordering_smoothing),
      penalty_(penalty),
      totals_(extractor.pairs(), memory, std::move(folder),
              [this](const CountedPair& pair, std::vector<SideCount>& source, std::vector<SideCount>& target) {
                const std::uint64_t count = count_of(pair);
                if (count <= kMaxCount) ++counts_of_counts_[count];
                source.push_back({count, 1});
                target.push_back({count, 1});
              }),
      stream_(extractor.pairs()),
      lines_(reordering_.size()) {
  set_smoothing();
}

void PhraseTables::set_smoothing() {
  if (smoothing_ == Smoothing::kNone) return;
  std::array<float, kMaxCount + 1> counts{};
  for (std::size_t i = 1; i < counts.size(); ++i) counts[i] = static_cast<float>(counts_of_counts_[i]);
  all_pairs_ = static_cast<float>(totals_.pairs());
  if (smoothing_ == Smoothing::kGoodTuring) {
    good_turing_.push_back(0.01F);
    for (std::size_t i = 1; i + 1 < counts.size(); ++i) {
      const auto count = static_cast<float>(i);
      const double ratio = (static_cast<double>(counts[i + 1]) + 0.1) / (static_cast<double>(counts[i]) + 0.1);
      const auto discount = static_cast<float>(static_cast<double>((count + 1) / count) * ratio);
      good_turing_.push_back(std::max(std::min(discount, 1.0F), good_turing_.back()));
    }
    return;
  }
  for (std::size_t i = 1; i <= 4; ++i) {
    if (counts[i] > 0) continue;
    throw SmoothingError("no phrase pair occurs " + std::to_string(i) + (i == 1 ? " time" : " times") +
                         ", and Kneser-Ney discounts follow from those that occur 1 to 4 times");
  }
  const float y = counts[1] / (counts[1] + 2 * counts[2]);
  const std::array<double, 3> most = {0.9, 1.9, 2.9};
  for (std::size_t i = 0; i < most.size(); ++i) {
    const auto count = static_cast<float>(i + 1);
    float discount = count - (count + 1) * y * counts[i + 2] / counts[i + 1];
    if (static_cast<double>(discount) > most[i]) discount = static_cast<float>(most[i]);
    kneser_ney_[i] = discount;
  }
}

bool PhraseTables::next(std::size_t bytes) {
  phrases_.clear();
  for (std::string& lines : lines_) lines.clear();
  while (phrases_.size() < bytes) {
    const CountedPair* pair = stream_.next();
    if (pair == nullptr) {
      end_source();
      source_.clear();
      return !phrases_.empty();
    }
    write(*pair);
  }
  return true;
}

void PhraseTables::append_source(std::string& out, WordSpan words) const {
  for (const std::uint32_t word : words) {
    out += extractor_.bitext().source_words().word(word);
    out += ' ';
  }
}

void PhraseTables::append_target(std::string& out, WordSpan words) const {
  for (const std::uint32_t word : words) {
    out += extractor_.bitext().target_words().word(word);
    out += ' ';
  }
}

void PhraseTables::write(const CountedPair& pair) {
  if (!same(pair.source, source_)) {
    end_source();
    source_.assign(pair.source.begin(), pair.source.end());
  }
  alignments_.clear();
  pair_counts_ = {};
  std::uint64_t count = 0;
  for (const Variant& occurrence : pair.variants) {
    const PhraseVariant variant = phrase_variant(occurrence.bytes);
    count += occurrence.count;
    for (std::size_t i = 0; i < variant.codes.size(); ++i) {
      pair_counts_.of[i][static_cast<std::size_t>(variant.codes[i])] += occurrence.count;
    }
    if (!alignments_.empty() && alignments_.back().links == variant.links) {
      alignments_.back().count += occurrence.count;
    } else {
      alignments_.push_back({variant.links, occurrence.count});
    }
  }
  const std::size_t begin = phrases_.size();
  append_source(phrases_, pair.source);
  phrases_ += "||| ";
  append_target(phrases_, pair.target);
  phrases_ += "||| ";
  const std::size_t length = phrases_.size() - begin;
  for (std::size_t i = 0; i < reordering_.size(); ++i) {
    if (!reordering_[i].with_target) continue;
    lines_[i].append(phrases_, begin, length);
    write_orientations(i, pair_counts_);
  }
  for (std::size_t i = 0; i < pair_counts_.of.size(); ++i) {
    for (std::size_t j = 0; j < 4; ++j) source_counts_.of[i][j] += pair_counts_.of[i][j];
  }
  write_scores(pair, count, totals_.of(pair));
}

void PhraseTables::end_source() {
  if (source_.empty()) return;
  for (std::size_t i = 0; i < reordering_.size(); ++i) {
    if (reordering_[i].with_target) continue;
    append_source(lines_[i], source_);
    lines_[i] += "||| ";
    write_orientations(i, source_counts_);
  }
  source_counts_ = {};
}

void PhraseTables::write_orientations(std::size_t table, const Counts& counts) {
  const ReorderingTable& wanted = reordering_[table];
  std::string& out = lines_[table];
  for (std::size_t side = 0; side < 2; ++side) {
    if (side == 0 ? !wanted.before : !wanted.behind) continue;
    const auto& seen = counts.of[2 * wanted.extraction + side];
    std::array<double, 4> scores{};
    double sum = 0;
    for (std::size_t i = 0; i < wanted.classes.size(); ++i) {
      std::uint64_t count = 0;
      for (const Orientation orientation : wanted.classes[i]) count += seen[static_cast<std::size_t>(orientation)];
      scores[i] = static_cast<double>(count) + reordering_smoothing_;
      sum += scores[i];
    }
    for (std::size_t i = 0; i < wanted.classes.size(); ++i) {
      append_short(out, scores[i] / sum);
      out += ' ';
    }
  }
  out.back() = '\n';
}

void PhraseTables::write_scores(const CountedPair& pair, std::uint64_t seen, const Totals& totals) {
  // The greatest of the most frequent alignments, seen from that side; sets links_ to its links.
  const auto best = [this](bool inverse) {
    const Alignment* chosen = nullptr;
    std::vector<Link> links;
    for (const Alignment& alignment : alignments_) {
      if (chosen != nullptr && alignment.count < chosen->count) continue;
      read_links(alignment.links, inverse, links);
      if (chosen == nullptr || alignment.count > chosen->count || is_greater(links, links_)) {
        chosen = &alignment;
        links_.swap(links);
      }
    }
    return chosen->links;
  };
  best(true);
  const double weight_backward =
      lexical_weight(backward_, pair.target.data(), pair.source.data(), pair.source.size(), links_);
  const std::string_view alignment = best(false);
  const double weight_forward =
      lexical_weight(forward_, pair.source.data(), pair.target.data(), pair.target.size(), links_);

  const float count = as_printed(static_cast<float>(seen));
  const float source = as_printed(static_cast<float>(totals.source.occurrences));
  const float target = as_printed(static_cast<float>(totals.target.occurrences));
  float for_target = count, for_source = count;  // the numerators over the counts of the target and the source side
  if (smoothing_ == Smoothing::kGoodTuring && seen + 1 < good_turing_.size()) {
    for_target = for_source = count * good_turing_[seen];
  } else if (smoothing_ == Smoothing::kKneserNey) {
    float discount = kneser_ney_[count < 2 ? 0 : (count < 3 ? 1 : 2)];
    if (discount > count) discount = static_cast<float>(static_cast<double>(count) - 0.01);
    const auto source_distinct = static_cast<float>(totals.source.pairs);
    const auto target_distinct = static_cast<float>(totals.target.pairs);
    const float free_of_source = discount * source_distinct / source;
    for_source = count - discount + source * free_of_source * (target_distinct / all_pairs_);
    const float free_of_target = discount * target_distinct / target;
    for_target = count - discount + target * free_of_target * (source_distinct / all_pairs_);
  }
  append_short(phrases_, for_target / target);
  phrases_ += ' ';
  append_short(phrases_, static_cast<float>(weight_backward));
  phrases_ += ' ';
  append_short(phrases_, for_source / source);
  phrases_ += ' ';
  append_short(phrases_, static_cast<float>(weight_forward));
  if (penalty_ != 0) {
    phrases_ += ' ';
    append_short(phrases_, penalty_);
  }
  phrases_ += " |||";
  for (std::size_t i = 0; i < alignment.size(); i += 2) {
    phrases_ += ' ';
    append_link(phrases_, byte_at(alignment, i), byte_at(alignment, i + 1));
  }
  phrases_ += " ||| ";
  append_short(phrases_, target);
  phrases_ += ' ';
  append_short(phrases_, source);
  phrases_ += ' ';
  append_short(phrases_, count);
  phrases_ += " ||| |||\n";
}

}  // namespace smt
