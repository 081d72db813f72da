"""A cdec.ini as a run.yaml. Scores of language models are log10 and have ``</s>``; a word costs -1/ln 10.

What becomes of each key, formalism and feature function is in the table of `cdec_settings.py`, of which `CDEC.md` is
made. cdec's defaults are written out. Without a feature that has states cdec searches fully, whatever the strategy; so
does the decoder. Paths are relative to the working directory.
"""

from __future__ import annotations

import math
from pathlib import Path

from smtformats.config.cdec import FLAGS, language_model
from smtformats.config.settings import Setting, Settings
from smtformats.errors import quote
from smtformats.tokens import blanks
from smtplugins.contracts.spec import suggestion
from smtplugins.host.config.toolkits.cdec_settings import FUNCTIONS, SETTINGS
from smtplugins.host.config.toolkits.draft import Draft
from smtplugins.host.config.toolkits.known_settings import apply

WORD = -1 / math.log(10)
_DECODERS = {"scfg": "hiero", "pb": "hiero"}
_CHART = (
    *("scfg_max_span_limit", "goal", "scfg_default_nt", "scfg_no_hiero_glue_grammar", "scfg_extra_glue_grammar"),
    "add_extra_pass_through_features",
)
"""Settings that the formalism pb has no use for."""
_FINE = ("ctf_beam_widen", "ctf_num_widenings", "ctf_no_exhaustive")
_OFF = ("0", "false", "no", "off")
_TREES = "%i ||| %t ||| 1.0 ||| -1"


def adapt(settings: Settings, path: Path | None) -> Draft:
    """Convert a cdec.ini."""
    draft = Draft(settings, 0)
    formalism = draft.text("formalism").lower()
    draft.option("source", "input", skip="-")
    line = settings.all("formalism")[0].line
    draft.put("decoder.name", _DECODERS.get(formalism, formalism), line)
    if formalism not in _DECODERS:
        # No plugin might offer it.
        draft.lines["decoder",] = line
    draft.option("decoder.search", "intersection_strategy", _search, "cube_pruning")
    draft.option("decoder.pop_limit", "cubepruning_pop_limit", int, 200)
    if formalism == "lextrans" and settings.all("per_sentence_grammar_file"):
        draft.refuse(settings.all("per_sentence_grammar_file")[0], "no such setting (no decoder reads it)")
    draft.option("decoder.beam_prune", "beam_prune", float)
    draft.option("decoder.density_prune", "density_prune", float)
    draft.put("output.format", "cdec-nbest")
    draft.option("output.unique", "unique_k_best", lambda value: True)
    for setting in draft.every("grammar"):
        draft.table(setting.value, setting.line)
    if formalism == "scfg":
        # Grammars with bare numbers might be detected as Joshua's, whose signs are inverted.
        draft.put("model.grammar_format", "cdec-grammar")
        _chart(draft)
    elif formalism == "pb":
        _phrases(draft)
    lines: dict[str, int] = {}
    for setting in draft.every("feature_function"):
        _function(draft, setting, lines)
    draft.option("model.weights", "weights")
    draft.option("output.nbest", "k_best", int)
    _passes(draft, lines)
    if any(settings.all(f"beam_prune{number}") for number in ("", 2, 3)):
        draft.option("decoder.beam_by_length", "scale_prune_srclen", lambda value: True)
    forests = draft.setting("forest_output")
    if forests is not None:
        draft.put("output.forests", forests.value, forests.line)
        draft.put("output.forests_format", "cdec-binary-hypergraph")
    if settings.all("k_best"):
        draft.reasons["show_joshua_visualization"] = "for output without k_best"
    else:
        draft.option("output.template", "show_joshua_visualization", lambda value: _TREES)
    for setting in settings.entries:
        if setting.key in FLAGS and setting.value.lower() in _OFF:
            draft.remark(setting, "on, as with any value in cdec; remove the line to turn it off")
    apply(draft, SETTINGS, "")
    return draft


def _search(name: str) -> str:
    """The name of a search; cdec's two faster variants of cube pruning become plain cube pruning."""
    return "cube_pruning" if name.lower().startswith("fast_cube_pruning") else name.lower()


def _passes(draft: Draft, lines: dict[str, int]) -> None:
    """Summaries, and passes 2 and 3; a pass without features, pruning and weights ends the chain, in cdec silently."""

    def there(*keys: str, number: str) -> bool:
        return any(draft.settings.all(f"{key}{number}") for key in keys)

    says = "the {} pass has no feature_function, beam_prune{} density_prune{}, so there are no passes from there on"
    if not there("feature_function", "beam_prune", "density_prune", number=""):
        _no_pass(draft, 1, says.format("first", " or", ""))
        return
    draft.option("decoder.summary", "summary_feature")
    if there("summary_feature", "summary_feature2", "summary_feature3", number=""):
        draft.option("decoder.summary_type", "summary_feature_type")
    fast = draft.text("intersection_strategy").lower().startswith("fast_cube_pruning")
    for number in (2, 3):
        if not there("weights", "feature_function", "beam_prune", "density_prune", number=str(number)):
            _no_pass(draft, number, says.format("second" if number == 2 else "third", ",", " or weights"))
            return
        key = draft.further_pass()
        for setting in draft.every(f"feature_function{number}"):
            _function(draft, setting, lines)
        draft.option(f"{key}.weights", f"weights{number}")
        search = (lambda name: "cube_pruning") if fast else _search
        draft.option(f"{key}.search", f"intersection_strategy{number}", search, "cube_pruning")
        draft.option(f"{key}.pop_limit", f"cubepruning_pop_limit{number}", int, 200)
        draft.option(f"{key}.summary", f"summary_feature{number}")
        draft.option(f"{key}.beam_prune", f"beam_prune{number}", float)
        draft.option(f"{key}.density_prune", f"density_prune{number}", float)


def _no_pass(draft: Draft, number: int, reason: str) -> None:
    """Say why the settings of the passes from this one on are not used."""
    keys = ("weights", "feature_function", "beam_prune", "density_prune", "summary_feature", "intersection_strategy")
    for later in range(number, 4):
        for key in (*keys, "cubepruning_pop_limit"):
            draft.reasons[f"{key}{later if later > 1 else ''}"] = reason
    draft.reasons["summary_feature_type"] = "for summary_feature"


def _phrases(draft: Draft) -> None:
    """Phrases in any order. A table has lines without left-hand sides; labels, spans and glue are for scfg."""
    tables = draft.settings.all("grammar")
    if len(tables) > 1:
        draft.refuse(tables[1], "one phrase table, as formalism pb has")
    draft.put("model.grammar_format", "cdec-grammar,label=X")
    draft.put("decoder.pops", "cdec")
    draft.option("decoder.reach", "pb_max_distortion", int, 4)
    through = draft.setting("add_pass_through_rules")
    draft.put("decoder.pass_through", "unknown" if through is not None else "none")
    if through is not None:
        draft.feature("pass-through", through.line, value=1, name="PassThrough")
    draft.reasons |= dict.fromkeys((*_CHART, *_FINE, "coarse_to_fine_beam_prune"), "for scfg")


def _coarse_to_fine(draft: Draft) -> None:
    """Rules of a grammar with levels; glue and copied words have features in the coarse forest, others do not."""
    if not draft.settings.all("coarse_to_fine_beam_prune"):
        draft.reasons |= dict.fromkeys(_FINE, "for coarse_to_fine_beam_prune")
        return
    draft.option("decoder.coarse_beam", "coarse_to_fine_beam_prune", float)
    draft.option("decoder.coarse_widening", "ctf_beam_widen", float)
    draft.option("decoder.coarse_widenings", "ctf_num_widenings", int)
    draft.option("decoder.coarse_exhaustive", "ctf_no_exhaustive", lambda value: False)
    draft.put("decoder.coarse_features", "Glue PassThrough")


def _chart(draft: Draft) -> None:
    _coarse_to_fine(draft)
    draft.reasons["pb_max_distortion"] = "for pb"
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


def _function(draft: Draft, setting: Setting, lines: dict[str, int]) -> None:
    """Add a feature function; of several with a name cdec has the values of the last. ``lines`` are those of names."""
    kind, *rest = blanks(setting.value)
    if kind == "KLanguageModel":
        path, switches = language_model(setting.value)
        name = switches.get("-n", "LanguageModel")
        if lines.setdefault(name, setting.line) != setting.line:
            expected = f"`-n NAME`, as line {lines[name]} has a language model {quote(name)} (cdec has the last alone)"
            draft.refuse(setting, expected)
            return
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
        if lines.setdefault(kind, setting.line) != setting.line:
            draft.remark(setting, f"the same as line {lines[kind]}; it counts once, as in cdec")
            return
        feature = "word-penalty" if kind == "WordPenalty" else "source-word-penalty"
        draft.feature(feature, setting.line, value=WORD, name=kind)
        if rest:
            draft.idle(setting, " ".join(rest))
    else:
        draft.feature(kind, setting.line, params=setting.value[len(kind) :].strip() or None)
        known = {key for row in FUNCTIONS for key in row.keys if "." not in key}
        hint = "; instead: `KLanguageModel FILE` reads ARPA files and binary files of KenLM"
        if kind != "LanguageModel":
            hint = "" if kind in known else suggestion(kind, known).partition("; known")[0]
        draft.may_ignore(kind, hint)
