// Structs of options, whose members Python sets by name. Internal.
#pragma once

#include <nanobind/nanobind.h>

#include <new>

namespace smt {

// Binds a struct: Name(member=value, ...) makes one; each member is a line `.def_rw("member", &Struct::member, "...")`.
// A name that is no member, or a value of another type, is a TypeError.
template <class Struct>
nanobind::class_<Struct> bind_options(nanobind::handle scope, const char* name, const char* doc) {
  return nanobind::class_<Struct>(scope, name, doc)
      .def(
          "__init__",
          [](nanobind::pointer_and_handle<Struct> self, const nanobind::kwargs& given) {
            new (self.p) Struct();
            nanobind::inst_mark_ready(self.h);
            for (const auto& [member, value] : given) {
              if (!nanobind::hasattr(self.h, member)) {
                const nanobind::object text =
                    nanobind::str("{} has no option {!r}").attr("format")(nanobind::inst_name(self.h), member);
                throw nanobind::type_error(nanobind::str(text).c_str());
              }
              nanobind::setattr(self.h, member, value);
            }
          },
          nanobind::sig("def __init__(self, **members: object) -> None"));
}

}  // namespace smt
