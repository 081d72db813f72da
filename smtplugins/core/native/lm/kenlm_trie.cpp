#include "lm/kenlm_trie.hpp"

#include <bit>
#include <limits>
#include <string>

namespace smt {
namespace {

constexpr std::uint64_t kBinsVersion = 2;
constexpr std::uint64_t kOffsetsVersion = 0;
constexpr unsigned kMaxBinBits = 25;
// An entry is read 8 bytes at a time, also the last one.
constexpr std::uint64_t kReadAhead = 8;

unsigned bits_for(std::uint64_t greatest) noexcept { return static_cast<unsigned>(std::bit_width(greatest)); }

std::uint64_t byte(const std::byte* at) noexcept { return std::to_integer<std::uint64_t>(*at); }

class TrieReader {
 public:
  TrieReader(FileParts& parts, const std::vector<std::uint64_t>& counts, const TrieKind& kind, LmTables& tables)
      : parts_(parts), counts_(counts), kind_(kind), tables_(tables), order_(counts.size()) {}

  void read() {
    read_words();
    if (kind_.quantised) read_bins();
    read_unigrams();
    for (std::size_t n = 2; n < order_; ++n) read_middle(n);
    TrieTable& longest = tables_.trie.tables[order_ - 2];
    const TrieTable::Shape shape{counts_[0], bits_for(counts_[0]), 0, 0};
    longest = TrieTable(parts_.at(), shape, values_[order_ - 2], {}, true);
    take_entries(longest, order_);
  }

 private:
  void read_words() {
    const auto count = load<std::uint64_t>(parts_.take(sizeof(std::uint64_t), "vocabulary"));
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<WordId>::max()) - 1;
    if (counts_[0] == 0 || counts_[0] > kMost) {
      throw KenlmFileError("1 to " + counted(kMost, "1-gram"), std::to_string(counts_[0]));
    }
    if (count > counts_[0]) {
      throw KenlmFileError("a vocabulary of at most " + counted(counts_[0], "word"), std::to_string(count));
    }
    const std::byte* const hashes = parts_.take(counts_[0] * sizeof(std::uint64_t), "vocabulary");
    for (std::uint64_t i = 1; i < count; ++i) {
      if (load<std::uint64_t>(hashes + 8 * i) <= load<std::uint64_t>(hashes + 8 * (i - 1))) {
        throw KenlmFileError("hashes of words in ascending order", "word " + std::to_string(i + 1) + " out of order");
      }
    }
    tables_.words = static_cast<WordId>(count + 1);
    tables_.trie.words = SortedWords(hashes, count);
  }

  void read_bins() {
    const std::byte* const header = parts_.take(8, "bins");
    if (byte(header) != kBinsVersion) {
      throw KenlmFileError("version " + std::to_string(kBinsVersion) + " of quantised values",
                           std::to_string(byte(header)));
    }
    const auto prob_bits = static_cast<unsigned>(byte(header + 1));
    const auto backoff_bits = static_cast<unsigned>(byte(header + 2));
    for (const unsigned bits : {prob_bits, backoff_bits}) {
      if (bits < 1 || bits > kMaxBinBits) {
        throw KenlmFileError("quantised values of 1 to " + counted(kMaxBinBits, "bit"), std::to_string(bits));
      }
    }
    for (std::size_t n = 2; n <= order_; ++n) {
      TrieValues& values = values_[n - 2];
      values.prob_bits = prob_bits;
      values.backoff_bits = backoff_bits;
      values.probs = parts_.take(sizeof(float) << prob_bits, "bins of probabilities");
      if (n < order_) values.backoffs = parts_.take(sizeof(float) << backoff_bits, "bins of back-offs");
    }
  }

  void read_unigrams() {
    tables_.unigrams = parts_.take((counts_[0] + 2) * kTrieUnigram, "1-grams");
    std::uint64_t before = 0;
    for (std::uint64_t id = 0; id <= static_cast<std::uint64_t>(tables_.words); ++id) {
      const auto next = load<std::uint64_t>(tables_.unigrams + id * kTrieUnigram + sizeof(Weights));
      if (next < before || next > counts_[1]) {
        throw KenlmFileError("pointers of 1-grams that ascend to at most " + std::to_string(counts_[1]),
                             std::to_string(next) + " after " + std::to_string(before));
      }
      before = next;
    }
  }

  void read_middle(std::size_t n) {
    const std::uint64_t entries = counts_[n - 1];
    const std::uint64_t greatest = counts_[n];
    TrieTable::Shape shape{counts_[0], bits_for(counts_[0]), bits_for(greatest), greatest};
    TrieOffsets offsets;
    if (kind_.compressed) offsets = read_offsets(n, entries, greatest, shape.next_bits);
    TrieTable& table = tables_.trie.tables[n - 2];
    table = TrieTable(parts_.at(), shape, values_[n - 2], offsets, false);
    take_entries(table, n);
  }

  // The array of the higher bits of pointers; leaves in `bits` those that entries have.
  TrieOffsets read_offsets(std::size_t n, std::uint64_t entries, std::uint64_t greatest, unsigned& bits) {
    const std::string what = "pointers of " + std::to_string(n) + "-grams";
    const std::byte* const header = parts_.at();
    // The array is aligned in the file.
    const std::uint64_t padding = (8 - parts_.passed() % 8) % 8;
    parts_.take(padding + 8, what);
    if (n == 2) {
      if (byte(header) != kOffsetsVersion) {
        throw KenlmFileError("version " + std::to_string(kOffsetsVersion) + " of compressed pointers",
                             std::to_string(byte(header)));
      }
      most_cut_ = static_cast<unsigned>(byte(header + 1));
    }
    bits -= cut_bits(entries + 1, greatest, bits);
    TrieOffsets offsets;
    offsets.count = (greatest >> bits) + 1;
    offsets.firsts = parts_.take(offsets.count * sizeof(std::uint64_t), what);
    parts_.take(7 - padding, what);
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < offsets.count; ++i) {
      const auto first = load<std::uint64_t>(offsets.firsts + 8 * i);
      if (first < before || (i == 0 && first != 0)) {
        throw KenlmFileError("an ascending array of " + what + " from 0 on",
                             std::to_string(first) + " after " + std::to_string(before));
      }
      before = first;
    }
    return offsets;
  }

  // KenLM cuts off as many bits as make the table smallest.
  unsigned cut_bits(std::uint64_t entries, std::uint64_t greatest, unsigned bits) const noexcept {
    unsigned best = 0;
    auto least = std::numeric_limits<std::int64_t>::max();
    for (unsigned cut = 0; cut <= std::min(bits, most_cut_); ++cut) {
      const auto array = static_cast<std::int64_t>(greatest >> (bits - cut)) * 64;
      const std::int64_t size = array - static_cast<std::int64_t>(entries) * static_cast<std::int64_t>(cut);
      if (size < least) {
        least = size;
        best = cut;
      }
    }
    return best;
  }

  void take_entries(const TrieTable& table, std::size_t n) {
    const std::uint64_t bytes = ((1 + counts_[n - 1]) * table.bits() + 7) / 8 + kReadAhead;
    parts_.take(bytes, std::to_string(n) + "-grams");
  }

  FileParts& parts_;
  const std::vector<std::uint64_t>& counts_;
  const TrieKind kind_;
  LmTables& tables_;
  const std::size_t order_;
  TrieValues values_[kMaxOrder - 1];
  unsigned most_cut_ = 0;
};

}  // namespace

void read_trie(FileParts& parts, const std::vector<std::uint64_t>& counts, const TrieKind& kind, LmTables& tables) {
  tables.layout = LmLayout::kTrie;
  TrieReader(parts, counts, kind, tables).read();
}

}  // namespace smt
