"""Source trees of sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.bitree.trees.sentence_trees import SentenceTrees


def test_sentences_are_words_alone() -> None:
    trees, sentence = SentenceTrees(kind="right-branching"), Sentence("7", ("ein", "haus"))
    tree = trees.of(sentence)
    assert tree is not None
    assert tree.words == ("ein", "haus")
    with pytest.raises(UsageError, match="sentence 7: expected words, found a grammar of its own"):
        trees.of(replace(sentence, grammars=("g",)))
