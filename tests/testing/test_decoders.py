"""Each check of decoders fails for the decoder that breaks it, and says what is wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from smtplugins import Offer
from smtplugins.host.contracts import Decoding
from smtplugins.host.model import Model

Failures = Callable[..., dict[str, str]]


class Copy:
    """Gives the source back, a word at a time if a model says so."""

    def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
        for one in sentences:
            yield Decoding(one.id, one.text * round(model.weights.get("times", 1)))


def offer(change: Callable[[list[Decoding], int], list[Decoding]] = lambda found, threads: found) -> Offer:
    class Changed:
        def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
            return iter(change(list(Copy().decode(sentences, model)), threads))

    return Offer(name="tried", make=Changed, summary="a decoder under test")


def renamed(found: list[Decoding], threads: int) -> list[Decoding]:
    return [replace(one, id=str(number)) for number, one in enumerate(found)]


def chatty(found: list[Decoding], threads: int) -> list[Decoding]:
    return found or [Decoding("0", "")]


def by_chance(found: list[Decoding], threads: int) -> list[Decoding]:
    return [replace(one, best=str(random.random())) for one in found]


def by_threads(found: list[Decoding], threads: int) -> list[Decoding]:
    return [replace(one, best=one.best * threads) for one in found]


def test_good_decoders_pass(failures: Failures) -> None:
    assert failures("decoders", offer()) == {}


def test_a_model_given_is_what_is_decoded_with(failures: Failures) -> None:
    class Strict(Copy):
        def decode(self, sentences: Any, model: Model, *, threads: int = 1) -> Iterator[Decoding]:
            assert model.weights == {"times": 2.0}
            return super().decode(sentences, model)

    record = Offer(name="tried", make=Strict, summary="a decoder under test")
    assert failures("decoders", record, model=Model({"times": 2.0})) == {}


@pytest.mark.parametrize(
    ("change", "check", "words"),
    [
        (lambda found, threads: found[::-1], "output_follows_input", "expected decodings of ['7', 'b', "),
        (lambda found, threads: found[:-1], "output_follows_input", "found ['7', 'b', '0', 'x-1', '1', 'again']"),
        (renamed, "output_follows_input", "found ['0', '1', '2', "),
        (chatty, "output_follows_input", "there are decodings of no sentence at all"),
        (
            lambda found, threads: [replace(one, best=one.best + "\n") for one in found],
            "best_is_a_line",
            "sentence 7: expected one line, found 'wo ist mein hut ?\\n'",
        ),
        (lambda found, threads: [replace(one, best=None) for one in found], "best_is_a_line", "expected a text, found"),
        (by_chance, "output_repeats", "and, again, '0."),
        (by_threads, "output_repeats", "sentence 7 is 'wo ist mein hut ?' and, with two threads, 'wo ist "),
    ],
)
def test_a_bad_decoder_fails(
    change: Callable[[list[Decoding], int], list[Decoding]], check: str, words: str, failures: Failures
) -> None:
    found = failures("decoders", offer(change))
    assert set(found) == {check}
    assert words in found[check]
