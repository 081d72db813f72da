"""Confusion grammars: the confusable target sides of a translation system as rules from its target language to itself.

Z. Li, Z. Wang, S. Khudanpur and J. Eisner, "Unsupervised Discriminative Language Model Training for Machine Translation
using Simulated Confusion Sets" (2010), section 3.1. Every two target sides of a source side make a rule X -> <e1, e2>,
including a side with itself. In hypergraphs it is every two rules on edges into a node, or over a span, with the same
number of gaps. Gaps are numbered in the order of the input side; gaps of rules with different source sides are matched
by their positions on the source side, as in the authors' code.

Each rule is written once, with the number of source sides (or pairs of edges) it comes from. Memory use does not grow
with the number of rules written: see ``native/pairs.hpp``.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from smtformats.columns import GrammarColumns, string_table
from smtformats.grammar.rules import NonTerminal, Rule
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.tools.files import find_format, number, rounded
from smtplugins.contracts.tools.grammars import Vocabulary, gathered, row_scores
from smtplugins.plugins.cdlm._cdlm import Confusions as Native
from smtplugins.plugins.cdlm.grammar.choices import MOST, Choices, GrammarCounts
from smtplugins.plugins.cdlm.grammar.competing import Scope, competing_rules

if TYPE_CHECKING:
    import os

    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.contracts.tools.graphs import Hypergraph

COST = "Confusion"
"""The feature of weighted rules: minus the natural logarithm of the relative frequency given their input side."""
LABEL = "X"
NATIVE = {"cdec-grammar": 0, "joshua-grammar": 1, "moses-rules": 2}
"""Formats with a native writer."""
PROBABILITIES = ("moses-rules", "moses-phrases")
"""Formats with probabilities instead of named features."""
Weighting = Literal["none", "relfreq"]
_LABEL = re.compile(r"[^\s\[\],|]+")
_SUSPECT = re.compile(r"\[.*\]|\|\|\||.*\s.*|", re.DOTALL)


class Confusions:
    """Builds the confusion grammar of grammars or graphs; use it in a ``with`` or call ``close``.

    ``memory`` limits what is kept in memory besides the sides of rules, in bytes; the rest goes into a file in
    ``folder``. The rules are the same for any ``memory``, sorted by input side, then output side.
    """

    def __init__(
        self,
        choices: Choices | None = None,
        *,
        memory: int | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        from smtplugins.contracts.tools.extraction import default_memory

        self.choices = choices = choices or Choices()
        self._aside = tempfile.TemporaryDirectory(prefix=".confusions.", suffix=".part", dir=folder)
        self._words, self._labels = Vocabulary(), Vocabulary()
        self._names: set[str] = set()
        self._left_out = 0
        self._done = False
        self._native = Native(
            same_lhs=choices.same_lhs,
            glue=choices.glue,
            identity=choices.identity,
            same_rule=choices.same_rule,
            gaps=MOST if choices.gaps is None else choices.gaps,
            memory=default_memory() if memory is None else memory,
            folder=self._aside.name,
        )

    def __enter__(self) -> Confusions:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the temporary files."""
        del self._native
        self._aside.cleanup()

    def add(self, columns: GrammarColumns) -> None:
        """Add the rules of a grammar."""
        scores: NDArray[np.float32] = np.empty(0, np.float32)
        if not isinstance(self.choices.best, str) and self.choices.cap:
            names = columns.names[:]
            self._names.update(names)
            weights = [self.choices.best.get(name, 0.0) for name in names]
            scores = row_scores(columns.features, columns.values, columns.feature_offsets, weights)
            if np.isnan(scores).any():
                raise SmtError("best: expected rule scores that are numbers, found NaN")
        sides = self._sides(columns)
        self._native.add(level=np.ascontiguousarray(columns.level, np.uint8), scores=scores, **sides)

    def add_graph(self, graph: GraphColumns | Hypergraph, scope: Scope = "item") -> None:
        """Add the rules of a graph's edges, confused within a node (``item``) or a span (``cell``)."""
        from smtplugins.contracts.tools.graphs import Hypergraph

        columns = graph.to_columns() if isinstance(graph, Hypergraph) else graph
        rules, groups, left_out = competing_rules(
            columns, scope, None if self.choices.oov else self.choices.oov_features
        )
        self._left_out += left_out
        self._native.add_edges(edges=rules, groups=groups, **self._sides(columns.grammar))

    def _sides(self, columns: GrammarColumns) -> dict[str, Any]:
        kinds: dict[str, Any] = {
            "lhs": np.int32, "source": np.int32, "source_offsets": np.int64, "target": np.int32,
            "target_offsets": np.int64,
        }  # fmt: skip
        sides = {name: np.ascontiguousarray(getattr(columns, name), kind) for name, kind in kinds.items()}
        labels = np.array(self._labels.ids(columns.labels[:]), np.int32)
        return {**sides, "words": self._words.ids_of_table(columns.words), "labels": labels}

    def finish(self) -> None:
        """End adding; methods that return rules call it."""
        if self._done:
            return
        choices = self.choices
        if not isinstance(choices.best, str) and choices.cap and not self._names & choices.best.keys():
            known = ", ".join(sorted(self._names)) or "none"
            raise UsageError(f"best: expected features of the grammar ({known}), found {', '.join(choices.best)}")
        words = string_table(map(self._words.word, range(len(self._words))))
        text, offsets = np.frombuffer(words.blob, np.uint8), np.ascontiguousarray(words.offsets, np.int64)
        self._native.finish(choices.cap, choices.best == "count", choices.wordless, text, offsets)
        self._done = True

    @property
    def report(self) -> GrammarCounts:
        """Counts of what was read, and written so far."""
        native = self._native
        return GrammarCounts(
            rules=native.rules + self._left_out,
            left_out=native.left_out + self._left_out,
            sources=native.groups,
            uncapped=native.uncapped,
            capped=native.capped,
            no_input=native.without_input,
            pairs=native.written,
            spilled=native.spilled,
        )

    def _pairs(self) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]]:
        """Yield batches of pairs: input and output side numbers and counts; an input's pairs are in a single batch."""
        self.finish()
        self._native.rewind()
        while True:
            inputs, outputs, times = self._native.next_pairs()
            if not len(inputs):
                return
            yield inputs, outputs, times

    def columns(self, weights: Weighting = "none") -> GrammarColumns:
        """Return the rules as a grammar in memory."""
        pieces = [(*pair, _costs(pair[0], pair[2])) for pair in self._pairs()]
        symbols, offsets = self._native.sides()

        def joined(place: int, kind: Any) -> NDArray[Any]:
            return np.concatenate([np.empty(0, kind), *(piece[place] for piece in pieces)]).astype(kind)

        sources, source_places = gathered(offsets, joined(0, np.int64))
        targets, target_places = gathered(offsets, joined(1, np.int64))
        count = len(sources) - 1
        used = np.unique(symbols[symbols >= 0])
        own = np.where(symbols >= 0, np.searchsorted(used, np.maximum(symbols, 0)), symbols).astype(np.int32)
        source = own[source_places]
        featured = weights == "relfreq"
        return GrammarColumns(
            lhs=np.zeros(count, np.int32),
            level=np.zeros(count, np.uint8),
            source=np.where(source >= 0, source, -1).astype(np.int32),
            source_offsets=sources,
            target=own[target_places],
            target_offsets=targets,
            features=np.zeros(count * featured, np.int32),
            values=joined(3, np.float32) if featured else np.empty(0, np.float32),
            feature_offsets=np.arange(count + 1, dtype=np.int64) * featured,
            points=np.empty((0, 2), np.int16),
            point_offsets=np.zeros(count + 1, np.int64),
            words=string_table(map(self._words.word, used.tolist())),
            labels=string_table([LABEL]),
            names=string_table([COST] if featured else []),
        )

    def rules(self, weights: Weighting = "none", label: str = LABEL, *, probabilities: bool = False) -> Iterator[Rule]:
        """Yield the rules as records; for formats of ``probabilities`` with a log probability, 0 if not weighted."""
        names = (COST,) if weights == "relfreq" or probabilities else ()
        sign = (-1.0 if probabilities else 1.0) if weights == "relfreq" else 0.0
        symbols: NDArray[np.int32] | None = None
        for inputs, outputs, times in self._pairs():
            if symbols is None:
                symbols, offsets = self._native.sides()

            def side(number: int) -> tuple[str | NonTerminal, ...]:
                ids = symbols[offsets[number] : offsets[number + 1]].tolist()  # noqa: B023
                return tuple(self._words.word(symbol) if symbol >= 0 else NonTerminal(label, -symbol) for symbol in ids)

            values = rounded((sign * _costs(inputs, times) + 0.0).tolist())
            for first, second, value in zip(inputs.tolist(), outputs.tolist(), values, strict=True):
                yield Rule(label, side(first), side(second), names, (value,) if names else ())

    def lines(self, format: str = "cdec-grammar", weights: Weighting = "none", label: str = LABEL) -> Iterator[bytes]:
        """Yield a rule file in pieces; Moses' format has a probability on each line, 1 for rules without weights."""
        self.finish()
        self._check_words(format, label)
        self._native.rewind()
        self._native.format(NATIVE[format], label, COST if weights == "relfreq" else "")
        return iter(self._native.next_lines, b"")

    def _check_words(self, format: str, label: str) -> None:
        """Raise an error for words or labels that the format cannot represent."""
        if _LABEL.fullmatch(label) is None:
            raise UsageError(f"label: expected a name without blanks, commas, bars and brackets, found {label!r}")
        symbols, _ = self._native.sides()
        record = find_format(format, "grammar")
        assert record.write is not None
        for word in map(self._words.word, np.unique(symbols[symbols >= 0]).tolist()):
            if _SUSPECT.fullmatch(word):
                record.write([Rule(label, (word,), (word,), (COST,), (0.0,))], io.StringIO(), number(None))


def _costs(inputs: NDArray[np.uint32], times: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Return negative log relative frequencies; an input's pairs must be complete."""
    if not len(inputs):
        return np.empty(0, np.float32)
    starts = np.flatnonzero(np.concatenate([[True], inputs[1:] != inputs[:-1]]))
    totals = np.repeat(np.add.reduceat(times, starts), np.diff(np.append(starts, len(inputs))))
    costs: NDArray[np.float32] = (0.0 - np.log(times / totals)).astype(np.float32)
    return costs
