"""The kit's systems of binary trees: their orders, and what they are made of."""

from __future__ import annotations

from smtplugins.testing.decoders.itg_systems import separable, systems


def test_orders_of_binary_trees_are_as_many_as_schroeder_counts() -> None:
    assert [len(separable(size)) for size in range(6)] == [1, 1, 2, 6, 22, 90]
    assert not {(1, 3, 0, 2), (2, 0, 3, 1)} & set(separable(4))


def test_systems_have_phrases_without_words_and_words_without_phrases() -> None:
    some = systems()
    assert any(not rule.target for one in some for rule in one.rules)
    assert any("z" in sentence.tokens for one in some for sentence in one.sentences)
    derivations = [one.derivations(sentence.tokens) for one in some for sentence in one.sentences]
    assert max(len(one) for one in derivations if one is not None) > 100
