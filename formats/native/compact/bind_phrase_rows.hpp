// The translations of several source phrases as columns of a grammar, for tables that are looked up.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bind_columns.hpp"
#include "growing.hpp"

namespace smt {

class PhraseRows {
 public:
  // `target_word` spells the target words of the table by their numbers.
  explicit PhraseRows(std::function<std::string_view(std::uint32_t)> target_word) : target_word_(std::move(target_word)) {
    for (auto* ends : {&source_ends_, &target_ends_, &point_ends_, &word_ends_}) ends->push(0);
  }

  // The rows that follow are translations of this phrase.
  void begin(std::span<const std::string_view> source) {
    own_.clear();
    for (const std::string_view word : source) own_.push_back(number(word));
  }

  void add(std::span<const std::uint32_t> words, std::span<const float> scores) {
    source_.append(own_.data(), own_.size());
    for (const std::uint32_t word : words) target_.push(number_of_target(word));
    values_.append(scores.data(), scores.size());
    source_ends_.push(static_cast<std::int64_t>(source_.size()));
    target_ends_.push(static_cast<std::int64_t>(target_.size()));
    point_ends_.push(static_cast<std::int64_t>(points_.size() / 2));
  }

  // An alignment point of the row that is added next.
  void point(std::size_t source, std::size_t target) {
    points_.push(static_cast<std::int16_t>(source));
    points_.push(static_cast<std::int16_t>(target));
  }

  nanobind::dict columns() {
    nanobind::dict found;
    found["source"] = column(source_);
    found["source_offsets"] = column(source_ends_);
    found["target"] = column(target_);
    found["target_offsets"] = column(target_ends_);
    found["values"] = column(values_);
    found["points"] = column(points_);
    found["point_offsets"] = column(point_ends_);
    found["words"] = nanobind::make_tuple(nanobind::bytes(text_.data(), text_.size()), column(word_ends_));
    return found;
  }

 private:
  std::int32_t number(std::string_view word) {
    const auto [entry, fresh] = numbers_.try_emplace(std::string(word), static_cast<std::int32_t>(numbers_.size()));
    if (fresh) {
      text_ += word;
      word_ends_.push(static_cast<std::int64_t>(text_.size()));
    }
    return entry->second;
  }

  std::int32_t number_of_target(std::uint32_t word) {
    const auto [entry, fresh] = targets_.try_emplace(word, 0);
    if (fresh) entry->second = number(target_word_(word));
    return entry->second;
  }

  std::function<std::string_view(std::uint32_t)> target_word_;
  std::vector<std::int32_t> own_;
  Growing<std::int32_t> source_, target_;
  Growing<std::int64_t> source_ends_, target_ends_, point_ends_, word_ends_;
  Growing<float> values_;
  Growing<std::int16_t> points_;
  std::string text_;
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::unordered_map<std::uint32_t, std::int32_t> targets_;
};

}  // namespace smt
