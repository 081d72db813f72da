// The functions that module.cpp calls, one for each bind_<topic>.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace smt::cdlm {

void bind_confusions(nanobind::module_& m);
void bind_linear(nanobind::module_& m);

}  // namespace smt::cdlm
