#include "extract/rule_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <future>
#include <utility>

#include "extract/links.hpp"
#include "extract/numbers.hpp"

namespace smt {
namespace {

constexpr std::size_t kCountBytes = sizeof(float);
constexpr float kExact = 16777216.0F;  // whole numbers up to this are exact floats
constexpr std::size_t kPiece = 64;     // sentence pairs

}  // namespace

void CountSum::add(float count, std::uint64_t times) noexcept {
  const float more = count * static_cast<float>(times);
  exact_ += static_cast<double>(count) * static_cast<double>(times);
  if (count == std::floor(count) && single_ == std::floor(single_) && times < (1U << 24U) && single_ + more < kExact) {
    single_ += more;
    return;
  }
  for (; times > 0; --times) {
    const float before = single_;
    single_ += count;
    if (single_ == before) return;  // the sum no longer grows
  }
}

RuleExtractor::RuleExtractor(const RuleLimits& limits, bool numbered, bool skip_bad, bool count_words, int threads,
                             std::uint64_t memory, std::shared_ptr<SpillFolder> folder)
    : symbols_(numbered, limits.gaps),
      count_words_(count_words),
      threads_(static_cast<std::size_t>(threads)),
      bitext_(skip_bad),
      finders_(threads_, RuleFinder(limits, symbols_)),
      pairs_(memory, std::move(folder)) {
  for (WordList* words : {&bitext_.source_words(), &bitext_.target_words()}) {
    for (const std::string& symbol : symbols_.words()) words->add(symbol);
  }
}

void RuleExtractor::feed(std::string_view source, std::string_view target, std::string_view links) {
  sentences_.clear();
  bitext_.parse(source, target, links, [this](const SentencePair& pair, bool sound) {
    if (count_words_) lexical_.add(pair);
    if (sound) sentences_.push_back(pair);
  });
  if (threads_ > 1) {
    extract_ahead();
    return;
  }
  for (const SentencePair& pair : sentences_) {
    finders_[0].find(pair, [this](const FoundRule& rule) { add(rule); });
    pairs_.relieve(bitext_.source_words(), bitext_.target_words());
  }
}

// The rules of some sentences: numbers of symbols and links, the count's bits, then the symbols and links.
class RuleExtractor::Ahead {
 public:
  void add(const FoundRule& rule) {
    const auto size = [](const auto& span) { return static_cast<std::uint32_t>(span.size()); };
    numbers_.insert(numbers_.end(), {size(rule.source), size(rule.target), size(rule.links),
                                     std::bit_cast<std::uint32_t>(rule.count)});
    for (const auto& part : {rule.source, rule.target, rule.links}) {
      numbers_.insert(numbers_.end(), part.begin(), part.end());
    }
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const std::uint32_t* at = numbers_.data(); at != numbers_.data() + numbers_.size();) {
      const std::size_t sources = at[0], targets = at[1], links = at[2];
      const auto count = std::bit_cast<float>(at[3]);
      at += 4;
      visit(FoundRule{{at, sources}, {at + sources, targets}, {at + sources + targets, links}, count});
      at += sources + targets + links;
    }
  }

 private:
  std::vector<std::uint32_t> numbers_;
};

// Other threads extract the rules of pieces of the text; this one counts them in the order of the text.
void RuleExtractor::extract_ahead() {
  const std::size_t pieces = (sentences_.size() + kPiece - 1) / kPiece;
  const auto find = [this](std::size_t piece, RuleFinder& finder) {
    Ahead rules;
    const std::size_t end = std::min(sentences_.size(), (piece + 1) * kPiece);
    for (std::size_t i = piece * kPiece; i < end; ++i) {
      finder.find(sentences_[i], [&rules](const FoundRule& rule) { rules.add(rule); });
    }
    return rules;
  };
  std::deque<std::future<Ahead>> ahead;
  std::size_t next = 0;
  const auto start = [&] {
    // A finder is reused when its last piece is done: at most one piece fewer than there are finders is in flight.
    if (next < pieces) {
      ahead.push_back(std::async(std::launch::async, find, next, std::ref(finders_[next % threads_])));
      ++next;
    }
  };
  while (next < pieces && next + 1 < threads_) start();
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const Ahead rules = ahead.front().get();
    ahead.pop_front();
    start();
    rules.for_each([this](const FoundRule& rule) { add(rule); });
    pairs_.relieve(bitext_.source_words(), bitext_.target_words());
  }
}

void RuleExtractor::add(const FoundRule& rule) {
  const float count = as_printed(rule.count);
  variant_.resize(kCountBytes + 2 * rule.links.size());
  std::memcpy(variant_.data(), &count, kCountBytes);
  char* at = variant_.data() + kCountBytes;
  for (const std::uint32_t link : rule.links) {
    *at++ = static_cast<char>(link_source(link));
    *at++ = static_cast<char>(link_target(link));
  }
  pairs_.add(rule.source, rule.target, variant_);
}

void RuleExtractor::finish() { pairs_.finish(bitext_.source_words(), bitext_.target_words()); }

CountedRule& RuleGroups::append() {
  if (size_ == rules_.size()) rules_.emplace_back();
  CountedRule& rule = rules_[size_++];
  rule.forward = rule.backward = {};
  return rule;
}

void RuleGroups::read(const CountedPair& pair) {
  size_ = 0;
  backwards_.clear();
  if (pair.variants.size() == 1) {
    const std::string_view bytes = pair.variants[0].bytes;
    float count = 0;
    std::memcpy(&count, bytes.data(), kCountBytes);
    CountedRule& rule = append();
    rule.forward.add(count, pair.variants[0].count);
    rule.backward = rule.forward;
    read_links(bytes.substr(kCountBytes), false, rule.links);
    read_links(bytes.substr(kCountBytes), true, rule.inverse);
    backwards_.push_back(0);
    return;
  }
  const auto gaps = static_cast<std::size_t>(std::count_if(
      pair.source.begin(), pair.source.end(), [this](std::uint32_t symbol) { return symbols_.is_gap(symbol); }));
  groups_.clear();
  read_lines(pair, gaps, false);
  read_lines(pair, gaps, true);
  if (!symbols_.numbered()) return;
  // Only Moses looks for the alignment of either direction.
  for (std::size_t i = 0; i < size_; ++i) {
    std::vector<Link>& inverse = rules_[i].inverse;
    inverse.clear();
    for (const Link& link : rules_[i].links) inverse.push_back({link.target, link.source});
    sort_by_word(inverse);
  }
}

std::size_t RuleGroups::place_of(std::string_view gaps) {
  std::size_t at = 0;
  while (at < groups_.size() && groups_[at].gaps != gaps) ++at;
  if (at == groups_.size()) {
    groups_.push_back({gaps, {}});
    append();
  }
  return at;
}

// Counts are floats, added up in the order of Moses' sorted lines.
void RuleGroups::read_lines(const CountedPair& pair, std::size_t gaps, bool inverse) {
  lines_.clear();
  for (const Variant& variant : pair.variants) {
    const std::string_view links = variant.bytes.substr(kCountBytes);
    Line line{{}, links, links.substr(links.size() - 2 * gaps), 0, variant.count};
    std::memcpy(&line.count, variant.bytes.data(), kCountBytes);
    for (std::size_t i = 0; i < links.size(); i += 2) {
      const unsigned source = byte_at(links, i), target = byte_at(links, i + 1);
      append_link(line.text, inverse ? target : source, inverse ? source : target);
      line.text += ' ';
    }
    line.text += "||| ";
    append_short(line.text, line.count);
    line.text += ' ';
    lines_.push_back(std::move(line));
  }
  std::sort(lines_.begin(), lines_.end(), [](const Line& a, const Line& b) { return a.text < b.text; });
  for (Group& group : groups_) group.alignments.clear();
  for (const Line& line : lines_) {
    const std::size_t place = place_of(line.gaps);
    if (inverse && std::find(backwards_.begin(), backwards_.end(), place) == backwards_.end()) {
      backwards_.push_back(place);
    }
    (inverse ? rules_[place].backward : rules_[place].forward).add(line.count, line.times);
    std::vector<Alignment>& known = groups_[place].alignments;
    auto at = std::find_if(known.begin(), known.end(),
                           [&](const Alignment& alignment) { return alignment.links == line.links; });
    if (at == known.end()) at = known.insert(at, {line.links, {}});
    at->count.add(line.count, line.times);
  }
  // The most frequent alignment; of equally frequent ones the greatest.
  std::vector<Link> links;
  for (std::size_t place = 0; place < size_; ++place) {
    std::vector<Link>& best = inverse ? rules_[place].inverse : rules_[place].links;
    float most = 0;
    for (const Alignment& alignment : groups_[place].alignments) {
      const float count = alignment.count.value();
      if (count < most) continue;
      read_links(alignment.links, inverse, links);
      if (count > most || is_greater(links, best)) best.swap(links);
      most = count;
    }
  }
}

}  // namespace smt
