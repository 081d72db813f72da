#include "compact/phrase_table.hpp"

#include <algorithm>

namespace smt::compact {
namespace {

constexpr std::size_t kLongest = 4096;
constexpr std::size_t kMostPoints = 1U << 16U;
constexpr std::uint64_t kMostMade = std::uint64_t{1} << 24U;
constexpr std::uint16_t kEndOfPoints = 0xFFFF;
constexpr std::uint32_t kEndOfWords = 0;
constexpr std::uint64_t kPadding = 8;  // fewer bits cannot be another translation

std::uint64_t bounded(Cursor& cursor, std::uint64_t least, std::uint64_t most, const char* what) {
  const auto value = cursor.number<std::uint64_t>(what);
  if (value < least || value > most) {
    throw BadTable(std::string(what) + " from " + std::to_string(least) + " to " + std::to_string(most),
                   std::to_string(value));
  }
  return value;
}

void sort_points(Points& points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
}

}  // namespace

PhraseTable::PhraseTable(std::string_view file) {
  Cursor cursor(file);
  index_ = PhraseIndex::read(cursor);
  const auto coding = cursor.number<std::uint32_t>("the encoding");
  if (coding > static_cast<std::uint32_t>(Coding::phrase_ranks)) {
    throw BadTable("an encoding of 0 (None), 1 (REnc) or 2 (PREnc)", std::to_string(coding));
  }
  coding_ = static_cast<Coding>(coding);
  scores_ = bounded(cursor, 1, 1024, "a number of scores");
  const bool aligned = cursor.flag("whether there are alignments");
  most_ranks_ = bounded(cursor, 0, ~std::uint64_t{0}, "a number of ranks");
  longest_ = bounded(cursor, 1, kLongest, "a number of words of the longest phrase");
  if (coding_ == Coding::ranks) {
    source_words_ = PackedStrings::read<std::uint32_t>(cursor, "source words");
    lexicon_starts_ = cursor.counted<std::uint64_t>("places of translations of words");
    lexicon_ = cursor.counted<std::uint64_t>("translations of words");
  }
  target_words_ = PackedStrings::read<std::uint32_t>(cursor, "target words");
  symbols_ = Huffman<std::uint32_t>::read(cursor, "target words");
  const std::size_t codes = cursor.flag("whether each score has its own codes") ? scores_ : 1;
  for (std::size_t i = 0; i < codes; ++i) score_codes_.push_back(Huffman<float>::read(cursor, "scores"));
  if (aligned) alignments_ = Huffman<std::uint16_t>::read(cursor, "alignment points");
  entries_ = PackedStrings::read<std::uint64_t>(cursor, "entries of phrases");
}

std::string_view PhraseTable::target_word(std::uint32_t number) const {
  if (number >= target_words_.size()) throw BadTable("a number of a target word", std::to_string(number));
  return target_words_[number];
}

std::shared_ptr<const Translations> PhraseLookup::find(const Words& words, std::size_t first, std::size_t last,
                                                       bool whole) {
  if (last - first > table_.longest_ || last == first) return nullptr;
  if (whole) made_ = 0;
  std::string key;
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) key += ' ';
    key += words[i];
  }
  key += " ||| ";
  // Translations of parts are looked up again and again.
  if (!whole) {
    if (const auto known = parts_.find(key); known != parts_.end()) return known->second;
  }
  std::shared_ptr<const Translations> found;
  const std::optional<std::uint64_t> number = table_.index_.find(key);
  if (number && *number < table_.entries_.size()) {
    auto translations = std::make_shared<Translations>();
    if (decode({words, first, last}, table_.entries_[*number], whole, *translations)) found = std::move(translations);
  }
  if (!whole) parts_.emplace(std::move(key), found);
  return found;
}

// False if the entry belongs to another phrase, with the same fingerprint.
bool PhraseLookup::decode(const Phrase& phrase, std::string_view entry, bool whole, Translations& found) {
  const std::size_t most = whole || table_.coding_ != PhraseTable::Coding::phrase_ranks ? 0 : table_.most_ranks_;
  Bits bits(entry);
  while (bits.left() > 0) {
    Translation made;
    for (std::uint32_t symbol = 0; (symbol = table_.symbols_->next(bits)) != kEndOfWords;) {
      if (!add_symbol(symbol, phrase, found, made)) return false;
      if (made.words.size() > kLongest) throw BadTable("translations of at most 4096 words", "more");
      if (made.points.size() > kMostPoints) sort_points(made.points);
      if (made.points.size() > kMostPoints) throw BadTable("at most 65536 alignment points", "more");
    }
    for (std::size_t i = 0; i < table_.scores_; ++i) {
      made.scores.push_back(table_.score_codes_[table_.score_codes_.size() > 1 ? i : 0].next(bits));
    }
    if (table_.alignments_) {
      for (std::uint16_t point = 0; (point = table_.alignments_->next(bits)) != kEndOfPoints;) {
        made.points.emplace_back(point & 0xFFU, point >> 8U);
      }
    }
    sort_points(made.points);
    made_ += made.words.size() + made.points.size() + 1;
    if (made_ > kMostMade) throw BadTable("a source phrase with at most 2^24 target words and points", "more");
    found.push_back(std::move(made));
    if ((most != 0 && found.size() >= most) || bits.left() <= kPadding) break;
  }
  return true;
}

bool PhraseLookup::add_symbol(std::uint32_t symbol, const Phrase& phrase, const Translations& before,
                              Translation& made) {
  switch (table_.coding_) {
    case PhraseTable::Coding::ranks:
      return add_ranked(symbol, phrase, made);
    case PhraseTable::Coding::phrase_ranks:
      if (symbol >> 31U != 0) return add_part(symbol, phrase, before, made);
      break;
    case PhraseTable::Coding::none:
      break;
  }
  made.words.push_back(symbol);
  return true;
}

// A word, or the rank of a translation of a source word: at a position that is given, or at the same one.
bool PhraseLookup::add_ranked(std::uint32_t symbol, const Phrase& phrase, Translation& made) {
  const std::uint32_t kind = symbol >> 30U;
  if (kind == 0) {
    made.words.push_back(symbol);
    return true;
  }
  if (kind == 3) throw BadTable("a symbol of one of three kinds", "another kind");
  const std::size_t place = kind == 1 ? symbol >> 24U & 0x3FU : made.words.size();
  const std::uint32_t rank = kind == 1 ? symbol & 0xFFFFFFU : symbol & 0x3FFFFFFFU;
  if (place >= phrase.size()) return false;
  const std::string_view word = phrase.words[phrase.first + place];
  const std::size_t number = table_.source_words_.lower_bound(word);
  if (number >= table_.lexicon_starts_.size() || number >= table_.source_words_.size()) return false;
  if (table_.source_words_[number] != word) return false;
  const std::uint64_t start = table_.lexicon_starts_[number];
  if (start >= table_.lexicon_.size() || rank >= table_.lexicon_.size() - start) return false;
  made.points.emplace_back(static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(made.words.size()));
  // The lower half of a pair is the source word.
  made.words.push_back(static_cast<std::uint32_t>(table_.lexicon_[start + rank] >> 32U));
  return true;
}

// A translation of a part of the phrase, or an earlier one of the whole phrase, with its alignment.
bool PhraseLookup::add_part(std::uint32_t symbol, const Phrase& phrase, const Translations& before,
                            Translation& made) {
  const auto left = static_cast<std::int64_t>(symbol >> 25U & 0x3FU) - 32;
  const auto right = static_cast<std::int64_t>(symbol >> 19U & 0x3FU) - 32;
  const std::size_t rank = symbol & 0x7FFFFU;
  const auto size = static_cast<std::int64_t>(phrase.size());
  const std::int64_t first = left + static_cast<std::int64_t>(made.words.size());
  const std::int64_t last = size - right;
  if (first < 0 || first >= last || last > size) return false;
  std::shared_ptr<const Translations> kept;
  const Translations* translations = &before;
  if (last - first < size) {
    kept = find(phrase.words, phrase.first + static_cast<std::size_t>(first),
                phrase.first + static_cast<std::size_t>(last), false);
    if (kept == nullptr) return false;
    translations = kept.get();
  }
  if (rank >= translations->size() || (table_.most_ranks_ != 0 && rank > table_.most_ranks_)) return false;
  const Translation& part = (*translations)[rank];
  const auto moved = static_cast<std::uint32_t>(made.words.size());
  for (const auto& [s, t] : part.points) made.points.emplace_back(static_cast<std::uint32_t>(first) + s, moved + t);
  made.words.insert(made.words.end(), part.words.begin(), part.words.end());
  return true;
}

}  // namespace smt::compact
