// Pairs of phrases or rules, counted: in memory up to a limit, beyond it in sorted runs on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/packed.hpp"
#include "base/sort.hpp"
#include "base/word_list.hpp"
#include "extract/bitext.hpp"
#include "extract/phrase_order.hpp"

namespace smt {

// Sequences of words and their ids, in order of first use.
class Sequences {
 public:
  Sequences() { clear(); }
  std::uint32_t add(WordSpan words);
  WordSpan operator[](std::uint32_t id) const noexcept {
    return {words_.data() + offsets_[id], static_cast<std::size_t>(offsets_[id + 1] - offsets_[id])};
  }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  std::size_t bytes() const noexcept;
  void clear();
  // The rank of each in table order.
  std::vector<std::uint32_t> ranks(const ByteRanks& order) const;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t next_id = 0;  // the id plus 1; 0 is an empty slot
  };
  void grow();

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> words_;
  std::vector<std::uint64_t> offsets_;
};

struct Variant {
  std::string_view bytes;
  std::uint64_t count = 0;
};

inline constexpr std::uint32_t kNoId = 0xFFFFFFFFU;

// A pair with its variants. Spans and views are valid until the next pair.
struct CountedPair {
  WordSpan source, target;
  std::vector<Variant> variants;  // in the order of their bytes
  std::uint32_t source_id = kNoId, target_id = kNoId;  // ids from 0, if all pairs are in memory
};

class PairCounter {
 public:
  // `memory` limits the bytes kept here; runs go to the folder.
  PairCounter(std::uint64_t memory, std::shared_ptr<SpillFolder> folder);

  // Adds an occurrence. `variant` distinguishes occurrences of a pair.
  void add(WordSpan source, WordSpan target, std::string_view variant);
  // The pairs, none of which may be on disk, for another counter to add to its own; `ids` are those of their words.
  void pack(std::string& out) const;
  void add_packed(PackedReader& packed, const WordIds& ids, const WordList& source_words,
                  const WordList& target_words);
  // To be called now and then between pairs: spills to disk if memory is exceeded. All words added must be in the
  // lists.
  void relieve(const WordList& source_words, const WordList& target_words);
  // No pair may be added afterwards.
  void finish(const WordList& source_words, const WordList& target_words);

  bool spilled() const noexcept { return spilled_; }
  std::uint64_t occurrences() const noexcept { return occurrences_; }
  std::uint32_t sources() const noexcept { return sources_.size(); }  // if all pairs are in memory
  std::uint32_t targets() const noexcept { return targets_.size(); }
  const ByteRanks& target_ranks() const noexcept { return target_ranks_; }
  std::size_t bytes() const noexcept;

 private:
  friend class PairStream;
  struct Entry {
    std::uint32_t source, target, variant, count;
  };
  struct Order {
    std::uint64_t key;  // the places of source and target
    std::uint32_t entry;
  };
  struct ByPair {
    const ByteRanks* source;
    const ByteRanks* target;
    bool operator()(std::string_view a, std::string_view b) const noexcept;
  };

  void count(const Entry& entry);
  void sort();
  void spill();
  void grow();
  std::unique_ptr<SpillFile> merge(const std::vector<std::unique_ptr<SpillFile>>& runs);

  std::uint64_t memory_;
  std::shared_ptr<SpillFolder> folder_;
  Sequences sources_, targets_;
  std::unique_ptr<WordList> variants_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // entry numbers plus 1; 0 is an empty slot
  std::vector<Order> order_;
  ByteRanks source_ranks_, target_ranks_;
  Runs runs_;
  std::vector<std::unique_ptr<SpillFile>> files_;
  std::uint64_t occurrences_ = 0;
  bool spilled_ = false;
};

// The counted pairs in the order of tables: by source, then target. There may be several streams.
class PairStream {
 public:
  explicit PairStream(const PairCounter& counter);
  const CountedPair* next();  // nullptr at the end

 private:
  const CountedPair* next_entry();
  const CountedPair* next_record();

  const PairCounter& counter_;
  CountedPair pair_;
  std::size_t at_ = 0;
  std::unique_ptr<RunMerger<PairCounter::ByPair>> merger_;
  std::vector<std::uint32_t> words_;
  std::string bytes_;
  struct Piece {
    std::size_t begin, length;
    std::uint64_t count;
  };
  std::vector<Piece> pieces_;
};

}  // namespace smt
