// The binding functions of the module, one per bind_*.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace smt::searn {

void bind_amasis(nanobind::module_& m);
void bind_items(nanobind::module_& m);
void bind_sequences(nanobind::module_& m);

}  // namespace smt::searn
