// smtformats._scan: the native scanner, one bind_<topic>.cpp per kind of file.
#include "bindings.hpp"

NB_MODULE(_scan, m) {
  m.doc() = "The native scanner. Use the `load` of a format.";
  m.def(
      "release", [] { return SMT_RELEASE; }, "The release of the package that this module was built with.");
  smt::bind_rules(m);
  smt::bind_nbest(m);
  smt::bind_json(m);
  smt::bind_reordering(m);
  smt::bind_probing(m);
  smt::bind_compact(m);
  smt::bind_probing_lookup(m);
}
