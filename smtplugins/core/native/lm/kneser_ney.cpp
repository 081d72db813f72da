#include "lm/kneser_ney.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/word_bytes.hpp"

namespace smt {
namespace {

constexpr std::uint32_t kUnk = 0, kBos = 1, kEos = 2;
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxWord = std::size_t{1} << 16;
constexpr std::size_t kMaxQuote = 60;
constexpr float kLogZero = -99.0F;  // log10 of 0 in ARPA files

// Bytes per word of the text while it is read; while n-grams are sorted; per n-gram that is kept; per n-gram of the
// current order; per n-gram that may be its context.
constexpr std::uint64_t kTextBytes = 4, kSortBytes = 10, kNgramBytes = 12, kWorkBytes = 4, kContextBytes = 24;

// Rounding may lift a probability above 1.
void take_logs(std::vector<float>& probs) noexcept {
  for (float& prob : probs) prob = prob > 0.0F ? std::min(0.0F, std::log10(prob)) : kLogZero;
}

// The fewest digits that read back as this number.
void append_number(std::string& out, float number) {
  char digits[48];
  const auto scientific = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::scientific);
  const std::string_view text(digits, static_cast<std::size_t>(scientific.ptr - digits));
  const std::size_t e = text.rfind('e');
  const bool small = e != std::string_view::npos && text[e + 1] == '-' && text.substr(e + 2) > "06";
  if (!small) {
    const auto fixed = std::to_chars(digits, digits + sizeof digits, number, std::chars_format::fixed);
    out.append(digits, fixed.ptr);
    return;
  }
  out.append(text.substr(0, e + 2));
  out.append(text.substr(text.find_first_not_of('0', e + 2)));
}

}  // namespace

TextError::TextError(std::uint64_t line_, std::string expected_, std::string found_)
    : std::runtime_error("line " + std::to_string(line_) + ": expected " + expected_ + ", found " + found_),
      line(line_),
      expected(std::move(expected_)),
      found(std::move(found_)) {}

DiscountError::DiscountError(int order_, std::string reason_)
    : std::runtime_error(reason_), order(order_), reason(std::move(reason_)) {}

MemoryLimitError::MemoryLimitError(std::uint64_t needed_, std::uint64_t allowed_)
    : std::runtime_error(std::to_string(needed_) + " bytes needed, " + std::to_string(allowed_) + " allowed"),
      needed(needed_),
      allowed(allowed_) {}

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

KneserNey::KneserNey(KneserNeyOptions options) : options_(std::move(options)) {
  for (const char* special : {"<unk>", "<s>", "</s>"}) model_.words_.add(special);
  model_.levels_.resize(static_cast<std::size_t>(options_.order));
  // A place for <unk>, which also allows reading the words before the first sentence.
  model_.text_.assign(static_cast<std::size_t>(options_.order) + 1, kBos);
  model_.text_[0] = kUnk;
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
  require(model_.text_.size() * (kTextBytes + kSortBytes));
  closed_ = false;  // stays closed after an error
}

void KneserNey::add(std::string_view word) {
  if (word.size() > kMaxWord) {
    throw TextError(line_, "a word of at most " + std::to_string(kMaxWord) + " bytes", "a longer one");
  }
  const std::uint32_t id = model_.words_.add(word);
  // <UNK> would be read back as <unk>.
  if (id <= kEos || word == "<UNK>") {
    throw TextError(line_,
                    "text without <s>, </s> and <unk>, which the model has of its own (`--escape moses` makes them "
                    "&lt;s&gt; and so on)",
                    "'" + std::string(word) + "'");
  }
  model_.text_.push_back(id);
  ++model_.words_of_text_;
}

void KneserNey::end_sentence() {
  model_.text_.push_back(kEos);
  model_.text_.push_back(kBos);
  ++model_.sentences_;
  ++line_;
}

// Throws beyond the memory limit; the words and the text are counted at their actual size.
void KneserNey::require(std::uint64_t bytes) {
  const std::uint64_t needed = bytes + model_.words_.bytes();
  if (needed > options_.memory) throw MemoryLimitError(needed, options_.memory);
  model_.peak_bytes_ = std::max(model_.peak_bytes_, needed);
}

KneserNeyModel KneserNey::finish(const std::optional<std::vector<std::string>>& vocabulary) {
  if (std::exchange(closed_, true)) throw std::logic_error("the text has ended");
  if (!partial_.empty()) add(std::exchange(partial_, {}));
  if (open_) end_sentence();
  if (model_.words_of_text_ == 0) throw TextError(0, "text, a sentence a line", "no words");
  if (model_.text_.size() >= kNone) throw TextError(line_, "less than 4294967295 words", "more");
  model_.text_.shrink_to_fit();
  if (vocabulary) allow(*vocabulary);
  sort_positions();
  measure();
  for (int order = 1; order <= options_.order; ++order) estimate(order);
  return std::move(model_);
}

void KneserNey::allow(const std::vector<std::string>& vocabulary) {
  allowed_.assign(model_.words_.size(), false);
  for (const std::uint32_t id : {kUnk, kBos, kEos}) allowed_[id] = true;
  for (const std::string& word : vocabulary) {
    if (const auto id = model_.words_.find(word)) allowed_[*id] = true;
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
    if (text[at] != kBos) sorted_.push_back(at);
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
    while (depth < most && text[here + 1 - depth] != kBos) ++depth;
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

bool KneserNey::keeps(int order, std::uint32_t position, std::uint64_t seen) const noexcept {
  const std::uint32_t* const last = &model_.text_[position];
  if (order == 1 && *last == kEos) return true;
  if (seen <= options_.prune[static_cast<std::size_t>(order - 1)]) return false;
  return allowed_.empty() || std::all_of(last + 1 - order, last + 1, [&](std::uint32_t id) { return allowed_[id]; });
}

void KneserNey::estimate(int order) {
  std::vector<Context> contexts(order == 1 ? 1 : model_.count(order - 1));
  std::vector<std::uint32_t> counts;  // adjusted
  std::array<std::uint64_t, 5> counts_of_counts{};
  count(order, contexts, counts, counts_of_counts);
  model_.discounts_.push_back(discounts(order, counts_of_counts));
  interpolate(order, contexts, counts, model_.discounts_.back());
  if (order < options_.order) index(order);
}

void KneserNey::count(int order, std::vector<Context>& contexts, std::vector<std::uint32_t>& counts,
                      std::array<std::uint64_t, 5>& counts_of_counts) {
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
    const bool kept = keeps(order, position, end - begin);
    if (adjusted < counts_of_counts.size()) ++counts_of_counts[adjusted];
    const std::uint32_t before = order == 1 ? 0 : entry_[position - 1];
    if (before != kNone) {
      Context& context = contexts[before];
      context.total += adjusted;
      if (kept) {
        ++context.kept[std::min(adjusted, 3U) - 1];
      } else {
        context.pruned += adjusted;
      }
    }
    if (kept) {
      positions.push_back(position);
      counts.push_back(adjusted);
    }
  });
  positions.shrink_to_fit();
}

// Equation 26 of Chen and Goodman.
Discounts KneserNey::discounts(int order, const std::array<std::uint64_t, 5>& n) {
  const std::string what = std::to_string(order) + "-gram";
  std::string reason;
  Discounts discounts{};
  for (std::size_t j = 1; j < 4 && reason.empty(); ++j) {
    if (n[j] == 0) reason = "no " + what + " has the adjusted count " + std::to_string(j);
  }
  if (reason.empty()) {
    const float y = static_cast<float>(n[1]) / static_cast<float>(n[1] + 2 * n[2]);
    for (std::size_t j = 1; j < 4; ++j) {
      const auto whole = static_cast<float>(j);
      discounts[j - 1] = whole - (whole + 1) * y * static_cast<float>(n[j + 1]) / static_cast<float>(n[j]);
      if (discounts[j - 1] < 0.0F || discounts[j - 1] > whole) {
        reason = "the " + what + " discount of the adjusted count " + std::to_string(j) + " would be " +
                 std::to_string(discounts[j - 1]);
        break;
      }
    }
  }
  if (reason.empty()) return discounts;
  if (!options_.fallback) throw DiscountError(order, reason);
  model_.fallen_back_.push_back(order);
  return *options_.fallback;
}

// Probabilities of this order, from those of the suffixes; and the back-off weights of its contexts.
void KneserNey::interpolate(int order, const std::vector<Context>& contexts,
                            const std::vector<std::uint32_t>& counts, const Discounts& discounts) {
  std::vector<float> left(contexts.size());  // the mass for shorter contexts
  for (std::size_t i = 0; i < contexts.size(); ++i) {
    const Context& context = contexts[i];
    if (context.total == 0) {
      left[i] = 1.0F;
      continue;
    }
    float mass = 0.0F;
    for (std::size_t j = 0; j < 3; ++j) mass += discounts[j] * static_cast<float>(context.kept[j]);
    left[i] = (mass + static_cast<float>(context.pruned)) / static_cast<float>(context.total);
  }
  NgramLevel& level = model_.levels_[static_cast<std::size_t>(order - 1)];
  NgramLevel* const shorter = order == 1 ? nullptr : &model_.levels_[static_cast<std::size_t>(order - 2)];
  // <unk> is a word to draw, <s> is not.
  const float uniform = 1.0F / static_cast<float>(level.position.size() - 1);
  level.prob.resize(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint32_t position = level.position[i];
    const std::uint32_t context = shorter == nullptr ? 0 : entry_[position - 1];
    const float suffix = shorter == nullptr ? uniform : shorter->prob[entry_[position]];
    const float kept =
        counts[i] == 0 ? 0.0F : static_cast<float>(counts[i]) - discounts[std::min(counts[i], 3U) - 1];
    level.prob[i] = kept / static_cast<float>(contexts[context].total) + left[context] * suffix;
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
    std::fill(entry_.begin(), entry_.end(), kBos);  // the others follow
    next = 2;
  }
  for_ngrams(order, [&](std::size_t begin, std::size_t end, std::uint32_t) {
    const bool kept = next < positions.size() && positions[next] == sorted_[begin];
    const std::uint32_t entry = kept ? static_cast<std::uint32_t>(next++) : kNone;
    for (std::size_t i = begin; i < end; ++i) entry_[sorted_[i]] = entry;
  });
}

}  // namespace smt
