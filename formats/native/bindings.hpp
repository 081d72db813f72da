// The functions that module.cpp calls, one per bind_<topic>.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace smt {

void bind_compact(nanobind::module_& m);
void bind_probing_lookup(nanobind::module_& m);
void bind_rules(nanobind::module_& m);
void bind_json(nanobind::module_& m);
void bind_nbest(nanobind::module_& m);
void bind_reordering(nanobind::module_& m);
void bind_probing(nanobind::module_& m);

}  // namespace smt
