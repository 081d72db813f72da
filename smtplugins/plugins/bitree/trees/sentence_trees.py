"""The source trees of sentences that decoders are given: in an attribute of the sentence, or in a file of all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.host.errors import SmtError
from smtplugins.plugins.bitree.trees.tree_making import SHAPES, branching, from_brackets

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.plugins.bitree.trees.source_trees import SourceTree

ATTRIBUTE = "src_tree"


class SentenceTrees:
    """Trees by sentence.

    ``kind`` is that of the trees a model was learnt from: shapes that need no parser are made here, others have to be
    given where they are ``needed``.
    """

    def __init__(self, path: Path | None = None, *, needed: bool = False, kind: str | None = None) -> None:
        from smtplugins.plugins.bitree.words.texts import read_trees

        self._path, self._needed, self._kind = path, needed, kind
        self._trees = [] if path is None else list(read_trees(path))

    def of(self, sentence: Sentence) -> SourceTree | None:
        """The tree of a sentence; ``None`` if it has none, which is an error where trees are needed."""
        tree = self._found(sentence)
        if tree is None:
            if self._kind in SHAPES:
                return branching(sentence.tokens, self._kind)
            if self._needed and sentence.tokens and self._path is None:
                raise SmtError(
                    f'sentence {sentence.id}: expected a source tree ({ATTRIBUTE}="..." or trees_path), found none'
                )
            return None
        if tree.words != sentence.tokens:
            words = " ".join(tree.words)
            raise SmtError(f"sentence {sentence.id}: expected a tree of its words {sentence.text!r}, found {words!r}")
        if self._kind is not None and tree.kind != self._kind:
            raise SmtError(f"sentence {sentence.id}: expected a tree of {self._kind}, found one of {tree.kind}")
        return tree

    def _found(self, sentence: Sentence) -> SourceTree | None:
        if ATTRIBUTE in sentence.annotations:
            from smtformats.tokens import BadField
            from smtformats.tree.trees import tree_of

            try:
                return from_brackets(tree_of(sentence.annotations[ATTRIBUTE], 1000))
            except BadField as bad:
                raise SmtError(
                    f"sentence {sentence.id}: {ATTRIBUTE}: expected {bad.expected}, found {bad.found}"
                ) from None
        if self._path is None:
            return None
        if not sentence.id.isdecimal() or int(sentence.id) >= len(self._trees):
            raise SmtError(f"{self._path}: expected a tree of sentence {sentence.id}, found {len(self._trees)} trees")
        return self._trees[int(sentence.id)]
