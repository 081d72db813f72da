"""What a file is: format, counts, features and their ranges, and problems with their lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtplugins.host.files.opening import Path, open_known

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtformats.alignment.links import Alignment
    from smtformats.config.settings import Settings
    from smtformats.corpus.segments import Segment
    from smtformats.grammar.rules import Rule
    from smtformats.hypergraph.graph import GraphColumns
    from smtformats.tuning.blocks import Block
    from smtplugins.host.host import Host

    Floats = NDArray[np.float64]

MAX_PROBLEMS = 20


@dataclass
class Description:
    """Facts by name, a row per feature, a row per problem."""

    facts: dict[str, Any] = field(default_factory=dict)
    features: list[dict[str, Any]] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**self.facts, "features": self.features, "problems": self.problems}

    def problem(self, line: int, text: str) -> None:
        """Keep a problem; only the first few are shown, all are counted."""
        self.facts["problems"] = self.facts.get("problems", 0) + 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append({"line": line, "problem": text})


def describe(host: Host, path: Path, format: str | None = None) -> Description:
    """Read a file through and describe it; what makes it unreadable is raised as usual."""
    opened = open_known(path, None, format, host.formats())
    record = opened.record
    found = Description({"format": record.name, "kind": record.kind, "is": record.summary})
    readers: dict[str, Callable[[Iterable[Any], Description], None]] = {
        "nbest": _lists,
        "weights": _weights,
        "corpus": _corpus,
        "grammar": _rules,
        "alignment": _alignments,
        "tuning": _blocks,
        "hypergraph": _graphs,
        "config": _settings,
    }
    with opened:
        readers.get(record.kind, _others)(opened.records(), found)
    return found


class _Range:
    def __init__(self) -> None:
        self.count, self.low, self.high, self.sum = 0, math.inf, -math.inf, 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.sum += value
        self.low = min(self.low, value)
        self.high = max(self.high, value)

    def add_all(self, values: Floats) -> None:
        self.count += len(values)
        self.sum += float(values.sum())
        self.low = min(self.low, float(values.min()))
        self.high = max(self.high, float(values.max()))

    def row(self, name: str, unit: str = "hypotheses") -> dict[str, Any]:
        return {
            "feature": name,
            unit: self.count,
            "min": self.low,
            "mean": self.sum / self.count,
            "max": self.high,
        }


def _lists(lists: Iterable[Candidates], found: Description) -> None:
    from smtformats.escapes import oddities, spellings
    from smtformats.tokens import is_id

    ranges: dict[str, _Range] = {}
    hypotheses = words = distinct = 0
    sizes: list[int] = []
    first = last = None
    extras: set[str] = set()
    escapes: set[str] = set()
    for one in lists:
        if last is not None and is_id(last) and is_id(one.id) and int(one.id) < int(last):
            found.problem(one.line, f"id {one.id} comes after {last}")
        first, last = first or one.id, one.id
        sizes.append(len(one))
        extras |= one.extras.keys()
        hypotheses += len(one)
        distinct += len(set(one.texts))
        if one.totals is not None and any(a < b for a, b in zip(one.totals, one.totals[1:], strict=False)):
            found.problem(one.line, f"list {one.id} is not sorted by total")
        for i, (text, features, _) in enumerate(one.rows()):
            words += len(text.split(" ")) if text else 0
            escapes.update(spellings(text))
            for trouble in oddities(text):
                found.problem(one.line + i, f"the text has {trouble}")
            for name, value in features.items():
                ranges.setdefault(name, _Range()).add(value)
    found.facts |= {
        "lists": len(sizes),
        "ids": f"{first} to {last}",
        "hypotheses": hypotheses,
        "per list": f"{min(sizes)} to {max(sizes)}, {hypotheses / len(sizes):.1f} on average",
        "distinct texts": distinct,
        "words per text": round(words / hypotheses, 2),
        "also has": ", ".join(sorted(extras)) or None,
        "escapes": ", ".join(sorted(escapes)) or None,
    }
    found.features += [one.row(name) for name, one in ranges.items()]


def _weights(records: Iterable[dict[str, float]], found: Description) -> None:
    from smtformats.escapes import oddities

    (weights,) = records
    found.facts |= {"weights": len(weights), "zero": sum(value == 0 for value in weights.values())}
    found.features += [{"feature": name, "weight": value} for name, value in weights.items()]
    for name in weights:
        for trouble in oddities(name):
            found.problem(1, f"the name {name!r} has {trouble}")
    if not any(weights.values()):
        found.problem(1, "all weights are 0")


def _corpus(sentences: Iterable[str | Segment], found: Description) -> None:
    from smtformats.escapes import oddities, spellings

    escapes: set[str] = set()
    lines = words = characters = references = 0
    vocabulary: set[str] = set()
    attributes: dict[str, None] = {}
    for lines, one in enumerate(sentences, 1):
        text = one if isinstance(one, str) else one.source
        if not isinstance(one, str):
            references += len(one.references)
            attributes.update(dict.fromkeys(one.attributes))
        tokens = text.split(" ") if text else []
        words += len(tokens)
        characters += len(text)
        vocabulary.update(tokens)
        escapes.update(spellings(text))
        for trouble in oddities(text):
            found.problem(lines, f"the line has {trouble}")
        if fault := getattr(one, "fault", ""):
            found.problem(lines, f"mark-up that counts as words: {fault}")
    found.facts |= {"lines": lines, "words": words, "distinct words": len(vocabulary), "characters": characters}
    found.facts["escapes"] = ", ".join(sorted(escapes)) or None
    if references or attributes:
        found.facts |= {"references": references, "attributes": ", ".join(attributes) or None}


def _alignments(pairs: Iterable[Alignment], found: Description) -> None:
    count = links = empty = 0
    for one in pairs:
        count += 1
        links += len(one.points)
        empty += not one.points
        for side, words in enumerate((one.source, one.target)):
            last = max((point[side] for point in one.points), default=-1)
            if words is not None and last >= len(words):
                name = ("source", "target")[side]
                found.problem(one.line, f"a link to {name} word {last}, of {len(words)} from 0 on")
        if len(set(one.points)) < len(one.points):
            found.problem(one.line, "a link stands twice")
        if one.source == one.target == ("ALIGN_ERR",):
            found.problem(one.line, "the two directions disagreed about the words")
    found.facts |= {
        "pairs": count,
        "without links": empty,
        "links": links,
        "links per pair": round(links / count, 2) if count else None,
    }


def _blocks(blocks: Iterable[Block], found: Description) -> None:
    ranges: dict[str, _Range] = {}
    sizes: list[int] = []
    scorers: dict[str, None] = {}
    layout: tuple[str, ...] | None = None
    for one in blocks:
        sizes.append(len(one))
        if one.scorer is not None:
            scorers[one.scorer] = None
        elif layout not in (None, one.names):
            found.problem(one.line, f"the features of {one.id} are not those of the sentence before")
        layout = one.names
        if not one:
            found.problem(one.line, f"no entries for {one.id}")
        for row in one.named():
            for name, value in row.items():
                ranges.setdefault(name, _Range()).add(value)
    found.facts |= {
        "sentences": len(sizes),
        "hypotheses": sum(sizes),
        "per sentence": f"{min(sizes)} to {max(sizes)}, {sum(sizes) / len(sizes):.1f} on average",
        "scorer": ", ".join(scorers) or None,
    }
    found.features += [one.row(name) for name, one in ranges.items()]


def _rules(rules: Iterable[Rule], found: Description) -> None:
    ranges: dict[str, _Range] = {}
    arities: Counter[int] = Counter()
    labels: Counter[str] = Counter()
    sources: set[tuple[object, ...]] = set()
    fine = aligned = 0
    for rule in rules:
        arities[rule.arity] += 1
        labels[rule.lhs] += 1
        sources.add(rule.source)
        fine += rule.level > 0
        aligned += bool(rule.alignment)
        features = rule.features()
        if len(features) < len(rule.names):
            found.problem(rule.line, "a feature stands there twice: the last one counts")
        for name, value in features.items():
            ranges.setdefault(name, _Range()).add(value)
    found.facts |= {
        "rules": sum(arities.values()),
        "by non-terminals": ", ".join(f"{count} with {arity}" for arity, count in sorted(arities.items())),
        "left-hand sides": ", ".join(f"{label} ({count})" for label, count in labels.most_common(20)),
        "distinct sources": len(sources),
        "with alignment": aligned,
        "refinements": fine,
    }
    found.features += [one.row(name, "rules") for name, one in ranges.items()]


def _graphs(graphs: Iterable[GraphColumns], found: Description) -> None:
    import numpy as np

    ranges: dict[str, _Range] = {}
    nodes: list[int] = []
    edges: list[int] = []
    most: tuple[int, str] = (0, "")
    arities: Counter[int] = Counter()
    for one in graphs:
        nodes.append(one.nodes)
        edges.append(len(one))
        arities.update(np.diff(one.tail_offsets).tolist())
        derivations = _derivations(one)
        most = max(most, (derivations, one.id))
        if not derivations:
            found.problem(one.line, f"sentence {one.id} has no derivation")
        for name, values in _by_name(one):
            ranges.setdefault(name, _Range()).add_all(values)
    found.facts |= {
        "sentences": len(nodes),
        "nodes": sum(nodes),
        "edges": sum(edges),
        "edges per sentence": f"{min(edges)} to {max(edges)}, {sum(edges) / len(edges):.1f} on average"
        if edges
        else None,
        "edges by tails": ", ".join(f"{count} with {arity}" for arity, count in sorted(arities.items())),
        "most derivations": f"{most[0]:.6g} (sentence {most[1]})" if most[0] < 10**300 else f"over 1e300 ({most[1]})",
    }
    found.features += [one.row(name, "edges") for name, one in ranges.items()]


def _derivations(graph: GraphColumns) -> int:
    """How many derivations the goal has, exactly."""
    tails, ends, edges = graph.tails.tolist(), graph.tail_offsets.tolist(), graph.edge_offsets.tolist()
    count: list[int] = []
    for node in range(graph.nodes):
        into = range(edges[node], edges[node + 1])
        ways = [math.prod(count[tail] for tail in tails[ends[edge] : ends[edge + 1]]) for edge in into]
        count.append(sum(ways) if ways else 1)
    return count[-1] if count else 0


def _by_name(graph: GraphColumns) -> Iterator[tuple[str, Floats]]:
    """The values of each feature of a graph."""
    import numpy as np

    if not len(graph.features):
        return
    order = np.argsort(graph.features, kind="stable")
    ids, firsts = np.unique(graph.features[order], return_index=True)
    for i, values in zip(ids.tolist(), np.split(graph.values[order], firsts[1:]), strict=True):
        yield graph.names[i], values


def _settings(records: Iterable[Settings], found: Description) -> None:
    (settings,) = records
    keys = dict.fromkeys(one.key for one in settings.entries)
    found.facts |= {"settings": len(settings.entries), "keys": ", ".join(keys)}


def _others(records: Iterable[Any], found: Description) -> None:
    found.facts["records"] = sum(1 for _ in records)
