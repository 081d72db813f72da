// Confidence-rated trees over binary atoms as flat arrays: evaluation and parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smt::bitree {

// Node i of a tree splits on an atom: rows with the atom continue at i + 1, others at others[i]. A leaf has split -1.
struct Tree {
  std::span<const std::int32_t> splits, others;
  std::span<const double> values;
};

// The trees of many classifiers: classifier c has the trees [starts[c], starts[c + 1]), and tree t the nodes
// [nodes[t], nodes[t + 1]).
struct Forest {
  std::span<const std::int64_t> starts, nodes;
  std::span<const std::int32_t> splits, others;
  std::span<const double> values;

  Tree tree(std::size_t t) const {
    const auto first = static_cast<std::size_t>(nodes[t]);
    const auto size = static_cast<std::size_t>(nodes[t + 1]) - first;
    return {splits.subspan(first, size), others.subspan(first, size), values.subspan(first, size)};
  }
};

// Growing storage of trees.
struct TreeStore {
  std::vector<double> lambdas;
  std::vector<std::int64_t> nodes = {0};
  std::vector<std::int32_t> splits, others;
  std::vector<double> values;

  std::size_t size() const { return lambdas.size(); }
  Tree tree(std::size_t t) const;
};

// Whether the nodes form a tree in preorder and splits are atoms.
bool is_sound(const Tree& tree, std::size_t atoms);

struct RowsOfAtoms {
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> ids;
  std::size_t atoms = 0;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::int32_t> operator[](std::size_t row) const {
    const auto first = static_cast<std::size_t>(offsets[row]);
    return ids.subspan(first, static_cast<std::size_t>(offsets[row + 1]) - first);
  }
};

// Sum the outputs of the first counts[k] trees of classifier first + k into scores[row * counts.size() + k].
void evaluate(const Forest& forest, std::size_t first, std::span<const std::int64_t> counts, const RowsOfAtoms& rows,
              std::size_t threads, std::span<double> scores);

// Conjunctions as sorted literals (twice an atom, plus 1 if negated), and their parameters.
struct Parameters {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> literals;
  std::vector<double> values;
};

// The non-zero parameters of the first `count` trees of a classifier, in order of first occurrence.
Parameters parameters(const Forest& forest, std::size_t classifier, std::size_t count);

}  // namespace smt::bitree
