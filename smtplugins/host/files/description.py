"""Describe a file: its format, counts, feature ranges, and problems with their line numbers."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from smtformats.grammar.shared.lookup import NotListed
from smtformats.tokens import is_id
from smtplugins.host.files.estimated_files import NAMES, estimated_facts
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
        """The whole description as a dict, for JSON."""
        return {**self.facts, "features": self.features, "problems": self.problems}

    def problem(self, line: int, text: str) -> None:
        """Count a problem, and keep the first MAX_PROBLEMS for display."""
        self.facts["problems"] = self.facts.get("problems", 0) + 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append({"line": line, "problem": text})


def describe(host: Host, path: Path, format: str | None = None) -> Description:
    """Read a whole file and describe it; raises FormatError if it cannot be read."""
    if format in (None, *NAMES) and (known := estimated_facts(path, format)) is not None:
        return Description(known)
    opened = open_known(path, None, format, host.formats())
    record = opened.record
    description = Description({"format": record.name, "kind": record.kind, "is": record.summary})
    readers: dict[str, Callable[[Iterable[Any], Description], None]] = {
        "nbest": functools.partial(_lists, ordered=record.ordered),
        "weights": _weights,
        "corpus": _corpus,
        "grammar": _rules,
        "alignment": _alignments,
        "tuning": _blocks,
        "hypergraph": _graphs,
        "config": _settings,
    }
    with opened:
        table = None if record.lookup is None else record.lookup(path)
        if table is not None:
            description.facts |= {name: value for name, value in table.facts().items() if value is not None}
        try:
            readers.get(record.kind, _others)(opened.records(), description)
        except NotListed as error:
            if table is None:
                raise
            description.facts["listed"] = f"no: {error.expected}"
    return description


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

    def row(self, name: str, unit: str) -> dict[str, Any]:
        mean = self.sum / self.count
        return {"feature": name, unit: self.count, "min": self.low, "mean": mean, "max": self.high}


class _Ranges(dict[str, _Range]):
    """The ranges of features by name."""

    def add(self, features: Mapping[str, float]) -> None:
        for name, value in features.items():
            self.setdefault(name, _Range()).add(value)

    def rows(self, unit: str = "hypotheses") -> list[dict[str, Any]]:
        return [values.row(name, unit) for name, values in self.items()]


class _Ids:
    """The ids of lists in the order of a file."""

    def __init__(self) -> None:
        self._first = self._last = ""
        self._numbers: tuple[int, int] | None = None
        self._falling = False

    def add(self, key: str) -> None:
        """Add an id."""
        before, self._last = self._last, key
        self._first = self._first or key
        if is_id(key):
            number = int(key)
            low, high = self._numbers or (number, number)
            self._numbers = min(low, number), max(high, number)
            self._falling = self._falling or (is_id(before) and int(before) > number)

    def shown(self) -> str:
        """The lowest and highest number if they do not ascend, else the first and last id."""
        if self._falling and self._numbers is not None:
            return f"{self._numbers[0]} to {self._numbers[1]}, in another order (lists are joined by id)"
        return f"{self._first} to {self._last}"


def _lists(lists: Iterable[Candidates], description: Description, *, ordered: bool) -> None:
    """Describe lists; ``ordered``: the format is a decoder's, whose lists are sorted by their totals."""
    from smtformats.escapes import oddities, spellings

    ranges = _Ranges()
    hypotheses = words = distinct = 0
    sizes: list[int] = []
    unsorted = 0
    ids = _Ids()
    extras: set[str] = set()
    escapes: set[str] = set()
    shapes: dict[str, None] = {}
    aside: dict[str, None] = {}
    for nbest in lists:
        shapes.update(dict.fromkeys(nbest.reading[:1]))
        aside.update(dict.fromkeys(nbest.reading[1:]))
        ids.add(nbest.id)
        sizes.append(len(nbest))
        extras |= nbest.extras.keys()
        hypotheses += len(nbest)
        distinct += len(set(nbest.texts))
        if nbest.totals is not None and any(a < b for a, b in zip(nbest.totals, nbest.totals[1:], strict=False)):
            unsorted += 1
            if ordered:
                description.problem(nbest.line, f"list {nbest.id} is not sorted by total")
        for i, (text, features, _) in enumerate(nbest.rows()):
            words += len(text.split(" ")) if text else 0
            escapes.update(spellings(text))
            for trouble in oddities(text):
                description.problem(nbest.line + i, f"the text has {trouble}")
            ranges.add(features)
    if shapes:
        description.facts |= {"shape": ", ".join(shapes), "left aside": ", ".join(aside) or None}
    if unsorted and not ordered:
        description.facts["not sorted by total"] = f"{unsorted} of {len(sizes)} lists (the highest is the best)"
    description.facts |= {
        "lists": len(sizes),
        "ids": ids.shown(),
        "hypotheses": hypotheses,
        "per list": f"{min(sizes)} to {max(sizes)}, {hypotheses / len(sizes):.1f} on average",
        "distinct texts": distinct,
        "words per text": round(words / hypotheses, 2),
        "also has": ", ".join(sorted(extras)) or None,
        "escapes": ", ".join(sorted(escapes)) or None,
    }
    description.features += ranges.rows()


def _weights(records: Iterable[dict[str, float]], description: Description) -> None:
    from smtformats.escapes import oddities

    (weights,) = records
    description.facts |= {"weights": len(weights), "zero": sum(value == 0 for value in weights.values())}
    description.features += [{"feature": name, "weight": value} for name, value in weights.items()]
    for name in weights:
        for trouble in oddities(name):
            description.problem(1, f"the name {name!r} has {trouble}")
    if not any(weights.values()):
        description.problem(1, "all weights are 0")


def _corpus(sentences: Iterable[str | Segment], description: Description) -> None:
    from smtformats.escapes import oddities, spellings

    escapes: set[str] = set()
    lines = words = characters = references = 0
    vocabulary: set[str] = set()
    attributes: dict[str, None] = {}
    for lines, sentence in enumerate(sentences, 1):
        text = sentence if isinstance(sentence, str) else sentence.source
        if not isinstance(sentence, str):
            references += len(sentence.references)
            attributes.update(dict.fromkeys(sentence.attributes))
        tokens = text.split(" ") if text else []
        words += len(tokens)
        characters += len(text)
        vocabulary.update(tokens)
        escapes.update(spellings(text))
        for trouble in oddities(text):
            description.problem(lines, f"the line has {trouble}")
        if fault := getattr(sentence, "fault", ""):
            description.problem(lines, f"markup treated as words: {fault}")
    description.facts |= {"lines": lines, "words": words, "distinct words": len(vocabulary), "characters": characters}
    description.facts["escapes"] = ", ".join(sorted(escapes)) or None
    if references or attributes:
        description.facts |= {"references": references, "attributes": ", ".join(attributes) or None}


def _alignments(pairs: Iterable[Alignment], description: Description) -> None:
    count = links = empty = 0
    for pair in pairs:
        count += 1
        links += len(pair.points)
        empty += not pair.points
        for side, words in enumerate((pair.source, pair.target)):
            last = max((point[side] for point in pair.points), default=-1)
            if words is not None and last >= len(words):
                name = ("source", "target")[side]
                description.problem(pair.line, f"link to {name} word {last}, expected below {len(words)}")
        if len(set(pair.points)) < len(pair.points):
            description.problem(pair.line, "duplicate link")
        if pair.source == pair.target == ("ALIGN_ERR",):
            description.problem(pair.line, "ALIGN_ERR: the two directions had different words")
    description.facts |= {
        "pairs": count,
        "without links": empty,
        "links": links,
        "links per pair": round(links / count, 2) if count else None,
    }


def _blocks(blocks: Iterable[Block], description: Description) -> None:
    ranges = _Ranges()
    sizes: list[int] = []
    scorers: dict[str, None] = {}
    layout: tuple[str, ...] | None = None
    for block in blocks:
        sizes.append(len(block))
        if block.scorer is not None:
            scorers[block.scorer] = None
        elif layout not in (None, block.names):
            description.problem(block.line, f"the features of {block.id} differ from those of the previous sentence")
        layout = block.names
        if not block:
            description.problem(block.line, f"no entries for {block.id}")
        for row in block.named():
            ranges.add(row)
    description.facts |= {
        "sentences": len(sizes),
        "hypotheses": sum(sizes),
        "per sentence": f"{min(sizes)} to {max(sizes)}, {sum(sizes) / len(sizes):.1f} on average",
        "scorer": ", ".join(scorers) or None,
    }
    description.features += ranges.rows()


def _rules(rules: Iterable[Rule], description: Description) -> None:
    ranges = _Ranges()
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
            description.problem(rule.line, "duplicate feature: the last value counts")
        ranges.add(features)
    description.facts |= {
        "rules": sum(arities.values()),
        "by non-terminals": ", ".join(f"{count} with {arity}" for arity, count in sorted(arities.items())),
        "left-hand sides": ", ".join(f"{label} ({count})" for label, count in labels.most_common(20)),
        "distinct sources": len(sources),
        "with alignment": aligned,
        "refinements": fine,
    }
    description.features += ranges.rows("rules")


def _graphs(graphs: Iterable[GraphColumns], description: Description) -> None:
    import numpy as np

    ranges = _Ranges()
    nodes: list[int] = []
    edges: list[int] = []
    most: tuple[int, str] = (0, "")
    arities: Counter[int] = Counter()
    for graph in graphs:
        nodes.append(graph.nodes)
        edges.append(len(graph))
        arities.update(np.diff(graph.tail_offsets).tolist())
        derivations = _derivations(graph)
        most = max(most, (derivations, graph.id))
        if not derivations:
            description.problem(graph.line, f"sentence {graph.id} has no derivation")
        for name, values in _by_name(graph):
            ranges.setdefault(name, _Range()).add_all(values)
    description.facts |= {
        "sentences": len(nodes),
        "nodes": sum(nodes),
        "edges": sum(edges),
        "edges per sentence": f"{min(edges)} to {max(edges)}, {sum(edges) / len(edges):.1f} on average"
        if edges
        else None,
        "edges by tails": ", ".join(f"{count} with {arity}" for arity, count in sorted(arities.items())),
        "most derivations": f"{most[0]:.6g} (sentence {most[1]})" if most[0] < 10**300 else f"over 1e300 ({most[1]})",
    }
    description.features += ranges.rows("edges")


def _derivations(graph: GraphColumns) -> int:
    """The exact number of derivations of the goal."""
    tails, ends, edges = graph.tails.tolist(), graph.tail_offsets.tolist(), graph.edge_offsets.tolist()
    count: list[int] = []
    for node in range(graph.nodes):
        into = range(edges[node], edges[node + 1])
        ways = [math.prod(count[tail] for tail in tails[ends[edge] : ends[edge + 1]]) for edge in into]
        count.append(sum(ways) if ways else 1)
    return count[-1] if count else 0


def _by_name(graph: GraphColumns) -> Iterator[tuple[str, Floats]]:
    """Iterate over the features of a graph as (name, values)."""
    import numpy as np

    if not len(graph.features):
        return
    order = np.argsort(graph.features, kind="stable")
    ids, firsts = np.unique(graph.features[order], return_index=True)
    for i, values in zip(ids.tolist(), np.split(graph.values[order], firsts[1:]), strict=True):
        yield graph.names[i], values


def _settings(records: Iterable[Settings], description: Description) -> None:
    (settings,) = records
    keys = dict.fromkeys(entry.key for entry in settings.entries)
    description.facts |= {"settings": len(settings.entries), "keys": ", ".join(keys)}


def _others(records: Iterable[Any], description: Description) -> None:
    description.facts["records"] = sum(1 for _ in records)
