"""A cdec.ini as a run.yaml. Scores of language models are log10 and have ``</s>``; a word costs -1/ln 10.

| cdec | run.yaml |
|---|---|
| `formalism=scfg` | `decoder: hiero`; `pb` is refused, the others are decoders of their own names |
| `grammar` | `model.tables`, with `grammar_format: cdec-grammar`; a rule's features have the names it gives them |
| `weights` `input` `k_best` | `model.weights`, `source`, `output.nbest`, with `output.format: cdec-nbest` |
| `intersection_strategy` (cube_pruning) | `decoder.search`; without a feature that has states cdec takes full |
| `cubepruning_pop_limit` (200) | `decoder.pop_limit`, with `pops: cdec`: converted to our pops at equal model score |
| `beam_prune` `density_prune` | `decoder.beam_prune`, `decoder.density_prune` |
| `unique_k_best` | `output.unique: true` |
| `scfg_max_span_limit` (10) `goal` (S) `scfg_default_nt` (X) | `decoder.max_span`, `.goal`, `.nonterminal` |
| `scfg_no_hiero_glue_grammar` | `decoder.glue: false`; else true, and the feature `glue,name=Glue` |
| `scfg_extra_glue_grammar` | `decoder.glue_path` |
| `add_pass_through_rules` | `decoder.pass_through: all`, else `none`, and the feature `pass-through,name=PassThrough` |
| `add_extra_pass_through_features=N` | its option `lengths=N` |
| `WordPenalty`, a `feature_function` | `word-penalty,value=-0.43429448190325176,name=WordPenalty` |
| `SourceWordPenalty` | `source-word-penalty`, the same value |
| `KLanguageModel FILE` | `lm,path=FILE,base=10,oov=true,oov_name=LanguageModel_OOV,name=LanguageModel` |
| its `-n NAME`, `-m CLASSES`, `-x` | `name=NAME`, `class_path=CLASSES`, `markers=rules` (rules have `<s>` and `</s>`) |
| any other, `Other text` | the feature `Other,params=text` |

In brackets: cdec's default, written out. Other keys are refused if they change translations, such as those of second
and third passes, and else not used. Paths are relative to the working directory.
"""

from __future__ import annotations

import math
from pathlib import Path

from smtformats import FormatError
from smtformats.config.cdec import language_model
from smtformats.config.settings import Setting, Settings
from smtformats.errors import quote
from smtformats.tokens import blanks
from smtplugins.host.config.toolkits.draft import ABSENT, Draft, Harmless

WORD = -1 / math.log(10)
_DECODERS = {"scfg": "hiero"}
_LATER = ("beam_prune", "density_prune", "feature_function", "summary_feature", "weights")
_CHANGES: dict[str, Harmless] = {
    **dict.fromkeys((f"{key}{turn}" for key in _LATER for turn in (2, 3)), ABSENT),
    **dict.fromkeys(("coarse_to_fine_beam_prune", "get_oracle_forest", "incremental_search"), ABSENT),
    **dict.fromkeys(("max_translation_beam", "max_translation_sample", "per_sentence_grammar_file"), ABSENT),
    **dict.fromkeys(("summary_feature",), ABSENT),
    # The output is not translations.
    **dict.fromkeys(("aligner", "cll_gradient", "feature_expectations", "show_conditional_prob"), ABSENT),
    "promise_power": ("0", lambda value: float(value) == 0),
}
"""Keys that change translations and are not supported: a second and third pass among them."""


def adapt(settings: Settings, path: Path | None) -> Draft:
    """Convert a cdec.ini."""
    draft = Draft(settings, 0)
    formalism = draft.text("formalism").lower()
    if formalism == "pb":
        raise FormatError(
            "formalism scfg (cdec's own search over phrases, pb, is not supported: the decoder `phrase` of a run.yaml "
            "translates with such a table)",
            quote(draft.text("formalism")),
            file=settings.file,
            line=settings.all("formalism")[0].line,
        )
    draft.option("source", "input", skip="-")
    draft.put("decoder.name", _DECODERS.get(formalism, formalism), settings.all("formalism")[0].line)
    draft.option("decoder.search", "intersection_strategy", _search, "cube_pruning")
    draft.option("decoder.pop_limit", "cubepruning_pop_limit", int, 200)
    draft.option("decoder.beam_prune", "beam_prune", float)
    draft.option("decoder.density_prune", "density_prune", float)
    draft.put("output.format", "cdec-nbest")
    draft.option("output.unique", "unique_k_best", lambda value: True)
    for setting in draft.every("grammar"):
        draft.table(setting.value, setting.line)
    if formalism == "scfg":
        # Grammars with bare numbers might be detected as Joshua's, whose signs are inverted.
        draft.put("model.grammar_format", "cdec-grammar")
    if formalism == "scfg":
        _chart(draft)
    for setting in draft.every("feature_function"):
        _function(draft, setting)
    draft.option("model.weights", "weights")
    draft.option("output.nbest", "k_best", int)
    if settings.all("beam_prune"):
        draft.refuse_all({"scale_prune_srclen": ABSENT})
    draft.refuse_all(_CHANGES)
    return draft


def _search(name: str) -> str:
    """The name of a search; cdec's two faster variants of cube pruning become plain cube pruning."""
    return "cube_pruning" if name.lower().startswith("fast_cube_pruning") else name.lower()


def _chart(draft: Draft) -> None:
    draft.put("decoder.pops", "cdec")
    draft.option("decoder.max_span", "scfg_max_span_limit", int, 10)
    draft.option("decoder.goal", "goal", str, "S")
    draft.option("decoder.nonterminal", "scfg_default_nt", str, "X")
    draft.option("decoder.glue", "scfg_no_hiero_glue_grammar", lambda value: False, True)
    draft.option("decoder.glue_path", "scfg_extra_glue_grammar")
    if draft.values["decoder"]["glue"]:
        draft.feature("glue", value=1, name="Glue")
    through = draft.setting("add_pass_through_rules")
    draft.put("decoder.pass_through", "all" if through is not None else "none")
    if through is not None:
        lengths = draft.setting("add_extra_pass_through_features")
        more = lengths.value if lengths is not None and lengths.value != "0" else None
        draft.feature("pass-through", through.line, value=1, lengths=more, name="PassThrough")


def _function(draft: Draft, setting: Setting) -> None:
    kind, *rest = blanks(setting.value)
    if kind == "KLanguageModel":
        path, switches = language_model(setting.value)
        name = switches.get("-n", "LanguageModel")
        draft.feature(
            "lm",
            setting.line,
            path=path,
            base=10,
            class_path=switches.get("-m"),
            markers="rules" if "-x" in switches else None,
            oov=True,
            oov_name=f"{name}_OOV",
            name=name,
        )
    elif kind in ("WordPenalty", "SourceWordPenalty"):
        feature = "word-penalty" if kind == "WordPenalty" else "source-word-penalty"
        draft.feature(feature, setting.line, value=WORD, name=kind)
        if rest:
            draft.idle(setting, " ".join(rest))
    else:
        draft.feature(kind, setting.line, params=setting.value[len(kind) :].strip() or None)
