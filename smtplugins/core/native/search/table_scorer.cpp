#include "search/table_scorer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "lm/lm_state.hpp"

namespace smt {
namespace {

// More means a misread table, or would make searches impossible.
constexpr std::int32_t kMostComponents = 1 << 16;
constexpr std::size_t kLargestState = std::size_t{1} << 20U;

// A serial is unique in a process.
std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string_view message_of(const smt_error_v1& error) noexcept {
  const char* const end = static_cast<const char*>(std::memchr(error.message, 0, SMT_ERROR_CAPACITY));
  return {error.message, end == nullptr ? SMT_ERROR_CAPACITY : static_cast<std::size_t>(end - error.message)};
}

std::string failure(const std::string& name, const char* function, const smt_error_v1& error) {
  const std::string_view said = message_of(error);
  return name + ": " + function + " failed" + (said.empty() ? ", without saying why" : ": " + std::string(said));
}

void check_table(const std::string& name, const smt_feature_v1& table) {
  const auto refuse = [&](const std::string& why) { throw std::invalid_argument(name + ": " + why); };
  if (table.version != SMT_FEATURE_V1) {
    refuse("expected version 1 of smt_feature_v1, found " + std::to_string(table.version));
  }
  if (table.size < sizeof(smt_feature_v1)) {
    refuse("expected a table of " + std::to_string(sizeof(smt_feature_v1)) + " bytes, found " +
           std::to_string(table.size));
  }
  if (table.components < 1 || table.components > kMostComponents) {
    refuse("expected 1 to " + std::to_string(kMostComponents) + " components, found " +
           std::to_string(table.components));
  }
  if (table.state_size % SMT_STATE_ALIGNMENT != 0 || table.state_size > kLargestState) {
    refuse("expected a state size that is a multiple of 8 and no more than " + std::to_string(kLargestState) +
           ", found " + std::to_string(table.state_size));
  }
  if (table.clone == nullptr || table.release == nullptr || table.start == nullptr || table.combine_batch == nullptr) {
    refuse("clone, release, start and combine_batch must not be NULL");
  }
  for (std::int32_t c = 0; table.component_names != nullptr && c < table.components; ++c) {
    if (table.component_names[c] == nullptr) refuse("component " + std::to_string(c) + " has no name");
  }
}

// One thread at a time may use the prototype; the GIL is not held.
smt_feature_v1* clone_of(const smt_feature_v1& prototype, smt_error_v1& error) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  return prototype.clone(&prototype, &error);
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size() + 1);  // never NULL
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace

WordTexts::WordTexts() : table_{this, next_serial(), &WordTexts::word, &WordTexts::find} {}

std::pair<std::size_t, std::size_t> WordTexts::place_of(std::size_t number) noexcept {
  const std::size_t shifted = number + kFirst;
  const auto chunk = static_cast<std::size_t>(std::bit_width(shifted / kFirst)) - 1;
  return {chunk, shifted - (kFirst << chunk)};
}

void WordTexts::add(std::size_t first, std::span<const std::string_view> words) {
  const std::lock_guard<std::shared_mutex> lock(mutex_);
  std::size_t size = this->size();
  if (first > size) throw std::invalid_argument("words are numbered one after the other");
  const std::size_t known = std::min(size - first, words.size());
  words = words.subspan(known);
  if (words.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()) - size) {
    throw std::invalid_argument("more words than can be numbered");
  }
  std::size_t bytes = 0;
  for (const std::string_view word : words) bytes += word.size() + 1;
  if (words.empty()) return;
  char* at = texts_.emplace_back(std::make_unique<char[]>(bytes)).get();
  for (const std::string_view word : words) {
    std::copy(word.begin(), word.end(), at);
    at[word.size()] = 0;
    const auto [chunk, place] = place_of(size);
    if (place == 0) {
      chunks_[chunk].store(owned_.emplace_back(std::make_unique<Entry[]>(kFirst << chunk)).get(),
                           std::memory_order_release);
    }
    chunks_[chunk].load(std::memory_order_relaxed)[place] = {at, word.size()};
    numbers_.emplace(std::string_view(at, word.size()), static_cast<std::int32_t>(size));
    at += word.size() + 1;
    size_.store(++size, std::memory_order_release);
  }
}

const char* WordTexts::word(const smt_vocabulary_v1* vocabulary, std::int32_t number, std::size_t* length) {
  const WordTexts& own = *static_cast<const WordTexts*>(vocabulary->self);
  if (number < 0 || static_cast<std::size_t>(number) >= own.size()) return nullptr;
  const auto [chunk, place] = place_of(static_cast<std::size_t>(number));
  const Entry& entry = own.chunks_[chunk].load(std::memory_order_acquire)[place];
  if (length != nullptr) *length = entry.length;
  return entry.text;
}

std::int32_t WordTexts::find(const smt_vocabulary_v1* vocabulary, const char* text, std::size_t length) {
  const WordTexts& own = *static_cast<const WordTexts*>(vocabulary->self);
  const std::shared_lock<std::shared_mutex> lock(own.mutex_);
  const auto entry = own.numbers_.find(std::string_view(text, length));
  return entry == own.numbers_.end() ? -1 : entry->second;
}

SentenceTexts::SentenceTexts(std::string id, std::vector<std::string> tokens, std::vector<std::string> names,
                             std::vector<std::string> values, std::shared_ptr<const WordTexts> words)
    : id_(std::move(id)),
      tokens_(std::move(tokens)),
      names_(std::move(names)),
      values_(std::move(values)),
      token_texts_(pointers(tokens_)),
      name_texts_(pointers(names_)),
      value_texts_(pointers(values_)),
      words_(std::move(words)),
      record_{id_.c_str(),
              token_texts_.data(),
              static_cast<std::int64_t>(tokens_.size()),
              name_texts_.data(),
              value_texts_.data(),
              static_cast<std::int64_t>(names_.size()),
              &words_->table()} {}

TableScorer::TableScorer(std::string name, std::shared_ptr<const smt_feature_v1> prototype)
    : name_(std::move(name)), prototype_(std::move(prototype)) {
  check_table(name_, *prototype_);
  components_ = static_cast<std::size_t>(prototype_->components);
  state_bytes_ = prototype_->state_size;
  clone_ = clone_of(*prototype_, *fresh_error());
  if (clone_ == nullptr) throw FeatureFault(failure(name_, "clone", error_));
  try {
    check_table(name_ + ", cloned", *clone_);
    if (clone_->components != prototype_->components || clone_->state_size != prototype_->state_size) {
      throw std::invalid_argument(name_ + ": a clone has other columns or states than what it was made from");
    }
  } catch (...) {
    if (clone_->release != nullptr) clone_->release(clone_);
    throw;
  }
}

TableScorer::~TableScorer() { clone_->release(clone_); }

void TableScorer::start(std::shared_ptr<const SentenceTexts> sentence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  next_ = std::move(sentence);
}

std::vector<std::string> TableScorer::names() const {
  std::vector<std::string> result;
  for (std::size_t c = 0; c < components_; ++c) {
    if (prototype_->component_names != nullptr) {
      result.emplace_back(prototype_->component_names[c]);
    } else {
      result.push_back(components_ == 1 ? name_ : name_ + "[" + std::to_string(c) + "]");
    }
  }
  return result;
}

smt_error_v1* TableScorer::fresh_error() noexcept {
  error_.message[0] = 0;
  return &error_;
}

void TableScorer::check(int code, const char* function) {
  if (code != 0) throw FeatureFault(failure(name_, function, error_));
}

double* TableScorer::fresh_scores(std::size_t items) {
  // Detects scores that were not written.
  scores_.assign(items * components_, std::numeric_limits<double>::quiet_NaN());
  return scores_.data();
}

void TableScorer::read_scores(const double* scores, float* values, const char* function) const {
  for (std::size_t c = 0; c < components_; ++c) {
    values[c] = static_cast<float>(scores[c]);
    if (std::isfinite(values[c])) continue;
    throw FeatureFault(name_ + ": expected finite scores from " + function + ", found " + std::to_string(scores[c]) +
                       " (or one was not written)");
  }
}

void TableScorer::prepare(const TargetRules& rules, std::span<const std::int32_t> chosen, float* estimates) {
  std::shared_ptr<const SentenceTexts> next;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    next = std::exchange(next_, nullptr);
  }
  if (next != nullptr) {
    started_ = false;
    const int code = clone_->start(clone_, &next->record(), fresh_error());
    sentence_ = std::move(next);  // the previous sentence had to live until now
    check(code, "start");
    started_ = true;
  }
  if (!started_) throw FeatureFault(name_ + ": no sentence is begun");

  targets_.offsets.assign(1, 0);
  targets_.values.clear();
  gaps_.offsets.assign(1, 0);
  gaps_.values.clear();
  for (const std::int32_t rule : chosen) {
    std::int32_t child = 0;
    for (const std::int32_t symbol : rules.targets[static_cast<std::size_t>(rule)]) {
      targets_.values.push_back(symbol >= 0 ? symbol : -1 - child++);
      if (symbol < 0) gaps_.values.push_back(-1 - symbol);
    }
    targets_.end_part();
    gaps_.end_part();
  }
  if (clone_->estimate == nullptr || chosen.empty()) {
    std::fill_n(estimates, chosen.size() * components_, 0.0F);
    return;
  }
  targets_.values.reserve(1);  // never NULL
  smt_edges_v1 edges{};
  edges.count = static_cast<std::int64_t>(chosen.size());
  edges.target = targets_.values.data();
  edges.target_offsets = targets_.offsets.data();
  double* const scores = fresh_scores(chosen.size());
  check(clone_->estimate(clone_, &edges, scores, fresh_error()), "estimate");
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    read_scores(scores + i * components_, estimates + i * components_, "estimate");
  }
}

void TableScorer::combine(const Batch& batch) {
  if (batch.size == 0) return;
  target_.clear();
  tails_.clear();
  target_offsets_.assign(1, 0);
  tail_offsets_.assign(1, 0);
  target_.reserve(1);  // neither is ever NULL
  tails_.reserve(1);
  for (std::size_t i = 0; i < batch.size; ++i) {
    const auto rule = static_cast<std::size_t>(batch.rules[i]);
    const auto target = targets_[rule];
    target_.insert(target_.end(), target.begin(), target.end());
    target_offsets_.push_back(static_cast<std::int64_t>(target_.size()));
    const auto tails = batch.tails_of(i);
    for (const std::int32_t gap : gaps_[rule]) tails_.push_back(tails[static_cast<std::size_t>(gap)]);
    tail_offsets_.push_back(static_cast<std::int64_t>(tails_.size()));
  }
  smt_edges_v1 edges{};
  edges.count = static_cast<std::int64_t>(batch.size);
  edges.target = target_.data();
  edges.target_offsets = target_offsets_.data();
  if (state_bytes_ != 0) {
    edges.tails = tails_.data();
    edges.tail_offsets = tail_offsets_.data();
  }
  states_.assign(batch.size * (state_bytes_ / sizeof(std::uint64_t)), 0);
  double* const scores = fresh_scores(batch.size);
  check(clone_->combine_batch(clone_, &edges, scores, state_bytes_ == 0 ? nullptr : states_.data(), fresh_error()),
        "combine_batch");
  const auto* const states = reinterpret_cast<const std::byte*>(states_.data());
  for (std::size_t i = 0; i < batch.size; ++i) {
    read_scores(scores + i * components_, batch.values(i), "combine_batch");
    if (state_bytes_ != 0) std::memcpy(batch.state(i), states + i * state_bytes_, state_bytes_);
  }
}

void TableScorer::finish(const std::byte* state, bool /*begun*/, float* values) {
  if (clone_->finish == nullptr) return;
  const void* const only_state = state;
  double* const scores = fresh_scores(1);
  check(clone_->finish(clone_, 1, state_bytes_ == 0 ? nullptr : &only_state, scores, fresh_error()), "finish");
  finished_.resize(components_);
  read_scores(scores, finished_.data(), "finish");
  for (std::size_t c = 0; c < components_; ++c) values[c] += finished_[c];
}

std::uint64_t TableScorer::hash(const std::byte* state) const noexcept {
  std::uint64_t sum = state_bytes_;
  for (std::size_t at = 0; at < state_bytes_; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, state + at, sizeof word);
    sum = mix(sum, word);
  }
  return sum;
}

bool TableScorer::equal(const std::byte* a, const std::byte* b) const noexcept {
  return state_bytes_ == 0 || std::memcmp(a, b, state_bytes_) == 0;
}

}  // namespace smt
