"""Parse sentences and lattices with synchronous grammars into the forests that decoders search.

    tables = Tables()
    grammar = Grammar(columns, tables, span_limit=15)
    options = Options(pass_through=PassThrough())
    forest = parse("ein haus".split(), [grammar, glue(tables)], options, weights)

Defaults follow cdec; options give the conventions of Joshua and Moses:

* Both put ``<s>`` and ``</s>`` around a sentence (``Lattice.between``). These words count towards span limits, and the
  toolkits' own glue rules join them. ``PassThrough.except_for`` excludes them.
* Joshua's span limit -1 is ``Grammar(from_start=True)``; Moses' glue rules have no limit.
* Joshua has a pass-through rule for each word and label of its ``oov-list``, Moses only for words without a rule
  (``unknown_only``).
* Joshua takes ``<eps>`` for a word of its lattices: ``Lattice.of(graph, epsilon="<eps>")``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import Rule
from smtformats.hypergraph.graph import GraphColumns
from smtformats.hypergraph.lattices import arcs_of
from smtformats.records import dataclass
from smtplugins.core._core import parse_arcs
from smtplugins.core.grammar.parsed_forest import TOP, Forest, MintedRules, weighted_sum
from smtplugins.core.grammar.tables import Grammar, GrammarPart, ScoredGrammar, Tables

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

MAX_POSITIONS = 4096
MAX_EDGES = 100_000_000
_NONE: Mapping[str, float] = {}


class TooLarge(ValueError):
    """A sentence, or its forest, is larger than allowed."""


@dataclass(frozen=True)
class InputArc:
    """An arc from one position to a later one, with a word, or None if it is empty."""

    first: int
    last: int
    word: str | None
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Lattice:
    """Arcs between positions, numbered from 0; the last position is the end."""

    positions: int
    arcs: tuple[InputArc, ...]

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Lattice:
        """The lattice of a sentence."""
        arcs = tuple(InputArc(i, i + 1, word) for i, word in enumerate(words))
        return cls(len(arcs) + 1, arcs)

    @classmethod
    def of(cls, graph: GraphColumns, epsilon: str | None = None) -> Lattice:
        """A lattice from a file; ``epsilon`` is the word given to empty arcs."""
        positions, arcs = arcs_of(graph)
        own = (InputArc(arc.tail, arc.head, arc.words[0] if arc.words else epsilon, arc.features) for arc in arcs)
        return cls(positions, tuple(own))

    def between(self, first: str = "<s>", last: str = "</s>") -> Lattice:
        """The lattice with one more word before it and one after it."""
        end = self.positions
        inside = (replace(arc, first=arc.first + 1, last=arc.last + 1) for arc in self.arcs)
        return Lattice(end + 2, (InputArc(0, 1, first), *inside, InputArc(end, end + 1, last)))


@dataclass(frozen=True)
class PassThrough:
    """Rules minted for the words of the input: each word translates as itself, or as ``target(word)`` ("": nothing).

    There is one rule for each of ``labels``, with the label's features and ``features(word)``. ``shown`` rewrites the
    translation in rule records; features do not see it. ``unknown_only`` leaves out words over whose span another rule
    applies that begins with a word.
    """

    labels: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: {"X": {"PassThrough": 1.0}})
    features: Callable[[str], Mapping[str, float]] | None = None
    target: Callable[[str], str] | None = None
    shown: Callable[[str], str] | None = None
    span_limit: int | None = 3
    unknown_only: bool = False
    except_for: frozenset[str] = frozenset()

    def rules(self, words: Iterable[str]) -> list[Rule]:
        """The rules for these words."""
        rules = []
        for word in words:
            if word in self.except_for:
                continue
            translation = word if self.target is None else self.target(word)
            more = _NONE if self.features is None else self.features(word)
            for label, features in self.labels.items():
                both = {**features, **more}
                target = (translation if self.shown is None else self.shown(translation),) if translation else ()
                alignment = ((0, 0),) if translation else ()
                rules.append(Rule(label, (word,), target, tuple(both), tuple(both.values()), alignment))
        return rules


@dataclass(frozen=True)
class Options:
    """Parsing options. A parse ends in one node with the label ``goal``, below a node ``Goal``.

    Without a goal (``None``), the forest has a node for each span that rules apply to, as phrase-based decoders need.
    """

    goal: str | None = "S"
    pass_through: PassThrough | None = None
    max_edges: int = MAX_EDGES


def parse(
    sentence: Sequence[str] | Lattice | GraphColumns,
    grammars: Sequence[Grammar | ScoredGrammar],
    options: Options = Options(),
    weights: Mapping[str, float] = _NONE,
) -> Forest:
    """Parse a sentence; the forest is empty if there is no derivation.

    Grammars without scores, minted rules and lattice arcs are scored with ``weights``.
    """
    return prepared(sentence, grammars, options, weights)()


def prepared(
    sentence: Sequence[str] | Lattice | GraphColumns,
    grammars: Sequence[Grammar | ScoredGrammar],
    options: Options = Options(),
    weights: Mapping[str, float] = _NONE,
) -> Callable[[], Forest]:
    """Set up :func:`parse` for a sentence; return a function that parses."""
    import numpy as np

    if not grammars:
        raise ValueError("expected one grammar or more")
    scored = [grammar if isinstance(grammar, ScoredGrammar) else grammar.scored(weights) for grammar in grammars]
    tables = scored[0].grammar.tables
    if any(each.grammar.tables is not tables for each in scored):
        raise ValueError("expected grammars that share one Tables object")
    source = SentenceArcs.of(sentence, tables)
    if source.positions > MAX_POSITIONS:
        raise TooLarge(f"expected at most {MAX_POSITIONS} positions, found {source.positions}")
    parts: list[GrammarPart | MintedRules] = []
    applied: list[Any] = []
    for scored_grammar in scored:
        grammar, at = scored_grammar.grammar, 0
        for part in grammar.parts:
            scores = scored_grammar.scores[at : at + len(part)]
            applied.append((part.trie, scores, grammar.span_limit, grammar.from_start, False))
            parts.append(part)
            at += len(part)
    minting = options.pass_through
    if minting is not None:
        minted = MintedRules(minting, source.words, tables)
        applied.append((minted.trie, minted.scores(weights), minting.span_limit, False, minting.unknown_only))
        parts.append(minted)
    goal, top = tables.labels.ids((options.goal or TOP, TOP))
    arguments = (
        applied,
        source.arcs,
        source.positions,
        np.array([weighted_sum(features, weights) for features in source.featured], dtype=np.float64),
        len(tables.labels),
        -1 if options.goal is None else goal,
        top,
        options.max_edges,
    )

    def run() -> Forest:
        native = parse_arcs(*arguments)
        if not native.complete:
            remedy = "(the option max_edges sets the limit)"
            raise TooLarge(f"expected at most {options.max_edges} edges, found more {remedy}")
        return Forest(native, tables, tuple(parts), source.featured, options.goal or TOP)

    return run


@dataclass(frozen=True)
class SentenceArcs:
    """A sentence as arrays: tail, head, word and features of each arc, -1 for no word or no features."""

    positions: int
    arcs: Ints
    words: list[str]
    featured: tuple[Mapping[str, float], ...] = ()

    @classmethod
    def of(cls, sentence: Sequence[str] | Lattice | GraphColumns, tables: Tables) -> SentenceArcs:
        if isinstance(sentence, str):
            raise TypeError("expected the words of a sentence, found one string")
        if isinstance(sentence, GraphColumns):
            sentence = Lattice.of(sentence)
        return cls._of_lattice(sentence, tables) if isinstance(sentence, Lattice) else cls._of_words(sentence, tables)

    @classmethod
    def _of_words(cls, words: Sequence[str], tables: Tables) -> SentenceArcs:
        import numpy as np

        arcs = np.full((len(words), 4), -1, dtype=np.int32)
        arcs[:, 0] = np.arange(len(words))
        arcs[:, 1] = arcs[:, 0] + 1
        arcs[:, 2] = tables.words.ids(words)
        return cls(len(words) + 1, arcs, list(dict.fromkeys(words)))

    @classmethod
    def _of_lattice(cls, lattice: Lattice, tables: Tables) -> SentenceArcs:
        import numpy as np

        words = tables.words
        numbers = itertools.count()
        rows = (
            (arc.first, arc.last, -1 if arc.word is None else words.id(arc.word), next(numbers) if arc.features else -1)
            for arc in lattice.arcs
        )
        return cls(
            lattice.positions,
            np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int32).reshape(-1, 4),
            list(dict.fromkeys(arc.word for arc in lattice.arcs if arc.word is not None)),
            tuple(arc.features for arc in lattice.arcs if arc.features),
        )
