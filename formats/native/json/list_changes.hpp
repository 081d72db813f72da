// Changes of hypotheses of jsonl-nbest in their text as written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/list_line.hpp"

namespace smt::json {

// What becomes of a hypothesis.
struct Change {
  std::vector<std::string> keys;  // of all features, as JSON with `: ` after them
  std::vector<double> values;
  std::size_t kept = 0;    // the features that it has already
  const double* total = nullptr;  // a new one
};

// Writes the changed text of a hypothesis, which was read to `item`. False if a number is not finite.
bool change_item(const Item& item, const Change& change, std::string& out);

}  // namespace smt::json
