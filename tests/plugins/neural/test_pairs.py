"""Tokens of pairs: joined from those of each text, and equal to the tokenizer's own for both together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.plugins.neural.batches import encode
from smtplugins.plugins.neural.pairs import PairTokens

tokenizers = pytest.importorskip("tokenizers")

WORDS = ["ab", "b", "a", "cab"]
SPECIAL = ["[CLS]", "[SEP]", "[UNK]"]
NUMBERS = [(name, i) for i, name in enumerate(SPECIAL)]
TEXTS = st.lists(st.sampled_from([*WORDS, "x", "[SEP]", "", "B"])).map(" ".join)


def template(single: str, pair: str) -> Any:
    return tokenizers.processors.TemplateProcessing(single=single, pair=pair, special_tokens=NUMBERS)


BERT = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
FRAMES: dict[str, tuple[Callable[[], Any], bool]] = {
    "bert": (lambda: BERT, True),
    "roberta": (lambda: tokenizers.processors.RobertaProcessing(("[SEP]", 1), ("[CLS]", 0)), True),
    "bare": (lambda: template("$A", "$A $B:1"), True),
    "none": (lambda: None, True),
    "reversed": (lambda: template("$A [SEP]", "[CLS] $B $A [SEP]"), False),
    "twice": (lambda: template("$A", "$A [SEP] $B [SEP] $A"), False),
}


def made(processor: Any, limit: int | None = None) -> Any:
    model = tokenizers.models.WordLevel({word: i for i, word in enumerate([*SPECIAL, *WORDS])}, "[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(SPECIAL)
    if processor is not None:
        tokenizer.post_processor = processor
    if limit is not None:
        tokenizer.enable_truncation(limit)
    return tokenizer


@pytest.mark.parametrize("name", FRAMES)
@given(pairs=st.lists(st.tuples(TEXTS, TEXTS), max_size=6), limit=st.none() | st.integers(6, 12), swapped=st.booleans())
def test_joined_tokens_are_those_of_both_together(
    name: str, pairs: list[tuple[str, str]], limit: int | None, swapped: bool
) -> None:
    make, joins = FRAMES[name]
    tokenizer = made(make(), limit)
    tokens = PairTokens(tokenizer, limit, swapped=swapped)
    assert (tokens._frame is not None) == joins or limit is not None
    whole = encode(tokenizer, [pair[::-1] if swapped else pair for pair in pairs])
    for _ in range(2):  # the second time with the sources that are remembered
        assert tokens.rows(pairs) == [(one.ids, one.type_ids) for one in whole]


def test_sources_are_split_once() -> None:
    class Counting:
        """A tokenizer that notes the texts it encodes."""

        def __init__(self) -> None:
            self.texts: list[Any] = []
            self.own = made(BERT)

        def encode_batch(self, texts: list[Any], add_special_tokens: bool) -> Any:
            self.texts += texts
            return self.own.encode_batch(texts, add_special_tokens=add_special_tokens)

    counting = Counting()
    tokens = PairTokens(counting, None)
    counting.texts.clear()
    for _ in range(2):
        tokens.rows([("a b", "x"), ("b", "y"), ("a b", "z")])
    assert counting.texts.count("a b") == counting.texts.count("b") == 1
    assert counting.texts.count("x") == 2


def test_a_pair_that_differs_is_noticed() -> None:
    tokenizer = made(BERT)
    tokens = PairTokens(tokenizer, None)
    tokenizer.post_processor = FRAMES["roberta"][0]()
    assert tokens.rows([("a", "b")]) == [([0, 5, 1, 1, 4, 1], [0] * 6)]
