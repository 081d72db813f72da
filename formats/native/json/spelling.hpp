// Spells JSON as Python's json module does, and numbers as its shortest decimals.
#pragma once

#include <string>
#include <string_view>

namespace smt::json {

// A text in quotes; characters beyond ASCII stay as they are.
void append_string(std::string& out, std::string_view text);

// The shortest decimal that reads back as the same number, whole numbers without a point. False if it is not finite.
bool append_number(std::string& out, double value);

}  // namespace smt::json
