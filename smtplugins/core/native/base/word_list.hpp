// Words as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smt {

// Words and their ids, in order of first use.
class WordList {
 public:
  WordList();
  std::uint32_t add(std::string_view word);  // its id, new or old
  std::optional<std::uint32_t> find(std::string_view word) const noexcept;
  std::string_view word(std::uint32_t id) const noexcept;
  std::size_t size() const noexcept { return offsets_.size() - 1; }
  std::size_t bytes() const noexcept;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t next_id = 0;  // the id plus 1; 0 is an empty slot
  };
  std::size_t slot(std::string_view word, std::uint64_t hash) const noexcept;
  void grow();

  std::vector<Slot> slots_;
  std::string text_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace smt
