// smtplugins.plugins.searn._searn: kernels of labels, policies and their decoder. Use the Python modules around it.
#include "bindings.hpp"

NB_MODULE(_searn, m) {
  m.doc() = "Kernels of labels, policies and their decoder. Use the Python modules around it.";
  nanobind::module_::import_("smtplugins.core._core");  // defines the scorer types
  smt::searn::bind_amasis(m);
  smt::searn::bind_items(m);
  smt::searn::bind_sequences(m);
}
