r"""The settings of a joshua.config.

    tm = thrax -owner pt -maxspan 12 -path grammar.gz
    feature-function = LanguageModel -lm_type kenlm -lm_order 5 -lm_file lm.kenlm
    pop-limit = 100
    lm_0 1.2373676802179452

A line with ``=`` is a key and its value; any other line is a weight, a name and a number. Lines that begin with ``#``
are comments; after a value, ``#`` is part of it. Case, ``-`` and ``_`` are ignored in keys: ``pop-limit`` is
``popLimit``. ``tm``, ``lm`` and ``feature-function`` may be repeated and keep their order; of any other key the last
line counts. Some keys are switches that are on if present: ``lattice-decoding = false`` switches it on. The old forms
``tm = thrax pt 12 grammar.gz`` and ``lm = kenlm 5 false false 100 lm.gz`` are read as Joshua reads them.

Errors, as in Joshua: an unknown key, a malformed number, a line of one or three words without ``=``. Deliberately
stricter than Joshua: a repeated weight, ``weight-overwrite``, weights both here and in ``weights-file``, boolean values
other than true and false (false to Joshua), and a parameter without its ``-name`` are errors. The option ``max_lines``
limits the number of lines.

A joshua.config also holds weights, and is read as weights unless a configuration is asked for.
"""

from __future__ import annotations

import io
import re
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
from smtformats.format import Format, Number
from smtformats.tokens import BadField, blanks, trim
from smtformats.weights import joshua as weights

NAME = "joshua-settings"
WEIGHT = "weight"
"""The key of weight lines among the settings."""
LISTS = frozenset({"tm", "lm", "feature-function"})
PRESENT = words(
    """lattice-decoding segment-oovs no-dot-chart source-annotations lowercase project-case moses show-weights
    rescore-forest"""
)
"""Switches: keys that are on if present."""
_BOOLEAN = words(
    """mark-oovs use-unique-nbest true-oovs-only parse constrain-parse filter-grammar fuzzy-matching use-pos-labels
    include-align-index amortize"""
)
_LEAST = {
    **dict.fromkeys(("pop-limit", "num-translation-options", "top-n", "server-port", "cached-rules-size"), 0),
    **dict.fromkeys(("maxlen", "threads", "num-parallel-decoders"), 1),
    "reordering-limit": None,
}
_CHOICES = {"search": ("cky", "stack"), "input-type": ("plain", "json"), "server-type": ("tcp", "http")}
_TEXT = words(
    """c config v weights-file weight-file default-non-terminal goal-symbol output-format oov-list rescore-forest-weight
    input-file n-best-list fragment-map use-sent-specific-tm add-combined-cost use-tree-nbest use-kenlm use-cube-prune
    use-beam-and-threshold-prune regexp-grammar"""
)
KEYS = LISTS | PRESENT | _BOOLEAN | _LEAST.keys() | _CHOICES.keys() | _TEXT


def _bare(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()


_SPELT = {_bare(key): key for key in KEYS}
_ARGUMENT = re.compile(r"-[A-Za-z]\S+", re.ASCII)


def parse(lines: Lines, *, max_lines: int = MAX_LINES) -> Iterator[Settings]:
    """Parse the file, which is one configuration."""
    raw = []
    entries: list[Setting] = []
    for line in gather(lines, max_lines):
        raw.append(line)
        body = trim(line)
        if not body or body[0] == "#":
            continue
        given, equals, value = map(trim, body.partition("="))
        if not equals:
            entries.append(Setting(WEIGHT, body, lines.number))
            continue
        if _bare(given) == "weightoverwrite":
            raise lines.error("weights on lines of their own", "`weight-overwrite`", 1)
        key = _SPELT.get(_bare(given))
        if key is None:
            raise unknown(lines, given, KEYS, "a key that Joshua knows")
        check(lines, partial(_check, key), value)
        entries.append(Setting(key, value, lines.number))
    if not entries:
        raise lines.error("`key = value` lines", "none in the file", 1, line=1)
    text = "".join(raw)
    settings = Settings(tuple(entries), text, NAME, lines.name)
    _check_whole(settings, lines)
    yield settings


def _check(key: str, value: str) -> None:
    if key == "tm":
        table(value)
    elif key in ("lm", "feature-function"):
        function(key, value)
    elif key in _BOOLEAN:
        one_of(value.lower(), ("true", "false"))
    elif key in _LEAST:
        whole(value, _LEAST[key])
    elif key in _CHOICES:
        one_of(value.lower() if key == "server-type" else value, _CHOICES[key])
    elif key == "rescore-forest-weight":
        real(value)
    elif key in ("default-non-terminal", "goal-symbol", "weights-file", "input-file") and not value:
        raise BadField("a value", "nothing")
    elif key == "oov-list":
        _check_labels(blanks(value))
    elif key == "n-best-list" and len(blanks(value)) > 1:
        whole(blanks(value)[1], 0)


def _check_labels(tokens: list[str]) -> None:
    """Check an OOV list: a file, or labels with their probabilities."""
    if len(tokens) == 1:
        return
    if not tokens or len(tokens) % 2:
        raise BadField("a file, or labels each with a probability", f"{len(tokens)} words")
    for token in tokens[1::2]:
        real(token)
        if not float(token) > 0:
            raise BadField("a probability above 0", quote(token))


def _check_whole(settings: Settings, lines: Lines) -> None:
    """Check the settings together: weights must be well-formed and not also in a weights-file."""
    given = settings.all(WEIGHT)
    if given:
        list(weights.parse(Lines(io.BytesIO((settings.raw or "").encode()), lines.name)))
        for setting in settings.all("weights-file"):
            raise lines.error(
                f"weights in this file only (line {given[0].line} has one)", "a weights-file", 2, line=setting.line
            )


def arguments(tokens: list[str]) -> dict[str, str]:
    """Parse ``-name value`` and ``-name`` parameters into values by name."""
    parameters: dict[str, str] = {}
    name = ""
    for token in tokens:
        if _ARGUMENT.fullmatch(token):
            name = token[1:]
            if name in parameters:
                raise BadField("each parameter once", f"{quote(token)} again")
            parameters[name] = ""
        elif not name:
            raise BadField("-name value", quote(token))
        else:
            parameters[name], name = token, ""
    return parameters


def table(value: str) -> tuple[str, dict[str, str]]:
    """Parse the value of a ``tm``; returns its type and parameters, which include ``owner``, ``maxspan``, ``path``."""
    kind, *rest = blanks(value) or [""]
    if rest and not rest[0].startswith("-"):
        if len(rest) < 3:
            raise BadField("TYPE OWNER SPAN FILE", quote(value))
        parameters = dict(zip(("owner", "maxspan", "path"), rest, strict=False))
    else:
        parameters = arguments(rest)
    for name in ("owner", "maxspan", "path"):
        if not parameters.get(name):
            raise BadField(f"TYPE -owner OWNER -maxspan SPAN -path FILE, with -{name}", quote(value))
    whole(parameters["maxspan"], -1)
    if not re.fullmatch(r"\w[\w.-]*", parameters["owner"]):
        raise BadField("an owner (a word)", quote(parameters["owner"]))
    return kind, parameters


def function(key: str, value: str) -> tuple[str, dict[str, str]]:
    """Parse a ``feature-function`` or ``lm``; returns its class, without the ending ``FF``, and its parameters."""
    name, *rest = blanks(value) or [""]
    if key == "lm":
        if len(rest) < 5:
            raise BadField("TYPE ORDER MINIMIZING FIXED CEILING FILE", quote(value))
        minimizing = rest[1] == "true"
        parameters = {"lm_type": "kenlm" if minimizing else name, "lm_order": rest[0], "lm_file": rest[4]}
        name = "StateMinimizingLanguageModel" if minimizing else "LanguageModel"
    else:
        if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
            raise BadField("the class of a feature function", quote(name))
        name = name.removesuffix("FF") if name != "RuleFF" else name
        parameters = arguments(rest)
    if name in ("LanguageModel", "StateMinimizingLanguageModel"):
        if not parameters.get("lm_file"):
            raise BadField("-lm_file FILE", quote(value))
        if "lm_order" in parameters:
            whole(parameters["lm_order"], 1)
    if name == "WordPenalty" and "value" in parameters:
        real(parameters["value"])
    return name, parameters


def write(records: Iterable[Settings], out: TextIO, number: Number) -> int:
    """Write configurations, unchanged if read by this format; returns their count."""
    return write_settings(records, out, NAME, parse, lambda settings: "".join(map(_line, settings.entries)))


def _line(setting: Setting) -> str:
    return f"{setting.value}\n" if setting.key == WEIGHT else f"{setting.key} = {setting.value}".rstrip(" ") + "\n"


def matches(head: bytes) -> bool:
    """Match a setting that only Joshua has."""
    return weights.is_config(head)


FORMAT = Format(
    name=NAME,
    kind="config",
    summary="the settings of a joshua.config: key = value lines",
    matches=matches,
    parse=parse,
    write=write,
    suffixes=(".config",),
    fallback=1,
    example="tm = thrax -owner pt -maxspan 12 -path rules.gz\nfeature-function = WordPenalty\ntm_pt_0 1\n",
)
