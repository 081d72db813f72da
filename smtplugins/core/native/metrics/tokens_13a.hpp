// The tokens of NIST's mteval-v13a.pl, as sacrebleu's tokenizer 13a has them.
#pragma once

#include <span>
#include <vector>

namespace smt {

// Replaces the contents of tokens by those of the text with single blanks between them. For characters of one, two or
// four bytes.
template <class Character>
void tokenize_13a(std::span<const Character> text, std::vector<Character>& tokens);

}  // namespace smt
