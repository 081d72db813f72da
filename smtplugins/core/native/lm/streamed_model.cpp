#include "lm/streamed_model.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/packed.hpp"
#include "lm/probing.hpp"

namespace smt {
namespace {

constexpr std::uint64_t kLeastSorted = std::uint64_t{1} << 14U;  // bytes for a sorter
constexpr std::uint64_t kExtensionBytes = 12;                    // of a context's extensions, each a word
constexpr std::uint64_t kSorters = 3;                            // at a time

// Words as bytes in the order of their numbers, no word a prefix of another; the frequent ones, which come first in
// texts, are short.
void append_word(std::string& out, std::uint32_t word) {
  unsigned bytes = 0;
  if (word < 0x80U) {
    bytes = 1;
  } else if (word < 0x4000U) {
    bytes = 2;
    word |= 0x8000U;
  } else if (word < 0x200000U) {
    bytes = 3;
    word |= 0xC00000U;
  } else {
    bytes = 4;
    out += '\xE0';
  }
  for (unsigned i = bytes; i-- > 0;) out += static_cast<char>(word >> 8U * i & 0xFFU);
}

std::size_t word_size(char first) noexcept {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80U ? 1 : byte < 0xC0U ? 2 : byte < 0xE0U ? 3 : 5;
}

// Words of a record, and where each ends.
struct Ngram {
  std::array<std::uint32_t, kMaxOrder> words;
  std::array<std::size_t, kMaxOrder + 1> ends;

  Ngram(std::string_view record, int order) {
    ends[0] = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(order); ++i) {
      const std::size_t begin = ends[i], size = word_size(record[begin]);
      const unsigned first = static_cast<unsigned char>(record[begin]);
      std::uint32_t word = size == 1 ? first : size == 2 ? first & 0x3FU : size == 3 ? first & 0x1FU : 0;
      for (std::size_t at = 1; at < size; ++at) word = word << 8U | static_cast<unsigned char>(record[begin + at]);
      words[i] = word;
      ends[i + 1] = begin + size;
    }
  }
};

std::size_t ngram_size(std::string_view record, int words) noexcept {
  std::size_t size = 0;
  for (int i = 0; i < words; ++i) size += word_size(record[size]);
  return size;
}

void append_float(std::string& out, float number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

float read_float(std::string_view bytes) noexcept {
  float number = 0.0F;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// The adjusted count of an n-gram and whether the model keeps it, seven bits a byte.
struct Counted {
  std::uint64_t adjusted;
  bool kept;
};

void append_counted(std::string& out, Counted counted) {
  append_packed(out, counted.adjusted << 1U | (counted.kept ? 1U : 0U));
}

Counted read_counted(std::string_view bytes) {
  const std::uint64_t number = PackedReader(bytes).number();
  return {number >> 1U, (number & 1U) != 0};
}

std::size_t counted_size(std::string_view bytes) noexcept {
  std::size_t size = 1;
  while ((static_cast<unsigned char>(bytes[size - 1]) & 0x80U) != 0) ++size;
  return size;
}

}  // namespace

void NgramNumbers::add(std::string_view ngram, float number) {
  buffer_.assign(ngram);
  append_float(buffer_, number);
  file_->write(buffer_);
}

void NgramNumbers::close() {
  file_->close();
  reader_ = std::make_unique<SpillReader>(*file_);
  more_ = reader_->next();
}

std::optional<float> NgramNumbers::find(std::string_view ngram) {
  for (; more_; more_ = reader_->next()) {
    const std::string_view record = reader_->record();
    const std::size_t size = record.size() - sizeof(float);
    const int order = record.substr(0, size).compare(ngram);
    if (order == 0) return read_float(record.substr(size));
    if (order > 0) break;
  }
  return std::nullopt;
}

StreamedRows::StreamedRows(const StreamedModel& model)
    : model_(model), sort_memory_((model.memory_ - kExtensionBytes * model.words_.size()) / kSorters) {}

// Sorts the n-grams of an order into context order, sums over contexts, and sorts the shares into suffix order.
std::unique_ptr<ByteSorter> StreamedRows::sort_shares(int order) {
  const auto level = static_cast<std::size_t>(order - 1);
  const Discounts& discounts = model_.discounts[level];
  std::string buffer;
  ByteSorter by_context(sort_memory_, model_.folder_);
  for (SpillReader reader(*model_.levels_[level]); reader.next();) {
    const std::string_view record = reader.record();
    const std::size_t last = word_size(record[0]), size = ngram_size(record, order);
    buffer.assign(record.substr(last, size - last));
    buffer += record.substr(0, last);
    buffer += record.substr(size);
    by_context.add(buffer);
  }
  by_context.finish();

  auto shares = std::make_unique<ByteSorter>(sort_memory_, model_.folder_);
  if (order > 1) backoffs_ = std::make_unique<NgramNumbers>(*model_.folder_);
  std::string context, extensions;  // each a last word and its count
  ContextSums<std::uint64_t> sums;
  const auto end_context = [&] {
    const float left = sums.left(discounts);
    if (order > 1) backoffs_->add(context, left);
    for (std::string_view rest = extensions; !rest.empty();) {
      const std::size_t last = word_size(rest[0]), size = last + counted_size(rest.substr(last));
      const Counted counted = read_counted(rest.substr(last, size - last));
      if (counted.kept) {
        buffer.assign(rest.substr(0, last));
        buffer += context;
        append_float(buffer, sums.share(counted.adjusted, discounts));
        append_float(buffer, left);
        shares->add(buffer);
      }
      rest.remove_prefix(size);
    }
  };
  bool any = false;
  for (std::string_view record; by_context.next(record);) {
    const std::size_t size = ngram_size(record, order - 1);
    if (any && record.substr(0, size) != context) {
      end_context();
      extensions.clear();
      sums = {};
      any = false;
    }
    if (!std::exchange(any, true)) context.assign(record.substr(0, size));
    extensions += record.substr(size);
    const Counted counted = read_counted(record.substr(size + word_size(record[size])));
    sums.add(counted.adjusted, counted.kept);
  }
  if (any) end_context();
  if (order > 1) backoffs_->close();
  shares->finish();
  return shares;
}

void StreamedRows::next_order() {
  if (order_ == 0) {
    shares_ = sort_shares(1);
  } else {
    shares_ = std::move(next_shares_);
    probs_->close();
    suffix_probs_ = std::move(probs_);
  }
  ++order_;
  at_ = 0;
  if (order_ == model_.order()) {
    backoffs_.reset();
    return;
  }
  next_shares_ = sort_shares(order_ + 1);
  probs_ = std::make_unique<NgramNumbers>(*model_.folder_);
}

std::string StreamedRows::rows(int order, std::size_t begin, std::size_t end) {
  if (order == order_ + 1 && begin == 0) next_order();
  if (order != order_ || begin != at_) throw std::logic_error("rows of a streamed model come in order");
  std::string out;
  for (std::string_view record; at_ < end && shares_->next(record); ++at_) add_row(out, record);
  return out;
}

void StreamedRows::add_row(std::string& out, std::string_view record) {
  const Ngram ngram(record, order_);
  const auto order = static_cast<std::size_t>(order_);
  const std::string_view key = record.substr(0, ngram.ends[order]);
  std::optional<float> suffix = uniform(model_.counts[0]);
  if (order > 1) suffix = suffix_probs_->find(record.substr(0, ngram.ends[order - 1]));
  if (!suffix) throw std::logic_error("an n-gram without its suffix");
  const float share = read_float(record.substr(key.size())), left = read_float(record.substr(key.size() + sizeof share));
  const float prob = share + left * *suffix;
  append_number(out, arpa_log(prob));
  for (std::size_t i = order; i-- > 0;) {
    out += i + 1 == order ? '\t' : ' ';
    out += model_.words_.word(ngram.words[i]);
  }
  if (order_ < model_.order()) {
    probs_->add(key, prob);
    out += '\t';
    append_number(out, arpa_log(backoffs_->find(key).value_or(1.0F)));
  }
  out += '\n';
}

NgramSorter::NgramSorter(const KneserNeyOptions& options, std::string folder)
    : order_(options.order),
      fallback_(options.fallback),
      folder_(std::make_shared<SpillFolder>(std::move(folder))),
      ngrams_(kLeastSorted, folder_),
      window_(static_cast<std::size_t>(options.order), kBosId) {}

std::uint64_t NgramSorter::least_memory(std::size_t words) noexcept {
  return kExtensionBytes * words + kSorters * kLeastSorted;
}

void NgramSorter::limit(std::uint64_t memory) {
  memory_ = std::max(memory, kSorters * kLeastSorted);
  ngrams_.limit(memory_);
}

void NgramSorter::push(std::uint32_t word) {
  if (word == kBosId) {
    std::fill(window_.begin(), window_.end(), kBosId);
    return;
  }
  std::copy_backward(window_.begin(), window_.end() - 1, window_.end());
  window_[0] = word;
  buffer_.clear();
  for (const std::uint32_t before : window_) append_word(buffer_, before);
  ngrams_.add(buffer_);
}

StreamedModel NgramSorter::finish(EstimatedModel about, WordList words, const NgramFilter& filter) {
  ngrams_.finish();
  StreamedModel model(std::move(about));
  model.words_ = std::move(words);
  model.memory_ = memory_;
  model.folder_ = folder_;
  std::vector<CountsOfCounts> counts_of_counts(static_cast<std::size_t>(order_), CountsOfCounts{});
  count(model, filter, counts_of_counts);
  for (const CountsOfCounts& counts : counts_of_counts) model.add_discounts(counts, fallback_);
  return model;
}

// The adjusted count of an n-gram is the number of distinct words before it; or its count if it has the full length or
// begins with <s>.
void NgramSorter::count(StreamedModel& model, const NgramFilter& filter,
                        std::vector<CountsOfCounts>& counts_of_counts) {
  const auto most = static_cast<std::size_t>(order_);
  model.counts.assign(most, 0);
  for (std::size_t i = 0; i < most; ++i) model.levels_.push_back(folder_->create());
  const auto write = [&](std::size_t order, std::string_view ngram, Counted counted) {
    buffer_.assign(ngram);
    append_counted(buffer_, counted);
    model.levels_[order - 1]->write(buffer_);
    if (counted.kept) ++model.counts[order - 1];
  };
  for (const std::uint32_t word : {kUnkId, kBosId}) {  // which follow nothing
    std::string bytes;
    append_word(bytes, word);
    write(1, bytes, {0, true});
  }

  struct Open {
    std::uint64_t begin = 0, adjusted = 0;
  };
  std::vector<Open> open(most + 1);  // by order: the n-grams of the last record
  std::string last;
  std::size_t last_depth = 0;  // words up to and with <s>
  std::uint64_t at = 0;
  const auto close = [&](std::size_t shared) {
    if (last_depth == shared) return;
    const Ngram ngram(last, order_);
    for (std::size_t order = last_depth; order > shared; --order) {
      const std::uint64_t adjusted = open[order].adjusted;
      const bool kept = filter.keeps(ngram.words.data(), static_cast<int>(order), at - open[order].begin);
      CountsOfCounts& counts = counts_of_counts[order - 1];
      if (adjusted < counts.size()) ++counts[adjusted];
      write(order, std::string_view(last).substr(0, ngram.ends[order]), {adjusted, kept});
    }
  };
  for (std::string_view record; ngrams_.next(record); ++at) {
    if (at > 0 && record == last) {
      ++open[last_depth].adjusted;
      continue;
    }
    const Ngram ngram(record, order_);
    std::size_t depth = 1, shared = 0;
    while (depth < most && ngram.words[depth - 1] != kBosId) ++depth;
    while (shared < std::min(depth, last_depth) &&
           record.substr(0, ngram.ends[shared + 1]) == std::string_view(last).substr(0, ngram.ends[shared + 1])) {
      ++shared;
    }
    close(shared);
    if (shared > 0) ++open[shared].adjusted;
    for (std::size_t order = shared + 1; order <= depth; ++order) open[order] = {at, 1};
    last.assign(record);
    last_depth = depth;
  }
  close(0);
  for (const auto& level : model.levels_) level->close();
}

}  // namespace smt
