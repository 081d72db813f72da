// A line of the format jsonl-nbest, described in smtformats/nbest/jsonl.py. Lines in the usual shape are read here;
// every other line, right or wrong, is left to the parser there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json/tokens.hpp"

namespace smt::json {

// The sequences of feature names that occur.
class Layouts {
 public:
  // The number of a layout; -1 if a name occurs twice in it.
  std::int32_t find(const std::vector<std::string_view>& names);
  // Forgets all layouts if there are many; their numbers then begin anew.
  void limit();
  // How often they began anew.
  std::size_t age() const noexcept { return age_; }

  std::size_t size() const noexcept { return layouts_.size(); }
  const std::vector<std::string>& operator[](std::size_t i) const noexcept { return layouts_[i]; }

 private:
  std::vector<std::vector<std::string>> layouts_;
  std::unordered_map<std::string, std::int32_t> numbers_;  // by the names, each with its length before it
  std::size_t last_ = 0;
  std::size_t age_ = 0;
};

enum ScoreName : std::size_t { kScore, kScores, kLogprob, kScoreNames };
inline constexpr std::array<std::string_view, kScoreNames> kScoreKeys = {"score", "scores", "logprob"};

// A member `score`, `scores` or `logprob` of a hypothesis.
struct Score {
  enum Kind { kAbsent, kNull, kNumber, kObject } kind = kAbsent;
  const char* begin = nullptr;
  const char* end = nullptr;
  double value = 0;
};

// A hypothesis as written.
struct Item {
  const char* begin = nullptr;
  const char* end = nullptr;
  String text;
  std::array<Score, kScoreNames> scores;
  std::int32_t layout = 0;
  std::size_t values = 0;  // where its values begin
  bool is_string = false;
  bool has_total = false;
  double total = 0;
};

// A member of a hypothesis that is no part of it: a string, a number, true, false, or null, which is an empty string.
struct Extra {
  std::size_t item = 0;
  std::string_view name;
  String value;
};

// The names of members that are known, and those of hypotheses that are left to the other parser.
struct Names {
  std::vector<std::string> lists, texts, ids, sources, others;
};

class ListLine {
 public:
  explicit ListLine(Names names) : names_(std::move(names)) {}

  // Reads the line; returns its newline, or null if it is left to the other parser.
  const char* read(const char* p);
  // Reads one hypothesis and returns its end, or null.
  const char* read_item(const char* p, Item& item);

  // The parts of the line just read. An id that is no string is as spelled.
  bool has_id() const noexcept { return has_id_; }
  const String& id() const noexcept { return id_; }
  bool has_source() const noexcept { return has_source_; }
  const String& source() const noexcept { return source_; }
  const std::vector<Item>& items() const noexcept { return items_; }
  const std::vector<double>& values() const noexcept { return values_; }
  const std::vector<Extra>& extras() const noexcept { return extras_; }
  const Layouts& layouts() const noexcept { return layouts_; }

 private:
  const char* list(const char* p);
  const char* object(const char* p, Item& item);
  const char* score(const char* p, Score& score);
  const char* features(const char* p);
  const char* extra(const char* p, Extra& member);
  bool settle(Item& item);
  bool is_echoed();

  Names names_;
  Layouts layouts_;
  bool has_id_ = false, has_source_ = false;
  String id_, source_;
  std::vector<Item> items_;
  std::vector<double> values_;
  std::vector<Extra> extras_;
  std::deque<std::string> numbers_;  // spelled anew, of extras
  std::vector<std::string_view> keys_;  // of the features of a hypothesis
  std::string decoded_;
};

}  // namespace smt::json
