#include "json/list_changes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "json/spelling.hpp"

namespace smt::json {
namespace {

std::string_view span(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The members of an object of features from `first` on, without its braces.
bool spell_features(const Change& change, std::size_t first, std::string& out) {
  for (std::size_t i = first; i < change.keys.size(); ++i) {
    if (i > first) out += ", ";
    out += change.keys[i];
    if (!append_number(out, change.values[i])) return false;
  }
  return true;
}

// Appends members to an object as written.
void append_members(std::string& object, std::string_view members) {
  if (members.empty()) return;
  const std::size_t size = object.find_last_not_of(" \t\r", object.size() - 2) + 1;
  object.insert(size, std::string(size == 1 ? "" : ", ").append(members));
}

ScoreName first_of(const Item& item, Score::Kind kind) noexcept {
  std::size_t name = kScore;
  while (name < kScoreNames && item.scores[name].kind != kind) ++name;
  return static_cast<ScoreName>(name);
}

}  // namespace

bool change_item(const Item& item, const Change& change, std::string& out) {
  std::array<std::string, kScoreNames> fresh;
  ScoreName single = first_of(item, Score::kNumber);
  ScoreName features = first_of(item, Score::kObject);
  std::string total;
  if (change.total != nullptr && !append_number(total, *change.total)) return false;
  std::string members;
  if (features != kScoreNames) {
    fresh[features] = span(item.scores[features].begin, item.scores[features].end);
    if (!spell_features(change, change.kept, members)) return false;
    append_members(fresh[features], members);
  } else {
    // The number was both feature and total: write them separately from now on.
    features = kScores;
    if (!spell_features(change, 0, members)) return false;
    fresh[features] = "{" + members + "}";
    if (single == features) {
      if (total.empty()) total = span(item.scores[single].begin, item.scores[single].end);
      single = kScoreNames;
    }
  }
  ScoreName target = single;
  if (target == kScoreNames) target = features == kScore ? kScores : kScore;
  if (!total.empty()) fresh[target] = total;

  // Replace the members that there are, in the order of the text, and append the others.
  std::array<ScoreName, kScoreNames> order = {kScore, kScores, kLogprob};
  const auto is_before = [&](ScoreName a, ScoreName b) { return item.scores[a].begin < item.scores[b].begin; };
  std::sort(order.begin(), order.end(), is_before);
  std::string text;
  const char* at = item.begin;
  for (const ScoreName name : order) {
    const Score& old = item.scores[name];
    if (old.kind == Score::kAbsent || fresh[name].empty()) continue;
    text.append(span(at, old.begin)).append(fresh[name]);
    at = old.end;
  }
  text.append(span(at, item.end));
  if (item.is_string) text = "{\"text\": " + text + "}";
  std::string appended;
  for (const ScoreName name : {features, target}) {
    if (item.scores[name].kind != Score::kAbsent || fresh[name].empty()) continue;
    if (!appended.empty()) appended += ", ";
    appended.append("\"").append(kScoreKeys[name]).append("\": ").append(fresh[name]);
  }
  append_members(text, appended);
  out += text;
  return true;
}

}  // namespace smt::json
