// For the garbage collector: an object in Python may refer back to the native object that holds it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>

#include <memory>

namespace smt {

inline int visit_object(nanobind::handle object, visitproc visit, void* arg) {
  Py_VISIT(object.ptr());
  return 0;
}

template <class Shared>
int visit_shared(const std::shared_ptr<Shared>& shared, visitproc visit, void* arg) {
  return visit_object(nanobind::find(shared), visit, arg);
}

template <class Holder>
int traverse_holder(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nanobind::inst_ready(self) ? nanobind::inst_ptr<Holder>(self)->traverse(visit, arg) : 0;
}

template <class Holder>
int clear_holder(PyObject* self) {
  if (nanobind::inst_ready(self)) nanobind::inst_ptr<Holder>(self)->clear();
  return 0;
}

// The type slots of a class with the methods `traverse`, which visits the objects it holds, and `clear`, which lets go
// of them.
template <class Holder>
nanobind::type_slots cycle_slots() {
  static const PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_holder<Holder>)},
                                      {Py_tp_clear, reinterpret_cast<void*>(clear_holder<Holder>)},
                                      {0, nullptr}};
  return nanobind::type_slots(slots);
}

}  // namespace smt
