#include "phrase_match.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace smt {
namespace {

std::size_t at(std::int32_t number) noexcept { return static_cast<std::size_t>(number); }

std::int32_t count(std::size_t size) noexcept { return static_cast<std::int32_t>(size); }

class Matcher {
 public:
  Matcher(std::span<const PhraseTable> tables, std::span<const Arc> arcs, std::int32_t positions,
          std::int32_t max_arcs, std::int64_t max_paths)
      : tables_(tables), arcs_(arcs), max_arcs_(at(std::max(max_arcs, 0))), left_(max_paths) {
    offsets_.assign(at(positions) + 1, 0);
    for (const Arc& arc : arcs) ++offsets_[at(arc.from) + 1];
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    // A path is walked for all tables at once: place d has what they stand at after d arcs.
    nodes_.assign(tables.size(), Trie::root);
  }

  PhraseMatches matches() {
    for (std::int32_t first = 0; first + 1 < count(offsets_.size()) && left_ >= 0; ++first) {
      found_.clear();
      walk(first);
      add(first);
    }
    made_.complete = left_ >= 0;
    return std::move(made_);
  }

 private:
  struct Found {
    std::int32_t last;
    std::int32_t rule;
    std::int32_t path;
    auto key() const noexcept { return std::tuple(last, rule, path); }
  };

  // On from a position that `walked_` leads to, at the nodes of the tries that stand last in `nodes_`.
  void walk(std::int32_t position) {
    const std::size_t size = tables_.size();
    const std::size_t begin = nodes_.size() - size;
    if (walked_.size() == max_arcs_) return;
    for (std::size_t i = offsets_[at(position)]; i < offsets_[at(position) + 1]; ++i) {
      const Arc& arc = arcs_[i];
      nodes_.resize(begin + size);
      bool somewhere = false;
      for (std::size_t table = 0; table < size; ++table) {
        Trie::Node node = nodes_[begin + table];
        if (node != Trie::none && arc.word != Arc::epsilon) {
          node = tables_[table].trie->behind_word(node, arc.word);
        }
        nodes_.push_back(node);
        somewhere |= node != Trie::none;
      }
      if (somewhere) {
        if (--left_ < 0) return;
        walked_.push_back(count(i));
        take(arc.to);
        walk(arc.to);
        walked_.pop_back();
        if (left_ < 0) return;
      }
    }
    nodes_.resize(begin + size);
  }

  // The rules at the nodes reached.
  void take(std::int32_t last) {
    const std::size_t begin = nodes_.size() - tables_.size();
    bool some = false;
    for (std::size_t table = 0; table < tables_.size(); ++table) {
      const Trie::Node node = nodes_[begin + table];
      if (node == Trie::none) continue;
      const Trie& trie = *tables_[table].trie;
      const Trie::Range bins = trie.bins(node);
      for (std::int32_t bin = bins.first; bin < bins.last; ++bin) {
        const std::int32_t path = count(made_.path_offsets.size()) - 1;
        const std::int32_t own = tables_[table].first_rule;
        const Trie::Bin& rules = trie.bin(bin);
        left_ -= rules.size();
        for (std::int32_t i = rules.first; i < rules.last; ++i) {
          found_.push_back({last, own + trie.order()[at(i)], path});
        }
        some = true;
      }
    }
    if (!some) return;
    made_.path_arcs.insert(made_.path_arcs.end(), walked_.begin(), walked_.end());
    made_.path_offsets.push_back(static_cast<std::int64_t>(made_.path_arcs.size()));
  }

  void add(std::int32_t first) {
    const auto before = [](const Found& one, const Found& other) { return one.key() < other.key(); };
    if (!std::is_sorted(found_.begin(), found_.end(), before)) std::sort(found_.begin(), found_.end(), before);
    for (const Found& one : found_) {
      made_.firsts.push_back(first);
      made_.lasts.push_back(one.last);
      made_.rules.push_back(one.rule);
      made_.paths.push_back(one.path);
    }
  }

  const std::span<const PhraseTable> tables_;
  const std::span<const Arc> arcs_;
  const std::size_t max_arcs_;
  std::int64_t left_;
  std::vector<std::size_t> offsets_;  // where the arcs of each position begin
  std::vector<Trie::Node> nodes_;
  std::vector<std::int32_t> walked_;
  std::vector<Found> found_;  // from one position
  PhraseMatches made_;
};

}  // namespace

PhraseMatches match_phrases(std::span<const PhraseTable> tables, std::span<const Arc> arcs, std::int32_t positions,
                            std::int32_t max_arcs, std::int64_t max_paths) {
  return Matcher(tables, arcs, positions, max_arcs, max_paths).matches();
}

}  // namespace smt
