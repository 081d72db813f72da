// The interface of stateful features to searches: scores and states of edges, a batch at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/forest.hpp"

namespace smt {

// Edges to score, and the memory of the results. Edge i has the rule rules[i], numbered as in prepare(), and the states
// tails[tail_offsets[i]] to before tails[tail_offsets[i + 1]], in the order of its bundle's tails.
struct Batch {
  std::size_t size = 0;
  const std::int32_t* rules = nullptr;
  const std::int32_t* tail_offsets = nullptr;
  const std::byte* const* tails = nullptr;
  const std::uint8_t* begins = nullptr;  // whether the edge begins the sentence and no tail has

  std::byte* out = nullptr;
  std::size_t stride = 0;
  std::size_t values_at = 0;
  std::size_t state_at = 0;

  std::span<const std::byte* const> tails_of(std::size_t i) const noexcept {
    return {tails + tail_offsets[i], static_cast<std::size_t>(tail_offsets[i + 1] - tail_offsets[i])};
  }
  float* values(std::size_t i) const noexcept { return reinterpret_cast<float*>(out + i * stride + values_at); }
  std::byte* state(std::size_t i) const noexcept { return out + i * stride + state_at; }
};

// One stateful feature or several, for one sentence after another, in one thread. An edge's values are added to those
// of its tails, so the values of a derivation are sums. States are plain bytes without pointers, aligned to eight;
// edges with equal states are recombined.
class Scorer {
 public:
  Scorer() = default;
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;
  virtual ~Scorer() = default;

  virtual std::size_t components() const noexcept = 0;   // values of an edge
  virtual std::size_t state_bytes() const noexcept = 0;  // a multiple of eight
  // Starts a sentence. combine() gets rules as positions in `chosen`. `estimates`, rules times components, estimate
  // their values out of context; they guide pruning and enter no score.
  virtual void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) = 0;
  // Whether a rule, by its position in `chosen`, may translate words to the left of the previous phrase: with
  // PhraseOrder::kSwap the phrase search swaps only such phrases.
  virtual bool may_go_left(std::int32_t /*rule*/) const { return true; }
  virtual void combine(const Batch& batch) = 0;
  // Adds to `values` the scores of the complete sentence. `begun`: the edges that begin the sentence were marked. A
  // scorer may ignore the marks, and then must ignore `begun`, too.
  virtual void finish(const std::byte* state, bool begun, float* values) = 0;
  virtual std::uint64_t hash(const std::byte* state) const noexcept = 0;
  virtual bool equal(const std::byte* a, const std::byte* b) const noexcept = 0;
};

// Several scorers as one: values and states concatenated.
class Scorers final : public Scorer {
 public:
  explicit Scorers(std::vector<std::shared_ptr<Scorer>> parts);
  const std::vector<std::shared_ptr<Scorer>>& parts() const noexcept { return given_; }

  std::size_t components() const noexcept override { return components_; }
  std::size_t state_bytes() const noexcept override { return state_bytes_; }
  void prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) override;
  bool may_go_left(std::int32_t rule) const override;
  void combine(const Batch& batch) override;
  void finish(const std::byte* state, bool begun, float* values) override;
  std::uint64_t hash(const std::byte* state) const noexcept override;
  bool equal(const std::byte* a, const std::byte* b) const noexcept override;

 private:
  struct Part {
    Scorer* scorer;
    std::size_t component;
    std::size_t state;
  };
  std::vector<std::shared_ptr<Scorer>> given_;
  std::vector<Part> parts_;
  std::size_t components_ = 0;
  std::size_t state_bytes_ = 0;
  std::vector<const std::byte*> tails_;
  std::vector<float> estimates_;
};

// A scorer's values of a whole translation, from its words: to check the sums of a search.
std::vector<float> score_words(Scorer& scorer, std::span<const std::int32_t> words);

}  // namespace smt
