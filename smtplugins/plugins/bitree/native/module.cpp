// smtplugins.plugins.bitree._bitree: kernels of boosted trees and translation with them.
#include "bindings.hpp"

NB_MODULE(_bitree, m) {
  m.doc() = "Kernels of boosted trees and translation with them. Use the Python modules around it.";
  smt::bitree::bind_boosting(m);
  smt::bitree::bind_linear(m);
}
