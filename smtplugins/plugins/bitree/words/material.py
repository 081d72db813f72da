"""Material of word transduction: source words' tokens as rows of atoms, the class being a translation or NULL.

Section 7.4.2. Rows stand by source word, and each source word is a problem of its own: its translations in the
training text are the classes, the most frequent first. NULL is the class without a name.
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
    """A sentence and its translation, their links, and the tree of the source side."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[Link, ...] = ()
    tree: SourceTree | None = None


@dataclass(frozen=True)
class Rows:
    """Tokens of source words. Word w has the rows ``starts[w]`` to before ``starts[w + 1]``, in the text's order.

    ``classes`` are numbers of ``translations[w]``, -1 for words that are not among them; ``linked`` says which tokens
    have a link in the alignment. ``sentence`` and ``place`` say where a token stood.
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
        """The rows of a word."""
        return slice(int(self.starts[word]), int(self.starts[word + 1]))

    def examples(self, word: int) -> Examples:
        """A word's rows."""
        own = self.of(word)
        offsets = self.offsets[own.start : own.stop + 1]
        return Examples(offsets - offsets[0], self.ids[offsets[0] : offsets[-1]], self.atoms)

    def problem(self, word: int) -> Problem:
        """A word with its translations, to be learnt."""
        return Problem(self.words[word], self.examples(word), self.classes[self.of(word)], self.translations[word])

    def only(self, kinds: str) -> Rows:
        """The same rows with the atoms of some kinds alone; their numbers stay."""
        import numpy as np

        good = np.array([kind_of(atom) in kinds for atom in self.atoms], dtype=bool)
        kept = good[self.ids]
        ends = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        return replace(self, offsets=ends[self.offsets], ids=self.ids[kept])


def gold_of(pairs: Iterable[Pair], counts: LinkCounts) -> Iterator[tuple[list[str], list[bool]]]:
    """What each source word of a sentence became, and whether it has a link."""
    for pair in pairs:
        chosen = one_to_one(pair.source, pair.target, pair.links, counts)
        linked = {i for i, _ in pair.links}
        yield (
            [pair.target[chosen[i]] if i in chosen else NULL for i in range(len(pair.source))],
            [i in linked for i in range(len(pair.source))],
        )


def count_links(pairs: Iterable[Pair]) -> LinkCounts:
    """How often words are linked in sentence pairs."""
    return LinkCounts.of((one.source, one.target, one.links) for one in pairs)


def training_rows(pairs: Sequence[Pair], counts: LinkCounts) -> Rows:
    """The rows of a training text; translations of a word that are as frequent stand in their alphabetical order."""
    seen: dict[str, Counter[str]] = {}
    for pair, (gold, _) in zip(pairs, gold_of(pairs, counts), strict=True):
        for word, translation in zip(pair.source, gold, strict=True):
            seen.setdefault(word, Counter())[translation] += 1
    words = tuple(sorted(seen))
    translations = tuple(tuple(sorted(seen[one], key=lambda t, c=seen[one]: (-c[t], t))) for one in words)  # type: ignore[misc]
    return _rows(pairs, counts, words, translations)


def rows_like(pairs: Sequence[Pair], counts: LinkCounts, training: Rows) -> Rows:
    """The rows of another text, with the training text's words, translations and atoms.

    Words that it does not have stand behind them: NULL is all that is known of these.
    """
    known = set(training.words)
    more = sorted({word for pair in pairs for word in pair.source} - known)
    translations = training.translations + ((NULL,),) * len(more)
    return _rows(pairs, counts, (*training.words, *more), translations, training.atoms)


def sentence_rows(
    words: Sequence[str], tree: SourceTree | None, numbers: dict[str, int], *, grow: bool = False
) -> list[list[int]]:
    """The atoms of each word of a sentence by number, in order: those that are known, or with ``grow`` all."""
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
) -> Rows:
    import numpy as np

    grow = atoms is None
    numbers = {atom: number for number, atom in enumerate(atoms or ())}
    word_number = {word: number for number, word in enumerate(words)}
    class_number = [{name: number for number, name in enumerate(names)} for names in translations]
    found: dict[str, list[int]] = {name: [] for name in ("word", "class", "linked", "sentence", "place", "size")}
    ids: list[Array] = []
    for sentence, (pair, (gold, linked)) in enumerate(zip(pairs, gold_of(pairs, counts), strict=True)):
        for place, row in enumerate(sentence_rows(pair.source, pair.tree, numbers, grow=grow)):
            at = word_number[pair.source[place]]
            found["word"].append(at)
            found["class"].append(class_number[at].get(gold[place], -1))
            found["linked"].append(linked[place])
            found["sentence"].append(sentence)
            found["place"].append(place)
            found["size"].append(len(row))
            ids.append(np.array(row, dtype=np.int32))
    order = np.argsort(np.array(found["word"], dtype=np.int64), kind="stable")
    column = {name: np.array(values, dtype=np.int64)[order] for name, values in found.items()}
    return Rows(
        words,
        np.searchsorted(column["word"], np.arange(len(words) + 1)),
        np.concatenate([[0], np.cumsum(column["size"])]).astype(np.int64),
        np.concatenate([ids[i] for i in order.tolist()]) if ids else np.zeros(0, np.int32),
        tuple(numbers) if atoms is None else atoms,
        column["class"].astype(np.int32),
        translations,
        column["linked"].astype(bool),
        column["sentence"].astype(np.int32),
        column["place"].astype(np.int32),
    )
