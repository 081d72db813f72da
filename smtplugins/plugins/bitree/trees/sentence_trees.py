"""Source trees for decoding: from an attribute of the sentence, or from a file with all trees."""

from __future__ import annotations

from pathlib import Path

from smtformats.tokens import BadField
from smtformats.tree.trees import tree_of
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.bitree.trees.source_trees import SourceTree
from smtplugins.plugins.bitree.trees.tree_making import SHAPES, branching, from_brackets
from smtplugins.plugins.bitree.words.texts import read_trees

ATTRIBUTE = "src_tree"


class SentenceTrees:
    """Source trees by sentence.

    ``kind`` is the kind of trees the model was trained on: shapes that need no parser are built here, others must be
    given if ``needed``.
    """

    def __init__(self, path: Path | None = None, *, needed: bool = False, kind: str | None = None) -> None:
        self._path, self._needed, self._kind = path, needed, kind
        self._trees = [] if path is None else list(read_trees(path))

    def of(self, sentence: Sentence) -> SourceTree | None:
        """The tree of a sentence of words; if it has none, ``None``, or an error where trees are needed."""
        for what, given in (("a lattice", sentence.lattice is not None), ("a grammar of its own", sentence.grammars)):
            if given:
                raise UsageError(f"sentence {sentence.id}: expected words, found {what}")
        tree = self._lookup(sentence)
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

    def _lookup(self, sentence: Sentence) -> SourceTree | None:
        if ATTRIBUTE in sentence.annotations:
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
