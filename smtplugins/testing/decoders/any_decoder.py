"""Checks of all decoders.

A decoder with a parameter ``resources`` is made with tiny grammars (``rule_systems.py``) whose derivations the kit
enumerates; the options ``glue``, ``pass_through`` and ``max_span`` are those of ``hiero``. A decoder with
``max_phrase_length`` gets tiny phrase tables (``phrase_systems.py``); this and ``distortion_limit`` are the options of
``phrase``. If it also has ``labels``, as ``amasis`` does, its derivations are binary trees (``itg_systems.py``). Parts
that a decoder does not have (resources, a score, features, graphs) are not checked.
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

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.models import Model
from smtplugins.contracts.spec import Spec, evaluated, parameters
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, Subject, can_be_made, is_documented
from smtplugins.testing.decoders import graphs as decoder_graphs
from smtplugins.testing.decoders import itg_systems, phrase_systems, search_tasks
from smtplugins.testing.decoders import rule_systems as grammars
from smtplugins.testing.decoders.phrase_systems import PhraseSystem
from smtplugins.testing.decoders.rule_systems import TOLERANCE, System, assert_among, total

if TYPE_CHECKING:
    from smtplugins.contracts.decoders import Decoding
    from smtplugins.contracts.offers import Offer
    from smtplugins.host.host import Host


Solved = tuple[System | PhraseSystem, Sentence, "Decoding"]
"""A tiny system, one of its sentences, and the decoding of it."""


@dataclass(frozen=True)
class DecoderSubject(Subject):
    """A decoder to check, the model to decode with, and the options that turn pruning off."""

    model: Model | None = None
    exact: Mapping[str, Any] | None = None

    @property
    def with_resources(self) -> bool:
        """Whether the decoder takes the tables and features of a run."""
        return "resources" in evaluated(self.offer.factory).parameters

    def make(self) -> Any:
        """Make a new decoder, with the first tiny system if it takes resources."""
        return self.made(self.systems[0]) if self.with_resources else super().make()

    @property
    def systems(self) -> Sequence[System | PhraseSystem]:
        """The tiny systems for this kind of decoder."""
        kind = _kind(self.offer)
        return _systems() if kind == "grammars" else _phrase_systems() if kind == "phrases" else _itg_systems()

    def made(self, system: System | PhraseSystem, more: Mapping[str, Any] | None = None) -> Any:
        """Make a new decoder for a system."""
        known = parameters(self.offer.factory)
        options = {name: value for name, value in system.options.items() if name in known}
        given = {"resources": system.resources(self.folder / f"system-{system.number}", self.host)}
        return self.built({**self.chosen, **options, **(more or {})}, given)

    def model_for(self, system: System | PhraseSystem | None = None) -> Model:
        """Return the model of a system, or the given one, or one without weights."""
        if system is not None:
            return Model(system.weights)
        return self.model or Model(self.systems[0].weights if self.with_resources else {})

    def decode(self, sentences: Sequence[Sentence], threads: int = 1) -> list[Decoding]:
        """Decode a stream of sentences with a new decoder."""
        return list(self.make().decode(iter(sentences), self.model_for(), threads=threads))

    @functools.cached_property
    def samples(self) -> list[Decoding]:
        """The decodings of the kit's sentences."""
        return self.decode(samples.sentences())

    def solved(self, more: Mapping[str, Any] | None = None, graphs: bool = False) -> list[Solved]:
        """Return the decodings of the tiny systems' sentences; cached."""
        if not self.with_resources:
            raise DoesNotApply("the decoder has no `resources`, so the kit has no grammar for it")
        lacking = _OPTIONS[_kind(self.offer)] - parameters(self.offer.factory).keys()
        if lacking:
            raise DoesNotApply(f"the decoder has no option {min(lacking)!r}, so the kit does not know its rules")
        key = (bool(more), graphs)
        if key not in self._solved:
            asked = {"graphs": True} if graphs else {}
            self._solved[key] = []
            for system in self.systems:
                decoder, model = self.made(system, more), self.model_for(system)
                decodings = list(decoder.decode(iter(system.sentences), model, **asked))
                pairs = zip(system.sentences, decodings, strict=True)
                self._solved[key] += [(system, sentence, decoding) for sentence, decoding in pairs]
        return self._solved[key]

    @functools.cached_property
    def _solved(self) -> dict[tuple[bool, bool], list[Solved]]:
        return {}

    @property
    def has_graphs(self) -> bool:
        """Whether ``decode`` has an option ``graphs``."""
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
    """Return the kind of tables that a decoder takes."""
    own = parameters(offer.factory)
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
    """Return a decoder to check.

    The default of ``exact`` is ``search=full`` if there is such an option, and unlimited stacks for phrase decoders.
    """
    known = parameters(offer.factory)
    search = known.get("search")
    if exact is None and search is not None and "full" in typing.get_args(search.annotation):
        exact = {"search": "full"}
    if exact is None and "stack_size" in known:
        unpruned = itg_systems.UNPRUNED if _kind(offer) == "itg" else phrase_systems.UNPRUNED
        exact = {name: value for name, value in unpruned.items() if name in known}
    return DecoderSubject(offer, folder, host, options, model, exact)


def usual_features_are_known(subject: DecoderSubject) -> None:
    """``usual_features`` name features with options that they have, and ``start_weights`` are finite."""
    make = subject.offer.factory
    if not hasattr(make, "usual_features") and not hasattr(make, "start_weights"):
        raise DoesNotApply("the decoder has neither usual_features nor start_weights")
    registry = subject.host.registry
    for spec in map(Spec.parse, getattr(make, "usual_features", ())):
        known = {*parameters(registry.factory("features", spec.name)), "name", "tuneable"}
        assert known >= spec.options.keys(), f"{spec}: expected the options {sorted(known)}"
    weights = getattr(make, "start_weights", {})
    assert all(map(math.isfinite, weights.values())), f"start_weights: expected finite numbers, found {weights}"


def output_follows_input(subject: DecoderSubject) -> None:
    """There is one decoding per sentence, with its id, in input order."""
    sentences = samples.sentences()
    wanted = [sentence.id for sentence in sentences]
    ids = [decoding.id for decoding in subject.samples]
    assert ids == wanted, f"expected decodings of {wanted}, found {ids}"
    assert not subject.decode([]), "expected no decodings without sentences"


def best_is_a_line(subject: DecoderSubject) -> None:
    """``best`` is one line of text."""
    for decoding in subject.samples:
        assert isinstance(decoding.best, str), f"sentence {decoding.id}: expected a text, found {decoding.best!r}"
        assert "\n" not in decoding.best, f"sentence {decoding.id}: expected one line, found {decoding.best!r}"


def output_repeats(subject: DecoderSubject) -> None:
    """Decoding again, with any number of threads, gives bit-identical results."""
    sentences = samples.sentences() * 2
    wanted = subject.decode(sentences)
    for how, threads in (("again", 1), ("with two threads", 2), ("with five threads", 5)):
        for first, decoding in zip(wanted, subject.decode(sentences, threads), strict=True):
            assert decoding.best == first.best, (
                f"sentence {decoding.id} is {first.best!r} and, {how}, {decoding.best!r}"
            )
            for name in ("score", "found"):
                then, now = getattr(first, name), getattr(decoding, name)
                assert now == then, f"sentence {decoding.id}: `{name}` is {then!r} and, {how}, {now!r}"
            then, now = dict(first.features), dict(decoding.features)
            assert now == then, f"sentence {decoding.id}: `features` are {then} and, {how}, {now}"


def models_do_not_stick(subject: DecoderSubject) -> None:
    """A decoder used with another model before gives the same results as a new one."""
    if not subject.with_resources:
        raise DoesNotApply("the decoder has no `resources`")
    system = subject.systems[0]
    other = Model({name: -weight for name, weight in system.weights.items()})
    both = subject.made(system)
    list(both.decode(iter(system.sentences), Model(system.weights)))
    fresh = subject.made(system).decode(iter(system.sentences), other)
    for first, decoding in zip(fresh, both.decode(iter(system.sentences), other), strict=True):
        assert (decoding.best, decoding.score) == (first.best, first.score), (
            f"sentence {decoding.id} is {first.best!r} ({first.score}) with a new decoder, and {decoding.best!r} "
            f"({decoding.score}) with one that had another model before"
        )


def score_is_that_of_its_features(subject: DecoderSubject) -> None:
    """The score of a decoding is the weighted sum of its features."""
    if subject.with_resources:
        decodings = [(system.weights, decoding) for system, _, decoding in subject.solved()]
    else:
        decodings = [(subject.model_for().weights, decoding) for decoding in subject.samples]
    told = [
        (weights, decoding, decoding.score)
        for weights, decoding in decodings
        if decoding.found and decoding.score is not None
    ]
    if not any(decoding.features for _, decoding, _ in told):
        raise DoesNotApply("the decoder reports no score, or no features")
    for weights, decoding, score in told:
        summed = total(weights, decoding.features)
        assert math.isclose(summed, score, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
            f"sentence {decoding.id}: the score is {score!r}, that of its features {summed!r}"
        )


def features_are_those_of_the_text(subject: DecoderSubject) -> None:
    """Features that lists can score have the same value on the finished text as in the search."""
    for _, _, decoding in subject.solved():
        if not decoding.found or not decoding.features:
            continue
        for name in grammars.OF_TEXTS:
            wanted, actual = grammars.rescored(name, [decoding.best])[decoding.best], decoding.features.get(name, 0.0)
            assert math.isclose(wanted, actual, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
                f"sentence {decoding.id}: {name!r} is {actual!r} in the search and {wanted!r} on the text "
                f"{decoding.best!r}"
            )


def derivations_are_in_the_grammar(subject: DecoderSubject) -> None:
    """Some derivation has the text and the features of each decoding; a failed sentence has no derivation."""
    for system, sentence, decoding in subject.solved():
        every = system.derivations(sentence.tokens)
        if every is None:
            continue
        if not decoding.found:
            assert not every, (
                f"sentence {decoding.id} ({sentence.text}): found nothing, where {every[0]} is a derivation"
            )
            continue
        texts = {" ".join(other.words) for other in every}
        assert decoding.best in texts, (
            f"sentence {decoding.id} ({sentence.text}): no derivation has the text {decoding.best!r}"
        )
        if decoding.features:
            assert_among(decoding.best, decoding.features, every, f"sentence {decoding.id} ({sentence.text})")


def best_is_the_best(subject: DecoderSubject) -> None:
    """Without pruning, the decoding has the highest score of all derivations."""
    if not subject.exact:
        raise DoesNotApply("the kit knows no options that turn the decoder's pruning off: name them as `exact`")
    for system, sentence, decoding in subject.solved(subject.exact):
        every = system.derivations(sentence.tokens)
        if not every:
            continue
        best = max(every, key=lambda other: total(system.weights, other.features))
        highest = total(system.weights, best.features)
        assert decoding.found, f"sentence {decoding.id} ({sentence.text}): found nothing, where {best} is a derivation"
        reached = (
            max(total(system.weights, other.features) for other in every if " ".join(other.words) == decoding.best)
            if decoding.score is None
            else decoding.score
        )
        assert math.isclose(reached, highest, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
            f"sentence {decoding.id} ({sentence.text}): {decoding.best!r} has {reached!r}, but {best} has {highest!r}"
        )


def what_has_no_translation_is_said(subject: DecoderSubject) -> None:
    """A sentence without a derivation has ``found=False`` and an empty text, and does not affect its neighbours."""
    known = parameters(subject.offer.factory)
    if not subject.with_resources or "pass_through" not in known:
        raise DoesNotApply("the decoder has no option `pass_through`")
    choices = typing.get_args(known["pass_through"].annotation)
    if choices and "none" not in choices:
        raise DoesNotApply("the decoder has no option `pass_through=none`")
    system = next(system for system in _systems() if system.options["pass_through"] == "none")
    good = next(sentence for sentence in system.sentences if grammars.derivations(system, sentence.tokens))
    bad = [Sentence("unknown", ("zzz",)), Sentence("empty", ())]
    sentences = [good, bad[0], good, bad[1], good]
    decodings = list(subject.made(system).decode(iter(sentences), Model(system.weights)))
    for sentence, decoding in zip(sentences, decodings, strict=True):
        if sentence is good:
            assert decoding.found and decoding.best == decodings[0].best, (
                f"sentence {decoding.id} is {decoding.best!r} beside those without one"
            )
        else:
            assert not decoding.found, f"sentence {decoding.id!r} has no derivation, but `found` is true"
            assert decoding.best == "", f"sentence {decoding.id!r} has no derivation, but the text {decoding.best!r}"


def traces_are_lines(subject: DecoderSubject) -> None:
    """A trace, if there is one, is lines of text, also for an untranslatable sentence."""
    decodings = [decoding for decoding in subject.samples if decoding.trace is not None]
    if not decodings:
        raise DoesNotApply("the decoder gives no trace")
    for decoding in decodings:
        assert decoding.trace is not None
        for line in decoding.trace():
            assert isinstance(line, str) and "\n" not in line, f"sentence {decoding.id}: expected lines, found {line!r}"


def steps_build_the_tree(subject: DecoderSubject) -> None:
    """The steps of a decoding, if it has any, build a tree whose rules cover the sentence and give its translation."""
    from smtformats.tokens import BadField
    from smtplugins.host.decode.built_steps import source_words, target_words

    sentences = {sentence.id: sentence for sentence in samples.sentences()}
    decodings = [decoding for decoding in subject.samples if decoding.built is not None]
    if not decodings:
        raise DoesNotApply("the decoder reports no steps")
    for decoding in decodings:
        assert decoding.built is not None
        steps = list(decoding.built())
        assert decoding.found or not steps, f"sentence {decoding.id} has no translation, but {len(steps)} steps"
        try:
            source, text = source_words(steps), " ".join(target_words(steps))
        except BadField as bad:
            raise AssertionError(f"sentence {decoding.id}: expected {bad.expected}, found {bad.found}") from None
        text = text if decoding.shown is None else decoding.shown(text)
        if decoding.found:
            words = sentences[decoding.id].tokens
            assert source == words, f"sentence {decoding.id}: the steps cover {source}, not {words}"
            assert text == decoding.best, (
                f"sentence {decoding.id}: the steps make {text!r}, the translation is {decoding.best!r}"
            )


CHECKS: tuple[Check, ...] = (
    is_documented,
    can_be_made,
    usual_features_are_known,
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
