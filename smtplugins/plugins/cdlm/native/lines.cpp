#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "pairs.hpp"

namespace smt::cdlm {
namespace {

template <class Number>
void append_number(std::string& out, Number number) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// Positions of gaps by number.
void find_gaps(Symbols side, std::vector<std::size_t>& places) {
  places.assign(side.size(), 0);
  std::size_t gaps = 0;
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (side[i] >= 0) continue;
    places[static_cast<std::size_t>(-1 - side[i])] = i;
    ++gaps;
  }
  places.resize(gaps);
}

}  // namespace

LineWriter::LineWriter(const Pairs& pairs, const WordTexts& words, LineFormat format, std::string label,
                       std::string cost)
    : pairs_(pairs), words_(words), format_(format), label_(std::move(label)), cost_(std::move(cost)) {
  offsets_.reserve(pairs.sides().size() + 1);
  for (std::uint32_t i = 0; i < pairs.sides().size(); ++i) {
    append_side(targets_, pairs.sides().side(i), true);
    offsets_.push_back(targets_.size());
  }
}

void LineWriter::append_side(std::string& out, Symbols side, bool is_target) const {
  const std::size_t begin = out.size();
  for (const std::int32_t one : side) {
    if (out.size() > begin) out += ' ';
    if (one >= 0) {
      out += words_.word(one);
      continue;
    }
    out += '[';
    if (format_ == LineFormat::kMoses) {
      out += label_;
      out += "][";
      out += label_;
    } else {
      const bool numbered = is_target || format_ == LineFormat::kJoshua;
      if (format_ == LineFormat::kJoshua || !is_target) out += label_;
      if (format_ == LineFormat::kJoshua) out += ',';
      if (numbered) append_number(out, -one);
    }
    out += ']';
  }
  if (format_ != LineFormat::kMoses) return;
  if (out.size() > begin) out += ' ';
  out += '[';
  out += label_;
  out += ']';
}

void LineWriter::append(std::string& out, std::uint32_t input, std::span<const Output> outputs) const {
  std::uint64_t total = 0;
  for (const Output& one : outputs) total += one.times;
  std::string before;
  if (format_ != LineFormat::kMoses) before = "[" + label_ + "] ||| ";
  append_side(before, pairs_.sides().side(input), false);
  before += " ||| ";
  std::vector<std::size_t> places, others;
  find_gaps(pairs_.sides().side(input), places);
  std::uint64_t last = 0;
  std::string score = format_ == LineFormat::kMoses ? "1" : "";
  for (const Output& one : outputs) {
    out += before;
    out += target(one.side);
    out += " ||| ";
    if (!cost_.empty() && one.times != last) {
      last = one.times;
      const double share = static_cast<double>(one.times) / static_cast<double>(total);
      score.clear();
      if (format_ != LineFormat::kMoses) {
        score += cost_;
        score += '=';
      }
      append_number(score, static_cast<float>(format_ == LineFormat::kMoses ? share : 0.0 - std::log(share)));
    }
    out += score;
    if (format_ == LineFormat::kMoses && !places.empty()) {
      find_gaps(pairs_.sides().side(one.side), others);
      out += " |||";
      for (std::size_t gap = 0; gap < places.size(); ++gap) {
        out += ' ';
        append_number(out, places[gap]);
        out += '-';
        append_number(out, others[gap]);
      }
    }
    out += '\n';
  }
}

PairColumns Producer::next_columns() {
  PairColumns found;
  while (found.inputs.empty()) {
    const Pairs::Range range = pairs_.next();
    if (range.empty()) break;
    for (std::uint32_t input = range.first; input < range.last; ++input) {
      for (const Output& one : counter_.of(*range.index, input)) {
        found.inputs.push_back(input);
        found.outputs.push_back(one.side);
        found.times.push_back(one.times);
      }
    }
  }
  written_ += found.inputs.size();
  return found;
}

std::string Producer::next_lines(const LineWriter& writer) {
  std::string lines;
  while (lines.empty()) {
    const Pairs::Range range = pairs_.next();
    if (range.empty()) break;
    for (std::uint32_t input = range.first; input < range.last; ++input) {
      const std::span<const Output> outputs = counter_.of(*range.index, input);
      if (outputs.empty()) continue;
      writer.append(lines, input, outputs);
      written_ += outputs.size();
    }
  }
  return lines;
}

}  // namespace smt::cdlm
