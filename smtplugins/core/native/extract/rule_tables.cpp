#include "extract/rule_tables.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "extract/links.hpp"
#include "extract/numbers.hpp"

namespace smt {
namespace {

constexpr std::size_t kBatch = 4096;  // pairs
constexpr double kLeastProb = 1e-6;   // Thrax's probability of unseen events
constexpr double kUnknown = 99;       // cdec's cost of a word without a translation

void append_feature(std::string& out, const char* name, double value) {
  out += name;
  append_short(out, value + 0.0);  // no -0
  out += ' ';
}

void append_cost(std::string& out, const char* name, double value) {
  out += name;
  if (std::abs(value) < 5e-6) {
    out += "0 ";
    return;
  }
  char text[64];
  out.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 5).ptr);
  out += ' ';
}

}  // namespace

RuleWriter::RuleWriter(const RuleExtractor& extractor, const LexicalTable& target_given_source,
                       const LexicalTable& source_given_target, RuleFormat format)
    : bitext_(extractor.bitext()),
      symbols_(extractor.symbols()),
      forward_(target_given_source),
      backward_(source_given_target),
      format_(format),
      groups_(symbols_) {}

void RuleWriter::write(const CountedPair& pair, const Totals& totals) {
  groups_.read(pair);
  Scores scores{};
  scores.source = as_printed(totals.source.value());
  scores.target = as_printed(totals.target.value());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const CountedRule& rule = groups_[i];
    scores.count = as_printed(rule.forward.value());
    scores.target_given_source = scores.count / scores.source;
    scores.source_given_target = as_printed(rule.backward.value()) / scores.target;
    switch (format_) {
      case RuleFormat::kMoses: write_moses(pair, rule, scores); break;
      case RuleFormat::kCdec: write_cdec(pair, rule, scores); break;
      case RuleFormat::kJoshua: write_joshua(pair, rule, scores); break;
    }
  }
}

// A gap is linked with a gap, which is in no lexical table, and counts 1.
double RuleWriter::forward_weight(const CountedPair& pair, const CountedRule& rule) const {
  return lexical_weight(forward_, pair.source.data(), pair.target.data(),
                        symbols_.length(pair.target.size()), rule.links);
}

double RuleWriter::backward_weight(const CountedPair& pair, const CountedRule& rule) const {
  return lexical_weight(backward_, pair.target.data(), pair.source.data(),
                        symbols_.length(pair.source.size()), rule.inverse);
}

void RuleWriter::write_moses(const CountedPair& pair, const CountedRule& rule, const Scores& scores) {
  write_sides(pair);
  append_short(lines_, scores.source_given_target);
  lines_ += ' ';
  append_short(lines_, static_cast<float>(backward_weight(pair, rule)));
  lines_ += ' ';
  append_short(lines_, scores.target_given_source);
  lines_ += ' ';
  append_short(lines_, static_cast<float>(forward_weight(pair, rule)));
  lines_ += " |||";
  // Moses sorts points as text.
  points_.clear();
  for (const Link& link : rule.links) append_link(points_.emplace_back(" "), link.source, link.target);
  std::sort(points_.begin(), points_.end());
  for (const std::string& point : points_) lines_ += point;
  lines_ += " ||| ";
  append_short(lines_, scores.target);
  lines_ += ' ';
  append_short(lines_, scores.source);
  lines_ += ' ';
  append_short(lines_, scores.count);
  lines_ += " ||| |||\n";
}

void RuleWriter::write_sides(const CountedPair& pair) {
  for (const std::uint32_t symbol : pair.source) {
    lines_ += bitext_.source_words().word(symbol);
    lines_ += ' ';
  }
  lines_ += "||| ";
  for (const std::uint32_t symbol : pair.target) {
    lines_ += bitext_.target_words().word(symbol);
    lines_ += ' ';
  }
  lines_ += "||| ";
}

// Links of words, by source; a blank if there are none.
void RuleWriter::write_word_links(const CountedPair& pair, const CountedRule& rule) {
  std::vector<Link> links = rule.links;
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return a.source != b.source ? a.source < b.source : a.target < b.target;
  });
  const std::size_t begin = lines_.size();
  for (const Link& link : links) {
    if (symbols_.is_gap(pair.source[link.source])) continue;
    lines_ += ' ';
    append_link(lines_, link.source, link.target);
  }
  if (lines_.size() == begin) lines_ += ' ';
}

// cdec's: each word is scored by its most likely word on the other side, or NULL.
double RuleWriter::most_likely(const LexicalTable& table, WordSpan given, WordSpan words) const {
  double cost = 0;
  for (const std::uint32_t word : words) {
    if (symbols_.is_gap(word)) continue;
    const double* prob = table.find(kNullWord, word);
    double best = prob == nullptr ? 0 : *prob;
    for (const std::uint32_t origin : given) {
      if (symbols_.is_gap(origin)) continue;
      prob = table.find(origin, word);
      if (prob != nullptr) best = std::max(best, *prob);
    }
    cost += best > 0 ? -std::log10(best) : kUnknown;
  }
  return cost;
}

void RuleWriter::write_cdec(const CountedPair& pair, const CountedRule& rule, const Scores& scores) {
  lines_ += "[X] ||| ";
  write_sides(pair);
  const auto is_one = [](float count) { return std::abs(count - 1) < 1e-6F ? 1.0 : 0.0; };
  append_feature(lines_, "EgivenF=", -std::log10(scores.target_given_source));
  append_feature(lines_, "FgivenE=", -std::log10(scores.source_given_target));
  append_feature(lines_, "CountEF=", std::log10(1.0 + static_cast<double>(scores.count)));
  append_feature(lines_, "MaxLexFgivenE=", most_likely(backward_, pair.target, pair.source));
  append_feature(lines_, "MaxLexEgivenF=", most_likely(forward_, pair.source, pair.target));
  append_feature(lines_, "IsSingletonF=", is_one(scores.source));
  append_feature(lines_, "IsSingletonFE=", is_one(scores.count));
  lines_ += "|||";
  write_word_links(pair, rule);
  lines_ += '\n';
}

// Thrax's: each word is scored by the mean over its linked words, or NULL.
double RuleWriter::mean_cost(const LexicalTable& table, WordSpan given, WordSpan words,
                             const std::vector<Link>& links) const {
  const auto prob = [&table, &words](std::uint32_t origin, std::size_t place) {
    const double* entry = table.find(origin, words[place]);
    return entry == nullptr ? 0 : *entry;
  };
  double cost = 0;
  auto link = links.begin();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto first = link;
    double sum = 0;
    for (; link != links.end() && link->target == i; ++link) sum += prob(given[link->source], i);
    if (symbols_.is_gap(words[i])) continue;
    const double mean = link == first ? prob(kNullWord, i) : sum / static_cast<double>(link - first);
    cost -= std::log(std::max(mean, kLeastProb));
  }
  return cost;
}

void RuleWriter::write_joshua(const CountedPair& pair, const CountedRule& rule, const Scores& scores) {
  lines_ += "[X] ||| ";
  write_sides(pair);
  const auto cost = [](double prob) { return -std::log(prob); };
  append_cost(lines_, "e_given_f_lex=", mean_cost(forward_, pair.source, pair.target, rule.links));
  append_cost(lines_, "e_given_f_phrase=", cost(static_cast<double>(scores.target_given_source)));
  append_cost(lines_, "f_given_e_lex=", mean_cost(backward_, pair.target, pair.source, rule.inverse));
  append_cost(lines_, "f_given_e_phrase=", cost(static_cast<double>(scores.source_given_target)));
  lines_ += "phrase_penalty=1 ";
  append_cost(lines_, "rarity=", std::exp(1 - static_cast<double>(scores.count)));
  lines_ += "|||";
  write_word_links(pair, rule);
  lines_ += " ||| ";
  append_short(lines_, scores.count);
  lines_ += '\n';
}

RuleTable::RuleTable(const RuleExtractor& extractor, const LexicalTable& target_given_source,
                     const LexicalTable& source_given_target, RuleFormat format, int threads, std::uint64_t memory,
                     std::shared_ptr<SpillFolder> folder)
    : writer_(extractor, target_given_source, source_given_target, format),
      threads_(static_cast<std::size_t>(threads)),
      sums_(sums(extractor, memory, std::move(folder))),
      stream_(extractor.pairs()) {}

SideSums<CountSum> RuleTable::sums(const RuleExtractor& extractor, std::uint64_t memory,
                                   std::shared_ptr<SpillFolder> folder) {
  RuleGroups groups(extractor.symbols());
  return {extractor.pairs(), memory, std::move(folder),
          [&](const CountedPair& pair, std::vector<CountSum>& source, std::vector<CountSum>& target) {
            groups.read(pair);
            for (std::size_t i = 0; i < groups.size(); ++i) source.push_back(groups[i].forward);
            for (const std::size_t i : groups.backwards()) target.push_back(groups[i].backward);
            rules_ += groups.size();
          }};
}

// Pairs handed to another thread.
class RuleTable::Batch {
 public:
  void add(const CountedPair& pair, const RuleWriter::Totals& totals) {
    words_.insert(words_.end(), pair.source.begin(), pair.source.end());
    words_.insert(words_.end(), pair.target.begin(), pair.target.end());
    for (const Variant& variant : pair.variants) {
      bytes_ += variant.bytes;
      variants_.push_back({variant.bytes.size(), variant.count});
    }
    items_.push_back({pair.source.size(), pair.target.size(), pair.variants.size(), totals});
  }
  bool empty() const noexcept { return items_.empty(); }
  std::size_t size() const noexcept { return items_.size(); }
  void write(RuleWriter& writer) const {
    CountedPair pair;
    const std::uint32_t* word = words_.data();
    const Piece* piece = variants_.data();
    std::string_view bytes = bytes_;
    for (const Item& item : items_) {
      pair.source = {word, item.sources};
      pair.target = {word + item.sources, item.targets};
      word += item.sources + item.targets;
      pair.variants.clear();
      for (std::size_t i = 0; i < item.variants; ++i, ++piece) {
        pair.variants.push_back({bytes.substr(0, piece->length), piece->count});
        bytes.remove_prefix(piece->length);
      }
      writer.write(pair, item.totals);
    }
  }

 private:
  struct Item {
    std::size_t sources, targets, variants;
    RuleWriter::Totals totals;
  };
  struct Piece {
    std::size_t length;
    std::uint64_t count;
  };
  std::vector<Item> items_;
  std::vector<std::uint32_t> words_;
  std::vector<Piece> variants_;
  std::string bytes_;
};

std::string RuleTable::next() {
  if (threads_ == 1) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      const CountedPair* pair = stream_.next();
      if (pair == nullptr) break;
      writer_.write(*pair, sums_.of(*pair));
    }
    return writer_.take_lines();
  }
  const auto lines = [](const Batch& batch, RuleWriter writer) {
    batch.write(writer);
    return writer.take_lines();
  };
  while (!ended_ && ahead_.size() < threads_) {
    Batch batch;
    while (batch.size() < kBatch) {
      const CountedPair* pair = stream_.next();
      ended_ = pair == nullptr;
      if (ended_) break;
      batch.add(*pair, sums_.of(*pair));
    }
    if (!batch.empty()) ahead_.push_back(std::async(std::launch::async, lines, std::move(batch), writer_));
  }
  if (ahead_.empty()) return {};
  std::string block = ahead_.front().get();
  ahead_.pop_front();
  return block;
}

}  // namespace smt
