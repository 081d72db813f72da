"""Phrase tables that are looked up by source phrase: the rules that can apply to a sentence, as a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from smtplugins.core.grammar.parsing import Lattice, TooLarge

if TYPE_CHECKING:
    from smtformats.columns import GrammarColumns
    from smtformats.grammar.shared.lookup import PhraseLookup

MOST_PHRASES = 200_000


def source_phrases(given: Sequence[str] | Lattice, longest: int) -> list[str]:
    """The distinct phrases of at most ``longest`` words in a sentence or on the paths of a lattice, shortest first.

    Raises TooLarge if a lattice has more than ``MOST_PHRASES``.
    """
    if isinstance(given, Lattice):
        return _of_lattice(given, longest)
    size = len(given)
    phrases = {" ".join(given[i : i + n]): None for n in range(1, min(longest, size) + 1) for i in range(size + 1 - n)}
    return list(phrases)


def _of_lattice(lattice: Lattice, longest: int) -> list[str]:
    """Phrases as sets by the position where they end; an empty arc adds no word."""
    leaving: list[list[tuple[int, str | None]]] = [[] for _ in range(lattice.positions)]
    for arc in lattice.arcs:
        leaving[arc.first].append((arc.last, arc.word))
    ending: list[set[tuple[str, ...]]] = [{()} for _ in range(lattice.positions)]
    every: set[tuple[str, ...]] = set()
    # Arcs lead to later positions.
    for position in range(lattice.positions):
        for last, word in leaving[position]:
            for phrase in ending[position]:
                longer = phrase if word is None else (*phrase, word)
                if len(longer) <= longest:
                    ending[last].add(longer)
        every |= ending[position]
        ending[position] = set()
        if len(every) > MOST_PHRASES:
            raise TooLarge(f"expected at most {MOST_PHRASES} phrases of {longest} words in a lattice, found more")
    return sorted((" ".join(phrase) for phrase in every - {()}), key=lambda phrase: (phrase.count(" "), phrase))


def looked_up(table: PhraseLookup, given: Sequence[str] | Lattice, span_limit: int | None) -> GrammarColumns:
    """The rules of a table that can apply to a sentence or lattice, as columns.

    If a lattice has too many phrases, those of the table with its words are looked up; TooLarge if it cannot list them.
    """
    # A span limit counts arcs; words on a path are at most as many.
    longest = table.longest if span_limit is None else min(table.longest, span_limit)
    try:
        phrases = source_phrases(given, longest)
    except TooLarge:
        sources = table.sources()
        if sources is None or not isinstance(given, Lattice):
            raise
        words = {arc.word for arc in given.arcs}
        phrases = [phrase for phrase in sources if words.issuperset(phrase.split(" "))]
    return table.columns(phrases)
