"""A moses.ini as a run.yaml. All scores are natural logs; a word costs -1, an unknown one -100 more.

What becomes of each section, feature and key is in the table of `moses_settings.py`, of which `MOSES.md` is made.
Moses' defaults are written out. ``name=`` of a feature of ours is the name of the Moses feature's weights. Charts have
`pops: moses` (its limit converted to our pops at equal model score), `markers: true`, `glue: false` (glue is a table)
and `pass_through: unknown`; their language models score ``<s>`` and ``</s>`` from the rules (`markers=rules`). Several
tables of phrases are alternatives, each with its own scores and limit; their `grammar_format` is `moses-phrases`. A
`ProbingPT` is a folder of the format `moses-probing`; `property-index` makes it the path of a `LexicalReordering`.
Paths are relative to the working directory.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from smtformats.config.moses import FALSE, Feature, bare_switches, features
from smtformats.config.settings import Setting, Settings
from smtformats.tokens import blanks, is_id
from smtplugins.contracts.spec import Spec, suggestion
from smtplugins.host.config.toolkits.draft import Draft
from smtplugins.host.config.toolkits.known_settings import apply
from smtplugins.host.config.toolkits.moses_settings import (
    CHARTS,
    INPUTS_INSTEAD,
    INSTEAD,
    KINDS,
    PHRASES,
    SEARCHES_INSTEAD,
    SECTIONS,
    TABLE_KINDS,
    feature_keys,
    feature_row,
    is_true,
)

_SEARCHES = {
    "0": ("phrase", "stack"),
    "1": ("phrase", "cube"),
    "3": ("hiero", "cube_pruning"),
    "4": ("phrase", "stack"),
    "5": ("hiero", "incremental"),
    "6": ("hiero", "s2t"),
    "7": ("t2s", None),
    "8": ("t2s-scfg", None),
    "9": ("f2s", None),
}
_MARKUP = "markup"  # the owner of phrases that mark-up asks for
_INPUTS = {"1": "confusion-net", "2": "lattice", "3": "tree", "5": "tabbed", "6": "forest"}
_PROBING = "ProbingPT"
_FIELDS = {
    "include-segmentation-in-n-best": "segmentation",
    "print-alignment-info-in-n-best": "alignment",
    "recover-input-path": "input",
}
_SHOWN = {
    "output-hypo-score": "score",
    "print-id": "id",
    "report-segmentation": "segmentation",
    "print-alignment-info": "alignment",
}
_LIST = {"mbr-size": ("size", "200"), "mbr-scale": ("scale", "1.0"), "n-best-factor": ("factor", "20")}
_GRAPH = {**_LIST, "lmbr-pruning-factor": ("density", "30")}
_LATTICE = {
    **_GRAPH,
    "lmbr-p": ("precision", "0.8"),
    "lmbr-r": ("ratio", "0.6"),
    "lmbr-map-weight": ("map_weight", "0.0"),
    "lmbr-thetas": ("thetas", ""),
}
_CHOICES = {
    "minimum-bayes-risk": ("mbr", _LIST),
    "lminimum-bayes-risk": ("lattice-mbr", _LATTICE),
    "consensus-decoding": ("consensus", _GRAPH),
}


def adapt(settings: Settings, path: Path | None) -> Draft:
    """Convert a moses.ini."""
    draft = Draft(settings, 0)
    for switch in bare_switches(settings):
        draft.remarks.append(f"line {switch.line}: [{switch.key}] is off without a line `true`, as in Moses")
    draft.option("source", "input-file")
    draft.put("output.format", "moses-nbest")
    algorithm = draft.setting("search-algorithm")
    decoder, search = _SEARCHES[algorithm.value if algorithm is not None else "0"]
    line = algorithm.line if algorithm is not None else None
    draft.put("decoder.name", decoder, line)
    if search is not None:
        draft.put("decoder.search", search, line)
    draft.instead |= SEARCHES_INSTEAD
    if decoder == "phrase":
        draft.option("decoder.stack_size", "stack", int, 200)
        draft.option("decoder.beam_threshold", "beam-threshold", float, 1e-5)
        draft.option("decoder.distortion_limit", "distortion-limit", int, -1)
        draft.option("decoder.max_phrase_length", "max-phrase-length", int, 20)
        draft.option("decoder.stack_diversity", "stack-diversity", int)
        draft.option("decoder.option_threshold", "translation-option-threshold", float)
        draft.option("decoder.early_discarding", "early-discarding-threshold", float)
        draft.option("decoder.monotone_at_punctuation", "monotone-at-punctuation", is_true)
        if search == "cube":
            draft.option("decoder.cube_diversity", "cube-pruning-diversity", int)
    else:
        draft.decoder(pops="moses", markers=True, glue=False, pass_through="unknown")
        draft.option("decoder.nonterminal", "non-terminals", str, "X")
        draft.option("decoder.drop_unknown", "drop-unknown", is_true)
    if search != "stack":
        draft.option("decoder.pop_limit", "cube-pruning-pop-limit", int, 1000)
    _input(draft)
    if decoder == "phrase":
        _phrases(draft)
    spans = _spans(draft) if decoder != "phrase" else []
    if spans:
        draft.put("decoder.max_span", spans[0])
    draft.every("feature")
    _mapping(draft, chart=decoder != "phrase")
    _features(draft, spans)
    if settings.all("weight"):
        draft.own_weights(draft.every("weight")[0], path)
        lines = [blanks(setting.value) for setting in settings.all("weight")]
        weighted = {label.removesuffix("=") for label, *values in lines if values != ["UNTUNEABLE"]}
        missing = [(setting, feature.name) for setting, feature in features(settings) if feature.name not in weighted]
        if missing:
            draft.put("model.missing", 1)
        for setting, label in missing:
            draft.remark(setting, f"{label} has no line in [weight]: each of its weights is 1, as in Moses")
    _lists(draft, chart=decoder != "phrase")
    _printed(draft, chart=decoder != "phrase")
    apply(draft, SECTIONS, PHRASES if decoder == "phrase" else CHARTS)
    return draft


def _input(draft: Draft) -> None:
    """The kind of input; Moses refuses networks and lattices without the feature of their scores."""
    draft.option("decoder.input", "inputtype", _INPUTS.get, skip="0")
    setting = draft.setting("inputtype")
    scored = any(feature.kind == "InputFeature" for _, feature in features(draft.settings))
    if setting is not None and setting.value in ("1", "2") and not scored:
        expected = "`InputFeature num-features=1 num-input-features=1` in [feature], as for Moses"
        draft.refuse(setting, expected, "InputFeature", f"[inputtype] {setting.value} without it")
    draft.instead |= INPUTS_INSTEAD


def _phrases(draft: Draft) -> None:
    """Settings of phrase decoders: mark-up, unknown words; refuse what is not supported."""
    brackets = draft.setting("xml-brackets")
    if "input" not in draft.values["decoder"]:
        draft.option("decoder.xml", "xml-input", str, "pass-through")
        if brackets is not None and draft.values["decoder"]["xml"] != "pass-through":
            draft.put("source_format", Spec("moses-xml", {"brackets": brackets.value}), brackets.line)
    for key in ("drop-unknown", "mark-unknown"):
        draft.option(f"decoder.{key.replace('-', '_')}", key, is_true)
    draft.option("decoder.unknown_prefix", "unknown-word-prefix")
    draft.option("decoder.unknown_suffix", "unknown-word-suffix")
    if _tables(draft):
        draft.put("model.grammar_format", "moses-phrases")


def _limited(draft: Draft) -> int | None:
    """The limit of ``[max-trans-opt-per-coverage]`` for one table; of several it is refused unless they keep fewer."""
    setting = draft.setting("max-trans-opt-per-coverage")
    most = int(setting.value) if setting is not None else 0
    limits = [int(table.options.get("table-limit", "20")) for table in _tables(draft)]
    if setting is None or not most:
        return None
    if len(limits) > 1 and (0 in limits or most < sum(limits)):
        enough = "a table-limit of each table and " if 0 in limits else ""
        draft.refuse(setting, f"{enough}{sum(limits)} or more, for tables are limited one by one")
        return None
    return most


def _backoffs(draft: Draft) -> list[str | None]:
    """The backoff of each table but the first, which are to be in the order of the mapping."""
    given = draft.every("decoding-graph-backoff")
    values = [token for setting in given for token in blanks(setting.value)]
    tables = _tables(draft)
    if any(value != "0" for value in values[max(1, len(tables)) :]):
        draft.refuse(given[-1], f"at most a number for each table, {len(tables)} in all", found=" ".join(values))
        return []
    steps = [blanks(setting.value)[-1] for setting in draft.every("mapping")]
    names = [[str(i), table.name] for i, table in enumerate(tables)]
    ordered = all(step in known for step, known in zip(steps, names, strict=False))
    if any(value != "0" for value in values[1:]) and not ordered:
        draft.refuse(given[-1], "tables in the order of [mapping]", found=" ".join(values))
        return []
    return [value if value != "0" and 0 < i < len(tables) else None for i, value in enumerate(values)]


def _mapping(draft: Draft, *, chart: bool) -> None:
    """Check that ``[mapping]`` has a graph of one step per table; for charts in order, as for span limits."""
    given = draft.every("mapping")
    tables = [table.name for table in _tables(draft)]
    steps = [blanks(setting.value) for setting in given]
    graphs = [step[0] for step in steps if len(step) == 3 or step[-1] in tables]
    named = [["T", str(tables.index(step[-1]))] if step[-1] in tables else step[-2:] for step in steps]
    whole = (named if chart else sorted(named)) == [["T", str(i)] for i in range(len(tables))]
    if given and tables and not (whole and len(set(graphs)) == len(graphs)):
        shown = ", ".join(f"'{i} T {i}'" for i in range(len(tables)))
        draft.refuse(given[-1], f"a graph for each table: {shown}", found=", ".join(entry.value for entry in given))


def _spans(draft: Draft) -> list[int]:
    """The span limit of each table, by the number of its step."""
    limits = [int(token) for setting in draft.every("max-chart-span") for token in blanks(setting.value)]
    return [limits[i] if i < len(limits) else 20 for i in range(max(1, len(_tables(draft))))]


def _tables(draft: Draft) -> list[Feature]:
    return [
        feature for _, feature in features(draft.settings) if feature.kind in TABLE_KINDS and "path" in feature.options
    ]


def _features(draft: Draft, spans: list[int]) -> None:
    tables = [table.name for table in _tables(draft)]
    chart = bool(spans)
    most = None if chart else _limited(draft)
    backoffs = [] if chart else _backoffs(draft)
    for setting, feature in features(draft.settings):
        span = backoff = None
        if chart and feature.kind in ("Distortion", "LexicalReordering"):
            draft.refuse(setting, "no feature of the order of phrases in charts (nor has Moses any)", feature.name)
            continue
        if feature.name in tables:
            at = tables.index(feature.name)
            span = spans[at] if spans else None
            backoff = backoffs[at] if at < len(backoffs) else None
            if most is not None:
                own = int(feature.options.get("table-limit", "20"))
                limit = min(own, most) if own else most
                feature = replace(feature, options={**feature.options, "table-limit": str(limit)})
        _feature(draft, setting, feature, span, backoff, chart=chart)


def _feature(
    draft: Draft, setting: Setting, feature: Feature, span: int | None, backoff: str | None, *, chart: bool
) -> None:
    keys = dict(feature.options)
    scores = keys.get("num-features")
    usual = "false" if feature.kind == "UnknownWordPenalty" else "true"
    fixed = False if keys.pop("tuneable", usual).lower() in FALSE else None
    markers = "rules" if chart else None
    options: dict[str, object]
    if feature.kind in TABLE_KINDS and "path" in keys:
        own = span if span != draft.values["decoder"].get("max_span") else None
        draft.table(
            **_table_file(feature.kind, keys.pop("path")),
            line=setting.line,
            name=feature.name,
            limit=keys.pop("table-limit", "20"),
            max_span=own,
            scores=scores or "1",
            tuneable=fixed,
            backoff=backoff,
        )
        kind, options = "", {}
    elif feature.kind == "KENLM":
        kind = "lm"
        oov = True if is_true(keys.pop("oov-feature", "0")) else None
        options = {"path": keys.pop("path"), "base": "e", "oov": oov, "markers": markers}
    elif feature.kind == "WordPenalty":
        kind, options = "word-penalty", {"value": -1, "count_bos": True if chart else None}
    elif feature.kind == "PhrasePenalty":
        kind, options = "phrase-penalty", {"value": 1, "owners": _dictionaries(draft, setting, keys)}
    elif feature.kind == "UnknownWordPenalty":
        kind, options = "oov", {"value": -100}
    elif feature.kind == "Distortion":
        kind, options = "distortion", {}
    elif feature.kind == "LexicalReordering":
        kind = "lexical-reordering"
        options = {
            **_reordering_path(draft, keys),
            "model": keys.pop("type"),
            "scores": scores,
            "default_scores": keys.pop("default-scores", None),
        }
    elif feature.kind == "InputFeature":
        kind = "source-path"
        real = keys.pop("real-word-count", None)
        options = {"log": True, "scores": keys.pop("num-input-features", scores), "real_words": real}
    else:
        # A plugin may offer it.
        kind = feature.kind
        options = {key: value for key, value in keys.items() if key not in ("name", "path")}
        options = {"path": keys["path"], **options} if "path" in keys else options
        keys = {}
    if kind:
        draft.feature(kind, setting.line, **options, tuneable=fixed, name=feature.name)
        if kind == feature.kind:
            draft.may_ignore(feature.name, _instead(kind))
    for key, value in keys.items():
        _feature_key(draft, setting, feature, key, value)


def _instead(kind: str) -> str:
    """What to add to the error of a kind of feature that no plugin offers."""
    known = {name for row in KINDS for name in row.keys}
    if kind not in known and re.search(r"(?<!^ken)lm$|ken$", kind.lower()):
        return "; instead: `KENLM path=FILE` reads ARPA files and binary files of KenLM"
    if kind in known:
        return f"; instead: {INSTEAD[kind]}" if kind in INSTEAD else ""
    return suggestion(kind, known).partition("; known")[0]


def _dictionaries(draft: Draft, setting: Setting, keys: dict[str, str]) -> str | None:
    """The tables that ``per-dictionary`` counts apart; phrases of mark-up are those of the first."""
    if not is_true(keys.get("per-dictionary", "")):
        return None
    names, scores = [table.name for table in _tables(draft)], keys.get("num-features", "1")
    if not names or scores != str(len(names)) or any("+" in name for name in names):
        return None
    del keys["per-dictionary"]
    return " ".join([f"{names[0]}+{_MARKUP}", *names[1:]])


def _reordering_path(draft: Draft, keys: dict[str, str]) -> dict[str, object]:
    """Where the reordering scores are: in a table, or inside the phrase table, which Moses2 prefers."""
    path, index = keys.pop("path", None), keys.get("property-index", "")
    tables = _tables(draft)
    if not is_id(index) or len(tables) != 1 or not tables[0].kind.startswith(_PROBING):
        return {"path": path}
    return {"path": tables[0].options["path"], "property_index": keys.pop("property-index")}


def _feature_key(draft: Draft, setting: Setting, feature: Feature, key: str, value: str) -> None:
    """Refuse a key of a feature that is not used, unless it changes no translation."""
    row = feature_row(feature.kind, key)
    label, found = f"{feature.name}.{key}", f"{key}={value}"
    if row is None:
        expected = f"a key of {feature.kind}{suggestion(key, feature_keys(feature.kind))}"
        draft.refuse(setting, expected, key=label, found=found)
    elif row.fate == "not supported" and not row.harmless[1](value):
        draft.refuse(setting, f"{feature.kind} {row.about}", key=label, found=found)
    elif row.fate == "no effect":
        draft.idle(setting, f"{feature.name} {found}", in_toolkit=True)


def _printed(draft: Draft, *, chart: bool) -> None:
    """What is printed of translations, and the files beside them."""
    draft.option("output.first_id", "start-translation-id", int)
    switches = {key: part for key, part in _SHOWN.items() if not chart or part != "segmentation"}
    shown = [part for key, part in switches.items() if is_true(draft.text(key))]
    if shown:
        draft.put("output.show", shown)
    draft.option("output.alignments", "alignment-output-file")
    draft.option("output.unknowns", "output-unknowns")
    if chart:
        return
    draft.option("output.details", "translation-details")
    draft.option("output.graphs", "output-search-graph")
    plain, extended = draft.setting("output-search-graph"), draft.setting("output-search-graph-extended")
    if extended is not None:
        if plain is not None:
            draft.remark(plain, "not written beside output-search-graph-extended, as in Moses")
        draft.put("output.graphs", extended.value, extended.line)
        draft.put("output.graphs_format", "moses-search-graph,extended=true", extended.line)
    _choice(draft)


def _choice(draft: Draft) -> None:
    """The switch that asks for another translation than the best derivation's, with its options."""
    switches = [(key, draft.setting(key)) for key in _CHOICES]
    on = [(key, setting) for key, setting in switches if setting is not None and is_true(setting.value)]
    on.sort(key=lambda switch: switch[1].line)
    for other, setting in on[1:]:
        draft.refuse(setting, f"one of {', '.join(_CHOICES)}", found=f"{other} beside {on[0][0]}")
    key, risk = on[0] if on else ("", None)
    name, known = _CHOICES.get(key, ("", {}))
    for other in _LATTICE:
        switches_of = [switch for switch, (_, options) in _CHOICES.items() if other in options]
        draft.reasons[other] = f"for {' and '.join(switches_of)}"
    if risk is None:
        return
    options = {}
    for section, (option, default) in known.items():
        given = draft.every(section)
        values = [setting.value for setting in given]
        text = " ".join(values) if option == "thetas" else values[0] if values else ""
        if text or default:
            options[option] = text or default
        if given:
            draft.lines["output", "choice", option] = given[0].line
    output = draft.values["output"]
    if name == "lattice-mbr" and "nbest" in output:
        _gains(draft, options)
    draft.put("output.choice", Spec(name, options), risk.line)


def _gains(draft: Draft, options: dict[str, str]) -> None:
    """The n-best list of lattice minimum Bayes risk has gains, and no features."""
    output = draft.values["output"]
    setting = draft.every("n-best-list")[0]
    options["listed"] = str(output.pop("nbest"))
    output.pop("unique", None)
    if "lists" in output:
        draft.put("output.gains", output.pop("lists"), setting.line)
        draft.remark(setting, "texts with their gains; the output has translations (Moses' has none)")
    else:
        draft.refuse(setting, "a file, as translations are on the output")


def _table_file(kind: str, path: str) -> dict[str, Any]:
    """The file of a table, and its format if it is not that of all tables."""
    if kind == _PROBING:
        return {"path": path, "format": "moses-probing"}
    if kind != "PhraseDictionaryCompact":
        return {"path": path}
    return {"path": path if path.endswith(".minphr") else f"{path}.minphr", "format": "moses-compact"}


def _lists(draft: Draft, *, chart: bool) -> None:
    """``[n-best-list]``: file, size, distinct, in one line or several."""
    settings = draft.every("n-best-list")
    tokens = [token for setting in settings for token in blanks(setting.value)]
    if len(tokens) > 1 and is_id(tokens[1]) and int(tokens[1]):
        draft.put("output.nbest", int(tokens[1]), settings[0].line)
        if tokens[2:3] == ["distinct"]:
            draft.put("output.unique", True)
        further = next((token for i, token in enumerate(tokens[2:]) if i or token != "distinct"), None)
        if further is not None:
            place = next(setting for setting in reversed(settings) if further in blanks(setting.value))
            draft.refuse(place, f"FILE N, or FILE N distinct{suggestion(further, ['distinct'])}")
        if tokens[0] != "-":
            draft.put("output.lists", tokens[0], settings[0].line)
    elif settings:
        draft.reasons["n-best-list"] = "for FILE N, with a size N from 1 on"
        draft.idle(settings[0], tokens[0])
    known = {key: name for key, name in _FIELDS.items() if not chart or name == "alignment"}
    switches = [(draft.setting(key), name) for key, name in known.items()]
    fields = [name for setting, name in switches if setting is not None and setting.value.lower() not in FALSE]
    if fields:
        draft.put("output.fields", fields)
