"""Every key, formalism and feature function of a cdec.ini, and what becomes of it; `CDEC.md` is made from this table.

The keys are those of cdec as of May 2020, its last version. They hold with `formalism=scfg` and `pb`; other formalisms
are decoders that a plugin offers.
"""

from __future__ import annotations

from smtplugins.host.config.toolkits.draft import Harmless
from smtplugins.host.config.toolkits.known_settings import Known, honoured, markdown, no_effect, refused

_OTHER_OUTPUT = "no such setting, as the output is not translations (`smt decode -k N` or `--forests DIR` instead)"
_ZERO: Harmless = ("0", lambda value: float(value) == 0)

SETTINGS = (
    honoured("formalism", "`decoder.name`: below", "scfg"),
    honoured("grammar", "`model.tables`, with `grammar_format: cdec-grammar`", "other.gz"),
    honoured("weights", "`model.weights`", "weights"),
    honoured("input", "`source`", "in.de"),
    honoured("k_best", "`output.nbest`, with `output.format: cdec-nbest`", "7"),
    honoured("unique_k_best", "`output.unique`", "true"),
    honoured(
        "intersection_strategy", "`decoder.search` (cube_pruning); its fast variants are plain cube pruning", "full"
    ),
    honoured(
        "cubepruning_pop_limit",
        "`decoder.pop_limit` (200), with `pops: cdec`: converted to our pops at equal model score",
        "7",
    ),
    honoured("beam_prune", "`decoder.beam_prune`: forests, lists and what the next pass gets", "2.5"),
    honoured("density_prune", "`decoder.density_prune`: the same; with both limits the stricter counts", "3"),
    honoured("scale_prune_srclen", "`decoder.beam_by_length`, with a beam: the beam times the words", "1"),
    honoured("summary_feature", "`decoder.summary`", "Post"),
    honoured("summary_feature_type", "`decoder.summary_type` (node_risk), with a summary", "edge_risk"),
    honoured(
        "feature_function2 feature_function3",
        "`model.passes`, a pass each: its `features`, added to the forest of the pass before",
        "WordPenalty",
    ),
    honoured("weights2 weights3", "its `weights`; if there are none, those of the pass before", "weights"),
    honoured(
        "intersection_strategy2 intersection_strategy3",
        "its `search`; a fast variant in the first pass counts in all, as in cdec",
        "full",
    ),
    honoured("cubepruning_pop_limit2 cubepruning_pop_limit3", "its `pop_limit` (200)", "7"),
    honoured("beam_prune2 beam_prune3", "its `beam_prune`", "2.5"),
    honoured("density_prune2 density_prune3", "its `density_prune`", "3"),
    honoured("summary_feature2 summary_feature3", "its `summary`", "Post"),
    honoured("scfg_max_span_limit", "`decoder.max_span` (10)", "7"),
    honoured(
        "coarse_to_fine_beam_prune",
        "`decoder.coarse_beam`: for grammars with levels; no lattices",
        "7",
    ),
    honoured(
        "ctf_beam_widen ctf_num_widenings ctf_no_exhaustive",
        "`decoder.coarse_widening` (2), `.coarse_widenings` (2), `.coarse_exhaustive: false`, with the beam",
        "3",
    ),
    honoured("goal", "`decoder.goal` (S)", "TOP"),
    honoured("scfg_default_nt", "`decoder.nonterminal` (X)", "Y"),
    honoured("scfg_no_hiero_glue_grammar", "`decoder.glue: false`; else true, and the feature `glue,name=Glue`", "1"),
    honoured("scfg_extra_glue_grammar", "`decoder.glue_path`", "glue"),
    honoured(
        "add_pass_through_rules",
        "`decoder.pass_through: all`, else `none`, and the feature `pass-through,name=PassThrough`",
        "1",
    ),
    honoured("add_extra_pass_through_features", "its option `lengths`", "4"),
    honoured("pb_max_distortion", "`decoder.reach` (4), with formalism pb", "2"),
    honoured("feature_function", "`model.features`: below", "WordPenalty"),
    honoured(
        "forest_output",
        "`output.forests`, with `forests_format: cdec-binary-hypergraph`; a file that is there is replaced, where cdec "
        "joins the forests",
        "forests",
    ),
    honoured("show_joshua_visualization", "`output.template`, without `k_best`: a tree instead of a translation", "1"),
    # What is printed.
    no_effect("show_derivations show_derivations_mask show_tree_structure", "`--trace`, `--built FILE`"),
    no_effect("show_cfg_search_space show_target_graph graphviz", "`--forests DIR`"),
    no_effect("show_cfg_alignment_space", "references constrain nothing here"),
    no_effect("show_weights", "`smt info FILE`"),
    no_effect("show_config", "`smt config show -c FILE`"),
    no_effect("show_feature_dictionary", "`-k 1` lists the features"),
    no_effect("list_feature_functions", "`smt features`"),
    no_effect("show_partition show_expected_length", "`--forests DIR`: they are sums over the forest"),
    no_effect("extract_rules", "`--trace` has the rules"),
    no_effect("mr_mira_compat", "lists are plain text"),
    no_effect("remove_intersected_rule_annotations", "references constrain nothing here"),
    no_effect("quiet", "translations are printed in any case, notes go to standard error"),
    no_effect("warn_0_weight", "features without a weight are named in any case"),
    # How it is done, or for something that is not there.
    no_effect("freeze_feature_set cmph_perfect_feature_hash", "memory"),
    no_effect("aligner_use_viterbi", "for aligner"),
    no_effect("combine_size vector_format", "for cll_gradient and feature_expectations"),
    no_effect(
        "per_sentence_grammar_file",
        'for lextrans, which alone reads it; `<seg grammar="FILE" grammar1="FILE">` names the grammars of a sentence',
        "psg",
    ),
    no_effect("csplit_output_plf csplit_preserve_full_word", "for csplit"),
    no_effect("lextrans_align_only lextrans_dynasearch lextrans_use_null", "for lextrans"),
    no_effect("tagger_tagset", "for tagger"),
    # What would change translations.
    refused("promise_power", _ZERO),
    refused("incremental_search", about="no such setting (`feature_function=KLanguageModel FILE` and cube pruning)"),
    refused("get_oracle_forest", about="no such setting (`--forests DIR`, then `smt oracle`)"),
    refused("max_translation_beam max_translation_sample", about="no such setting (`smt mbr --forests`)"),
    refused("aligner cll_gradient feature_expectations show_conditional_prob", about=_OTHER_OUTPUT),
)
"""The keys."""

FORMALISMS = (
    honoured("scfg", "`decoder: hiero`", ""),
    honoured(
        "pb",
        "`decoder: hiero` with `reach`, and `grammar_format: cdec-grammar,label=X` (`source ||| target ||| features`); "
        "no lattices",
        "",
    ),
    Known(
        ("csplit", "fst", "lexalign", "lextrans", "rescore", "t2s", "tagger"),
        "not supported",
        "a plugin offers a decoder of that name",
    ),
)
"""The formalisms."""

FUNCTIONS = (
    honoured(
        "KLanguageModel",
        "`lm,base=10,oov=true,oov_name=LanguageModel_OOV,name=LanguageModel`",
        "KLanguageModel lm",
    ),
    honoured("KLanguageModel.-n KLanguageModel.-m", "`name`, `class_path`", ""),
    honoured("KLanguageModel.-x", "`markers=rules`: rules have `<s>` and `</s>`", ""),
    honoured("WordPenalty", "`word-penalty,value=-0.43429448190325176`", "WordPenalty"),
    honoured("SourceWordPenalty", "`source-word-penalty`, the same value", "SourceWordPenalty"),
    Known(
        tuple(
            """ArityPenalty BLEUModel BlunsomSynchronousParseHack CMR2008ReorderingFeatures CSplit_BasicFeatures
            CSplit_ReverseCharLM ConstReorderFeature External Fertility IdentityCycleDetector InputIndicator
            LanguageModel LexNullJump LexicalFeatures LexicalPairIndicator LexicalTranslationTrigger NewJump
            NgramFeatures NonLatinCount OutputIndicator ParseMatchFeatures RelativeSentencePosition RuleContextFeatures
            RuleIdentityFeatures RuleShape RuleShape2 RuleSourceBigramFeatures RuleTargetBigramFeatures SoftSynFeature
            SoftSyntaxFeatures SoftSyntaxFeaturesMindist SourceBigram SourcePathFeatures SourceSpanSizeFeatures
            SourceSyntaxFeatures SourceSyntaxFeatures2 SpanFeatures Tagger_BigramIndicator WordPairFeatures
            WordSet""".split()
        ),
        "not supported",
        "a plugin offers a feature of that name, with the option `params`, the rest of the line",
    ),
)
"""The feature functions."""

_HEAD = """\
# What becomes of a cdec.ini

`smt decode`, `smt tune` and `smt config show` take a cdec.ini as it is. This page lists every key, formalism and
feature function that cdec knows. `smt config show -c cdec.ini` prints what yours amounts to as a run.yaml.

- What is honoured has a key of a run.yaml. cdec's defaults, in brackets, are written out.
- What has no effect on translations here is named in a note, with an option of ours that does the same if there is one.
- What would change translations and is not supported is an error with file, line and key. `--ignore KEY` continues
  without it, and notes and `--manifest` say so. A feature that no plugin offers is left out by its name.
- An unknown key is an error with a suggestion.

As in cdec, a flag such as `add_pass_through_rules` is on if it is present, whatever its value. Paths are relative to
the working directory. Language models are log10 and score `</s>`; a word costs -1/ln 10. References in the input
(`source ||| reference`) constrain nothing, which a note says. A second `WordPenalty` changes nothing, as in
cdec; a second language model needs a name (`-n NAME`).

A pass without features and pruning, and from the second on without weights, ends the chain: settings of later passes
are not used, in cdec without a word, here with a note. Learning takes passes without weights of their own.

With `formalism=pb`, settings of grammars (`scfg_..`, `goal`, `add_extra_pass_through_features`) have no effect, which a
note says. The grammars that `<seg grammar="FILE">` names are used, where cdec's pb does not look at them.

## Keys
"""


def documentation() -> str:
    """The page about all settings."""
    text = _HEAD + markdown(SETTINGS, "`{}`".format, {})
    text += "\n## Formalisms\n" + markdown(FORMALISMS, "`{}`".format, {})
    return text + "\n## Feature functions\n" + markdown(FUNCTIONS, "`{}`".format, {})
