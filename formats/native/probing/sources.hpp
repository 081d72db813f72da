// Finds the source phrases of a ProbingPT folder, which keeps only their keys: sums of the words' 64-bit hashes, the
// i-th shifted left by i bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace smt {

std::uint64_t probing_hash(std::string_view word) noexcept;  // MurmurHash64A with seed 0, as Moses and KenLM use

// Positions by the low 40 bits of a number, so that a number whose highest bits were shifted out is found, too.
class LowBits {
 public:
  explicit LowBits(std::size_t count);
  void add(std::uint64_t key, std::int32_t id);
  // Calls with each id whose key has these low bits; shift is the number of high bits that are unknown, at most 24.
  template <class Function>
  void each(std::uint64_t key, unsigned shift, Function function) const {
    const std::uint64_t known = ~std::uint64_t{0} >> shift;
    for (std::size_t at = slot(key); ids_[at] >= 0; at = (at + 1) & mask_) {
      if (((keys_[at] ^ key) & known) == 0) function(ids_[at]);
    }
  }

 private:
  std::size_t slot(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>(((key << 24U) * 0x9E3779B97F4A7C15U) >> shift_);
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::int32_t> ids_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
};

// The words of phrases by their keys. Phrases are in the order of the text table, in which neighbours share their first
// words: a phrase is sought as the first words of a known neighbour and a word or a known phrase after them, then with
// words in between: any one; words whose first is between those of the neighbours, as `LC_ALL=C sort` puts it, and each
// other follows the one before it in some known phrase, or is any; any two. A key that two phrases have stays unknown.
class ProbingSources {
 public:
  // `order` has the numbers of the words as they are sorted.
  ProbingSources(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> words,
                 std::span<const std::int32_t> order, std::size_t longest);

  // A phrase known beforehand. False if its key is not that of its words.
  bool set(std::size_t phrase, std::span<const std::int32_t> words);
  // Seeks the others until none is found, or `steps` look-ups are used up.
  void find(std::uint64_t steps);

  const std::vector<std::int32_t>& phrase(std::size_t i) const noexcept { return found_[i]; }  // empty if unknown

 private:
  using Words = std::vector<std::int32_t>;

  bool pass(bool backwards);
  bool pass_apart(std::size_t between, bool sorted, bool follow, std::uint64_t& steps);
  bool join_sorted(std::size_t i, const Words& before, const Words& after, std::size_t between, bool follow,
                   std::uint64_t& steps);
  void complete_between(const Words& prefix, std::size_t length, std::size_t first, std::size_t last,
                        std::uint64_t rest, std::size_t between);
  void collect_followers();
  bool join(std::size_t i, const Words& before, bool with_phrases);
  bool join_apart(std::size_t i, const Words& before, std::size_t between, std::uint64_t& steps);
  void begin(bool follow, std::uint64_t steps);
  void complete(const Words& before, std::size_t length, std::uint64_t rest, std::size_t between);
  void complete_with(std::int32_t word, const Words& before, std::size_t length, std::uint64_t rest, std::size_t between);
  void consider(const Words& before, std::size_t length, std::int32_t word, std::int32_t phrase);
  bool take(std::size_t i);

  std::span<const std::uint64_t> keys_;
  std::span<const std::uint64_t> hashes_;
  std::span<const std::int32_t> order_;
  std::vector<std::size_t> ranks_;  // of words in the order
  std::size_t longest_;
  LowBits words_;
  LowBits phrases_;
  std::vector<Words> found_;
  std::vector<Words> followers_;  // of each word in known phrases
  bool follow_ = false;
  std::uint64_t steps_ = 0;
  Words between_;
  Words candidate_;
  bool ambiguous_ = false;
};

}  // namespace smt
