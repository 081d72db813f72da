// Indicators of an edge's attachment and number of tails; from the author's earlier code, not the paper.
#pragma once

#include <algorithm>

#include "part.hpp"

namespace smt::umt {

// Attached above, attached below, no tail, one tail, two or more.
class ShapePart final : public Part {
 public:
  static constexpr std::size_t kComponents = 5;

  std::size_t components() const noexcept override { return kComponents; }
  void begin(const Index& index) override { index_ = &index; }
  void reset() override {}
  void score(Place place, std::span<const Candidate> edges, double* values, std::size_t stride) override {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      double* const at = values + i * stride;
      std::fill_n(at, kComponents, 0.0);
      if (place.step >= 0) at[edges[i].slot >= 0 ? 0 : 1] = 1.0;
      at[2 + std::min<std::size_t>(index_->tails(edges[i].bundle).size(), 2)] = 1.0;
    }
  }
  void attach(Place /*place*/, const Candidate& /*edge*/, std::vector<Place>& /*changed*/) override {}

 private:
  const Index* index_ = nullptr;
};

}  // namespace smt::umt
