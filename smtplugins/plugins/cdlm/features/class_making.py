"""Make class maps from text: frequent words as their own classes or by their tags, all others in a few classes."""

from __future__ import annotations

import collections
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, get_args

from smtformats.errors import quote
from smtformats.files import Lines, head, open_bytes, open_lines
from smtformats.tokens import blanks
from smtformats.tree import conllu
from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.cdlm.features.classes import OTHER, ClassMap, check_class, is_special, suffix_class

Others = Literal["one", "suffix", "frequency"]
OTHERS: tuple[str, ...] = get_args(Others)
FREQUENT = 250
Tagged = Iterable[tuple[str, str]]


def word_counts(texts: Iterable[str]) -> dict[str, int]:
    """Count the words of texts."""
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        counts.update(blanks(text))
    return dict(counts)


def by_frequency(counts: Mapping[str, int]) -> list[str]:
    """Sort words by decreasing frequency, ties by name."""
    return sorted(counts, key=lambda word: (-counts[word], word))


def dominant_tags(tagged: Tagged) -> tuple[dict[str, int], dict[str, str]]:
    """Return the count of each word and its most frequent tag (ties: the first by name)."""
    tags: dict[str, collections.Counter[str]] = {}
    for word, tag in tagged:
        tags.setdefault(word, collections.Counter())[tag] += 1
    counts = {word: sum(own.values()) for word, own in tags.items()}
    return counts, {word: min(own, key=lambda tag: (-own[tag], tag)) for word, own in tags.items()}


def make_classes(
    counts: Mapping[str, int],
    *,
    frequent: int | None = FREQUENT,
    other: Others = "one",
    suffix: int = 3,
    suffixes: int = 50,
    tags: Mapping[str, str] | None = None,
    source: str = "",
) -> ClassMap:
    """Make a class map from word counts.

    The ``frequent`` most frequent words (``None``: all) are their own classes or, with ``tags``, have the class of
    their tag. Other words and words without a tag are classed by ``other``: ``one`` class; by ``suffix``, their last
    ``suffix`` letters, where the ``suffixes`` most frequent endings are classes; or by ``frequency``: words seen
    1, 2-3, 4-7 times and so on. ``source`` names the text in ``made``.
    """
    for name, value, least in (("frequent", frequent or 0, 0), ("suffix", suffix, 1), ("suffixes", suffixes, 1)):
        if value < least:
            raise UsageError(f"{name}: expected {least} or more, found {value}")
    if other not in OTHERS:
        raise UsageError(f"other: expected one of {', '.join(OTHERS)}, found {other!r}")
    order = by_frequency(counts)
    chosen = order if frequent is None else order[:frequent]
    # A word that is spelt like a reserved class is not its own class.
    classes = {
        word: check_class(word if tags is None else tags[word])
        for word in chosen
        if not is_special(word) and (tags is None or word in tags)
    }
    kind = "words" if tags is None else "words by their tags"
    shown = f"all {len(classes)} {kind}" if frequent is None else f"the {len(classes)} most frequent {kind}"
    made = f"{shown}, others {_DESCRIPTIONS[other].format(suffix=suffix)}" + (f", of {source}" if source else "")
    rest = [word for word in order if word not in classes]
    if other == "frequency":
        bands = {word: f"<seen-{1 << (counts[word].bit_length() - 1)}>" for word in rest}
        return ClassMap({**classes, **bands}, "<seen-0>", 0, made)
    if other == "suffix":
        endings = {word: ending for word in rest if (ending := suffix_class(word, suffix)) is not None}
        kept = frozenset(by_frequency(collections.Counter(endings.values()))[:suffixes])
        both = {word: ending for word, ending in endings.items() if ending in kept}
        return ClassMap({**classes, **both}, OTHER, suffix, made)
    return ClassMap(classes, OTHER, 0, made)


_DESCRIPTIONS = {"one": "one class", "suffix": "by their last {suffix} letters", "frequency": "by frequency"}


def read_tagged(
    path: str | os.PathLike[str], *, separator: str = "/", column: Literal["upos", "xpos"] = "upos"
) -> Iterator[tuple[str, str]]:
    """Yield the words and tags of a text in ``word/TAG`` or CoNLL-U format; the format is detected."""
    with open_bytes(path) as stream:
        trees = conllu.matches(head(stream))
    with open_lines(path) as lines:
        if trees:
            for sentence in conllu.parse(lines):
                for word in sentence.nodes():
                    tag = word.upos if column == "upos" else word.xpos
                    if tag != "_":
                        yield word.form.replace(" ", "_"), tag
            return
        yield from _pairs(lines, separator)


def _pairs(lines: Lines, separator: str) -> Iterator[tuple[str, str]]:
    for line in lines:
        for at, token in enumerate(blanks(line.rstrip("\r\n")), 1):
            word, mark, tag = token.rpartition(separator)
            if not mark or not word or not tag:
                raise lines.error(f"WORD{separator}TAG, or CoNLL-U with ten columns", quote(token), at)
            yield word, tag
