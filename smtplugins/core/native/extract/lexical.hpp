// Lexical translation probabilities, counted over links, and the lexical weights of phrase pairs.
//
// P. Koehn, F. J. Och and D. Marcu, "Statistical Phrase-Based Translation" (2003), section 4.4; counted and rounded as
// Moses does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "extract/bitext.hpp"

namespace smt {

// Numbers kept by pairs of words.
template <class Value>
class WordPairMap {
 public:
  struct Slot {
    std::uint64_t key = kFree;
    Value value{};
  };
  Value& operator[](std::uint64_t key) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(key)];
    if (slot.key == kFree) {
      slot.key = key;
      ++size_;
    }
    return slot.value;
  }
  const Value* find(std::uint64_t key) const noexcept {
    const Slot& slot = slots_[place(key)];
    return slot.key == kFree ? nullptr : &slot.value;
  }
  const std::vector<Slot>& slots() const noexcept { return slots_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return slots_.capacity() * sizeof(Slot); }
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};  // no pair of ids

 private:
  std::size_t place(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::uint64_t hash = key * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32U;
    std::size_t at = hash & mask;
    while (slots_[at].key != kFree && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.key != kFree) slots_[place(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);
  std::size_t size_ = 0;
};

inline std::uint64_t word_pair(std::uint32_t given, std::uint32_t word) noexcept {
  return static_cast<std::uint64_t>(given) << 32U | word;
}

// p(word | given), as in Moses' tables.
class LexicalTable {
 public:
  // 1 for pairs that are not in the table.
  double lookup(std::uint32_t given, std::uint32_t word) const noexcept {
    const double* prob = probs_.find(word_pair(given, word));
    return prob == nullptr ? 1.0 : *prob;
  }
  // Null for pairs that are not in the table.
  const double* find(std::uint32_t given, std::uint32_t word) const noexcept {
    return probs_.find(word_pair(given, word));
  }
  void set(std::uint32_t given, std::uint32_t word, double prob) { probs_[word_pair(given, word)] = prob; }
  // Reads lines "word given probability".
  void read(std::string_view text, WordList& given, WordList& words);
  std::uint64_t lines() const noexcept { return lines_; }
  // Lines "word given probability" in byte order.
  std::string text(const WordList& given, const WordList& words) const;

 private:
  WordPairMap<double> probs_;
  std::uint64_t lines_ = 0;
};

// How probabilities are computed from counts.
enum class LexicalCounting : std::uint8_t {
  kMoses,  // rounded as in the files; words without a link are linked with NULL
  kExact,  // the same, not rounded
  kLinks,  // linked words count their links only, as in Thrax
};

class LexicalCounts {
 public:
  void add(const SentencePair& pair);
  void pack(std::string& out) const;
  void add_packed(PackedReader& packed, const WordIds& ids);
  LexicalTable target_given_source(LexicalCounting counting = LexicalCounting::kMoses) const;  // lex.f2e
  LexicalTable source_given_target(LexicalCounting counting = LexicalCounting::kMoses) const;  // lex.e2f
  std::size_t bytes() const noexcept { return pairs_.bytes(); }

 private:
  void count(std::uint32_t source, std::uint32_t target, std::uint64_t times = 1);
  static double share(std::uint64_t count, std::uint64_t total, std::uint64_t unlinked, LexicalCounting counting);

  WordPairMap<std::uint64_t> pairs_;  // by source and target word
  std::vector<std::uint64_t> source_totals_, target_totals_;
  std::vector<bool> source_linked_, target_linked_;
};

// The product over words of the mean of their probabilities given the words they are linked to, or given NULL.
// `links` are (place of the given word, place of the word) in the order of the words, then of the given ones.
double lexical_weight(const LexicalTable& table, const std::uint32_t* given, const std::uint32_t* words,
                      std::size_t length, const std::vector<Link>& links) noexcept;

}  // namespace smt
