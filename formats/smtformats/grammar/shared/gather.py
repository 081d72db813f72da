"""Convert rule records to columns, for formats without a native scanner."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from smtformats.columns import GrammarColumns, StringTable, string_table
from smtformats.grammar.rules import NonTerminal, Rule


class Numbering:
    """Numbers strings in order of first occurrence."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self.ids: dict[str, int] = {}
        for text in known:
            self.add(text)

    def add(self, text: str) -> int:
        """Return the number of a string, a new one if it is new."""
        return self.ids.setdefault(text, len(self.ids))

    def table(self) -> StringTable:
        """Return all strings."""
        return string_table(self.ids)


def grammar_columns(rules: Iterable[Rule]) -> GrammarColumns:
    """Convert rule records to columns."""
    import numpy as np

    words, labels, names = Numbering(), Numbering(), Numbering()
    lhs: list[int] = []
    level: list[int] = []
    parts: dict[str, list[Any]] = {"source": [], "target": [], "features": [], "values": [], "points": []}
    ends: dict[str, list[int]] = {"source": [0], "target": [0], "features": [0], "points": [0]}
    for rule in rules:
        lhs.append(labels.add(rule.lhs))
        level.append(rule.level)
        for symbol in rule.source:
            parts["source"].append(
                -1 - labels.add(symbol.label) if isinstance(symbol, NonTerminal) else words.add(symbol)
            )
        for symbol in rule.target:
            parts["target"].append(-symbol.index if isinstance(symbol, NonTerminal) else words.add(symbol))
        for name, value in rule.features().items():
            parts["features"].append(names.add(name))
            parts["values"].append(value)
        parts["points"].extend(rule.alignment)
        for part, end in ends.items():
            end.append(len(parts[part]))

    def ints(values: Sequence[Any]) -> Any:
        return np.array(values, dtype=np.int32)

    return GrammarColumns(
        lhs=ints(lhs),
        level=np.array(level, dtype=np.uint8),
        source=ints(parts["source"]),
        source_offsets=np.array(ends["source"], dtype=np.int64),
        target=ints(parts["target"]),
        target_offsets=np.array(ends["target"], dtype=np.int64),
        features=ints(parts["features"]),
        values=np.array(parts["values"], dtype=np.float32),
        feature_offsets=np.array(ends["features"], dtype=np.int64),
        points=np.array(parts["points"], dtype=np.int16).reshape(-1, 2),
        point_offsets=np.array(ends["points"], dtype=np.int64),
        words=words.table(),
        labels=labels.table(),
        names=names.table(),
    )
