// Strings numbered in order of first use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smt {

class Vocabulary {
 public:
  static constexpr std::int32_t none = -1;

  Vocabulary() { grow(); }

  std::int32_t size() const noexcept { return static_cast<std::int32_t>(ends_.size() - 1); }
  // The number of a string, added if it is new. Throws std::length_error at 2^31 strings.
  std::int32_t add(std::string_view word);
  std::int32_t find(std::string_view word) const noexcept;
  std::string_view word(std::int32_t number) const noexcept {
    const auto i = static_cast<std::size_t>(number);
    return {text_.data() + ends_[i], static_cast<std::size_t>(ends_[i + 1] - ends_[i])};
  }
  // All strings concatenated; word i ends at ends()[i + 1].
  std::string_view text() const noexcept { return text_; }
  std::span<const std::int64_t> ends() const noexcept { return ends_; }

 private:
  // A slot is free if its number is `none`; some bits of the hash save most text comparisons.
  struct Slot {
    std::int32_t number;
    std::uint32_t hash;
  };

  std::size_t slot_of(std::string_view word, std::uint64_t hash) const noexcept;
  void grow();

  std::string text_;
  std::vector<std::int64_t> ends_{0};
  std::vector<Slot> slots_;  // a power of two, at least half of them free
};

}  // namespace smt
