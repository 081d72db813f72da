"""The kit's systems of binary trees: their orders, and what they are made of."""

from __future__ import annotations

from smtplugins.testing.decoders.itg_systems import separable, systems


def test_orders_of_binary_trees_are_as_many_as_schroeder_counts() -> None:
    assert [len(separable(size)) for size in range(6)] == [1, 1, 2, 6, 22, 90]
    assert not {(1, 3, 0, 2), (2, 0, 3, 1)} & set(separable(4))


def test_systems_have_phrases_without_words_and_words_without_phrases() -> None:
    some = systems()
    assert any(not rule.target for system in some for rule in system.rules)
    assert any("z" in sentence.tokens for system in some for sentence in system.sentences)
    derivations = [system.derivations(sentence.tokens) for system in some for sentence in system.sentences]
    assert max(len(derivation) for derivation in derivations if derivation is not None) > 100
