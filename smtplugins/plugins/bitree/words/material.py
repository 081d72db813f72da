"""Training data of word transduction: each source token is a row of atoms, its class a translation or NULL.

Section 7.4.2. Rows are grouped by source word, and each source word is a separate problem, whose classes are its
translations in the training text, most frequent first. NULL is the class with an empty name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smtplugins.plugins.bitree.boosting.examples import Examples, Problem
from smtplugins.plugins.bitree.words.atoms import kind_of, sentence_atoms
from smtplugins.plugins.bitree.words.links import Link, LinkCounts, one_to_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.plugins.bitree.trees.source_trees import SourceTree

    Array = NDArray[Any]

NULL = ""


@dataclass(frozen=True)
class Pair:
    """A sentence pair with its word links and the tree of the source side."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...] = ()
    tree: SourceTree | None = None


@dataclass(frozen=True)
class TokenRows:
    """Source tokens, grouped by word: word w has the rows from ``starts[w]`` up to ``starts[w + 1]``, in text order.

    ``classes`` are indices into ``translations[w]``, -1 for other translations; ``linked`` marks tokens with a link in
    the alignment. ``sentence`` and ``place`` are the position of a token in the text.
    """

    words: tuple[str, ...]
    starts: Array
    offsets: Array
    ids: Array
    atoms: tuple[str, ...]
    classes: Array
    translations: tuple[tuple[str, ...], ...]
    linked: Array
    sentence: Array
    place: Array

    def __len__(self) -> int:
        return len(self.classes)

    def of(self, word: int) -> slice:
        """The range of a word's rows."""
        return slice(int(self.starts[word]), int(self.starts[word + 1]))

    def examples(self, word: int) -> Examples:
        """A word's rows as examples."""
        own = self.of(word)
        offsets = self.offsets[own.start : own.stop + 1]
        return Examples(offsets - offsets[0], self.ids[offsets[0] : offsets[-1]], self.atoms)

    def problem(self, word: int) -> Problem:
        """A word as a classification problem over its translations."""
        return Problem(self.words[word], self.examples(word), self.classes[self.of(word)], self.translations[word])

    def only(self, kinds: str) -> TokenRows:
        """Keep only atoms of these kinds; their ids do not change."""
        import numpy as np

        good = np.array([kind_of(atom) in kinds for atom in self.atoms], dtype=bool)
        kept = good[self.ids]
        ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        return replace(self, offsets=ends[self.offsets], ids=self.ids[kept])


def gold_of(pairs: Iterable[Pair], counts: LinkCounts) -> Iterator[tuple[list[str], list[bool]]]:
    """Yield for each sentence the translation of every source word, and whether the word has a link."""
    for pair in pairs:
        chosen = one_to_one(pair.source, pair.target, pair.links, counts)
        linked = {i for i, _ in pair.links}
        yield (
            [pair.target[chosen[i]] if i in chosen else NULL for i in range(len(pair.source))],
            [i in linked for i in range(len(pair.source))],
        )


def count_links(pairs: Iterable[Pair]) -> LinkCounts:
    """Count word links in sentence pairs."""
    return LinkCounts.of((pair.source, pair.target, pair.links) for pair in pairs)


def training_rows(pairs: Sequence[Pair], counts: LinkCounts) -> TokenRows:
    """The rows of a training text; equally frequent translations are in alphabetical order."""
    seen: dict[str, Counter[str]] = {}
    for pair, (gold, _) in zip(pairs, gold_of(pairs, counts), strict=True):
        for word, translation in zip(pair.source, gold, strict=True):
            seen.setdefault(word, Counter())[translation] += 1
    words = tuple(sorted(seen))
    translations = tuple(tuple(sorted(seen[word], key=lambda t, c=seen[word]: (-c[t], t))) for word in words)  # type: ignore[misc]
    return _rows(pairs, counts, words, translations)


def rows_like(pairs: Sequence[Pair], counts: LinkCounts, training: TokenRows) -> TokenRows:
    """The rows of another text, with the words, translations and atoms of the training text.

    Unknown words come last; their only translation is NULL.
    """
    known = set(training.words)
    more = sorted({word for pair in pairs for word in pair.source} - known)
    translations = training.translations + ((NULL,),) * len(more)
    return _rows(pairs, counts, (*training.words, *more), translations, training.atoms)


def sentence_rows(
    words: Sequence[str], tree: SourceTree | None, numbers: dict[str, int], *, grow: bool = False
) -> list[list[int]]:
    """The sorted atom ids of each word of a sentence; unknown atoms are dropped, or numbered if ``grow``."""
    own, shared = sentence_atoms(words, tree)
    if grow:
        common = [numbers.setdefault(atom, len(numbers)) for atom in shared]
        return [sorted([*common, *(numbers.setdefault(atom, len(numbers)) for atom in atoms)]) for atoms in own]
    common = [numbers[atom] for atom in shared if atom in numbers]
    return [sorted([*common, *(numbers[atom] for atom in atoms if atom in numbers)]) for atoms in own]


def _rows(
    pairs: Sequence[Pair],
    counts: LinkCounts,
    words: tuple[str, ...],
    translations: tuple[tuple[str, ...], ...],
    atoms: tuple[str, ...] | None = None,
) -> TokenRows:
    import numpy as np

    grow = atoms is None
    numbers = {atom: number for number, atom in enumerate(atoms or ())}
    word_number = {word: number for number, word in enumerate(words)}
    class_number = [{name: number for number, name in enumerate(names)} for names in translations]
    columns: dict[str, list[int]] = {name: [] for name in ("word", "class", "linked", "sentence", "place", "size")}
    ids: list[Array] = []
    for sentence, (pair, (gold, linked)) in enumerate(zip(pairs, gold_of(pairs, counts), strict=True)):
        for place, row in enumerate(sentence_rows(pair.source, pair.tree, numbers, grow=grow)):
            at = word_number[pair.source[place]]
            columns["word"].append(at)
            columns["class"].append(class_number[at].get(gold[place], -1))
            columns["linked"].append(linked[place])
            columns["sentence"].append(sentence)
            columns["place"].append(place)
            columns["size"].append(len(row))
            ids.append(np.array(row, dtype=np.int32))
    order = np.argsort(np.array(columns["word"], dtype=np.int64), kind="stable")
    sorted_columns = {name: np.array(values, dtype=np.int64)[order] for name, values in columns.items()}
    return TokenRows(
        words,
        np.searchsorted(sorted_columns["word"], np.arange(len(words) + 1)),
        np.concatenate([[0], np.cumsum(sorted_columns["size"])]).astype(np.int64),
        np.concatenate([ids[i] for i in order.tolist()]) if ids else np.zeros(0, np.int32),
        tuple(numbers) if atoms is None else atoms,
        sorted_columns["class"].astype(np.int32),
        translations,
        sorted_columns["linked"].astype(bool),
        sorted_columns["sentence"].astype(np.int32),
        sorted_columns["place"].astype(np.int32),
    )
