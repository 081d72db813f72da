#include "groups.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace smt::cdlm {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 14U;  // members buffered before a write

std::size_t size_of(std::int64_t first, std::int64_t last) { return static_cast<std::size_t>(last - first); }

}  // namespace

DiskError::DiskError(int number_, std::string path_)
    : std::runtime_error(path_ + ": " + std::strerror(number_)), number(number_), path(std::move(path_)) {}

GroupStore::~GroupStore() {
  if (file_ == nullptr && mapped_.size() == 0) return;
  if (file_ != nullptr) std::fclose(file_);
  std::remove(path_.c_str());
}

void GroupStore::add(std::span<const Member> members) {
  const std::size_t wanted = buffer_.size() + members.size() + 1;
  if (wanted > buffer_.capacity()) {
    const std::uint64_t bytes = 2 * std::max(wanted, buffer_.capacity()) * sizeof(Member);
    if (file_ != nullptr || bytes > memory_) flush();
  }
  buffer_.push_back({kHeader, static_cast<std::uint32_t>(members.size())});
  buffer_.insert(buffer_.end(), members.begin(), members.end());
}

void GroupStore::flush() {
  if (file_ == nullptr) {
    file_ = std::fopen(path_.c_str(), "wb");
    if (file_ == nullptr) throw DiskError(errno, path_);
  }
  if (std::fwrite(buffer_.data(), sizeof(Member), buffer_.size(), file_) != buffer_.size()) {
    throw DiskError(errno, path_);
  }
  buffer_.clear();
  buffer_.reserve(kChunk);
}

void GroupStore::finish() {
  if (file_ == nullptr) {
    all_ = buffer_;
    return;
  }
  flush();
  std::vector<Member>().swap(buffer_);
  if (std::fclose(std::exchange(file_, nullptr)) != 0) throw DiskError(errno, path_);
  try {
    mapped_ = Memory::of_file(path_, false);
  } catch (const std::system_error& error) {
    throw DiskError(error.code().value(), path_);
  }
  all_ = {reinterpret_cast<const Member*>(mapped_.data()), mapped_.size() / sizeof(Member)};
}

Confused::Confused(const Choices& choices, std::uint64_t memory, const std::string& folder)
    : choices_(choices), store_(memory, folder + "/groups") {}

// Glue rules: no words on the source side. In graphs without source sides: only gaps, in order.
bool Confused::is_glue(const RuleView& rules, std::size_t rule) const noexcept {
  const auto source = rules.source.subspan(static_cast<std::size_t>(rules.source_offsets[rule]),
                                           size_of(rules.source_offsets[rule], rules.source_offsets[rule + 1]));
  if (!source.empty()) return std::ranges::all_of(source, [](std::int32_t one) { return one < 0; });
  std::int32_t next = -1;
  for (const std::int32_t one : target_) {
    if (one != next--) return false;
  }
  return !target_.empty();
}

Symbols Confused::source_of(const RuleView& rules, std::size_t rule) {
  source_.clear();
  for (std::int64_t i = rules.source_offsets[rule]; i < rules.source_offsets[rule + 1]; ++i) {
    const std::int32_t one = rules.source[static_cast<std::size_t>(i)];
    source_.push_back(one >= 0 ? rules.words[static_cast<std::size_t>(one)]
                               : -1 - rules.labels[static_cast<std::size_t>(-1 - one)]);
  }
  if (choices_.same_lhs) source_.push_back(-1 - rules.labels[static_cast<std::size_t>(rules.lhs[rule])]);
  return source_;
}

bool Confused::read_target(const RuleView& rules, std::size_t rule) {
  target_.clear();
  gaps_ = 0;
  for (std::int64_t i = rules.target_offsets[rule]; i < rules.target_offsets[rule + 1]; ++i) {
    const std::int32_t one = rules.target[static_cast<std::size_t>(i)];
    gaps_ += one < 0;
    target_.push_back(one >= 0 ? rules.words[static_cast<std::size_t>(one)] : one);
  }
  filled_.assign(gaps_, false);
  for (const std::int32_t one : target_) {
    if (one >= 0) continue;
    const auto gap = static_cast<std::size_t>(-1 - one);
    if (gap >= gaps_ || filled_[gap]) throw std::invalid_argument("expected each gap once on the target side");
    filled_[gap] = true;
  }
  return gaps_ <= choices_.gaps;
}

void Confused::add_rules(const RuleView& rules) {
  counts_.rules += rules.lhs.size();
  if (counts_.rules > kHeader) throw std::length_error("more than 2^32 rules");
  for (std::size_t rule = 0; rule < rules.lhs.size(); ++rule) {
    if (rules.level[rule] != 0 || !read_target(rules, rule) || (!choices_.glue && is_glue(rules, rule))) {
      ++counts_.left_out;
      continue;
    }
    const float score = rules.scores.empty() ? 0.0F : rules.scores[rule];
    found_.push_back({sources_.add(source_of(rules, rule)), sides_.add(target_), score});
  }
}

void Confused::put(std::span<const Member> members) {
  const std::uint64_t size = members.size();
  ++counts_.groups;
  counts_.capped += choices_.identity ? size * size : size * (size - 1);
  if (size > 1 || choices_.identity) store_.add(members);
}

void Confused::add_edges(const RuleView& rules, std::span<const std::int32_t> edges,
                         std::span<const std::int64_t> groups) {
  counts_.rules += edges.size();
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint32_t kUnknown = kNone - 1;
  std::vector<Kind> kinds(rules.lhs.size(), {kUnknown, 0, 0, 0});
  std::vector<Kind> in;
  std::vector<Member> members;
  for (std::size_t group = 0; group + 1 < groups.size(); ++group) {
    in.clear();
    for (std::int64_t i = groups[group]; i < groups[group + 1]; ++i) {
      const auto rule = static_cast<std::size_t>(edges[static_cast<std::size_t>(i)]);
      Kind& kind = kinds[rule];
      if (kind.side == kUnknown) {
        const bool taken = read_target(rules, rule) && (choices_.glue || !is_glue(rules, rule));
        kind = {taken ? sides_.add(target_) : kNone, 0, 0, gaps_};
        if (taken) {
          kind.rule = sources_.add(source_of(rules, rule));
          if (choices_.same_lhs) {
            kind.lhs = static_cast<std::uint32_t>(rules.labels[static_cast<std::size_t>(rules.lhs[rule])]);
          }
        }
      }
      if (kind.side == kNone) {
        ++counts_.left_out;
      } else {
        in.push_back(kind);
      }
    }
    const auto together = [](const Kind& a, const Kind& b) { return a.gaps == b.gaps && a.lhs == b.lhs; };
    const auto alike = [together](const Kind& a, const Kind& b) { return together(a, b) && a.side == b.side; };
    std::sort(in.begin(), in.end(), [](const Kind& a, const Kind& b) {
      if (a.gaps != b.gaps) return a.gaps < b.gaps;
      if (a.lhs != b.lhs) return a.lhs < b.lhs;
      return a.side != b.side ? a.side < b.side : a.rule < b.rule;
    });
    for (std::size_t first = 0; first < in.size();) {
      members.clear();
      std::size_t last = first;
      while (last < in.size() && together(in[first], in[last])) {
        const std::size_t begin = last;
        std::uint64_t same = 0;
        for (std::size_t rule = last; last < in.size() && alike(in[begin], in[last]); ++last) {
          if (in[last].rule != in[rule].rule) rule = last;
          same += 2 * (last - rule) + 1;  // squares of each rule's count
        }
        members.push_back({in[begin].side, static_cast<std::uint32_t>(last - begin)});
        if (!choices_.same_rule) {
          if (same_rule_.size() <= in[begin].side) same_rule_.resize(in[begin].side + 1);
          same_rule_[in[begin].side] += same;
        }
      }
      put(members);
      first = last;
    }
  }
  counts_.uncapped = counts_.capped;
}

void Confused::finish(std::uint32_t cap, bool most_often) {
  std::vector<std::uint64_t> ends(sources_.size() + 1, 0);
  if (!found_.empty()) {
    for (const Found& one : found_) ++ends[one.source + 1];
    for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
    std::vector<std::uint32_t> order(found_.size());
    std::vector<std::uint64_t> next(ends.begin(), ends.end() - 1);
    for (std::size_t i = 0; i < found_.size(); ++i) order[next[found_[i].source]++] = static_cast<std::uint32_t>(i);
    std::vector<Best> best;
    std::vector<Member> members;
    for (std::size_t source = 0; source + 1 < ends.size(); ++source) {
      best.clear();
      for (std::uint64_t i = ends[source]; i < ends[source + 1]; ++i) {
        best.push_back({found_[order[i]].side, 1, found_[order[i]].score, order[i]});
      }
      if (best.empty()) continue;
      std::sort(best.begin(), best.end(), [](const Best& a, const Best& b) {
        return a.side != b.side ? a.side < b.side : a.place < b.place;
      });
      std::size_t size = 0;
      for (std::size_t i = 0; i < best.size(); ++i) {
        if (size > 0 && best[size - 1].side == best[i].side) {
          best[size - 1].score = std::max(best[size - 1].score, best[i].score);
          ++best[size - 1].times;
        } else {
          best[size++] = best[i];
        }
      }
      best.resize(size);
      counts_.uncapped += choices_.identity ? size * size : size * (size - 1);
      if (cap != 0 && size > cap) {
        std::nth_element(best.begin(), best.begin() + cap, best.end(), [most_often](const Best& a, const Best& b) {
          if (most_often && a.times != b.times) return a.times > b.times;
          return a.score != b.score ? a.score > b.score : a.place < b.place;
        });
        best.resize(cap);
      }
      members.clear();
      for (const Best& one : best) members.push_back({one.side, 1});
      put(members);
    }
    std::vector<Found>().swap(found_);
  }
  sources_ = SideTable();
  store_.finish();
}

}  // namespace smt::cdlm
