"""Write lattices in HTK's format, with feature names in comments as Moses has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TextIO

from smtformats.errors import quote
from smtformats.format import Number
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.lattices import Arc, arcs_of
from smtformats.hypergraph.shared.sentence import spell
from smtformats.tokens import BadField, blanks
from smtformats.writing import write_each

NAME = "slf-lattice"
NULL = "!NULL"
SCALES = {"lmscale": "language", "acscale": "acoustic"}
SCALE = re.compile(r"(x[0-9]+)scale")
SCORE = re.compile(r"acoustic|language|ngram|x[0-9]+")
_SHORT = {"acoustic": "a", "language": "l", "ngram": "n"}
_BASE = "2.71828182845905"
_COMPONENT = re.compile(r"(.+)\[([0-9]{1,9})\]")


def write(records: Iterable[GraphColumns], out: TextIO, number: Number) -> int:
    """Write lattices; returns the number of lattices."""
    return write_each(records, out, lambda graph: spell(graph, NAME, lambda: _lines(graph, number)))


def _lines(graph: GraphColumns, number: Number) -> Iterator[str]:
    nodes, arcs = arcs_of(graph)
    fields = _fields_of(arcs, list(graph.names))
    header = {"VERSION": "1.0", "UTTERANCE": graph.id or "0", "base": _BASE, **graph.extras.get("header", {})}
    for name, value in header.items():
        if name not in ("NODES", "LINKS", "start", "end") and name not in SCALES and not SCALE.fullmatch(name):
            yield f"{name}={_escape(value)}\n"
    yield f"NODES={nodes} LINKS={len(arcs)}\n"
    yield from _scales(fields, graph.extras.get("scales", {}), graph.extras.get("names", {}), number)
    for node in range(nodes):
        yield f"I={node}\n"
    for place, arc in enumerate(arcs):
        word = f" W={_word(arc.words[0])}" if arc.words else ""
        shown = "".join(f" {fields[name]}={number(value)}" for name, value in arc.features.items())
        yield f"J={place} S={arc.tail} E={arc.head}{word}{shown}\n"


def _fields_of(arcs: Iterable[Arc], names: Iterable[str]) -> dict[str, str]:
    """Return the field name of each feature: a letter, the ``x`` number it has, or a new one."""
    used = {name for arc in arcs for name in arc.features}
    ordered = [name for name in (*names, "") if name in used]
    free = (f"x{k}" for k in range(1, 2 * len(ordered) + 1) if f"x{k}" not in used)
    return {name: _SHORT.get(name, name if SCORE.fullmatch(name) else next(free)) for name in ordered}


def _scales(
    fields: Mapping[str, str], scales: Mapping[str, float], names: Mapping[str, str], number: Number
) -> Iterator[str]:
    """Yield the comments that name numbered features, and the scales of features."""
    sizes: dict[str, int] = {}
    parts: dict[str, tuple[str, int]] = {}
    for name, short in fields.items():
        if short.startswith("x"):
            named = names.get(name, name if name != short else "") if name else "score"
            component = _COMPONENT.fullmatch(named)
            stem, place = (component[1], int(component[2]) + 1) if component is not None else (named, 1)
            # The size of a vector is unknown if only one of its components is here: claim two.
            sizes[stem] = max(sizes.get(stem, 0), place, 1 if component is None else 2)
            parts[name] = (stem, place)
    for name, short in fields.items():
        stem, place = parts.get(name, ("", 0))
        if stem:
            if blanks(stem) != [stem]:
                raise BadField("names of features without blanks", quote(stem))
            yield f"# {stem} {stem} {place} of {sizes[stem]}\n"
        key = next((key for key, feature in SCALES.items() if feature == name), f"{short}scale")
        if name in scales:
            yield f"{key}={number(scales[name])}\n"
        elif stem:
            yield f"{key}=1\n"


def _word(text: str) -> str:
    if not text or blanks(text) != [text] or text == NULL:
        raise BadField(f"words without blanks, none of them {NULL}", quote(text))
    return _escape(text)


def _escape(text: str) -> str:
    if "\n" in text or "\r" in text:
        raise BadField("a text without line breaks", quote(text))
    return re.sub(r"""([\\"' \t])""", r"\\\1", text)
