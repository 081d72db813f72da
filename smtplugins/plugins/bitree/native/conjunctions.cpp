// Parameters of conjunctions: see conjunctions.hpp.
#include "conjunctions.hpp"

#include <algorithm>

namespace smt::bitree {
namespace {

// The literal by which `longer` extends `shorter`, or -1 if they differ otherwise.
Literal difference(std::span<const Literal> longer, std::span<const Literal> shorter) {
  if (longer.size() != shorter.size() + 1) return -1;
  std::size_t at = 0;
  while (at < shorter.size() && longer[at] == shorter[at]) ++at;
  return std::equal(longer.begin() + static_cast<std::ptrdiff_t>(at) + 1, longer.end(),
                    shorter.begin() + static_cast<std::ptrdiff_t>(at))
             ? longer[at]
             : -1;
}

}  // namespace

std::size_t Conjunctions::find(const Signature& signature, std::span<const Literal> sorted) const {
  const auto begin = wholes_.find(signature.whole());
  if (begin == wholes_.end()) return kNone;
  for (std::int64_t at = begin->second; at != kEnd; at = links_[static_cast<std::size_t>(at)].next) {
    const std::size_t number = links_[static_cast<std::size_t>(at)].number;
    if (std::ranges::equal(literals(number), sorted)) return number;
  }
  return kNone;
}

std::size_t Conjunctions::insert(const Signature& signature, std::span<const Literal> sorted) {
  const std::size_t known = find(signature, sorted);
  if (known != kNone) return known;
  const std::size_t number = values_.size();
  values_.push_back(0);
  literals_.insert(literals_.end(), sorted.begin(), sorted.end());
  offsets_.push_back(static_cast<std::int64_t>(literals_.size()));
  const auto put = [&](std::unordered_map<std::uint64_t, std::int64_t>& heads, std::uint64_t key) {
    const auto [place, fresh] = heads.try_emplace(key, kEnd);
    links_.push_back({static_cast<std::uint32_t>(number), place->second});
    place->second = static_cast<std::int64_t>(links_.size()) - 1;
  };
  put(wholes_, signature.whole());
  if (signature.size != 0) {
    for (std::size_t group = 0; group < Signature::kGroups; ++group) {
      put(parts_, part_key(signature, group, signature.size));
    }
  }
  return number;
}

void Conjunctions::extensions(const Signature& signature, std::span<const Literal> sorted,
                              std::vector<Extension>& result) const {
  result.clear();
  // The missing literal is in one group; the hashes of all other groups agree.
  for (std::size_t group = 0; group < Signature::kGroups; ++group) {
    const auto begin = parts_.find(part_key(signature, group, signature.size + 1));
    if (begin == parts_.end()) continue;
    for (std::int64_t at = begin->second; at != kEnd; at = links_[static_cast<std::size_t>(at)].next) {
      const std::size_t number = links_[static_cast<std::size_t>(at)].number;
      if (values_[number] == 0) continue;
      const Literal literal = difference(literals(number), sorted);
      if (literal < 0) continue;
      // Report it for the literal's own group only, to avoid duplicates.
      const std::uint64_t hash = mixed(static_cast<std::uint64_t>(static_cast<std::uint32_t>(literal)));
      if (hash % Signature::kGroups == group) result.push_back({literal, values_[number]});
    }
  }
}

}  // namespace smt::bitree
