// What module.cpp calls: one function for each bind_<topic>.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace smt {

void bind_chart(nanobind::module_& m);
void bind_grammar(nanobind::module_& m);
void bind_envelopes(nanobind::module_& m);
void bind_extract(nanobind::module_& m);
void bind_extract_rules(nanobind::module_& m);
void bind_inference(nanobind::module_& m);
void bind_lm(nanobind::module_& m);
void bind_kneser_ney(nanobind::module_& m);
void bind_metrics(nanobind::module_& m);
void bind_phrase(nanobind::module_& m);
void bind_rules(nanobind::module_& m);
void bind_scorers(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_search_forest(nanobind::module_& m);
void bind_table_scorer(nanobind::module_& m);
void bind_text_index(nanobind::module_& m);
void bind_trie(nanobind::module_& m);

}  // namespace smt
