// Features of the order of phrases, and their scores of a sentence's rules.
//
// P. Koehn et al., "Edinburgh System Description for the 2005 IWSLT" (2005): lexicalised reordering.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/orientation.hpp"

namespace smt {

inline constexpr std::size_t kOrientations = 4;
// How a reordering model maps orientations to classes.
enum class ReorderingKind : std::uint8_t { kMsd, kMslr, kMonotonicity, kLeftRight };

// A feature of the order of phrases. Distortion is minus the length of a jump. A reordering model has the scores of the
// phrase with the previous phrase (`backward`) and the next one, a value for each class or the sum of both.
struct OrderFeature {
  bool reordering = false;
  ReorderingKind kind = ReorderingKind::kMsd;
  bool backward = true;
  bool forward = false;
  bool collapse = false;
  std::vector<double> weights;

  std::size_t classes() const noexcept;
  std::size_t class_of(Orientation orientation) const noexcept;
  std::size_t columns() const noexcept { return classes() * (std::size_t{backward} + std::size_t{forward}); }
  std::size_t components() const noexcept {
    return !reordering ? 1 : (collapse ? std::size_t{backward} + std::size_t{forward} : columns());
  }
};

// The order features of a search, and the weighted scores of a sentence's rules.
class OrderScores {
 public:
  static constexpr std::int32_t none = -1;

  explicit OrderScores(std::vector<OrderFeature> features);

  std::size_t components() const noexcept { return components_; }
  bool empty() const noexcept { return features_.empty(); }
  // Whether there are reordering models, and models of the next phrase among them.
  bool reordering() const noexcept { return reordering_; }
  bool forward() const noexcept { return forward_; }
  // The weight of a jump's length.
  double distortion() const noexcept { return distortion_; }

  // Starts a sentence; `rows` has, for each reordering model, the scores of each rule, and must stay.
  void start(std::span<const std::vector<float>> rows, std::size_t rules);
  // The score of a rule with the previous phrase, only if there are reordering models.
  double before(std::int32_t rule, Orientation orientation) const noexcept { return before_[place(rule, orientation)]; }
  // The score of a rule with the next phrase, likewise.
  double behind(std::int32_t rule, Orientation orientation) const noexcept { return behind_[place(rule, orientation)]; }
  // Equal rows of forward models share a number; none without such models.
  std::int32_t row(std::int32_t rule) const noexcept { return row_of_[static_cast<std::size_t>(rule)]; }

  // Writes the feature values of a rule behind another one (or none) after a jump.
  void values(std::int32_t before, std::int32_t rule, Orientation orientation, std::int32_t jump, float* values) const;

 private:
  static std::size_t place(std::int32_t rule, Orientation orientation) noexcept {
    return static_cast<std::size_t>(rule) * kOrientations + static_cast<std::size_t>(orientation);
  }
  void weigh(std::size_t rules);
  void number_rows(std::size_t rules);

  std::vector<OrderFeature> features_;
  std::size_t components_ = 0;
  double distortion_ = 0.0;
  bool reordering_ = false, forward_ = false;

  std::span<const std::vector<float>> rows_;
  std::vector<double> before_, behind_;  // rules times orientations
  std::vector<std::int32_t> row_slots_;
  std::vector<std::int32_t> row_of_;  // by rule
};

}  // namespace smt
