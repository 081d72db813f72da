// Language model states of a string: on the right for following words, on the left for preceding words.
//
// K. Heafield, "KenLM: Faster and Smaller Language Model Queries" (2011); left states: K. Heafield, H. Hoang, P. Koehn,
// T. Kiso and M. Federico, "Left Language Model State for Syntactic Machine Translation" (2011); before them Z. Li and
// S. Khudanpur (2008).
//
// N is the largest order of a model that a state can serve: `for_order` picks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lm/tables.hpp"

namespace smt {

// The last words, the latest first: those that a longer n-gram may still use, with the back-offs of their contexts
// (backoff[i]: of words[i] .. words[0]).
template <int N>
struct RightState {
  WordId words[N - 1];
  float backoff[N - 1];
  std::uint8_t length = 0;

  RightState() noexcept {}  // elements past `length` are not set
  RightState(const RightState&) = default;
  RightState& operator=(const RightState&) = default;

  friend bool operator==(const RightState& a, const RightState& b) noexcept {
    return a.length == b.length && std::memcmp(a.words, b.words, a.length * sizeof(WordId)) == 0;
  }
};

// The first words whose probabilities preceding words may change. pointers[i] is the key of the first
// i + 1 words. `full`: words after these are independent of preceding words.
template <int N>
struct LeftState {
  std::uint64_t pointers[N - 1];
  std::uint8_t length = 0;
  bool full = false;

  LeftState() noexcept {}
  LeftState(const LeftState&) = default;
  LeftState& operator=(const LeftState&) = default;

  // The last pointer determines the others.
  std::uint64_t last() const noexcept { return length == 0 ? 0 : pointers[length - 1]; }
  friend bool operator==(const LeftState& a, const LeftState& b) noexcept {
    return a.length == b.length && a.full == b.full && a.last() == b.last();
  }
};

// The state of a string. Without words: a default one.
template <int N>
struct ChartState {
  LeftState<N> left;
  RightState<N> right;

  bool empty() const noexcept { return left.length == 0 && !left.full && right.length == 0; }
  friend bool operator==(const ChartState& a, const ChartState& b) noexcept {
    return a.left == b.left && a.right == b.right;
  }
};

static_assert(sizeof(ChartState<4>) == 64, "a line of the cache");
static_assert(std::is_trivially_copyable_v<ChartState<4>>);

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 32U);
}

// Equal states have equal hashes. All 64 bits are good.
template <int N>
std::uint64_t hash(const RightState<N>& state, std::uint64_t seed = 0) noexcept {
  std::uint64_t h = mix(seed, state.length);
  for (int i = 0; i < state.length; ++i) h = mix(h, static_cast<std::uint32_t>(state.words[i]));
  return h;
}

template <int N>
std::uint64_t hash(const LeftState<N>& state, std::uint64_t seed = 0) noexcept {
  const std::uint64_t size = 2U * state.length + (state.full ? 1U : 0U);
  return mix(mix(seed, size), state.last());
}

template <int N>
std::uint64_t hash(const ChartState<N>& state) noexcept {
  return hash(state.right, hash(state.left));
}

// Calls work(std::integral_constant<int, N>) with the N for models of an order: small states are cheap to copy.
template <class Work>
decltype(auto) for_order(int order, Work&& work) {
  if (order <= 4) return work(std::integral_constant<int, 4>{});
  if (order <= 6) return work(std::integral_constant<int, 6>{});
  return work(std::integral_constant<int, kMaxOrder>{});
}

}  // namespace smt
