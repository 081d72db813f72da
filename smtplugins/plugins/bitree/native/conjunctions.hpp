// Parameters of conjunctions of literals, shared by all trees, independent of the order of literals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace smt::bitree {

// Twice the number of an atom, plus 1 if the atom is negated.
using Literal = std::int32_t;

inline std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

// An incremental hash of a set of literals: sums of their hashes, in a few groups.
struct Signature {
  static constexpr std::size_t kGroups = 4;
  std::array<std::uint64_t, kGroups> sums{};
  std::uint32_t size = 0;

  Signature with(Literal literal) const noexcept {
    Signature other = *this;
    const std::uint64_t hash = mixed(static_cast<std::uint64_t>(static_cast<std::uint32_t>(literal)));
    other.sums[hash % kGroups] += hash;
    ++other.size;
    return other;
  }
  std::uint64_t whole() const noexcept { return mixed(without(kGroups) + size); }
  // The hash without the literals of a group.
  std::uint64_t without(std::size_t group) const noexcept {
    std::uint64_t total = group;
    for (std::size_t k = 0; k < kGroups; ++k) {
      if (k != group) total = mixed(total + sums[k]);
    }
    return total;
  }
};

// A literal that extends a conjunction to a known one, with the parameter of the latter.
struct Extension {
  Literal literal;
  double value;
};

class Conjunctions {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t size() const { return values_.size(); }
  double value(std::size_t number) const { return values_[number]; }
  void add(std::size_t number, double change) { values_[number] += change; }
  std::span<const Literal> literals(std::size_t number) const {
    const auto first = static_cast<std::size_t>(offsets_[number]);
    return std::span(literals_).subspan(first, static_cast<std::size_t>(offsets_[number + 1]) - first);
  }

  // find() and insert() expect sorted literals.
  std::size_t find(const Signature& signature, std::span<const Literal> sorted) const;
  std::size_t insert(const Signature& signature, std::span<const Literal> sorted);

  // Collect the known conjunctions with a non-zero parameter that have these literals and one more.
  void extensions(const Signature& signature, std::span<const Literal> sorted, std::vector<Extension>& result) const;

 private:
  // Chains of conjunctions with the same hash.
  struct Link {
    std::uint32_t number;
    std::int64_t next;
  };
  static constexpr std::int64_t kEnd = -1;
  static std::uint64_t part_key(const Signature& signature, std::size_t group, std::uint32_t size) {
    return mixed(signature.without(group) + (std::uint64_t{size} << 32U));
  }

  std::vector<std::int64_t> offsets_ = {0};
  std::vector<Literal> literals_;
  std::vector<double> values_;
  std::vector<Link> links_;
  std::unordered_map<std::uint64_t, std::int64_t> wholes_, parts_;
};

}  // namespace smt::bitree
