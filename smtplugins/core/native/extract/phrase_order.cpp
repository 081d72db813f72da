#include "extract/phrase_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string_view>

namespace smt {
namespace {

// Compares words, each with a final blank, |||, too.
bool lies_before(std::string_view a, std::string_view b) noexcept {
  const std::size_t shared = std::min(a.size(), b.size());
  const int order = std::memcmp(a.data(), b.data(), shared);
  if (order != 0) return order < 0;
  if (a.size() == b.size()) return false;
  return a.size() < b.size() ? ' ' < static_cast<unsigned char>(b[shared])
                             : static_cast<unsigned char>(a[shared]) < ' ';
}

}  // namespace

ByteRanks::ByteRanks(const WordList& words) : rank(words.size()) {
  std::vector<std::uint32_t> order(words.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return lies_before(words.word(a), words.word(b)); });
  const auto place = std::partition_point(order.begin(), order.end(),
                                          [&](std::uint32_t id) { return lies_before(words.word(id), "|||"); });
  bars = static_cast<std::uint32_t>(place - order.begin());
  for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i < bars ? i : i + 1;
}

int compare(WordSpan a, WordSpan b, const ByteRanks& ranks) noexcept {
  const std::size_t shared = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < shared; ++i) {
    if (a[i] != b[i]) return ranks.rank[a[i]] < ranks.rank[b[i]] ? -1 : 1;
  }
  if (a.size() == b.size()) return 0;
  const std::uint32_t left = a.size() == shared ? ranks.bars : ranks.rank[a[shared]];
  const std::uint32_t right = b.size() == shared ? ranks.bars : ranks.rank[b[shared]];
  return left < right ? -1 : 1;
}

void append_key(std::string& out, WordSpan words, const ByteRanks& ranks) {
  const auto append = [&out](std::uint32_t number) {
    for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(number >> shift & 0xFFU);
  };
  for (const std::uint32_t word : words) append(ranks.rank[word]);
  append(ranks.bars);
}

}  // namespace smt
