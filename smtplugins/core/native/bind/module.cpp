// smtplugins.core._core: the native core, one bind_<topic>.cpp for each topic.
#include "bind/bindings.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native core. Use the Python modules around it.";
  smt::bind_trie(m);  // before bindings that take tries
  smt::bind_chart(m);
  smt::bind_text_index(m);
  smt::bind_envelopes(m);
  smt::bind_extract(m);
  smt::bind_extract_rules(m);
  smt::bind_inference(m);
  smt::bind_lm(m);
  smt::bind_grammar(m);
  smt::bind_kneser_ney(m);
  smt::bind_rules(m);
  smt::bind_search_forest(m);
  smt::bind_scorers(m);
  smt::bind_search(m);  // after the scorers
  smt::bind_phrase(m);  // after the scorers
  smt::bind_metrics(m);  // after the scorers
  smt::bind_table_scorer(m);
}
