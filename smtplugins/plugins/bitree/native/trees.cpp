// Trees over binary atoms: see trees.hpp.
#include "trees.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include "conjunctions.hpp"

namespace smt::bitree {
namespace {

constexpr std::size_t kBlock = 256;

double value_of(const Tree& tree, const std::vector<std::uint8_t>& has) {
  std::size_t at = 0;
  while (tree.splits[at] >= 0) {
    at = has[static_cast<std::size_t>(tree.splits[at])] != 0 ? at + 1 : static_cast<std::size_t>(tree.others[at]);
  }
  return tree.values[at];
}

void evaluate_block(const Forest& forest, std::size_t first, std::span<const std::int64_t> counts,
                    const RowsOfAtoms& rows, std::size_t begin, std::size_t end, std::vector<std::uint8_t>& has,
                    std::span<double> scores) {
  for (std::size_t row = begin; row < end; ++row) {
    for (const std::int32_t atom : rows[row]) has[static_cast<std::size_t>(atom)] = 1;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const auto start = static_cast<std::size_t>(forest.starts[first + k]);
      double total = 0;
      for (std::size_t t = start; t < start + static_cast<std::size_t>(counts[k]); ++t) {
        total += value_of(forest.tree(t), has);
      }
      scores[row * counts.size() + k] = total;
    }
    for (const std::int32_t atom : rows[row]) has[static_cast<std::size_t>(atom)] = 0;
  }
}

}  // namespace

Tree TreeStore::tree(std::size_t t) const {
  return Forest{{}, nodes, splits, others, values}.tree(t);
}

bool is_sound(const Tree& tree, std::size_t atoms) {
  // Pending nodes: in preorder, each is popped exactly when it is visited.
  std::vector<std::size_t> waiting = {0};
  for (std::size_t at = 0; at < tree.splits.size(); ++at) {
    if (waiting.empty() || waiting.back() != at) return false;
    waiting.pop_back();
    if (tree.splits[at] < 0) {
      if (tree.splits[at] != -1) return false;
      continue;
    }
    if (static_cast<std::size_t>(tree.splits[at]) >= atoms) return false;
    if (tree.others[at] <= static_cast<std::int64_t>(at) + 1) return false;
    waiting.push_back(static_cast<std::size_t>(tree.others[at]));
    waiting.push_back(at + 1);
  }
  return waiting.empty() && !tree.splits.empty();
}

void evaluate(const Forest& forest, std::size_t first, std::span<const std::int64_t> counts, const RowsOfAtoms& rows,
              std::size_t threads, std::span<double> scores) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    std::vector<std::uint8_t> has(rows.atoms, 0);
    for (std::size_t begin = next.fetch_add(kBlock); begin < rows.size(); begin = next.fetch_add(kBlock)) {
      evaluate_block(forest, first, counts, rows, begin, std::min(begin + kBlock, rows.size()), has, scores);
    }
  };
  std::vector<std::jthread> others;
  const std::size_t useful = std::min(threads, (rows.size() + kBlock - 1) / kBlock);
  for (std::size_t k = 1; k < useful; ++k) others.emplace_back(work);
  work();
}

Parameters parameters(const Forest& forest, std::size_t classifier, std::size_t count) {
  Conjunctions known;
  const auto start = static_cast<std::size_t>(forest.starts[classifier]);
  std::vector<std::vector<Literal>> paths;
  std::vector<std::size_t> waiting;
  for (std::size_t t = start; t < start + count; ++t) {
    const Tree tree = forest.tree(t);
    waiting.assign(1, 0);
    paths.assign(1, {});
    while (!waiting.empty()) {
      const std::size_t at = waiting.back();
      std::vector<Literal> path = std::move(paths.back());
      waiting.pop_back();
      paths.pop_back();
      if (tree.splits[at] >= 0) {
        waiting.push_back(static_cast<std::size_t>(tree.others[at]));
        waiting.push_back(at + 1);
        paths.push_back(path);
        paths.back().push_back(2 * tree.splits[at] + 1);
        paths.push_back(std::move(path));
        paths.back().push_back(2 * tree.splits[at]);
      } else if (tree.values[at] != 0) {
        std::ranges::sort(path);
        Signature signature;
        for (const Literal literal : path) signature = signature.with(literal);
        known.add(known.insert(signature, path), tree.values[at]);
      }
    }
  }
  Parameters result;
  for (std::size_t number = 0; number < known.size(); ++number) {
    if (known.value(number) == 0) continue;
    const auto own = known.literals(number);
    result.literals.insert(result.literals.end(), own.begin(), own.end());
    result.offsets.push_back(static_cast<std::int64_t>(result.literals.size()));
    result.values.push_back(known.value(number));
  }
  return result;
}

}  // namespace smt::bitree
