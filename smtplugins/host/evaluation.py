"""Scores of systems by any metric, with bootstrap intervals and a paired test against the first system."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.lists import ListStream
from smtplugins.host.opening import open_known

if TYPE_CHECKING:
    from smtformats import Format
    from smtplugins.host.contracts import Metric

System = Any
"""A path (text, or lists whose best hypotheses count), a stream of lists, or a list of strings."""


@dataclass(frozen=True)
class Score:
    """One system under one metric. ``low``, ``high`` and ``p`` are there if resampling was asked for."""

    system: str
    metric: str
    score: float
    signature: str
    low: float | None = None
    high: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class Evaluation:
    """All scores, systems in the order given, the first being the baseline."""

    scores: tuple[Score, ...]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each score, for tables and JSON."""
        names = ("system", "metric", "score", "low", "high", "p", "signature")
        return [{name: getattr(one, name) for name in names} for one in self.scores]

    def __str__(self) -> str:
        lines = []
        for one in self.scores:
            extra = "" if one.low is None else f" [{one.low:.2f}, {one.high:.2f}]"
            extra += "" if one.p is None else f" p={one.p:.4f}"
            lines.append(f"{one.system}\t{one.metric} {one.score:.2f}{extra}\t{one.signature}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Texts:
    """Sentences by id, ``None`` where there is none; ``numbered`` if the ids are their own and not line numbers."""

    texts: Sequence[str | None]
    name: str
    numbered: bool

    def __len__(self) -> int:
        return len(self.texts)


def texts_of(system: System, formats: Iterable[Format] | None = None) -> Texts:
    """A system's translations by id, and how to name it in messages."""
    if isinstance(system, ListStream):
        return Texts(_by_id(system), system.name, True)
    if isinstance(system, (str, os.PathLike)):
        return _of_file(os.fspath(system), formats)
    listed = list(system)
    if listed and not isinstance(listed[0], str):
        return Texts(_by_id(ListStream(lambda: iter(listed), "<lists>")), "<lists>", True)
    return Texts(listed, "<texts>", False)


def _of_file(path: str, formats: Iterable[Format] | None) -> Texts:
    from smtformats import all_formats

    if path == "-":
        raise UsageError("a system is read from a file, not from standard input")
    known = [one for one in (formats or all_formats()) if one.kind == "nbest" or one.name == "text"]
    opened = open_known(path, None, None, known)
    record, records = opened.record, opened.records()
    if record.kind == "corpus":
        return Texts(list(records), path, False)
    return Texts(_by_id(ListStream(lambda: records, path, record)), path, True)


def _by_id(lists: ListStream) -> list[str | None]:
    texts: list[str | None] = []
    for key, text in lists.best_by_id():
        if not key.isdigit():
            raise SmtError(f"{lists.name}: expected line numbers of the references as ids, found {key!r}")
        if int(key) < len(texts):
            raise SmtError(f"{lists.name}: expected ids that ascend, found {key} after {len(texts) - 1}")
        texts.extend([None] * (int(key) - len(texts)))
        texts.append(text)
    return texts


def evaluate(
    systems: Mapping[str, System],
    refs: Sequence[System],
    metrics: Sequence[Metric],
    *,
    sources: System | None = None,
    bootstrap: int = 0,
    seed: int = 12345,
    allow_partial: bool = False,
    formats: Iterable[Format] | None = None,
) -> Evaluation:
    """Score every system under every metric; with ``bootstrap`` samples, intervals and p against the first system."""
    import numpy as np

    from smtplugins.core import resampling

    if not systems:
        raise UsageError("name at least one system")
    if isinstance(refs, (str, os.PathLike)):
        raise UsageError(f"refs: expected a list of references, found {os.fspath(refs)!r}")
    if seed < 0:
        raise UsageError(f"seed: expected a whole number from 0 on, found {seed}")
    streams = [texts_of(one, formats) for one in refs]
    read = {name: texts_of(one, formats) for name, one in systems.items()}
    side = [texts_of(sources, formats)] if sources is not None else []
    for one in read.values():
        if allow_partial and streams and not one.numbered and len(one) != len(streams[0]):
            raise SmtError(
                f"{one.name}: expected {len(streams[0])} lines, as {streams[0].name} has, found {len(one)}: a text has "
                "no ids to tell which are missing (`smt best --fill` keeps a line for each id)"
            )
    kept = _common([*streams, *read.values(), *side], allow_partial)
    source_texts = [side[0].texts[i] or "" for i in kept] if side else None
    references = [[one.texts[i] or "" for i in kept] for one in streams]
    counts = resampling.sample_counts(len(kept), bootstrap, seed) if bootstrap else None
    scores = []
    for metric in metrics:
        base = None
        for name, one in read.items():
            hypotheses = [one.texts[i] or "" for i in kept]
            stats = np.asarray(metric.stats(hypotheses, references, source_texts), dtype=np.float64)
            score = float(metric.score(stats.sum(axis=0)))
            signature = metric.signature()
            low: float | None = None
            high: float | None = None
            p: float | None = None
            if counts is not None:
                signature += f"|bs:{bootstrap}|rs:{seed}"
                sampled = resampling.sampled_scores(stats, metric.score, counts)
                low, high = resampling.interval(sampled)
                if base is None:
                    base = (score, sampled)
                else:
                    p = resampling.paired_p(base[1], sampled, score - base[0])
            if len(kept) < len(streams[0] if streams else one):
                signature += f"|segments:{len(kept)}"
            scores.append(Score(name, metric.name, score, signature, low, high, p))
    return Evaluation(tuple(scores))


def _common(everything: Sequence[Texts], partial: bool) -> list[int]:
    """The ids that all have; anything less than all is an error unless ``partial``."""
    longest = max(map(len, everything))
    if longest == 0:
        raise SmtError(f"{everything[0].name}: expected sentences to judge, found none")
    kept = []
    for i in range(longest):
        lacking = next((one.name for one in everything if i >= len(one) or one.texts[i] is None), None)
        if lacking is None:
            kept.append(i)
        elif not partial:
            raise SmtError(
                f"{lacking}: expected a sentence for id {i} (line {i + 1} of {everything[0].name}), found none; "
                "--allow-partial judges what all have"
            )
    if not kept:
        raise SmtError("no sentence is in all files")
    return kept
