r"""The settings of a moses.ini: sections and the values in them.

    [distortion-limit]
    6
    [feature]
    KENLM name=LM0 factor=0 path=lm/en.klm order=4
    [weight]
    LM0= 0.5

Every nonblank line below ``[section]`` is a value of that section; a section may be continued later. ``#`` starts a
comment anywhere, even inside a path. A section without values has no effect. The short names of switches, such as
``[s]`` or ``[v]``, are allowed but have a meaning on Moses' command line only. A feature is ``Kind key=value ...``;
without ``name=``, its name is its kind and the number of preceding unnamed features of that kind, from 0. The weights
of a feature without a weight line are 1.

Errors, as in Moses: an unknown section, an unknown key of a basic feature, a weight of an unknown feature, ``LM0=0.5``
without a blank, a number of weights other than the feature's number of scores, a malformed number. Deliberately
stricter than Moses: two features with the same name, and the form of moses.ini before 2013, ``[ttable-file]`` with
``[weight-t]``, are errors. Other kinds of features are not checked, because they depend on how Moses was built. The
option ``max_lines`` limits the number of lines.

A moses.ini also holds weights, and is read as weights unless a configuration is asked for.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TextIO

from smtformats.config.settings import (
    MAX_LINES,
    Setting,
    Settings,
    check,
    gather,
    one_of,
    real,
    unknown,
    whole,
    words,
    write_settings,
)
from smtformats.errors import quote
from smtformats.files import Lines
from smtformats.format import Format, Number, first_lines
from smtformats.records import dataclass
from smtformats.tokens import BadField, blanks, trim
from smtformats.weights import moses as weights

NAME = "moses-settings"
SHORT = words(
    """T Tall Ttree aws b cbd cbds cbls cbp con da dd dl dpb du edc edt f fd i lhssg lmbr mbr mp mu osg osgx owg pb
    r s sd slf t th tot tt usg v wf xb xi"""
)
"""Names that have a meaning on the command line only."""
BEFORE_2013 = words(
    """distortion-file dlm-model generation-file global-lexical-file glm-feature input-scores lmodel-dub lmodel-file
    phrase-boundary-source-feature phrase-boundary-target-feature phrase-length-feature phrase-pair-feature
    slmodel-beam slmodel-factor slmodel-file source-word-deletion-feature target-word-insertion-feature ttable-file
    ttable-limit weight-bl weight-d weight-dlm weight-e weight-generation weight-glm weight-i weight-l weight-lex
    weight-lr weight-p weight-pb weight-pp weight-slm weight-t weight-u weight-w weight-wt
    word-translation-feature"""
)
_LEAST = {
    **dict.fromkeys(("cube-pruning-diversity", "max-chart-span", "max-partial-trans-opt", "rule-limit"), 0),
    **dict.fromkeys(("max-trans-opt-per-coverage", "stack", "stack-diversity", "start-translation-id"), 0),
    **dict.fromkeys(("cube-pruning-pop-limit", "max-phrase-length"), 1),
    **dict.fromkeys(("decoding-graph-backoff", "input-factors", "output-factors"), None),
    "distortion-limit": -1,
}
"""Sections of whole numbers, with their minimum."""
_SEVERAL = frozenset({"decoding-graph-backoff", "input-factors", "max-chart-span", "output-factors"})
"""Sections with several whole numbers, on one line or on several."""
TRUE, FALSE = frozenset({"true", "yes", "y", "1"}), frozenset({"false", "no", "n", "0"})
"""What Moses takes for true and false, in any case."""
_SWITCHES = words(
    """consensus-decoding drop-unknown include-segmentation-in-n-best lminimum-bayes-risk mark-unknown
    minimum-bayes-risk monotone-at-punctuation output-hypo-score print-alignment-info print-alignment-info-in-n-best
    print-id recover-input-path report-segmentation"""
)
_REAL = frozenset({"beam-threshold", "early-discarding-threshold", "translation-option-threshold"})
_CHOICES = {
    "search-algorithm": ("0", "1", "3", "4", "5", "6", "7", "8", "9"),
    "inputtype": ("0", "1", "2", "3", "5", "6"),
    "xml-input": ("pass-through", "ignore", "exclusive", "inclusive", "constraint"),
}
_OTHERS = words(
    """alignment-output-file alternate-weight-setting always-create-direct-transopt clean-lm-cache config
    consensus-decoding context-string context-weights context-window cpu-affinity-increment cpu-affinity-offset
    cube-pruning-deterministic-search cube-pruning-lazy-scoring daemon default-non-term-for-empty-range-only
    description disable-discarding distortion drop-unknown early-distortion-cost factor-delimiter feature
    feature-add feature-name-overwrite feature-overwrite include-lhs-in-search-graph
    include-segmentation-in-n-best input-file labeled-n-best-list lattice-hypo-set lattice-samples
    link-param-count lm-interpolation-weights lmbr-map-weight lmbr-p lmbr-pruning-factor lmbr-r lmbr-thetas
    lminimum-bayes-risk lmodel-oov-feature mapping mark-unknown mbr-scale mbr-size minimum-bayes-risk
    minlexr-memory minphr-memory mira monotone-at-punctuation muxlm n-best-factor n-best-list n-best-trees
    no-cache non-terminals output-hypo-score output-search-graph output-search-graph-extended
    output-search-graph-hypergraph output-search-graph-pb output-search-graph-slf output-unknowns
    output-word-graph phrase-drop-allowed placeholder-factor print-alignment-info print-alignment-info-in-n-best
    print-all-derivations print-id print-passthrough print-passthrough-in-n-best recover-input-path references
    report-all-factors report-all-factors-in-n-best report-segmentation report-segmentation-enriched
    s2t-parsing-algorithm serial server server-keepalive-maxconn server-keepalive-timeout server-log
    server-maxconn server-maxconn-backlog server-port server-timeout session-cache-size session-timeout
    show-weights sort-word-alignment source-label-overlap spe-aln spe-src spe-trg text-type threads time-out
    translation-all-details translation-details tree-translation-details unknown-lhs unknown-word-prefix
    unknown-word-suffix unpruned-search-graph verbose version weight weight-add weight-file weight-overwrite
    xml-brackets"""
)
SECTIONS = _LEAST.keys() | _REAL | _CHOICES.keys() | _OTHERS
_SECTION = re.compile(r"\[([^\[\]]*)\]")
_ARGUMENT = re.compile(r"([A-Za-z][\w.-]*)=(.+)", re.ASCII)
_COMMON = words(
    """name num-features tuneable tuneable-components require-sorting-after-source-context verbosity
    filterable"""
)
_TABLE = frozenset({"path", "input-factor", "output-factor", "table-limit", "cache-size"})
_FEATURES = {
    "Distortion": frozenset({"sparse", "sparse-distance", "sparse-subordinate"}),
    "KENLM": frozenset({"factor", "path", "order", "load", "lazyken", "oov-feature"}),
    "LexicalReordering": frozenset(
        {"type", "path", "input-factor", "output-factor", "default-scores", "cache-size", "property-index"}
    ),
    "PhraseDictionaryMemory": _TABLE,
    "PhrasePenalty": frozenset({"per-dictionary"}),
    "UnknownWordPenalty": frozenset(),
    "WordPenalty": frozenset(),
}
"""The keys of the basic features, in addition to the keys that all features have."""


@dataclass(frozen=True)
class Feature:
    """A feature of a moses.ini: its kind, the name of its weights, its options."""

    kind: str
    name: str
    options: dict[str, str]

    @property
    def scores(self) -> int | None:
        """The number of scores, if the options determine it."""
        if self.kind in ("Distortion", "UnknownWordPenalty", "WordPenalty"):
            return 1
        if self.kind == "KENLM":
            return 2 if self.options.get("oov-feature", "").lower() in TRUE else 1
        given = self.options.get("num-features")
        return int(given) if given else (1 if self.kind in ("PhrasePenalty", "PhraseDictionaryMemory") else None)


def feature(value: str, unnamed: Counter[str]) -> Feature:
    """Parse a feature line; ``unnamed`` counts the features without a name by kind."""
    kind, *arguments = blanks(value)
    if not re.fullmatch(r"[A-Za-z]\w*", kind, re.ASCII):
        raise BadField("a kind of feature, such as KENLM", quote(kind))
    options: dict[str, str] = {}
    known = _COMMON | _FEATURES[kind] if kind in _FEATURES else None
    for argument in arguments:
        match = _ARGUMENT.fullmatch(argument)
        if match is None:
            raise BadField("key=value", quote(argument))
        if known is not None and match[1] not in known and not (kind == "LexicalReordering" and "sparse-" in match[1]):
            raise BadField(f"a key of {kind} ({', '.join(sorted(known))})", quote(match[1]))
        if match[1] in options:
            raise BadField("each key once", f"{quote(match[1])} again")
        options[match[1]] = match[2]
    for key in ("num-features", "table-limit", "order"):
        if key in options:
            whole(options[key], 0)
    # With property-index, Moses2 reads the scores from a property of its binary phrase table.
    inside = kind == "LexicalReordering" and "property-index" in options
    if inside:
        whole(options["property-index"], 0)
    if kind in ("KENLM", "LexicalReordering", "PhraseDictionaryMemory") and "path" not in options and not inside:
        raise BadField(f"path=FILE for {kind}", "none")
    if kind == "LexicalReordering" and "type" not in options:
        raise BadField("type=MODEL for LexicalReordering", "none")
    name = options.get("name")
    if name is None:
        name = f"{kind}{unnamed[kind]}"
        unnamed[kind] += 1
    return Feature(kind, name, options)


def features(settings: Settings) -> list[tuple[Setting, Feature]]:
    """All features of a configuration."""
    unnamed: Counter[str] = Counter()
    return [(setting, feature(setting.value, unnamed)) for setting in settings.all("feature")]


def parse(lines: Lines, *, max_lines: int = MAX_LINES) -> Iterator[Settings]:
    """Parse the file, which is one configuration."""
    raw = []
    entries: list[Setting] = []
    named: dict[str, Feature] = {}
    unnamed: Counter[str] = Counter()
    section = ""
    for line in gather(lines, max_lines):
        raw.append(line)
        body = trim(line.split("#", 1)[0])
        if body[:1] == "[":
            section = _section(body, lines)
        elif body and not section:
            raise lines.error("a [section] before its values", quote(body), 1)
        elif body:
            entries.append(Setting(section, body, lines.number))
            check(lines, partial(_check, section), body, 1)
            if section == "feature":
                try:
                    parsed = feature(body, unnamed)
                except BadField as bad:
                    raise lines.locate(bad, 1) from None
                if parsed.name in named:
                    raise lines.error("each feature name once", f"{quote(parsed.name)} again", 1)
                named[parsed.name] = parsed
    if not named:
        raise lines.error("a [feature] section with features", "none in the file", 1, line=1)
    text = "".join(raw)
    _check_weights(text, entries, named, lines)
    yield Settings(tuple(entries), text, NAME, lines.name)


def bare_switches(settings: Settings) -> list[Setting]:
    """Switches without a value, with their lines: they are off, as Moses keeps no section that has no line."""
    known = {setting.key for setting in settings.entries}
    bodies = [trim(line.split("#", 1)[0]) for line in (settings.raw or "").split("\n")]
    sections = [(match[1], line) for line, body in enumerate(bodies, 1) if (match := _SECTION.fullmatch(body))]
    return [Setting(name, "", line) for name, line in sections if name in _SWITCHES - known]


def _section(body: str, lines: Lines) -> str:
    header = _SECTION.fullmatch(body)
    if header is None:
        raise lines.error("[section]", quote(body), 1)
    name = header[1]
    if name in BEFORE_2013:
        raise lines.error("[feature] and [weight] sections (moses.ini since 2013)", f"[{name}]", 1)
    if name not in SECTIONS and name not in SHORT:
        raise unknown(lines, name, SECTIONS, "a section that Moses knows")
    return name


def _check(section: str, value: str) -> None:
    """Check a value; the error names its section."""
    try:
        _check_value(section, value)
    except BadField as bad:
        raise BadField(f"{bad.expected} in [{section}]", bad.found) from None


def _check_value(section: str, value: str) -> None:
    if section in _LEAST:
        for token in blanks(value) if section in _SEVERAL else [value]:
            whole(token, _LEAST[section])
    elif section == "threads" and value != "all":
        try:
            whole(value)
        except BadField as bad:
            raise BadField(f"{bad.expected} or all", bad.found) from None
    elif section in _REAL:
        real(value)
    elif section in _CHOICES:
        one_of(value, _CHOICES[section])
    elif section in _SWITCHES:
        one_of(value.lower(), ("true", "false", *sorted((TRUE | FALSE) - {"true", "false"})))
    elif section == "n-best-list" and len(blanks(value)) > 1:
        whole(blanks(value)[1], 0)


def _check_weights(text: str, entries: list[Setting], named: dict[str, Feature], lines: Lines) -> None:
    """Check that weights are well-formed, belong to features and match their numbers of scores."""
    given = [setting for setting in entries if setting.key == "weight"]
    if given:
        list(weights.parse(Lines(io.BytesIO(text.encode()), lines.name)))
    for setting in given:
        label, *values = blanks(setting.value)
        name = label.removesuffix("=")
        if values == ["UNTUNEABLE"]:
            continue
        if name not in named:
            # `Feature_rest= 0.5` is the weight of a sparse feature of `Feature`.
            if not any(name.startswith(f"{own}_") for own in named):
                raise lines.error("the name of a feature in this file", quote(name), 1, line=setting.line)
            wanted: int | None = 1
        else:
            wanted = named[name].scores
        if wanted is not None and wanted != len(values):
            expected = f"{wanted} weight{'s' * (wanted != 1)} of {name}"
            raise lines.error(expected, str(len(values)), 2, line=setting.line)


def write(records: Iterable[Settings], out: TextIO, number: Number) -> int:
    """Write configurations, unchanged if read by this format; returns their count."""
    return write_settings(records, out, NAME, parse, _compose)


def _compose(settings: Settings) -> str:
    text = section = ""
    for setting in settings.entries:
        if setting.key != section:
            text += ("\n" if text else "") + f"[{setting.key}]\n"
            section = setting.key
        text += setting.value + "\n"
    return text


def matches(head: bytes) -> bool:
    """Match a file that begins with a section and has one of the sections of every moses.ini."""
    bodies = [trim(line.split("#", 1)[0]) for line in first_lines(head, lambda line: trim(line.split("#", 1)[0]))]
    return bool(bodies) and _SECTION.fullmatch(bodies[0]) is not None and weights.matches(head)


FORMAT = Format(
    name=NAME,
    kind="config",
    summary="the settings of a moses.ini: [section] and its values",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".ini",),
    fallback=1,
    example="[feature]\nWordPenalty\nKENLM name=LM0 path=en.klm\n\n[weight]\nWordPenalty0= -1\nLM0= 0.5\n",
)
