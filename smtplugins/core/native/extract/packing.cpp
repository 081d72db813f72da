#include "extract/packing.hpp"

#include <stdexcept>

#include "base/packed.hpp"

namespace smt {

std::string pack_counts(const Bitext& bitext, const LexicalCounts& lexical, const PairCounter& pairs) {
  std::string out;
  bitext.pack(out);
  lexical.pack(out);
  pairs.pack(out);
  return out;
}

void add_packed(std::string_view packed, Bitext& bitext, LexicalCounts& lexical, PairCounter& pairs) {
  PackedReader reader(packed);
  const WordIds ids = bitext.add_packed(reader);
  lexical.add_packed(reader, ids);
  pairs.add_packed(reader, ids, bitext.source_words(), bitext.target_words());
  if (!reader.done()) throw std::invalid_argument("packed counts have something behind them");
}

}  // namespace smt
