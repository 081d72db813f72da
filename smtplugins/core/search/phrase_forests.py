"""Phrases in any order, as a forest: a node for each set of translated words, made from translation options.

C. Dyer et al., "cdec" (2010), whose formalism `pb` this is: the next phrase begins at the first word that is not yet
translated, or at most ``limit`` words behind it. A set of words is extended by a rule that joins the translation so far
and a phrase; a first phrase is a set by itself. So searches over forests apply, with any features of rules and states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.grammar.shared.gather import grammar_columns
from smtformats.records import dataclass
from smtplugins.core.grammar.parsed_forest import TOP
from smtplugins.core.grammar.tables import Grammar
from smtplugins.core.search.phrase_options import EditedForest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core._core import ParsedForest
    from smtplugins.core.grammar.parsed_forest import Forest
    from smtplugins.core.grammar.tables import Tables


class TooManySteps(RuntimeError):
    """A sentence has more steps from phrase to phrase than allowed."""


@dataclass(frozen=True)
class Extension:
    """A phrase, a node of the parse, that extends the words ``before``, a bit for each."""

    before: int
    phrase: int


def steps_of(spans: list[tuple[int, int]], words: int, limit: int, most: int) -> dict[int, list[Extension]]:
    """The steps into each set of words, sets with fewer words first; sets that lead nowhere are left out.

    ``spans`` are those of the phrases. More than ``most`` steps are an error.
    """
    starting: list[list[tuple[int, int]]] = [[] for _ in range(words)]
    for phrase, (first, last) in enumerate(spans):
        starting[first].append(((1 << last) - (1 << first), phrase))
    levels: list[dict[int, list[Extension]]] = [{} for _ in range(words + 1)]
    levels[0][0] = []
    made = 0
    for level in levels[:-1]:
        for covered in level:
            gap = (~covered & (covered + 1)).bit_length() - 1
            for first in range(gap, min(words, gap + limit + 1)):
                for span, phrase in starting[first]:
                    if not covered & span:
                        after = covered | span
                        levels[after.bit_count()].setdefault(after, []).append(Extension(covered, phrase))
                        made += 1
            if made > most:
                raise TooManySteps(f"expected at most {most} steps from phrase to phrase, found more")
    needed = {(1 << words) - 1} & levels[-1].keys()
    for level in reversed(levels):
        for covered, steps in level.items():
            if covered in needed:
                needed.update(step.before for step in steps)
    return {covered: steps for level in levels[1:] for covered, steps in level.items() if covered in needed}


@dataclass(frozen=True)
class PhraseOrders:
    """Which phrases may come next: those that begin up to ``limit`` words behind the first that is not translated.

    A sentence with more than ``most`` steps from a set of words to the next is an error.
    """

    limit: int
    most: int

    def grammar(self, label: str, tables: Tables) -> Grammar:
        """The rule that joins the translation so far with the next phrase, which a parser does not apply."""
        gaps = (NonTerminal(label, 1), NonTerminal(label, 2))
        # A parser does not apply rules of a level above 0.
        grammar = Grammar.of_rules([Rule(label, gaps, gaps, level=1)], tables)
        grammar.parts[0].columns = grammar_columns([Rule(label, gaps, gaps)])
        return grammar

    def ordered(self, forest: Forest, joining: int, words: int, label: str) -> Forest:
        """The forest of all orders of the phrases in ``forest``, which was parsed without a goal.

        ``joining`` is the number of the joining rule among the origins. A set of words has no span, except for the
        words of a first phrase.
        """
        native = forest.native
        if not len(native.origins):
            return forest
        steps = steps_of(native.nodes[:, 1:].tolist(), words, self.limit, self.most) if words and forest.nodes else {}
        count = len(native.origins) - 1
        made = _Made(count, native.node_bundles.tolist(), native.rule_offsets.tolist(), native.rules.tolist())
        number = forest.tables.labels.id(label)
        for covered, into in steps.items():
            made.words_node(number, native.nodes, into, count)
            made.place[covered] = len(made.nodes) - 1
        if made.nodes:
            goal = len(made.nodes) - 1
            made.node((forest.tables.labels.id(TOP), 0, words))
            made.bundle((goal,), [count + 1])
        return forest.with_native(cast("ParsedForest", made.forest(native, joining)), label)


class _Made:
    """The nodes and bundles of a forest as they are made."""

    def __init__(self, rules: int, node_bundles: list[int], rule_offsets: list[int], chosen: list[int]) -> None:
        self._rules = rules
        self._node_bundles, self._rule_offsets, self._chosen = node_bundles, rule_offsets, chosen
        self.nodes: list[Any] = []
        self.node_bundles = [0]
        self.tails: list[int] = []
        self.tail_offsets = [0]
        self.rules: list[int] = []
        self.rule_offsets = [0]
        self.place: dict[int, int] = {}

    def node(self, row: Any) -> None:
        """Add a node, whose bundles follow."""
        self.nodes.append(row)
        self.node_bundles.append(self.node_bundles[-1])

    def bundle(self, tails: tuple[int, ...], rules: list[int]) -> None:
        """Add a bundle of the last node."""
        self.tails += tails
        self.tail_offsets.append(len(self.tails))
        self.rules += rules
        self.rule_offsets.append(len(self.rules))
        self.node_bundles[-1] += 1

    def phrases(self, node: int) -> None:
        """Add the phrases of a node of the parse to the last node."""
        for bundle in range(self._node_bundles[node], self._node_bundles[node + 1]):
            self.bundle((), self._chosen[self._rule_offsets[bundle] : self._rule_offsets[bundle + 1]])

    def words_node(self, label: int, rows: NDArray[Any], into: list[Extension], joining: int) -> None:
        """Add a node for a set of words, after the nodes of the phrases that the steps into it add."""
        joined = []
        for step in into:
            if step.before:
                self.node(rows[step.phrase].tolist())
                self.phrases(step.phrase)
                joined.append((self.place[step.before], len(self.nodes) - 1))
        firsts = [step.phrase for step in into if not step.before]
        span = rows[firsts[0], 1:].tolist() if firsts else (-1, -1)
        self.node((label, *span))
        for phrase in firsts:
            self.phrases(phrase)
        for tails in joined:
            self.bundle(tails, [joining])

    def forest(self, native: ParsedForest, joining: int) -> EditedForest:
        """The arrays, with the joining rule before the goal's."""
        import numpy as np

        count = self._rules
        before = int(native.target_offsets[count])

        def inserted(column: NDArray[Any], value: Any) -> NDArray[Any]:
            return np.insert(column, count, value).astype(column.dtype)

        sizes = inserted(np.diff(native.target_offsets), 2)
        return EditedForest(
            nodes=np.array(self.nodes, dtype=np.int32).reshape(-1, 3),
            node_bundles=np.array(self.node_bundles, dtype=np.int64),
            tail_offsets=np.array(self.tail_offsets, dtype=np.int64),
            tails=np.array(self.tails, dtype=np.int32),
            rule_offsets=np.array(self.rule_offsets, dtype=np.int64),
            rules=np.array(self.rules, dtype=np.int32),
            target_offsets=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            targets=np.concatenate([native.targets[:before], [-1, -2], native.targets[before:]]).astype(np.int32),
            scores=inserted(native.scores, 0.0),
            origins=inserted(native.origins, joining),
            chains=inserted(native.chains, -1),
            links=native.links,
        )
