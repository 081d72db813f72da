"""Checks of decoders: what every decoder owes its caller, whatever it searches.

A decoder whose constructor has ``resources`` is made with tiny grammars (``grammars.py``), whose derivations the kit
enumerates itself; the options ``glue``, ``pass_through`` and ``max_span`` mean there what they mean in ``hiero``. One
with ``max_phrase_length`` gets tiny tables of phrases (``phrase_systems.py``), where this and ``distortion_limit`` mean
what they mean in ``phrase``; if it has ``labels``, too, as ``amasis`` has it, its derivations are those of binary trees
(``itg_systems.py``). What a decoder does not have (resources, a score, features, graphs) is not checked.
"""

from __future__ import annotations

import functools
import inspect
import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.contracts import Sentence
from smtplugins.contracts.spec import evaluated, parameters
from smtplugins.host.model import Model
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject, can_be_made, is_documented
from smtplugins.testing.decoders import graphs as decoder_graphs
from smtplugins.testing.decoders import itg_systems, phrase_systems, search_tasks
from smtplugins.testing.decoders import rule_systems as grammars
from smtplugins.testing.decoders.phrase_systems import PhraseSystem
from smtplugins.testing.decoders.rule_systems import TOLERANCE, System, assert_among, total

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Decoding
    from smtplugins.contracts.offers import Offer
    from smtplugins.host.host import Host


Solved = tuple[System | PhraseSystem, Sentence, "Decoding"]
"""A tiny system, one of its sentences, and what a decoder made of it."""


@dataclass(frozen=True)
class DecoderSubject(Subject):
    """A decoder to check, the model it decodes with, and the options that let it prune nothing."""

    model: Model | None = None
    exact: Mapping[str, Any] | None = None

    @property
    def with_resources(self) -> bool:
        """Whether it works with tables and features of the run."""
        return "resources" in evaluated(self.offer.make).parameters

    def make(self) -> Any:
        """A new decoder, if need be with the first of the tiny systems."""
        return self.made(self.systems[0]) if self.with_resources else super().make()

    @property
    def systems(self) -> Sequence[System | PhraseSystem]:
        """The tiny systems for a decoder of its kind."""
        kind = _kind(self.offer)
        return _systems() if kind == "grammars" else _phrase_systems() if kind == "phrases" else _itg_systems()

    def made(self, system: System | PhraseSystem, more: Mapping[str, Any] | None = None) -> Any:
        """A new decoder for a system."""
        known = parameters(self.offer.make)
        options = {name: value for name, value in system.options.items() if name in known}
        given = {"resources": system.resources(self.folder / f"system-{system.number}", self.host)}
        return self.built({**self.chosen, **options, **(more or {})}, given)

    def model_for(self, system: System | PhraseSystem | None = None) -> Model:
        """The model given, or that of a system, or one without weights."""
        if system is not None:
            return Model(system.weights)
        return self.model or Model(self.systems[0].weights if self.with_resources else {})

    def decode(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Decoding]:
        """What a new decoder makes of sentences that arrive one by one."""
        return list(self.make().decode(iter(sentences), self.model_for(), threads=threads))

    def solved(self, more: Mapping[str, Any] | None = None, graphs: bool = False) -> list[Solved]:
        """Each tiny system's sentences, decoded; once for each of such calls."""
        if not self.with_resources:
            raise DoesNotApply("the decoder has no `resources`, so that the kit has no grammar for it")
        lacking = _OPTIONS[_kind(self.offer)] - parameters(self.offer.make).keys()
        if lacking:
            raise DoesNotApply(f"the decoder has no option {min(lacking)!r}, so that the kit does not know its rules")
        key = (bool(more), graphs)
        if key not in self._solved:
            asked = {"graphs": True} if graphs else {}
            self._solved[key] = []
            for system in self.systems:
                decoder, model = self.made(system, more), self.model_for(system)
                found = list(decoder.decode(iter(system.sentences), model, **asked))
                pairs = zip(system.sentences, found, strict=True)
                self._solved[key] += [(system, sentence, one) for sentence, one in pairs]
        return self._solved[key]

    @functools.cached_property
    def _solved(self) -> dict[tuple[bool, bool], list[Solved]]:
        return {}

    @property
    def has_graphs(self) -> bool:
        """Whether ``decode`` can be asked for graphs."""
        return "graphs" in inspect.signature(self.make().decode).parameters


@functools.cache
def _systems() -> tuple[System, ...]:
    return tuple(grammars.systems())


_OPTIONS = {
    "grammars": frozenset({"glue", "pass_through", "max_span"}),
    "phrases": phrase_systems.OPTIONS,
    "itg": itg_systems.OPTIONS,
}


def _kind(offer: Offer) -> str:
    """What a decoder translates with."""
    own = parameters(offer.make)
    if "max_phrase_length" not in own:
        return "grammars"
    return "itg" if "labels" in own else "phrases"


@functools.cache
def _itg_systems() -> tuple[PhraseSystem, ...]:
    return tuple(itg_systems.systems())


@functools.cache
def _phrase_systems() -> tuple[PhraseSystem, ...]:
    return tuple(phrase_systems.systems())


def subject(
    offer: Offer,
    folder: Path,
    host: Host,
    *,
    options: Mapping[str, Any] | None = None,
    model: Model | None = None,
    exact: Mapping[str, Any] | None = None,
) -> DecoderSubject:
    """A decoder to check; without ``exact``, what prunes nothing is ``search=full``, if there is such an option.

    For decoders of phrases it is stacks of any size without a threshold.
    """
    known = parameters(offer.make)
    search = known.get("search")
    if exact is None and search is not None and "full" in typing.get_args(search.annotation):
        exact = {"search": "full"}
    if exact is None and "stack_size" in known:
        unpruned = itg_systems.UNPRUNED if _kind(offer) == "itg" else phrase_systems.UNPRUNED
        exact = {name: value for name, value in unpruned.items() if name in known}
    return DecoderSubject(offer, folder, host, options, model, exact)


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
    """The same sentences have the same decodings again, to the last bit, also with several threads."""
    sentences = samples.sentences() * 4
    wanted = subject.decode(sentences)
    for how, threads in (("again", 1), ("with two threads", 2), ("with five threads", 5)):
        for first, one in zip(wanted, subject.decode(sentences, threads), strict=True):
            assert one.best == first.best, f"sentence {one.id} is {first.best!r} and, {how}, {one.best!r}"
            for name in ("score", "found"):
                then, now = getattr(first, name), getattr(one, name)
                assert now == then, f"sentence {one.id}: `{name}` is {then!r} and, {how}, {now!r}"
            then, now = dict(first.features), dict(one.features)
            assert now == then, f"sentence {one.id}: `features` are {then} and, {how}, {now}"


def models_do_not_stick(subject: DecoderSubject) -> None:
    """Another model gives what a new decoder gives with it: nothing of the model before it is left."""
    if not subject.with_resources:
        raise DoesNotApply("the decoder has no `resources`")
    system = subject.systems[0]
    other = Model({name: -weight for name, weight in system.weights.items()})
    both = subject.made(system)
    list(both.decode(iter(system.sentences), Model(system.weights)))
    fresh = subject.made(system).decode(iter(system.sentences), other)
    for first, one in zip(fresh, both.decode(iter(system.sentences), other), strict=True):
        assert (one.best, one.score) == (first.best, first.score), (
            f"sentence {one.id} is {first.best!r} ({first.score}) with a new decoder, and {one.best!r} ({one.score}) "
            "with one that had another model before"
        )


def score_is_that_of_its_features(subject: DecoderSubject) -> None:
    """The score of a decoding is the sum of its features, each times its weight."""
    if subject.with_resources:
        found = [(system.weights, one) for system, _, one in subject.solved()]
    else:
        found = [(subject.model_for().weights, one) for one in subject.decode(samples.sentences())]
    told = [(weights, one, one.score) for weights, one in found if one.found and one.score is not None]
    if not any(one.features for _, one, _ in told):
        raise DoesNotApply("the decoder tells no score, or no features")
    for weights, one, score in told:
        summed = total(weights, one.features)
        assert math.isclose(summed, score, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
            f"sentence {one.id}: the score is {score!r}, that of its features {summed!r}"
        )


def features_are_those_of_the_text(subject: DecoderSubject) -> None:
    """What lists can score has the same value there, on the finished text, as it had in the search."""
    for _, _, one in subject.solved():
        if not one.found or not one.features:
            continue
        for name in grammars.OF_TEXTS:
            wanted, found = grammars.rescored(name, [one.best])[one.best], one.features.get(name, 0.0)
            assert math.isclose(wanted, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
                f"sentence {one.id}: {name!r} is {found!r} in the search and {wanted!r} on the text {one.best!r}"
            )


def derivations_are_in_the_grammar(subject: DecoderSubject) -> None:
    """There is a derivation with the text and the features of a decoding, and none where none was found."""
    for system, sentence, one in subject.solved():
        every = system.derivations(sentence.tokens)
        if every is None:
            continue
        if not one.found:
            assert not every, f"sentence {one.id} ({sentence.text}): found nothing, where {every[0]} is a derivation"
            continue
        texts = {" ".join(other.words) for other in every}
        assert one.best in texts, f"sentence {one.id} ({sentence.text}): no derivation has the text {one.best!r}"
        if one.features:
            assert_among(one.best, one.features, every, f"sentence {one.id} ({sentence.text})")


def best_is_the_best(subject: DecoderSubject) -> None:
    """With nothing pruned, the decoding has the highest score of all derivations."""
    if not subject.exact:
        raise DoesNotApply(
            "the kit knows no options that let the decoder prune nothing: the checks' `exact` names them"
        )
    for system, sentence, one in subject.solved(subject.exact):
        every = system.derivations(sentence.tokens)
        if not every:
            continue
        best = max(every, key=lambda other: total(system.weights, other.features))
        highest = total(system.weights, best.features)
        assert one.found, f"sentence {one.id} ({sentence.text}): found nothing, where {best} is a derivation"
        reached = (
            max(total(system.weights, other.features) for other in every if " ".join(other.words) == one.best)
            if one.score is None
            else one.score
        )
        assert math.isclose(reached, highest, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
            f"sentence {one.id} ({sentence.text}): {one.best!r} has {reached!r}, but {best} has {highest!r}"
        )


def what_has_no_translation_is_said(subject: DecoderSubject) -> None:
    """A sentence without any derivation has ``found=False`` and an empty text, and disturbs none of its neighbours."""
    if not subject.with_resources or "pass_through" not in parameters(subject.offer.make):
        raise DoesNotApply("the decoder has no option `pass_through` to leave words out with")
    system = next(one for one in _systems() if one.options["pass_through"] == "none")
    good = next(one for one in system.sentences if grammars.derivations(system, one.tokens))
    bad = [Sentence("unknown", ("zzz",)), Sentence("empty", ())]
    sentences = [good, bad[0], good, bad[1], good]
    found = list(subject.made(system).decode(iter(sentences), Model(system.weights)))
    for sentence, one in zip(sentences, found, strict=True):
        if sentence is good:
            assert one.found and one.best == found[0].best, (
                f"sentence {one.id} is {one.best!r} beside those without one"
            )
        else:
            assert not one.found, f"sentence {one.id!r} has no derivation, but `found` is true"
            assert one.best == "", f"sentence {one.id!r} has no derivation, but the text {one.best!r}"


def traces_are_lines(subject: DecoderSubject) -> None:
    """A trace, if there is one, is lines of text, also for a sentence without a translation."""
    found = [one for one in subject.decode(samples.sentences()) if one.trace is not None]
    if not found:
        raise DoesNotApply("the decoder gives no trace")
    for one in found:
        assert one.trace is not None
        for line in one.trace():
            assert isinstance(line, str) and "\n" not in line, f"sentence {one.id}: expected lines, found {line!r}"


def steps_build_the_tree(subject: DecoderSubject) -> None:
    """Steps, if they are told, make one tree, whose rules cover the sentence and make its translation."""
    from smtformats.tokens import BadField
    from smtplugins.host.decode.built_steps import source_words, target_words

    sentences = {one.id: one for one in samples.sentences()}
    found = [one for one in subject.decode([*sentences.values()]) if one.built is not None]
    if not found:
        raise DoesNotApply("the decoder does not say in which steps trees are built")
    for one in found:
        assert one.built is not None
        steps = list(one.built())
        assert one.found or not steps, f"sentence {one.id} has no translation, but {len(steps)} steps"
        try:
            source, text = source_words(steps), " ".join(target_words(steps))
        except BadField as bad:
            raise AssertionError(f"sentence {one.id}: expected {bad.expected}, found {bad.found}") from None
        text = text if one.shown is None else one.shown(text)
        if one.found:
            words = sentences[one.id].tokens
            assert source == words, f"sentence {one.id}: the steps cover {source}, not {words}"
            assert text == one.best, f"sentence {one.id}: the steps make {text!r}, the translation is {one.best!r}"


CHECKS: tuple[Check, ...] = (
    is_documented,
    can_be_made,
    output_follows_input,
    best_is_a_line,
    output_repeats,
    models_do_not_stick,
    score_is_that_of_its_features,
    features_are_those_of_the_text,
    derivations_are_in_the_grammar,
    best_is_the_best,
    what_has_no_translation_is_said,
    traces_are_lines,
    steps_build_the_tree,
    *decoder_graphs.CHECKS,
    *search_tasks.CHECKS,
)
