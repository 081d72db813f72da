// What each file of bindings puts into the module.
#pragma once

#include <nanobind/nanobind.h>

namespace smt::searn {}  // namespace smt::searn
