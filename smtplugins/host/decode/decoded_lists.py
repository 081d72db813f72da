"""N-best lists from decodings, and the formats they are written in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.files.opening import rounded
from smtplugins.host.learn.checking import COMPONENT

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtplugins.contracts.decoders import Decoding
    from smtplugins.core.graph.hypergraph import Hypergraph


def candidates_of(
    decoding: Decoding,
    k: int,
    *,
    unique: bool = False,
    names: Iterable[str] = (),
    graph: Hypergraph | None = None,
    fields: Sequence[str] = (),
    hidden: Collection[str] = (),
) -> Candidates | None:
    """The ``k`` best derivations of a decoding as an n-best list; ``None`` without a translation.

    Features with the value 0 are left out unless they are among ``names`` or another component of the same feature
    (``NAME[0]``, ``NAME[1]``) is not 0. ``hidden`` features count in the totals only.
    """
    from smtformats import Candidates

    best = decoding.best
    if not decoding.found:
        # Joshua lists the sentence itself.
        return Candidates(id=decoding.id, texts=[best], layouts=[()], values=[[]], totals=[0.0]) if best else None
    always = tuple(name for name in names if name not in hidden)
    extras: dict[str, list[str]] = {}
    if k == 1 and not fields:
        texts, rows, totals = _only(decoding)
    else:
        if graph is None:
            what = f"a list with {fields[0]}" if fields else "a list of more than one translation"
            raise UsageError(f"the decoder gives no graph, so there is no {what}")
        texts, rows, totals, extras = _derivations(graph, k, unique, fields)
        if not texts and best:
            return None
        if not texts:
            # An empty sentence has an empty translation, without a derivation.
            (texts, rows, totals), extras = _only(decoding), {name: [""] for name in fields}
        texts = texts if decoding.shown is None else [decoding.shown(text) for text in texts]
    values, layouts = [], []
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    several = {name: match[1] for name in (rows[0] if rows else ()) if (match := COMPONENT.fullmatch(name))}
    for row in rows:
        there = {several[name] for name, value in row.items() if value and name in several}
        shown = (name for name, value in row.items() if value or several.get(name) in there)
        others = (name for name in shown if name not in always and name not in hidden)
        layout = always + tuple(sorted(others))
        layouts.append(known.setdefault(layout, layout))
        values.append(rounded([row.get(name, 0.0) for name in layout]))
    return Candidates(
        id=decoding.id, texts=texts, layouts=layouts, values=values, totals=rounded(totals), extras=extras
    )


def _only(decoding: Decoding) -> tuple[list[str], list[dict[str, float]], list[float]]:
    """The best translation only."""
    return [decoding.best], [dict(decoding.features)], [decoding.score or 0.0]


def _derivations(
    graph: Hypergraph, k: int, unique: bool, fields: Sequence[str]
) -> tuple[list[str], list[dict[str, float]], list[float], dict[str, list[str]]]:
    from smtplugins.core.graph.inference import kbest
    from smtplugins.host.files.list_fields import fields_of

    derivations = kbest(graph, k=k, unique=unique)
    names = graph.names[:]
    rows = [dict(zip(names, derivation.features().tolist(), strict=True)) for derivation in derivations]
    return derivations.texts(), rows, derivations.scores.tolist(), fields_of(derivations, fields) if fields else {}


def writable_lists(record: Format) -> Format:
    """The format for new lists; Joshua's has at least three decimals, by which it is detected."""
    write = record.write
    if write is None:
        raise UsageError(f"{record.name} can only be read; name another format with {argument('to_format', '--to')}")
    if record.name != "joshua-nbest":
        return record

    def padded(lists: Iterable[Candidates], out: Any, number: Callable[[float], str]) -> int:
        count: int = write(lists, out, lambda value: _three_decimals(number(value)))
        return count

    return replace(record, write=padded)


def _three_decimals(text: str) -> str:
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals:0<3}" if whole.lstrip("-").isdigit() and (decimals.isdigit() or not decimals) else text
