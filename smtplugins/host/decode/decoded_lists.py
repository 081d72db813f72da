"""What a decoder found for a sentence as a list, and the formats that new lists are written in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError
from smtplugins.host.files.opening import rounded
from smtplugins.host.learn.checking import COMPONENT

if TYPE_CHECKING:
    from smtformats import Candidates, Format
    from smtplugins.contracts.contracts import Decoding
    from smtplugins.core.graph.hypergraph import Hypergraph


def candidates_of(
    one: Decoding,
    k: int,
    *,
    unique: bool = False,
    names: Iterable[str] = (),
    graph: Hypergraph | None = None,
    fields: Sequence[str] = (),
    hidden: Collection[str] = (),
) -> Candidates | None:
    """The best ``k`` derivations of a decoding as a list; none if there is no translation.

    Features that are 0 are left out, unless they are among the ``names`` that are always shown, or others of the same
    feature (``NAME[0]``, ``NAME[1]``) are not. Features that are ``hidden`` count in the totals alone.
    """
    from smtformats import Candidates

    if not one.found:
        # Joshua's lists have the sentence itself then.
        return Candidates(id=one.id, texts=[one.best], layouts=[()], values=[[]], totals=[0.0]) if one.best else None
    always = tuple(name for name in names if name not in hidden)
    extras: dict[str, list[str]] = {}
    if k == 1 and not fields:
        texts, rows, totals = _only(one)
    else:
        if graph is None:
            what = f"a list with {fields[0]}" if fields else "a list of more than one translation"
            raise UsageError(f"the decoder gives no graph, so that there is no {what}")
        texts, rows, totals, extras = _derivations(graph, k, unique, fields)
        if not texts and one.best:
            return None
        if not texts:
            # Nothing is the translation of nothing, and no search made it.
            (texts, rows, totals), extras = _only(one), {name: [""] for name in fields}
        texts = texts if one.shown is None else [one.shown(text) for text in texts]
    values, layouts = [], []
    several = {name: found[1] for name in (rows[0] if rows else ()) if (found := COMPONENT.fullmatch(name))}
    for row in rows:
        there = {several[name] for name, value in row.items() if value and name in several}
        shown = (name for name, value in row.items() if value or several.get(name) in there)
        others = (name for name in shown if name not in always and name not in hidden)
        layout = always + tuple(sorted(others))
        layouts.append(layout)
        values.append(rounded([row.get(name, 0.0) for name in layout]))
    return Candidates(id=one.id, texts=texts, layouts=layouts, values=values, totals=rounded(totals), extras=extras)


def _only(one: Decoding) -> tuple[list[str], list[dict[str, float]], list[float]]:
    """The best translation alone."""
    return [one.best], [dict(one.features)], [one.score or 0.0]


def _derivations(
    graph: Hypergraph, k: int, unique: bool, fields: Sequence[str]
) -> tuple[list[str], list[dict[str, float]], list[float], dict[str, list[str]]]:
    from smtplugins.core.graph.inference import kbest
    from smtplugins.host.files.list_fields import fields_of

    found = kbest(graph, k=k, unique=unique)
    names = graph.names[:]
    rows = [dict(zip(names, row.features().tolist(), strict=True)) for row in found]
    return found.texts(), rows, found.scores.tolist(), fields_of(found, fields) if fields else {}


def writable_lists(record: Format) -> Format:
    """A format for new lists. Joshua's have three decimals at least, by which they are known."""
    write = record.write
    if write is None:
        raise UsageError(f"{record.name} can only be read; name another format with --to")
    if record.name != "joshua-nbest":
        return record

    def padded(lists: Iterable[Candidates], out: Any, number: Callable[[float], str]) -> int:
        count: int = write(lists, out, lambda value: _three_decimals(number(value)))
        return count

    return replace(record, write=padded)


def _three_decimals(text: str) -> str:
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals:0<3}" if whole.lstrip("-").isdigit() and (decimals.isdigit() or not decimals) else text
