#include "extract/pairs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace smt {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr std::size_t kRelief = 1024;  // packed entries between two looks at the memory

std::uint32_t hash_of(WordSpan words) noexcept {
  std::uint64_t hash = words.size();
  for (const std::uint32_t word : words) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29U;
  }
  return static_cast<std::uint32_t>(hash ^ hash >> 32U);
}

std::size_t hash_of(std::uint32_t source, std::uint32_t target, std::uint32_t variant) noexcept {
  std::uint64_t hash = (static_cast<std::uint64_t>(source) << 32U | target) * 0x9E3779B97F4A7C15U;
  hash = (hash ^ hash >> 31U ^ variant) * 0xBF58476D1CE4E5B9U;
  return hash ^ hash >> 31U;
}

// A record of a run: the number of words of each side, the words, the count, the variant.
struct Record {
  std::uint32_t source_size, target_size;
  std::uint64_t count;
};
constexpr std::size_t kHeader = sizeof(Record);

Record header_of(std::string_view record) noexcept {
  Record header;
  std::memcpy(&header, record.data(), kHeader);
  return header;
}

std::string_view words_of(std::string_view record) noexcept {
  const Record header = header_of(record);
  return record.substr(kHeader, sizeof(std::uint32_t) * (header.source_size + header.target_size));
}

std::string_view variant_of(std::string_view record) noexcept {
  return record.substr(kHeader + words_of(record).size());
}

std::uint32_t word_at(std::string_view words, std::size_t place) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, words.data() + sizeof word * place, sizeof word);
  return word;
}

void append_words(std::string& out, WordSpan words) {
  out.append(reinterpret_cast<const char*>(words.data()), words.size_bytes());
}

void write_record(SpillFile& run, std::string& buffer, WordSpan source, WordSpan target, std::string_view variant,
                  std::uint64_t count) {
  const Record header{static_cast<std::uint32_t>(source.size()), static_cast<std::uint32_t>(target.size()), count};
  buffer.assign(reinterpret_cast<const char*>(&header), kHeader);
  append_words(buffer, source);
  append_words(buffer, target);
  buffer += variant;
  run.write(buffer);
}

// The sequences of another counter, with the ids that their words have here.
class PackedSequences {
 public:
  PackedSequences(PackedReader& packed, const std::vector<std::uint32_t>& ids) {
    for (std::size_t left = packed.size(); left > 0; --left) {
      for (std::size_t words = packed.size(); words > 0; --words) words_.push_back(ids[packed.below(ids.size())]);
      offsets_.push_back(words_.size());
    }
  }
  std::size_t size() const noexcept { return offsets_.size() - 1; }
  WordSpan operator[](std::uint32_t id) const noexcept {
    return WordSpan(words_).subspan(offsets_[id], offsets_[id + 1] - offsets_[id]);
  }

 private:
  std::vector<std::uint32_t> words_;
  std::vector<std::size_t> offsets_ = {0};
};

// As `compare`, for sides within records.
int compare_sides(std::string_view a, std::size_t a_size, std::string_view b, std::size_t b_size,
                  const ByteRanks& ranks) noexcept {
  const std::size_t shared = std::min(a_size, b_size);
  for (std::size_t i = 0; i < shared; ++i) {
    const std::uint32_t left = word_at(a, i), right = word_at(b, i);
    if (left != right) return ranks.rank[left] < ranks.rank[right] ? -1 : 1;
  }
  if (a_size == b_size) return 0;
  const std::uint32_t left = a_size == shared ? ranks.bars : ranks.rank[word_at(a, shared)];
  const std::uint32_t right = b_size == shared ? ranks.bars : ranks.rank[word_at(b, shared)];
  return left < right ? -1 : 1;
}

}  // namespace

std::uint32_t Sequences::add(WordSpan words) {
  const std::uint32_t hash = hash_of(words);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].next_id != 0; at = (at + 1) & mask) {
    if (slots_[at].hash != hash) continue;
    const WordSpan known = (*this)[slots_[at].next_id - 1];
    if (std::equal(known.begin(), known.end(), words.begin(), words.end())) return slots_[at].next_id - 1;
  }
  const std::uint32_t id = size();
  slots_[at] = {hash, id + 1};
  words_.insert(words_.end(), words.begin(), words.end());
  offsets_.push_back(words_.size());
  if (2 * static_cast<std::size_t>(id + 1) > slots_.size()) grow();
  return id;
}

void Sequences::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.next_id == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].next_id != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::size_t Sequences::bytes() const noexcept {
  return slots_.capacity() * sizeof(Slot) + words_.capacity() * sizeof(std::uint32_t) +
         offsets_.capacity() * sizeof(std::uint64_t);
}

void Sequences::clear() {
  std::vector<Slot>(kFirstSlots).swap(slots_);
  std::vector<std::uint32_t>().swap(words_);
  std::vector<std::uint64_t>{0}.swap(offsets_);
}

std::vector<std::uint32_t> Sequences::ranks(const ByteRanks& order) const {
  struct Place {
    std::array<std::uint64_t, 2> head{};  // the ranks of the first words, as many as fit, and then of |||
    std::uint32_t id = 0;
  };
  const auto bits = static_cast<unsigned>(std::bit_width(order.rank.size()));
  std::vector<Place> places(size());
  for (std::uint32_t id = 0; id < size(); ++id) {
    const WordSpan words = (*this)[id];
    places[id].id = id;
    std::size_t at = 0;
    for (std::uint64_t& part : places[id].head) {
      for (unsigned used = bits; used <= 64; used += bits, ++at) {
        part = part << bits | (at < words.size() ? order.rank[words[at]] : order.bars);
      }
    }
  }
  std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    return a.head != b.head ? a.head < b.head : compare((*this)[a.id], (*this)[b.id], order) < 0;
  });
  std::vector<std::uint32_t> rank(size());
  for (std::uint32_t i = 0; i < places.size(); ++i) rank[places[i].id] = i;
  return rank;
}

PairCounter::PairCounter(std::uint64_t memory, std::shared_ptr<SpillFolder> folder)
    : memory_(memory), folder_(std::move(folder)), variants_(std::make_unique<WordList>()), slots_(kFirstSlots) {}

void PairCounter::add(WordSpan source, WordSpan target, std::string_view variant) {
  ++occurrences_;
  count({sources_.add(source), targets_.add(target), variants_->add(variant), 1});
}

void PairCounter::count(const Entry& entry) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_of(entry.source, entry.target, entry.variant) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    Entry& known = entries_[slots_[at] - 1];
    if (known.source != entry.source || known.target != entry.target || known.variant != entry.variant) continue;
    if (entry.count <= std::numeric_limits<std::uint32_t>::max() - known.count) {
      known.count += entry.count;
      return;
    }
    break;  // another entry continues; reading adds them up
  }
  while (slots_[at] != 0) at = (at + 1) & mask;
  entries_.push_back(entry);
  slots_[at] = static_cast<std::uint32_t>(entries_.size());
  if (2 * entries_.size() > slots_.size()) grow();
}

void PairCounter::grow() {
  std::vector<std::uint32_t>(2 * slots_.size()).swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    std::size_t at = hash_of(entry.source, entry.target, entry.variant) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

void PairCounter::pack(std::string& out) const {
  if (spilled_) throw std::logic_error("counts on disk cannot be packed");
  append_packed(out, occurrences_);
  for (const Sequences* sequences : {&sources_, &targets_}) {
    append_packed(out, sequences->size());
    for (std::uint32_t id = 0; id < sequences->size(); ++id) {
      append_packed(out, (*sequences)[id].size());
      for (const std::uint32_t word : (*sequences)[id]) append_packed(out, word);
    }
  }
  append_packed(out, *variants_);
  append_packed(out, entries_.size());
  for (const Entry& entry : entries_) {
    for (const std::uint32_t number : {entry.source, entry.target, entry.variant, entry.count}) {
      append_packed(out, number);
    }
  }
}

void PairCounter::add_packed(PackedReader& packed, const WordIds& ids, const WordList& source_words,
                             const WordList& target_words) {
  occurrences_ += packed.number();
  const PackedSequences sources(packed, ids.source), targets(packed, ids.target);
  const std::vector<std::string_view> variants = read_words(packed);
  // Their ids here, as far as they have occurred since the last spill.
  std::vector<std::uint32_t> source_ids(sources.size(), kNoId), target_ids(targets.size(), kNoId);
  std::vector<std::uint32_t> variant_ids(variants.size(), kNoId);
  for (std::size_t left = packed.size(); left > 0; --left) {
    if (left % kRelief == 0) {
      relieve(source_words, target_words);
      if (entries_.empty()) {
        for (auto* const numbers : {&source_ids, &target_ids, &variant_ids}) {
          std::fill(numbers->begin(), numbers->end(), kNoId);
        }
      }
    }
    const std::uint32_t source = packed.below(sources.size()), target = packed.below(targets.size());
    const std::uint32_t variant = packed.below(variants.size());
    if (source_ids[source] == kNoId) source_ids[source] = sources_.add(sources[source]);
    if (target_ids[target] == kNoId) target_ids[target] = targets_.add(targets[target]);
    if (variant_ids[variant] == kNoId) variant_ids[variant] = variants_->add(variants[variant]);
    count({source_ids[source], target_ids[target], variant_ids[variant], packed.below(std::size_t{kNoId} + 1)});
  }
  relieve(source_words, target_words);
}

std::size_t PairCounter::bytes() const noexcept {
  return sources_.bytes() + targets_.bytes() + variants_->bytes() + entries_.capacity() * sizeof(Entry) +
         slots_.capacity() * sizeof(std::uint32_t) + entries_.size() * sizeof(Order);
}

void PairCounter::relieve(const WordList& source_words, const WordList& target_words) {
  // Ids have 32 bits.
  if (bytes() <= memory_ && entries_.size() < kNoId / 2) return;
  if (entries_.empty()) return;
  source_ranks_ = ByteRanks(source_words);
  target_ranks_ = ByteRanks(target_words);
  spill();
}

void PairCounter::sort() {
  const std::vector<std::uint32_t> source = sources_.ranks(source_ranks_), target = targets_.ranks(target_ranks_);
  // The entries of each source together, in table order; most have few.
  std::vector<std::uint32_t> begin(source.size() + 1, 0);
  for (const Entry& entry : entries_) ++begin[source[entry.source] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  order_.resize(entries_.size());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const std::uint32_t place = source[entries_[i].source];
    order_[begin[place]++] = {static_cast<std::uint64_t>(place) << 32U | target[entries_[i].target], i};
  }
  auto from = order_.begin();
  for (std::size_t place = 0; place < source.size(); ++place) {
    const auto end = order_.begin() + begin[place];
    std::sort(from, end, [this](const Order& a, const Order& b) {
      if (a.key != b.key) return a.key < b.key;
      const Entry &left = entries_[a.entry], &right = entries_[b.entry];
      if (left.variant != right.variant) return variants_->word(left.variant) < variants_->word(right.variant);
      return a.entry < b.entry;
    });
    from = end;
  }
}

bool PairCounter::ByPair::operator()(std::string_view a, std::string_view b) const noexcept {
  const Record left = header_of(a), right = header_of(b);
  const std::string_view left_words = words_of(a), right_words = words_of(b);
  const int by_source = compare_sides(left_words, left.source_size, right_words, right.source_size, *source);
  if (by_source != 0) return by_source < 0;
  const std::size_t skip = sizeof(std::uint32_t) * left.source_size;
  const int by_target = compare_sides(left_words.substr(skip), left.target_size, right_words.substr(skip),
                                      right.target_size, *target);
  if (by_target != 0) return by_target < 0;
  return variant_of(a) < variant_of(b);
}

void PairCounter::spill() {
  sort();
  std::unique_ptr<SpillFile> run = folder_->create();
  std::string buffer;
  for (const Order& place : order_) {
    const Entry& entry = entries_[place.entry];
    write_record(*run, buffer, sources_[entry.source], targets_[entry.target], variants_->word(entry.variant),
                 entry.count);
  }
  run->close();
  sources_.clear();
  targets_.clear();
  variants_ = std::make_unique<WordList>();
  std::vector<Entry>().swap(entries_);
  std::vector<Order>().swap(order_);
  std::vector<std::uint32_t>(kFirstSlots).swap(slots_);
  spilled_ = true;
  runs_.add(std::move(run));
  runs_.tidy([this](const std::vector<std::unique_ptr<SpillFile>>& runs) { return merge(runs); });
}

std::unique_ptr<SpillFile> PairCounter::merge(const std::vector<std::unique_ptr<SpillFile>>& runs) {
  std::unique_ptr<SpillFile> merged = folder_->create();
  RunMerger<ByPair> merger(runs, {&source_ranks_, &target_ranks_});
  std::string last;
  const auto same = [&](std::string_view record) {
    return record.size() == last.size() && words_of(record) == words_of(last) && variant_of(record) == variant_of(last) &&
           header_of(record).source_size == header_of(last).source_size;
  };
  for (; !merger.done(); merger.advance()) {
    const std::string_view record = merger.record();
    if (!last.empty() && same(record)) {
      Record header = header_of(last);
      header.count += header_of(record).count;
      std::memcpy(last.data(), &header, kHeader);
      continue;
    }
    if (!last.empty()) merged->write(last);
    last.assign(record);
  }
  if (!last.empty()) merged->write(last);
  merged->close();
  return merged;
}

void PairCounter::finish(const WordList& source_words, const WordList& target_words) {
  source_ranks_ = ByteRanks(source_words);
  target_ranks_ = ByteRanks(target_words);
  std::vector<std::uint32_t>().swap(slots_);
  if (!spilled_) {
    sort();
    return;
  }
  if (!entries_.empty()) spill();
  files_ = runs_.take();
}

PairStream::PairStream(const PairCounter& counter) : counter_(counter) {
  if (counter.spilled_) {
    merger_ = std::make_unique<RunMerger<PairCounter::ByPair>>(
        counter.files_, PairCounter::ByPair{&counter.source_ranks_, &counter.target_ranks_});
  }
}

const CountedPair* PairStream::next() { return merger_ == nullptr ? next_entry() : next_record(); }

const CountedPair* PairStream::next_entry() {
  const auto& order = counter_.order_;
  if (at_ == order.size()) return nullptr;
  const std::uint64_t key = order[at_].key;
  const PairCounter::Entry& first = counter_.entries_[order[at_].entry];
  pair_.source_id = first.source;
  pair_.target_id = first.target;
  pair_.source = counter_.sources_[first.source];
  pair_.target = counter_.targets_[first.target];
  pair_.variants.clear();
  std::uint32_t last = kNoId;
  for (; at_ < order.size() && order[at_].key == key; ++at_) {
    const PairCounter::Entry& entry = counter_.entries_[order[at_].entry];
    if (entry.variant == last) {
      pair_.variants.back().count += entry.count;
    } else {
      pair_.variants.push_back({counter_.variants_->word(entry.variant), entry.count});
    }
    last = entry.variant;
  }
  return &pair_;
}

const CountedPair* PairStream::next_record() {
  if (merger_->done()) return nullptr;
  words_.clear();
  bytes_.clear();
  pieces_.clear();
  const Record first = header_of(merger_->record());
  const std::string_view start = words_of(merger_->record());
  words_.resize(start.size() / sizeof(std::uint32_t));
  std::memcpy(words_.data(), start.data(), start.size());
  for (; !merger_->done(); merger_->advance()) {
    const std::string_view record = merger_->record();
    const Record header = header_of(record);
    const std::string_view words = words_of(record);
    if (header.source_size != first.source_size || header.target_size != first.target_size ||
        std::memcmp(words.data(), words_.data(), words.size()) != 0) {
      break;
    }
    const std::string_view variant = variant_of(record);
    if (!pieces_.empty() &&
        std::string_view(bytes_).substr(pieces_.back().begin, pieces_.back().length) == variant) {
      pieces_.back().count += header.count;
      continue;
    }
    pieces_.push_back({bytes_.size(), variant.size(), header.count});
    bytes_ += variant;
  }
  pair_.source = WordSpan(words_).first(first.source_size);
  pair_.target = WordSpan(words_).subspan(first.source_size);
  pair_.variants.clear();
  for (const Piece& piece : pieces_) {
    pair_.variants.push_back({std::string_view(bytes_).substr(piece.begin, piece.length), piece.count});
  }
  return &pair_;
}

}  // namespace smt
