// smtplugins.plugins.cdlm._cdlm: kernels of confusion sets. Use the Python modules around it.
#include "bindings.hpp"

NB_MODULE(_cdlm, m) {
  m.doc() = "Kernels of confusion sets. Use the Python modules around it.";
  nanobind::module_::import_("smtplugins.core._core");  // registers the scorer types
  smt::cdlm::bind_confusions(m);
  smt::cdlm::bind_linear(m);
}
