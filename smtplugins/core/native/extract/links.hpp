// Links within phrase pairs and rules: as bytes of variants, source and target place in turn, and decoded in Moses'
// order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "extract/bitext.hpp"

namespace smt {

inline unsigned byte_at(std::string_view bytes, std::size_t place) noexcept {
  return static_cast<unsigned char>(bytes[place]);
}

inline void sort_by_word(std::vector<Link>& links) {
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return a.target != b.target ? a.target < b.target : a.source < b.source;
  });
}

// The links as (place of the given word, place of the word), by the word, then the given one.
inline void read_links(std::string_view bytes, bool inverse, std::vector<Link>& links) {
  links.clear();
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const auto source = static_cast<std::uint16_t>(byte_at(bytes, i));
    const auto target = static_cast<std::uint16_t>(byte_at(bytes, i + 1));
    links.push_back(inverse ? Link{target, source} : Link{source, target});
  }
  sort_by_word(links);
}

// Whether the first alignment is the greater in Moses' order: word by word, by the sets of linked places.
inline bool is_greater(const std::vector<Link>& a, const std::vector<Link>& b) noexcept {
  std::size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  if (i == a.size()) return false;  // equal, or the other has more
  if (i == b.size()) return true;
  if (a[i].target == b[i].target) return a[i].source > b[i].source;
  // At the earlier of the two words, one has a further place, the other none.
  return a[i].target < b[i].target;
}

inline void append_place(std::string& out, unsigned place) {  // up to 255
  if (place >= 100) out += static_cast<char>('0' + place / 100);
  if (place >= 10) out += static_cast<char>('0' + place / 10 % 10);
  out += static_cast<char>('0' + place % 10);
}

// A link as text.
inline void append_link(std::string& out, unsigned source, unsigned target) {
  append_place(out, source);
  out += '-';
  append_place(out, target);
}

}  // namespace smt
