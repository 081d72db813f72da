"""Parsing sentences and lattices with synchronous grammars: the forest that decoders search.

    tables = Tables()
    grammar = Grammar(columns, tables, span_limit=15)
    options = Options(pass_through=PassThrough())
    forest = parse("ein haus".split(), [grammar, glue(tables)], options, weights)

Conventions are those of cdec; where Joshua and Moses do otherwise, options say so:

* Both put ``<s>`` and ``</s>`` around a sentence (``Lattice.between``), words that count for spans and that the
  toolkits' own glue rules join. ``PassThrough.except_for`` names them.
* Joshua's span limit -1 is ``Grammar(from_start=True)``; Moses' glue rules have no limit.
* Joshua has a rule for each word and label of its ``oov-list``, Moses for words without a rule alone
  (``unknown_only``).
* Joshua takes ``<eps>`` for a word of its lattices: ``Lattice.of(graph, epsilon="<eps>")``.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from smtformats.grammar.rules import Rule
from smtformats.hypergraph.graph import GraphColumns
from smtplugins.core.grammar.parsed_forest import TOP, Forest, MintedRules, weighted_sum
from smtplugins.core.grammar.tables import Grammar, Part, ScoredGrammar, Tables

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
class Arc:
    """From one position to a later one, with a word, or none that rules could see."""

    first: int
    last: int
    word: str | None
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Lattice:
    """Arcs between positions from 0 on, of which the last one is the end."""

    positions: int
    arcs: tuple[Arc, ...]

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Lattice:
        """A sentence."""
        arcs = tuple(Arc(i, i + 1, word) for i, word in enumerate(words))
        return cls(len(arcs) + 1, arcs)

    @classmethod
    def of(cls, graph: GraphColumns, epsilon: str | None = None) -> Lattice:
        """A lattice as it was read; ``epsilon`` is a word for arcs that have none."""
        from smtformats.hypergraph.lattices import arcs_of

        positions, arcs = arcs_of(graph)
        found = (Arc(one.tail, one.head, one.words[0] if one.words else epsilon, one.features) for one in arcs)
        return cls(positions, tuple(found))

    def between(self, first: str = "<s>", last: str = "</s>") -> Lattice:
        """The lattice with a word before it and one behind it."""
        end = self.positions
        inside = (replace(arc, first=arc.first + 1, last=arc.last + 1) for arc in self.arcs)
        return Lattice(end + 2, (Arc(0, 1, first), *inside, Arc(end, end + 1, last)))


@dataclass(frozen=True)
class PassThrough:
    """Rules minted for words of the input, that translate each by itself, or by what ``target`` says ("": nothing).

    There is one for each of ``labels``, with these features and those that ``features`` gives for the word. Records of
    rules have what ``shown`` makes of a translation, which features do not see. ``unknown_only`` leaves out words over
    whose span there is another rule that begins with a word.
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
        found = []
        for word in words:
            if word in self.except_for:
                continue
            told = word if self.target is None else self.target(word)
            more = _NONE if self.features is None else self.features(word)
            for label, features in self.labels.items():
                both = {**features, **more}
                target = (told if self.shown is None else self.shown(told),) if told else ()
                alignment = ((0, 0),) if told else ()
                found.append(Rule(label, (word,), target, tuple(both), tuple(both.values()), alignment))
        return found


@dataclass(frozen=True)
class Options:
    """How a sentence is parsed: up to one node of the label ``goal``, which a node ``Goal`` is put above.

    Without a goal (``None``) the forest has a node for each span that rules apply to, as phrase decoders want it.
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
    """The forest of a sentence's derivations; one without nodes if there are none.

    Grammars that are not scored yet are scored with ``weights``, as are minted rules and arcs of a lattice.
    """
    return prepared(sentence, grammars, options, weights)()


def prepared(
    sentence: Sequence[str] | Lattice | GraphColumns,
    grammars: Sequence[Grammar | ScoredGrammar],
    options: Options = Options(),
    weights: Mapping[str, float] = _NONE,
) -> Callable[[], Forest]:
    """What parses a sentence as :func:`parse` does, with all ready that is made before."""
    import numpy as np

    from smtplugins.core._core import parse_arcs

    if not grammars:
        raise ValueError("expected one grammar or more")
    scored = [one if isinstance(one, ScoredGrammar) else one.scored(weights) for one in grammars]
    tables = scored[0].grammar.tables
    if any(one.grammar.tables is not tables for one in scored):
        raise ValueError("expected grammars that share their tables")
    given = SentenceArcs.of(sentence, tables)
    if given.positions > MAX_POSITIONS:
        raise TooLarge(f"expected at most {MAX_POSITIONS} positions, found {given.positions}")
    parts: list[Part | MintedRules] = []
    applied: list[Any] = []
    for one in scored:
        at = 0
        for part in one.grammar.parts:
            scores = one.scores[at : at + len(part)]
            applied.append((part.trie, scores, one.grammar.span_limit, one.grammar.from_start, False))
            parts.append(part)
            at += len(part)
    minting = options.pass_through
    if minting is not None:
        minted = MintedRules(minting, given.words, tables)
        applied.append((minted.trie, minted.scores(weights), minting.span_limit, False, minting.unknown_only))
        parts.append(minted)
    goal, top = tables.labels.ids((options.goal or TOP, TOP))
    arguments = (
        applied,
        given.arcs,
        given.positions,
        np.array([weighted_sum(features, weights) for features in given.featured], dtype=np.float64),
        len(tables.labels),
        -1 if options.goal is None else goal,
        top,
        options.max_edges,
    )

    def run() -> Forest:
        native = parse_arcs(*arguments)
        if not native.complete:
            most = f"at most {options.max_edges} edges"
            raise TooLarge(f"expected {most}, found more (the option max_edges sets the limit)")
        return Forest(native, tables, tuple(parts), given.featured, options.goal or TOP)

    return run


@dataclass(frozen=True)
class SentenceArcs:
    """A sentence as arrays: from, to, word and features of each arc, -1 for none."""

    positions: int
    arcs: Ints
    words: list[str]
    featured: tuple[Mapping[str, float], ...] = ()

    @classmethod
    def of(cls, sentence: Sequence[str] | Lattice | GraphColumns, tables: Tables) -> SentenceArcs:
        if isinstance(sentence, str):
            raise TypeError("expected the words of a sentence, found one text")
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
