// What module.cpp calls: one function for each bind_<topic>.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace smt {

void bind_grammar(nanobind::module_& m);

}  // namespace smt
