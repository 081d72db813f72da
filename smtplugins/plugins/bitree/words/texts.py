"""Read aligned text, with source trees if there are any, as sentence pairs for training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from smtformats import Format
from smtformats.tokens import blanks
from smtformats.tree.dependencies import Dependencies
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.tools.files import open_known
from smtplugins.contracts.tools.running import Host
from smtplugins.plugins.bitree.trees.cohesion import cohesive
from smtplugins.plugins.bitree.trees.source_trees import SourceTree
from smtplugins.plugins.bitree.trees.tree_making import from_brackets, from_dependencies
from smtplugins.plugins.bitree.words.material import Pair


def read_trees(path: Path, formats: Iterable[Format] | None = None) -> Iterator[SourceTree | None]:
    """Read the trees of a file in brackets or CoNLL-U; ``None`` for a sentence without a tree."""
    with open_known(Path(path), "tree", None, formats) as opened:
        for record in opened.records():
            if isinstance(record, Dependencies):
                yield from_dependencies(record)
            else:
                yield None if record.tree is None else from_brackets(record.tree)


def with_trees(host: Host, sentences: Sequence[Sequence[str]], path: Path | None) -> Iterator[SourceTree | None]:
    """Yield the tree of each sentence, checked for number and words; ``None`` for all without a file."""
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
    """Read sentence pairs; links that cross a constituent of the source tree are dropped."""
    from smtplugins.contracts.tools.extraction import read_pairs

    pairs = []
    links = None if alignment is None else str(alignment)
    for number, (source_text, target_text, linked) in enumerate(
        read_pairs(str(source), str(target), links, formats=host.formats())
    ):
        pair = Pair(tuple(blanks(source_text)), tuple(blanks(target_text)), () if linked is None else linked.points)
        for i, j in pair.links:
            if i >= len(pair.source) or j >= len(pair.target):
                sizes = f"{len(pair.source)} and {len(pair.target)} words"
                raise SmtError(f"{links}:{number + 1}: expected links of {sizes}, found {i}-{j}")
        pairs.append(pair)
    parsed = with_trees(host, [pair.source for pair in pairs], trees)
    return [_with_tree(pair, tree) for pair, tree in zip(pairs, parsed, strict=True)]


def _with_tree(pair: Pair, tree: SourceTree | None) -> Pair:
    links = pair.links if tree is None else cohesive(tree, pair.links)
    return Pair(pair.source, pair.target, tuple(links), tree)
