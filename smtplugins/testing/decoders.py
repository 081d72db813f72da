"""Checks of decoders: what every decoder owes its caller, whatever it searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.model import Model
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, Subject, can_be_made, is_documented

if TYPE_CHECKING:
    from smtplugins.host.contracts import Decoding, Sentence
    from smtplugins.host.host import Host
    from smtplugins.host.offers import Offer


@dataclass(frozen=True)
class DecoderSubject(Subject):
    """A decoder to check, and the model it decodes with."""

    model: Model = field(default_factory=Model)

    def decode(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Decoding]:
        """What a new decoder makes of sentences that arrive one by one."""
        return list(self.make().decode(iter(sentences), self.model, threads=threads))


def subject(
    offer: Offer,
    folder: Path,
    host: Host,
    *,
    options: Mapping[str, Any] | None = None,
    model: Model | None = None,
) -> DecoderSubject:
    """A decoder to check: with the model given, or one without any weight."""
    return DecoderSubject(offer, folder, host, options, model or Model())


def output_follows_input(subject: DecoderSubject) -> None:
    """Each sentence has one decoding with its id, in the order of the input."""
    sentences = samples.sentences()
    wanted = [one.id for one in sentences]
    found = [one.id for one in subject.decode(sentences)]
    assert found == wanted, f"expected decodings of {wanted}, found {found}"
    assert not subject.decode([]), "there are decodings of no sentence at all"


def best_is_a_line(subject: DecoderSubject) -> None:
    """``best`` is a text of one line."""
    for one in subject.decode(samples.sentences()):
        assert isinstance(one.best, str), f"sentence {one.id}: expected a text, found {one.best!r}"
        assert "\n" not in one.best, f"sentence {one.id}: expected one line, found {one.best!r}"


def output_repeats(subject: DecoderSubject) -> None:
    """The same sentences have the same decodings again, also with two threads."""
    sentences = samples.sentences()
    wanted = {one.id: one.best for one in subject.decode(sentences)}
    for how, threads in (("again", 1), ("with two threads", 2)):
        for one in subject.decode(sentences, threads):
            assert one.best == wanted[one.id], f"sentence {one.id} is {wanted[one.id]!r} and, {how}, {one.best!r}"


CHECKS: tuple[Check, ...] = (
    is_documented,
    can_be_made,
    output_follows_input,
    best_is_a_line,
    output_repeats,
)
