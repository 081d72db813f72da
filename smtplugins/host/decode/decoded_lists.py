"""N-best lists from decodings, and the formats they are written in."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from smtformats import Candidates
from smtformats.format import rounded
from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.files.list_fields import fields_of
from smtplugins.host.files.tree_fields import tree_fields
from smtplugins.host.learn.checking import COMPONENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Format
    from smtplugins.contracts.decoders import Decoding
    from smtplugins.core.graph.derivations import Derivations
    from smtplugins.core.graph.hypergraph import Hypergraph


class Ranked(Protocol):
    """Ranks the derivations of a graph."""

    def __call__(self, graph: Hypergraph, *, k: int, unique: bool) -> Derivations:
        """The ``k`` best derivations, of ``unique`` texts if that is wanted."""
        ...


def candidates_of(
    decoding: Decoding,
    k: int,
    *,
    unique: bool = False,
    names: Iterable[str] = (),
    graph: Hypergraph | None = None,
    fields: Sequence[str] = (),
    hidden: Collection[str] = (),
    trees: bool = False,
    moses: bool = False,
    ranked: Ranked | None = None,
) -> Candidates | None:
    """The ``k`` best derivations of a decoding as an n-best list; ``None`` without a translation.

    ``fields`` are those of phrases, or with ``trees`` those of a grammar's derivations (``host/files/tree_fields.py``),
    with alignments as in Moses if it is a ``moses`` list.

    Features with the value 0 are left out unless they are among ``names`` or another component of the same feature
    (``NAME[0]``, ``NAME[1]``) is not 0. ``hidden`` features count in the totals only. ``ranked`` ranks derivations
    otherwise than by their scores.
    """
    best = decoding.best
    if not decoding.found:
        # Joshua lists the sentence itself.
        return Candidates(id=decoding.id, texts=[best], layouts=[()], values=[[]], totals=[0.0]) if best else None
    always = tuple(name for name in names if name not in hidden)
    extras: dict[str, list[str]] = {}
    if k == 1 and not fields and ranked is None:
        texts, columns, rows, totals = _only(decoding)
    else:
        if graph is None:
            what = f"a list with {fields[0]}" if fields else "a list of more than one translation"
            raise UsageError(f"the decoder gives no graph, so there is no {what}")
        texts, columns, rows, totals, extras = _derivations(graph, k, unique, fields, trees, moses, ranked)
        if not texts and best:
            return None
        if not texts:
            # An empty sentence has an empty translation, without a derivation.
            (texts, columns, rows, totals), extras = _only(decoding), {name: [""] for name in fields}
        texts = texts if decoding.shown is None else [decoding.shown(text) for text in texts]
    layouts, values = _layouts(columns, rows, always, hidden)
    return Candidates(
        id=decoding.id, texts=texts, layouts=layouts, values=values, totals=rounded(totals), extras=extras
    )


def _layouts(
    names: Sequence[str], rows: NDArray[Any], always: tuple[str, ...], hidden: Collection[str]
) -> tuple[list[tuple[str, ...]], list[list[float]]]:
    """The names that each row shows, ``always`` first and the others sorted, and their rounded values."""
    if not names:
        return [always] * len(rows), [[0.0] * len(always) for _ in rows]
    order = sorted(range(len(names)), key=names.__getitem__)
    names = [names[i] for i in order]
    table = rows[:, order]
    shown = table != 0
    parts: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        if match := COMPONENT.fullmatch(name):
            parts.setdefault(match[1], []).append(i)
    for places in parts.values():
        shown[:, places] |= shown[:, places].any(axis=1, keepdims=True)
    at = {name: i for i, name in enumerate(names)}
    shown[:, [at[name] for name in {*always, *hidden} if name in at]] = False
    first = np.zeros((len(rows), len(always)))
    for i, name in enumerate(always):
        if name in at:
            first[:, i] = table[:, at[name]]
    known: dict[bytes, tuple[str, ...]] = {}
    layouts = []
    for row in shown:
        key = row.tobytes()
        if key not in known:
            known[key] = always + tuple(names[i] for i in np.flatnonzero(row).tolist())
        layouts.append(known[key])
    ends = np.cumsum(shown.sum(axis=1)).tolist()
    kept, others = rounded(first.reshape(-1)), rounded(table[shown])
    width = len(always)
    values = [
        kept[i * width : (i + 1) * width] + others[begin:end]
        for i, (begin, end) in enumerate(itertools.pairwise([0, *ends]))
    ]
    return layouts, values


def _only(decoding: Decoding) -> tuple[list[str], list[str], NDArray[Any], list[float]]:
    """The best translation only."""
    features = dict(decoding.features)
    return [decoding.best], list(features), np.array([list(features.values())]), [decoding.score or 0.0]


def _derivations(
    graph: Hypergraph, k: int, unique: bool, fields: Sequence[str], trees: bool, moses: bool, ranked: Ranked | None
) -> tuple[list[str], list[str], NDArray[Any], list[float], dict[str, list[str]]]:
    """Texts, feature names, their values in each derivation, scores, and the fields asked for."""
    from smtplugins.core.graph.inference import kbest

    derivations = (kbest if ranked is None else ranked)(graph, k=k, unique=unique)
    if not fields:
        extras = {}
    elif trees:
        extras = tree_fields(derivations, fields, moses=moses)
    else:
        extras = fields_of(derivations, fields)
    return derivations.texts(), graph.names[:], derivations.features(), derivations.scores.tolist(), extras


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
