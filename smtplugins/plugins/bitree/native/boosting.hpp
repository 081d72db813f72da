// Boosted regularised decision trees over binary atoms: Algorithm 7.1 of Wellington, Turian and Melamed (2009).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conjunctions.hpp"
#include "trees.hpp"

namespace smt::bitree {

// The examples of a problem by row and by atom. Only atoms that occur are numbered, by decreasing frequency.
struct Incidence {
  explicit Incidence(const RowsOfAtoms& rows);

  std::size_t size() const { return offsets.size() - 1; }
  std::size_t atoms() const { return names.size(); }
  std::span<const std::uint32_t> row(std::size_t r) const { return {ids.data() + offsets[r], ids.data() + offsets[r + 1]}; }
  std::span<const std::uint32_t> column(std::size_t a) const {
    return {rows.data() + starts[a], rows.data() + starts[a + 1]};
  }

  std::vector<std::size_t> offsets, starts;
  std::vector<std::uint32_t> ids, rows;
  std::vector<std::int32_t> names;
};

struct BoostOptions {
  double eta = 0.9;       // Factor by which lambda falls.
  double epsilon = 1e-5;  // A tree is kept if it lowers the risk by more than this fraction.
  std::size_t trees = 0;  // Maximum number of trees; 0: no limit.
  std::size_t depth = 0;  // Maximum literals of a conjunction; 0: no limit.
};

// A classifier that follows the regularisation path of lambda.
class Boosting {
 public:
  // Labels are +1 and -1. Without weights each example counts 1.
  Boosting(std::shared_ptr<const Incidence> examples, std::vector<std::int8_t> labels, std::vector<double> weights);
  ~Boosting();
  Boosting(const Boosting&) = delete;
  Boosting& operator=(const Boosting&) = delete;

  // The lambda at which the path begins.
  double first_lambda(double eta) const;
  // Follow the path until lambda falls below `least`. False if it ends before: tree limit, or zero gradient.
  bool advance(double least, const BoostOptions& options);
  // Add trees of an earlier run, and continue at its lambda.
  void replay(const TreeStore& trees, double lambda);

  double lambda() const { return lambda_; }
  double loss() const { return loss_; }
  double risk() const;
  std::size_t tries() const { return tries_; }
  const TreeStore& trees() const { return trees_; }
  TreeStore take_trees() { return std::move(trees_); }
  std::size_t parameters() const { return active_; }
  const std::vector<double>& scores() const { return scores_; }
  // -dL/dTheta of the empty conjunction, then of each atom by its original number.
  std::vector<double> gradients(std::size_t atoms) const;

 private:
  struct Grower;

  double steepest() const;
  void apply(std::span<const std::uint32_t> leaf_of, std::span<const double> changes);
  void learn_parameters(const Tree& tree);
  void refresh(std::span<const std::uint32_t> changed);
  void sum_loss();

  std::shared_ptr<const Incidence> examples_;
  std::vector<std::int8_t> labels_;
  std::vector<double> weights_;  // Of examples.
  std::vector<double> scores_;   // h.
  std::vector<double> odds_;     // exp(-y h).
  // y w(i) times the example's weight, rounded to multiples of a power of 2: sums are exact in any order.
  std::vector<double> pulls_;
  std::vector<double> by_atom_;  // Sum of pulls over the examples with an atom.
  double all_ = 0, magic_ = 0, loss_ = 0, norm_ = 0;
  double lambda_;
  std::size_t active_ = 0, tries_ = 0;
  Conjunctions known_;
  TreeStore trees_;
  std::unordered_map<std::int32_t, std::uint32_t> number_of_;
  std::unique_ptr<Grower> grower_;
};

// Examples, and the class of each: -1 for none.
struct BoostProblem {
  RowsOfAtoms rows;
  std::span<const std::int32_t> classes;
  std::size_t count = 0;
};

// Train a one-against-rest classifier for each class of each problem. The path ends at `least`, or at `ratio` times the
// initial lambda, whichever is higher.
std::vector<TreeStore> boost(std::span<const BoostProblem> problems, const BoostOptions& options, double least,
                             double ratio, std::size_t threads);

}  // namespace smt::bitree
