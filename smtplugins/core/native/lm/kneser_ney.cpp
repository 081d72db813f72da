#include "lm/kneser_ney.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/memory.hpp"
#include "base/word_bytes.hpp"

namespace smt {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxWord = std::size_t{1} << 16;

// Bytes per word of the text while it is read; while n-grams are sorted; per n-gram that is kept; per n-gram of the
// current order; per n-gram that may be its context.
constexpr std::uint64_t kTextBytes = 4, kSortBytes = 10, kNgramBytes = 12, kWorkBytes = 4, kContextBytes = 24;

void take_logs(std::vector<float>& probs) noexcept {
  for (float& prob : probs) prob = arpa_log(prob);
}

}  // namespace

std::string KneserNeyModel::rows(int order, std::size_t begin, std::size_t end) const {
  const NgramLevel& level = levels_[static_cast<std::size_t>(order - 1)];
  const auto length = static_cast<std::uint32_t>(order);
  std::string out;
  for (std::size_t i = begin; i < std::min(end, level.position.size()); ++i) {
    append_number(out, level.prob[i]);
    const std::uint32_t last = level.position[i];
    for (std::uint32_t at = last + 1 - length; at <= last; ++at) {
      out += at + length == last + 1 ? '\t' : ' ';
      out += words_.word(text_[at]);
    }
    if (!level.backoff.empty()) {
      out += '\t';
      append_number(out, level.backoff[i]);
    }
    out += '\n';
  }
  return out;
}

KneserNey::KneserNey(KneserNeyOptions options) : options_(std::move(options)), filter_{options_.prune, {}} {
  for (const char* special : {"<unk>", "<s>", "</s>"}) model_.words_.add(special);
  model_.levels_.resize(static_cast<std::size_t>(options_.order));
  // A place for <unk>, which also allows reading the words before the first sentence.
  model_.text_.assign(static_cast<std::size_t>(options_.order) + 1, kBosId);
  model_.text_[0] = kUnkId;
}

void KneserNey::feed(std::string_view bytes) {
  if (std::exchange(closed_, true)) throw std::logic_error("the text has ended");
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at != end) {
    const char* const start = at;
    while (at != end && !ends_word(*at)) ++at;
    const std::string_view piece(start, static_cast<std::size_t>(at - start));
    if (at == end || !partial_.empty()) {
      partial_.append(piece);
      if (partial_.size() > kMaxWord) add(partial_);  // which rejects it
      if (at == end) break;
      add(std::exchange(partial_, {}));
    } else if (!piece.empty()) {
      add(piece);
    }
    if (*at++ == '\n') end_sentence();
  }
  if (!bytes.empty()) open_ = bytes.back() != '\n';
  closed_ = false;  // stays closed after other errors than of memory
  require(model_.text_.size() * (kTextBytes + kSortBytes));
}

void KneserNey::add(std::string_view word) {
  if (word.size() > kMaxWord) {
    throw TextError(line_, "a word of at most " + std::to_string(kMaxWord) + " bytes", "a longer one");
  }
  const std::uint32_t id = model_.words_.add(word);
  // <UNK> would be read back as <unk>.
  if (id <= kEosId || word == "<UNK>") {
    throw TextError(line_,
                    "text without <s>, </s> and <unk>, which the model has of its own (`--escape moses` makes them "
                    "&lt;s&gt; and so on)",
                    "'" + std::string(word) + "'");
  }
  if (options_.vocabulary_size > 0) {
    if (id >= seen_.size()) seen_.resize(id + std::size_t{1});
    ++seen_[id];
  }
  push(id);
  ++model_.words;
}

void KneserNey::push(std::uint32_t id) {
  if (sorter_ != nullptr) {
    sorter_->push(id);
  } else {
    model_.text_.push_back(id);
  }
}

void KneserNey::end_sentence() {
  push(kEosId);
  push(kBosId);
  ++model_.sentences;
  ++line_;
}

std::uint64_t KneserNey::word_bytes() const noexcept {
  return model_.words_.bytes() + seen_.capacity() * sizeof(std::uint64_t);
}

// Throws beyond the memory limit; the words and the text are counted at their actual size.
void KneserNey::require(std::uint64_t bytes) {
  const std::uint64_t needed = word_bytes() + (sorter_ == nullptr ? bytes : sorter_->least_memory(model_.words_.size()));
  if (needed > options_.memory) throw MemoryLimitError(needed, options_.memory);
  model_.peak_bytes = sorter_ == nullptr ? std::max(model_.peak_bytes, needed) : options_.memory;
  if (sorter_ != nullptr) sorter_->limit(options_.memory - word_bytes());
}

void KneserNey::spill(std::string folder) {
  if (sorter_ != nullptr) throw std::logic_error("the n-grams are on disk already");
  std::vector<std::uint32_t>().swap(sorted_);
  std::vector<std::uint32_t>().swap(entry_);
  std::vector<std::uint8_t>().swap(depth_);
  std::vector<std::uint8_t>().swap(shared_);
  trim_memory();
  const std::vector<std::uint32_t> text = std::exchange(model_.text_, {});
  const std::uint64_t held = word_bytes() + text.capacity() * kTextBytes;
  sorter_ = std::make_unique<NgramSorter>(options_, std::move(folder));
  sorter_->limit(options_.memory - std::min(options_.memory, held));
  for (auto at = static_cast<std::size_t>(options_.order) + 1; at < text.size(); ++at) sorter_->push(text[at]);
  closed_ = false;
}

void KneserNey::end_text() {
  if (std::exchange(closed_, true)) throw std::logic_error("the text has ended");
  if (!partial_.empty()) add(std::exchange(partial_, {}));
  if (std::exchange(open_, false)) end_sentence();
  if (model_.words == 0) throw TextError(0, "text, a sentence a line", "no words");
}

KneserNeyModel KneserNey::finish(const std::optional<std::vector<std::string>>& vocabulary) {
  if (sorter_ != nullptr) throw std::logic_error("the n-grams are on disk");
  end_text();
  if (model_.text_.size() >= kNone) throw TextError(line_, "less than 4294967295 words", "more");
  model_.text_.shrink_to_fit();
  allow(vocabulary);
  sort_positions();
  measure();
  for (int order = 1; order <= options_.order; ++order) estimate(order);
  return std::move(model_);
}

StreamedModel KneserNey::finish_streamed(const std::optional<std::vector<std::string>>& vocabulary) {
  if (sorter_ == nullptr) throw std::logic_error("the n-grams are in memory");
  end_text();
  allow(vocabulary);
  require(0);
  const std::unique_ptr<NgramSorter> sorter = std::move(sorter_);
  return sorter->finish(model_, std::move(model_.words_), filter_);
}

void KneserNey::allow(const std::optional<std::vector<std::string>>& vocabulary) {
  std::vector<bool>& allowed = filter_.allowed;
  allowed.assign(vocabulary || options_.vocabulary_size > 0 ? model_.words_.size() : 0, !vocabulary);
  if (vocabulary) {
    for (const std::string& word : *vocabulary) {
      if (const auto id = model_.words_.find(word)) allowed[*id] = true;
    }
  }
  if (options_.vocabulary_size > 0) {
    std::vector<std::uint32_t> words;
    for (std::uint32_t id = kEosId + 1; id < allowed.size(); ++id) {
      if (allowed[id]) words.push_back(id);
    }
    // Of words equally frequent, those that came first.
    std::stable_sort(words.begin(), words.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return seen_[a] > seen_[b]; });
    for (std::size_t i = options_.vocabulary_size; i < words.size(); ++i) allowed[words[i]] = false;
  }
  if (!allowed.empty()) {
    for (const std::uint32_t id : {kUnkId, kBosId, kEosId}) allowed[id] = true;
  }
}

// Sorts the positions of words and </s> by the word there and the words before it: a radix sort, a pass for each word.
// Words before <s> are of another sentence and order only equal n-grams.
void KneserNey::sort_positions() {
  const std::vector<std::uint32_t>& text = model_.text_;
  const auto first = static_cast<std::uint32_t>(options_.order) + 1;
  std::vector<std::uint32_t>& other = entry_;
  sorted_.reserve(text.size());
  for (std::uint32_t at = first; at < text.size(); ++at) {
    if (text[at] != kBosId) sorted_.push_back(at);
  }
  other.resize(text.size());
  const std::size_t size = sorted_.size();
  sorted_.resize(text.size());
  std::vector<std::uint32_t> next(model_.words_.size());
  for (auto back = static_cast<std::uint32_t>(options_.order); back-- > 0;) {
    std::fill(next.begin(), next.end(), 0);
    for (std::size_t i = 0; i < size; ++i) ++next[text[sorted_[i] - back]];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), std::uint32_t{0});
    for (std::size_t i = 0; i < size; ++i) other[next[text[sorted_[i] - back]]++] = sorted_[i];
    std::swap(sorted_, other);
  }
  sorted_.resize(size);
}

// Lengths of common suffixes of neighbours: from here on n-grams are runs of sorted_.
void KneserNey::measure() {
  const std::vector<std::uint32_t>& text = model_.text_;
  const auto most = static_cast<std::uint32_t>(options_.order);
  depth_.resize(sorted_.size());
  shared_.resize(sorted_.size());
  std::uint32_t before = 0;  // <unk>, which occurs nowhere else
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    const std::uint32_t here = sorted_[i];
    std::uint32_t depth = 1;
    while (depth < most && text[here + 1 - depth] != kBosId) ++depth;
    std::uint32_t shared = 0;
    while (shared < depth && before >= shared && text[here - shared] == text[before - shared]) ++shared;
    depth_[i] = static_cast<std::uint8_t>(depth);
    shared_[i] = static_cast<std::uint8_t>(shared);
    before = here;
  }
  sizes_.assign(std::size_t{most} + 1, 0);
  std::uint64_t all = 0, largest = 0;
  for (std::uint32_t order = 1; order <= most; ++order) {
    for_ngrams(static_cast<int>(order), [&](std::size_t, std::size_t, std::uint32_t) { ++sizes_[order]; });
    all += sizes_[order];
    largest = std::max(largest, kWorkBytes * sizes_[order] + kContextBytes * sizes_[order - 1]);
  }
  require(text.size() * (kTextBytes + kSortBytes) + kNgramBytes * all + largest);
}

// Calls visit(begin, end, adjusted count) for the runs of sorted_ that are the n-grams of an order.
// The adjusted count is the number of distinct words before the n-gram; or its count if it has the full length or
// begins with <s>.
template <class Visit>
void KneserNey::for_ngrams(int order, Visit visit) const {
  for (std::size_t begin = 0; begin < sorted_.size();) {
    if (depth_[begin] < order) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    std::uint32_t continuations = 1;  // places share no more than the longest n-gram, nor beyond <s>
    for (; end < sorted_.size() && shared_[end] >= order; ++end) continuations += shared_[end] == order;
    visit(begin, end, continuations);
    begin = end;
  }
}

void KneserNey::estimate(int order) {
  std::vector<Context> contexts(order == 1 ? 1 : model_.levels_[static_cast<std::size_t>(order - 2)].position.size());
  std::vector<std::uint32_t> counts;  // adjusted
  CountsOfCounts counts_of_counts{};
  count(order, contexts, counts, counts_of_counts);
  model_.counts.push_back(counts.size());
  model_.add_discounts(counts_of_counts, options_.fallback);
  interpolate(order, contexts, counts);
  if (order < options_.order) index(order);
}

void KneserNey::count(int order, std::vector<Context>& contexts, std::vector<std::uint32_t>& counts,
                      CountsOfCounts& counts_of_counts) {
  std::vector<std::uint32_t>& positions = model_.levels_[static_cast<std::size_t>(order - 1)].position;
  const std::size_t most = sizes_[static_cast<std::size_t>(order)] + (order == 1 ? 2 : 0);
  positions.reserve(most);
  counts.reserve(most);
  if (order == 1) {
    positions.insert(positions.end(), {0, 1});  // <unk> and <s>, which follow nothing
    counts.insert(counts.end(), {0, 0});
  }
  for_ngrams(order, [&](std::size_t begin, std::size_t end, std::uint32_t adjusted) {
    const std::uint32_t position = sorted_[begin];
    const bool kept = filter_.keeps(&model_.text_[position] + 1 - order, order, end - begin);
    if (adjusted < counts_of_counts.size()) ++counts_of_counts[adjusted];
    const std::uint32_t before = order == 1 ? 0 : entry_[position - 1];
    if (before != kNone) contexts[before].add(adjusted, kept);
    if (kept) {
      positions.push_back(position);
      counts.push_back(adjusted);
    }
  });
  positions.shrink_to_fit();
}

// Probabilities of this order, from those of the suffixes; and the back-off weights of its contexts.
void KneserNey::interpolate(int order, const std::vector<Context>& contexts,
                            const std::vector<std::uint32_t>& counts) {
  const Discounts& discounts = model_.discounts.back();
  std::vector<float> left(contexts.size());
  for (std::size_t i = 0; i < contexts.size(); ++i) left[i] = contexts[i].left(discounts);
  NgramLevel& level = model_.levels_[static_cast<std::size_t>(order - 1)];
  NgramLevel* const shorter = order == 1 ? nullptr : &model_.levels_[static_cast<std::size_t>(order - 2)];
  level.prob.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint32_t position = level.position[i];
    const std::uint32_t context = shorter == nullptr ? 0 : entry_[position - 1];
    const float suffix = shorter == nullptr ? uniform(counts.size()) : shorter->prob[entry_[position]];
    level.prob[i] = contexts[context].share(counts[i], discounts) + left[context] * suffix;
  }
  // Probabilities stay as they are until the next order is done.
  if (shorter != nullptr) {
    take_logs(shorter->prob);
    take_logs(left);
    shorter->backoff = std::move(left);
  }
  if (order == options_.order) take_logs(level.prob);
}

// The n-gram of this order that ends at each position.
void KneserNey::index(int order) {
  const std::vector<std::uint32_t>& positions = model_.levels_[static_cast<std::size_t>(order - 1)].position;
  std::size_t next = 0;
  if (order == 1) {
    std::fill(entry_.begin(), entry_.end(), kBosId);  // the others follow
    next = 2;
  }
  for_ngrams(order, [&](std::size_t begin, std::size_t end, std::uint32_t) {
    const bool kept = next < positions.size() && positions[next] == sorted_[begin];
    const std::uint32_t entry = kept ? static_cast<std::uint32_t>(next++) : kNone;
    for (std::size_t i = begin; i < end; ++i) entry_[sorted_[i]] = entry;
  });
}

}  // namespace smt
