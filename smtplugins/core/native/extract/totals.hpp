// Totals of each side over all pairs that contain it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "extract/pairs.hpp"

namespace smt {

// Totals of both sides for each pair in the order of a stream. `parts(pair, source, target)` appends to two vectors
// what a pair adds to its sides, in the order of addition: float sums depend on it.
template <class Part>
class SideSums {
  static_assert(std::is_trivially_copyable_v<Part>);

 public:
  struct Totals {
    Part source{}, target{};
  };

  template <class Parts>
  SideSums(const PairCounter& counter, std::uint64_t memory, std::shared_ptr<SpillFolder> folder, Parts parts)
      : memory_(memory), folder_(std::move(folder)) {
    if (counter.spilled()) {
      sum_on_disk(counter, parts);
    } else {
      sum_in_memory(counter, parts);
    }
  }
  std::uint64_t pairs() const noexcept { return pairs_; }

  // To be called for every pair in order.
  Totals of(const CountedPair& pair) {
    if (target_totals_ == nullptr) return {sources_[pair.source_id], targets_[pair.target_id]};
    if (!started_ || !std::equal(source_.begin(), source_.end(), pair.source.begin(), pair.source.end())) {
      if (!source_reader_->next()) throw std::logic_error("more sources than were counted");
      last_.source = read_part(source_reader_->record());
      source_.assign(pair.source.begin(), pair.source.end());
      started_ = true;
    }
    std::string_view record;
    if (!target_totals_->next(record)) throw std::logic_error("more pairs than were counted");
    last_.target = read_part(record.substr(kNumber));
    return last_;
  }

 private:
  static constexpr std::size_t kNumber = sizeof(std::uint64_t);

  static void append_number(std::string& out, std::uint64_t number) {  // in byte order
    for (unsigned shift = 64; shift > 0;) {
      shift -= 8;
      out += static_cast<char>(number >> shift & 0xFFU);
    }
  }
  static void append_part(std::string& out, const Part& part) {
    char bytes[sizeof part];
    std::memcpy(bytes, &part, sizeof part);
    out.append(bytes, sizeof part);
  }
  static Part read_part(std::string_view bytes) noexcept {
    Part part;
    std::memcpy(&part, bytes.data(), sizeof part);
    return part;
  }

  template <class Parts>
  void sum_in_memory(const PairCounter& counter, Parts parts) {
    sources_.resize(counter.sources());
    targets_.resize(counter.targets());
    PairStream stream(counter);
    std::vector<Part> source, target;
    while (const CountedPair* pair = stream.next()) {
      source.clear();
      target.clear();
      parts(*pair, source, target);
      for (const Part& part : source) sources_[pair->source_id] += part;
      for (const Part& part : target) targets_[pair->target_id] += part;
      ++pairs_;
    }
  }

  // Sources are in order. Targets are sorted by target and pair number, and their totals by number again.
  template <class Parts>
  void sum_on_disk(const PairCounter& counter, Parts parts) {
    ByteSorter by_target(memory_ / 2, folder_);
    source_file_ = folder_->create();
    Part total{};
    std::string buffer;
    const auto end_source = [&] {
      buffer.clear();
      append_part(buffer, std::exchange(total, Part{}));
      source_file_->write(buffer);
    };
    PairStream stream(counter);
    std::vector<Part> source, target;
    while (const CountedPair* pair = stream.next()) {
      if (pairs_ > 0 && !std::equal(source_.begin(), source_.end(), pair->source.begin(), pair->source.end())) {
        end_source();
      }
      source_.assign(pair->source.begin(), pair->source.end());
      source.clear();
      target.clear();
      parts(*pair, source, target);
      for (const Part& part : source) total += part;
      buffer.clear();
      append_key(buffer, pair->target, counter.target_ranks());
      append_number(buffer, pairs_);
      for (const Part& part : target) append_part(buffer, part);
      // The length of the key, as there may be several parts.
      append_number(buffer, buffer.size() - sizeof(Part) * target.size() - kNumber);
      by_target.add(buffer);
      ++pairs_;
    }
    if (pairs_ > 0) end_source();
    source_file_->close();
    source_reader_ = std::make_unique<SpillReader>(*source_file_);
    source_.clear();
    by_target.finish();
    join_targets(by_target);
  }

  void join_targets(ByteSorter& by_target) {
    target_totals_ = std::make_unique<ByteSorter>(memory_ / 2, folder_);
    std::string target, buffer;
    std::vector<std::uint64_t> members;
    Part total{};
    const auto end_target = [&] {
      for (const std::uint64_t member : members) {
        buffer.clear();
        append_number(buffer, member);
        append_part(buffer, total);
        target_totals_->add(buffer);
      }
      members.clear();
      total = Part{};
    };
    std::string_view record;
    while (by_target.next(record)) {
      const auto length = static_cast<std::size_t>(read_number(record.substr(record.size() - kNumber)));
      const std::string_view key = record.substr(0, length);
      if (key != target) {
        end_target();
        target.assign(key);
      }
      members.push_back(read_number(record.substr(length)));
      const std::string_view parts = record.substr(length + kNumber, record.size() - length - 2 * kNumber);
      for (std::size_t at = 0; at < parts.size(); at += sizeof(Part)) total += read_part(parts.substr(at));
    }
    end_target();
    target_totals_->finish();
  }
  static std::uint64_t read_number(std::string_view bytes) noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < kNumber; ++i) number = number << 8U | static_cast<unsigned char>(bytes[i]);
    return number;
  }

  std::uint64_t memory_;
  std::shared_ptr<SpillFolder> folder_;
  std::uint64_t pairs_ = 0;
  std::vector<Part> sources_, targets_;        // by id, in memory
  std::unique_ptr<SpillFile> source_file_;     // in order, on disk
  std::unique_ptr<SpillReader> source_reader_;
  std::unique_ptr<ByteSorter> target_totals_;  // by the number of the pair
  std::vector<std::uint32_t> source_;          // the last one
  Totals last_;
  bool started_ = false;
};

}  // namespace smt
