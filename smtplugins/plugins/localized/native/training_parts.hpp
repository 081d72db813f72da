// The memory layout of groups, internal to Training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training.hpp"

namespace smt::localized {

// Columns of a tile; a link uses one of the two orientation columns.
enum Column : std::size_t { kUnigram, kLeftColumn, kRightColumn, kRest, kLexical, kColumns };
constexpr std::size_t kLanes = 4;
constexpr std::size_t kHead = 3;  // header words of a group

inline std::size_t padded(std::size_t size) noexcept { return (size + kLanes - 1) / kLanes * kLanes; }

struct Training::Group {
  std::size_t links, width, bits;
  const std::uint32_t* link;  // two numbers each
  const std::uint32_t* score;
  const std::uint32_t* bit;  // two numbers each
};

inline Training::Group Training::group_of(const Event& event) const noexcept {
  const std::uint32_t* const at = groups_.data() + event.group;
  const std::uint32_t* const score = at + kHead + 2 * std::size_t{at[0]};
  return {at[0], at[1], at[2], at + kHead, score, score + at[1]};
}

inline const float* Training::tile(std::uint32_t first) const noexcept {
  return tiles_.data() + kColumns * std::size_t{first};
}

// The features of a group's alternatives by column; entries past the last alternative are 0 or arbitrary.
class Training::Gathered {
 public:
  explicit Gathered(std::size_t widest) : room_(padded(widest) + kLanes), values_((kFloats + 2) * room_) {}
  std::size_t room() const noexcept { return room_; }  // stride of columns
  float* column(std::size_t f) noexcept { return values_.data() + f * room_; }
  float* scores() noexcept { return column(kFloats); }
  float* shares() noexcept { return column(kFloats + 1); }

 private:
  std::size_t room_;
  std::vector<float> values_;
};

}  // namespace smt::localized
