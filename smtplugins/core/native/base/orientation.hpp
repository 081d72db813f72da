// The orientations of neighbouring phrases in lexicalised reordering.
#pragma once

#include <cstdint>

namespace smt {

enum class Orientation : std::uint8_t { kMonotone, kSwap, kLeft, kRight };

}  // namespace smt
