"""Aligned text, with source trees where there are any, as the pairs that everything is learnt from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.host.errors import SmtError
from smtplugins.plugins.bitree.trees.cohesion import cohesive
from smtplugins.plugins.bitree.trees.tree_making import from_brackets, from_dependencies
from smtplugins.plugins.bitree.words.material import Pair

if TYPE_CHECKING:
    from smtformats import Format
    from smtplugins.host.host import Host
    from smtplugins.plugins.bitree.trees.source_trees import SourceTree


def read_trees(path: Path, formats: Iterable[Format] | None = None) -> Iterator[SourceTree | None]:
    """The trees of a file in brackets or CoNLL-U; ``None`` for a sentence without one."""
    from smtformats.tree.dependencies import Dependencies
    from smtplugins.host.files.opening import open_known

    with open_known(Path(path), "tree", None, formats) as opened:
        for one in opened.records():
            if isinstance(one, Dependencies):
                yield from_dependencies(one)
            else:
                yield None if one.tree is None else from_brackets(one.tree)


def with_trees(host: Host, sentences: Sequence[Sequence[str]], path: Path | None) -> Iterator[SourceTree | None]:
    """The tree of each sentence, over the same words and as many; ``None`` for all without a file."""
    if path is None:
        yield from (None for _ in sentences)
        return
    number = 0
    for number, tree in enumerate(read_trees(path, host.formats()), 1):
        if number > len(sentences):
            raise SmtError(f"{path}: expected trees of {len(sentences)} sentences, found more")
        words = tuple(sentences[number - 1])
        if tree is not None and tree.words != words:
            raise SmtError(
                f"{path}: tree {number}: expected the words {' '.join(words)!r}, found {' '.join(tree.words)!r}"
            )
        yield tree
    if number < len(sentences):
        raise SmtError(f"{path}: expected trees of {len(sentences)} sentences, found {number}")


def read_text(
    host: Host, source: Path, target: Path, alignment: Path | None = None, trees: Path | None = None
) -> list[Pair]:
    """Sentence pairs; links that cross a constituent of a sentence's tree are left out."""
    from smtformats.tokens import blanks
    from smtplugins.host.files.aligned_text import read_pairs

    found = []
    links = None if alignment is None else str(alignment)
    for number, (one, other, linked) in enumerate(read_pairs(str(source), str(target), links, formats=host.formats())):
        pair = Pair(tuple(blanks(one)), tuple(blanks(other)), () if linked is None else linked.points)
        for i, j in pair.links:
            if i >= len(pair.source) or j >= len(pair.target):
                sizes = f"{len(pair.source)} and {len(pair.target)} words"
                raise SmtError(f"{links}:{number + 1}: expected links of {sizes}, found {i}-{j}")
        found.append(pair)
    grown = with_trees(host, [one.source for one in found], trees)
    return [_grown(pair, tree) for pair, tree in zip(found, grown, strict=True)]


def _grown(pair: Pair, tree: SourceTree | None) -> Pair:
    links = pair.links if tree is None else cohesive(tree, pair.links)
    return Pair(pair.source, pair.target, tuple(links), tree)
