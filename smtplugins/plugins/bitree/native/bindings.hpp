// The binding functions of the module, one per bind_*.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace smt::bitree {

void bind_boosting(nanobind::module_& m);
void bind_linear(nanobind::module_& m);

}  // namespace smt::bitree
