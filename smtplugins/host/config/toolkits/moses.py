"""A moses.ini as a run.yaml. All scores are natural logs; a word costs -1, an unknown one -100 more.

| Moses | run.yaml |
|---|---|
| `[search-algorithm]` 0, 4 · 1 (0) | `decoder: phrase` with `search: stack` · `cube` |
| 3 · 5 · 6 | `decoder: hiero` with `search: cube_pruning` · `incremental` · `s2t` |
| 7 · 8 · 9 | the decoders `t2s`, `t2s-scfg`, `f2s` |
| `[stack]` (200) `[beam-threshold]` (1e-5) | `decoder.stack_size`, `.beam_threshold`, a probability |
| `[distortion-limit]` (-1, none) `[max-phrase-length]` (20) | `decoder.distortion_limit`, `.max_phrase_length` |
| `[cube-pruning-pop-limit]` (1000) | `decoder.pop_limit`, for each stack or span |
| `[cube-pruning-diversity]` `[stack-diversity]` | `decoder.cube_diversity`, `.stack_diversity` |
| `[max-trans-opt-per-coverage]` | `decoder.max_options` |
| `[translation-option-threshold]` `[early-discarding-threshold]` | `decoder.option_threshold`, `.early_discarding` |
| `[max-chart-span]` (20), one for each table | `decoder.max_span`; `max_span` of a table that has another |
| `[non-terminals]` (X) | `decoder.nonterminal` |
| `[inputtype]` 1 · 2 · 3 · 5 · 6 | `decoder.input: confusion-net` · `lattice` · `tree` · `tabbed` · `forest` |
| `[xml-input]` (pass-through) `[xml-brackets]` | phrases: `decoder.xml`; `source_format` with the option `brackets` |
| `[drop-unknown]` `[mark-unknown]` | phrases: `decoder.drop_unknown`, `.mark_unknown` |
| `[unknown-word-prefix]` (UNK) `[unknown-word-suffix]` | phrases: `decoder.unknown_prefix`, `.unknown_suffix` |
| `[input-file]` `[n-best-list]` FILE N distinct | `source`, `output.nbest: N`, `output.unique: true` |
| `[include-segmentation-in-n-best]` | `output.fields: segmentation` |
| `[print-alignment-info-in-n-best]` `[recover-input-path]` | `output.fields: alignment` · `input` |
| `[weight]` | `model.weights`: the moses.ini itself; `model.missing: 1` if features have no line there |
| `PhraseDictionary...` `ProbingPT` `RuleTable` | `model.tables: {path: , name: , limit: , scores: }` |
| their `table-limit` (20) `num-features` | `limit`, `scores` |
| `KENLM path= oov-feature=1` | `lm,path=,base=e,oov=true,name=`; its `order` is ignored, as in Moses |
| `WordPenalty` | `word-penalty,value=-1,name=`; charts count `<s>` and `</s>` too: `count_bos=true` |
| `PhrasePenalty` | `phrase-penalty,value=1,name=`, for each phrase or rule, glue too |
| `UnknownWordPenalty` | `oov,value=-100,tuneable=false,name=` |
| `Distortion` | `distortion,name=`: -1 for each word jumped over |
| `LexicalReordering type= path=` | `lexical-reordering,path=,model=,scores=,name=`, scores being `num-features` |
| its `default-scores` | `default_scores` |
| `InputFeature` | `source-path,log=true,scores=,real_words=,name=` |
| any other | the feature of Moses' name, its keys as they are |
| `tuneable=false` of any | the option of that name |

Charts have `pops: moses` (its limit converted to our pops at equal model score), `markers: true`, `glue: false` (glue
is a table) and `pass_through: unknown`. ``name=`` is the name of the feature's weights. In brackets: Moses' default,
written out. Language models of charts score ``<s>`` and ``</s>`` from the rules (`markers=rules`). Several tables of
phrases are alternatives, each with its own scores and limit; their `grammar_format` is `moses-phrases`. Paths are
relative to the working directory.

Everything else that changes translations is refused: sections such as `[minimum-bayes-risk]`, `[placeholder-factor]`
and, for phrases, `[monotone-at-punctuation]`, unless their value changes nothing; a `[mapping]` that combines steps or
leaves out a table; factors other than 0; keys of features, such as `sparse` of Distortion and Moses2's
`property-index`. All other sections change what is printed, or how long it takes, and are not used.
"""

from __future__ import annotations

from pathlib import Path

from smtformats.config.moses import Feature, features
from smtformats.config.settings import Setting, Settings, words
from smtformats.tokens import blanks, is_id
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.toolkits.draft import ABSENT, Draft, Harmless

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
_INPUTS = {"1": "confusion-net", "2": "lattice", "3": "tree", "5": "tabbed", "6": "forest"}
_TABLES = ("PhraseDictionary", "ProbingPT", "RuleTable")
_HARMLESS = words(
    """name num-features order load lazyken verbosity filterable cache-size require-sorting-after-source-context"""
)
"""Keys of features that have no effect here."""
_FALSE = {"false", "0", "no", "n"}
_OFF: Harmless = ("false", lambda value: value.lower() in _FALSE)
_CHANGES: dict[str, Harmless] = {
    **dict.fromkeys(("always-create-direct-transopt", "consensus-decoding", "disable-discarding"), _OFF),
    **dict.fromkeys(("early-distortion-cost", "lminimum-bayes-risk", "minimum-bayes-risk", "mira"), _OFF),
    "phrase-drop-allowed": _OFF,
    **dict.fromkeys(("context-string", "context-weights", "context-window", "distortion"), ABSENT),
    **dict.fromkeys(("lm-interpolation-weights", "muxlm", "placeholder-factor"), ABSENT),
    **dict.fromkeys(("spe-aln", "spe-src", "spe-trg"), ABSENT),
    "factor-delimiter": ("|, or none", lambda value: value in ("|", "none")),
    "time-out": ("-1 (no limit)", lambda value: value.lstrip("-").isdigit() and int(value) <= 0),
}
"""Sections that change translations and are not supported, whatever the search."""
_CHANGES_CHARTS: dict[str, Harmless] = {
    **dict.fromkeys(("drop-unknown", "mark-unknown"), _OFF),
    "default-non-term-for-empty-range-only": ("true", lambda value: value.lower() not in _FALSE),
    "rule-limit": ("5000 or more", lambda value: int(value) >= 5000),
    "source-label-overlap": ("0", lambda value: value == "0"),
    "unknown-lhs": ABSENT,
    "xml-input": ("pass-through", lambda value: value == "pass-through"),
}
_CHANGES_PHRASES: dict[str, Harmless] = {
    "decoding-graph-backoff": ("0 (no table waits for another to have nothing)", lambda value: value == "0"),
    "monotone-at-punctuation": ("false (punctuation is no limit of reordering)", lambda value: not _is_true(value)),
}
_FIELDS = {
    "include-segmentation-in-n-best": "segmentation",
    "print-alignment-info-in-n-best": "alignment",
    "recover-input-path": "input",
}
_ZERO = {"factor", "input-factor", "output-factor"}
_SWITCHES = {"sparse", "per-dictionary"}
_INSTEAD = {
    **dict.fromkeys(_ZERO, "of factor 0, the words"),
    "property-index": "with the path of a reordering table (scores inside a ProbingPT are not read)",
}


def adapt(settings: Settings, path: Path | None) -> Draft:
    """Convert a moses.ini."""
    draft = Draft(settings, 0)
    draft.option("source", "input-file")
    draft.put("output.format", "moses-nbest")
    algorithm = draft.setting("search-algorithm")
    decoder, search = _SEARCHES[algorithm.value if algorithm is not None else "0"]
    line = algorithm.line if algorithm is not None else None
    draft.put("decoder.name", decoder, line)
    if search is not None:
        draft.put("decoder.search", search, line)
    if decoder == "phrase":
        draft.option("decoder.stack_size", "stack", int, 200)
        draft.option("decoder.beam_threshold", "beam-threshold", float, 1e-5)
        draft.option("decoder.distortion_limit", "distortion-limit", int, -1)
        draft.option("decoder.max_phrase_length", "max-phrase-length", int, 20)
        draft.option("decoder.stack_diversity", "stack-diversity", int)
        draft.option("decoder.option_threshold", "translation-option-threshold", float)
        draft.option("decoder.early_discarding", "early-discarding-threshold", float)
    else:
        draft.decoder(pops="moses", markers=True, glue=False, pass_through="unknown")
        draft.option("decoder.nonterminal", "non-terminals", str, "X")
        draft.refuse_all(_CHANGES_CHARTS)
    draft.refuse_all(_CHANGES)
    if search != "stack":
        draft.option("decoder.pop_limit", "cube-pruning-pop-limit", int, 1000)
        draft.option("decoder.cube_diversity", "cube-pruning-diversity", int)
    draft.option("decoder.max_options", "max-trans-opt-per-coverage", int)
    draft.option("decoder.input", "inputtype", _INPUTS.get, skip="0")
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
        if any(feature.name not in weighted for _, feature in features(settings)):
            draft.put("model.missing", 1)
    _lists(draft)
    for key in ("input-factors", "output-factors"):
        given = draft.every(key)
        values = [token for setting in given for token in blanks(setting.value)]
        if values not in ([], ["0"]):
            draft.refuse(given[-1], "0, words alone", found=" ".join(values))
    return draft


def _phrases(draft: Draft) -> None:
    """Settings of phrase decoders: mark-up, unknown words; refuse what is not supported."""
    brackets = draft.setting("xml-brackets")
    if "input" not in draft.values["decoder"]:
        draft.option("decoder.xml", "xml-input", str, "pass-through")
        if brackets is not None and draft.values["decoder"]["xml"] != "pass-through":
            draft.put("source_format", Spec("moses-xml", {"brackets": brackets.value}), brackets.line)
    for key in ("drop-unknown", "mark-unknown"):
        draft.option(f"decoder.{key.replace('-', '_')}", key, _is_true)
    draft.option("decoder.unknown_prefix", "unknown-word-prefix")
    draft.option("decoder.unknown_suffix", "unknown-word-suffix")
    draft.refuse_all(_CHANGES_PHRASES)
    if _tables(draft):
        draft.put("model.grammar_format", "moses-phrases")


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


def _is_true(text: str) -> bool:
    """A boolean, as Moses reads it."""
    return text.lower() in ("true", "yes", "y", "1")


def _spans(draft: Draft) -> list[int]:
    """The span limit of each table, by the number of its step."""
    limits = [int(token) for setting in draft.every("max-chart-span") for token in blanks(setting.value)]
    return [limits[i] if i < len(limits) else 20 for i in range(max(1, len(_tables(draft))))]


def _tables(draft: Draft) -> list[Feature]:
    return [
        feature
        for _, feature in features(draft.settings)
        if feature.kind.startswith(_TABLES) and "path" in feature.options
    ]


def _features(draft: Draft, spans: list[int]) -> None:
    tables = [table.name for table in _tables(draft)]
    for setting, feature in features(draft.settings):
        at = tables.index(feature.name) if feature.name in tables else None
        span = spans[at] if at is not None and spans else None
        _feature(draft, setting, feature, span, chart=bool(spans))


def _feature(draft: Draft, setting: Setting, feature: Feature, span: int | None, *, chart: bool) -> None:
    keys = dict(feature.options)
    scores = keys.get("num-features")
    usual = "false" if feature.kind == "UnknownWordPenalty" else "true"
    fixed = False if keys.pop("tuneable", usual).lower() in _FALSE else None
    markers = "rules" if chart else None
    options: dict[str, object]
    if feature.kind.startswith(_TABLES) and "path" in keys:
        own = span if span != draft.values["decoder"].get("max_span") else None
        draft.table(
            keys.pop("path"),
            setting.line,
            name=feature.name,
            limit=keys.pop("table-limit", "20"),
            max_span=own,
            scores=scores or "1",
            tuneable=fixed,
        )
        kind, options = "", {}
    elif feature.kind == "KENLM":
        kind = "lm"
        oov = True if keys.pop("oov-feature", "0") == "1" else None
        options = {"path": keys.pop("path"), "base": "e", "oov": oov, "markers": markers}
    elif feature.kind == "WordPenalty":
        kind, options = "word-penalty", {"value": -1, "count_bos": True if chart else None}
    elif feature.kind == "PhrasePenalty":
        kind, options = "phrase-penalty", {"value": 1}
    elif feature.kind == "UnknownWordPenalty":
        kind, options = "oov", {"value": -100}
    elif feature.kind == "Distortion":
        kind, options = "distortion", {}
    elif feature.kind == "LexicalReordering":
        kind = "lexical-reordering"
        options = {
            "path": keys.pop("path", None),
            "model": keys.pop("type"),
            "scores": scores,
            "default_scores": keys.pop("default-scores", None),
        }
    elif feature.kind == "InputFeature":
        kind = "source-path"
        real = keys.pop("real-word-count", None)
        options = {"log": True, "scores": keys.pop("num-input-features", scores), "real_words": real}
    else:
        kind = feature.kind
        options = {key: value for key, value in keys.items() if key not in ("name", "path")}
        options = {"path": keys["path"], **options} if "path" in keys else options
        keys = {}
    if kind:
        draft.feature(kind, setting.line, **options, tuneable=fixed, name=feature.name)
    for key, value in keys.items():
        zero = value.lower() in _FALSE if key in _SWITCHES else key in _ZERO and value == "0"
        if key not in _HARMLESS and not zero:
            expected = f"{feature.kind} {_INSTEAD.get(key, f'without {key}')}"
            draft.refuse(setting, expected, key=f"{feature.name}.{key}", found=f"{key}={value}")


def _lists(draft: Draft) -> None:
    """``[n-best-list]``: file, size, distinct, in one line or several."""
    settings = draft.every("n-best-list")
    tokens = [token for setting in settings for token in blanks(setting.value)]
    if len(tokens) > 1 and is_id(tokens[1]) and int(tokens[1]):
        draft.put("output.nbest", int(tokens[1]), settings[0].line)
        if tokens[2:] == ["distinct"]:
            draft.put("output.unique", True)
    if settings:
        draft.idle(settings[0], tokens[0])
    switches = [(draft.setting(key), name) for key, name in _FIELDS.items()]
    fields = [name for setting, name in switches if setting is not None and setting.value.lower() not in _FALSE]
    if fields:
        draft.put("output.fields", fields)
