"""The phrases of a table that a sentence or a lattice has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smtplugins.core.parsing import MAX_POSITIONS, Lattice, SentenceArcs, TooLarge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from smtplugins.core.grammar import Grammar

    Ints = NDArray[np.int32]

MAX_PATHS = 10_000_000


@dataclass(frozen=True)
class Matches:
    """Match i is the rule ``rules[i]`` of a grammar, from position ``firsts[i]`` to ``lasts[i]``, on path ``paths[i]``.

    They are ordered by first, last and rule, and the rules of a grammar are as in its files. A rule that is found on
    two paths between two positions is two matches. Path k is arcs, by their places in the lattice:
    ``path_arcs[path_offsets[k]:path_offsets[k + 1]]``; of a sentence, its words.
    """

    firsts: Ints
    lasts: Ints
    rules: Ints
    paths: Ints
    path_offsets: NDArray[np.int64]
    path_arcs: Ints

    def __len__(self) -> int:
        return len(self.rules)

    def path(self, match: int) -> list[int]:
        """The places of the arcs of a match."""
        path = int(self.paths[match])
        found: list[int] = self.path_arcs[self.path_offsets[path] : self.path_offsets[path + 1]].tolist()
        return found


def matches(
    grammar: Grammar, given: Lattice | Sequence[str], max_length: int, *, max_paths: int = MAX_PATHS
) -> Matches:
    """All rules without gaps that fit at most ``max_length`` arcs, or the grammar's own limit if that is smaller.

    Left-hand sides do not matter. Arcs without a word are skipped anywhere, and counted.
    """
    import numpy as np

    from smtplugins.core._core import match_arcs

    found = SentenceArcs.of(given, grammar.tables)
    if found.positions > MAX_POSITIONS:
        raise TooLarge(f"expected at most {MAX_POSITIONS} positions, found {found.positions}")
    longest = max_length if grammar.span_limit is None else min(max_length, grammar.span_limit)
    order = np.argsort(found.arcs[:, 0], kind="stable").astype(np.int32)
    tries = [part.trie for part in grammar.parts]
    native = match_arcs(tries, found.arcs[order], found.positions, longest, max_paths)
    if not native.complete:
        raise TooLarge(f"expected at most {max_paths} phrases and paths, found more (the option max_paths sets it)")
    return Matches(
        native.firsts, native.lasts, native.rules, native.paths, native.path_offsets, order[native.path_arcs]
    )
