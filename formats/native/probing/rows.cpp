#include "probing/rows.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

#include "bytes.hpp"

namespace smt {
namespace {

constexpr std::size_t kCount = 8;
constexpr std::size_t kHead = 16;
constexpr float kFloor = -100.0F;
constexpr float kZeroMark = 1e-10F;
constexpr std::size_t kDecimal = 32;

// The logarithm of the shortest decimal of a probability, as if it was read from text.
float logarithm(float probability) {
  char text[kDecimal];
  const auto written = std::to_chars(text, text + kDecimal, probability);
  double value = 0;
  std::from_chars(text, written.ptr, value);
  const double log = value > 0 ? std::log(value) : kFloor;
  return static_cast<float>(log > kFloor ? log : kFloor);
}

}  // namespace

bool probing_block(std::string_view data, std::size_t scores, std::size_t& at, ProbingRows& rows) {
  const auto fail = [&](std::size_t place, const char* expected) {
    rows.fault = static_cast<std::int64_t>(place);
    rows.expected = expected;
    return false;
  };
  const std::size_t least = kHead + 4 * scores;
  const std::size_t start = at;
  if (at > data.size() || data.size() - at < kCount) return fail(at, "a number of target phrases, 8 bytes");
  const auto count = load8(data.data() + at);
  at += kCount;
  if (count == 0 || count > (data.size() - at) / least) {
    return fail(start, "a number of target phrases from 1 on that fits the file");
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (data.size() - at < least) return fail(at, "a target phrase");
    const char* const head = data.data() + at;
    const auto words = load<std::uint16_t>(head + 8);
    if (words == 0 || 4 * std::size_t{words} > data.size() - at - least) {
      return fail(at, "a number of words from 1 on that fits the file");
    }
    if (load<std::uint16_t>(head + 10) != 0) return fail(at, "a target phrase without properties");
    rows.places.push(static_cast<std::int64_t>(at));
    rows.points.push(load4(head));
    rows.points.push(load4(head + 4));
    for (std::size_t k = 0; k < scores; ++k) {
      const std::uint32_t bits = load4(head + kHead + 4 * k);
      float value = 0;
      std::memcpy(&value, &bits, sizeof value);
      rows.scores.push(value);
    }
    for (std::size_t k = 0; k < words; ++k) rows.words.push(load4(head + least + 4 * k));
    rows.word_ends.push(static_cast<std::int64_t>(rows.words.size()));
    at += least + 4 * std::size_t{words};
  }
  rows.starts.push(static_cast<std::int64_t>(start));
  rows.ends.push(static_cast<std::int64_t>(rows.places.size()));
  return true;
}

ProbingRows probing_rows(std::string_view data, std::size_t scores) {
  ProbingRows rows;
  for (std::size_t at = 0; at < data.size();) {
    if (!probing_block(data, scores, at, rows)) break;
  }
  return rows;
}

Texts probing_keys(std::string_view blob, std::span<const std::int64_t> words, const ProbingPhrases& sources,
                   const ProbingPhrases& targets) {
  Texts keys;
  const auto add = [&](const ProbingPhrases& phrases, std::size_t i) {
    for (auto at = phrases.offsets[i]; at < phrases.offsets[i + 1]; ++at) {
      const auto word = static_cast<std::size_t>(phrases.words[static_cast<std::size_t>(at)]);
      if (at > phrases.offsets[i]) keys.blob.push(' ');
      keys.blob.append(blob.data() + words[word], static_cast<std::size_t>(words[word + 1] - words[word]));
    }
  };
  for (std::size_t i = 0; i + 1 < sources.offsets.size(); ++i) {
    add(sources, i);
    keys.blob.append(" ||| ", 5);
    add(targets, i);
    keys.offsets.push(static_cast<std::int64_t>(keys.blob.size()));
  }
  return keys;
}

std::int64_t probing_logarithms(float* scores, std::size_t count, bool are_logarithms) {
  for (std::size_t i = 0; i < count; ++i) {
    float& score = scores[i];
    if (!std::isfinite(score) || (!are_logarithms && score < 0)) return static_cast<std::int64_t>(i);
    if (!are_logarithms) {
      score = logarithm(score);
    } else if (score == kZeroMark) {
      score = 0;
    } else if (score < kFloor) {
      return static_cast<std::int64_t>(i);
    }
  }
  return -1;
}

}  // namespace smt
