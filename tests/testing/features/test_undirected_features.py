"""Each check of undirected features fails for one that breaks it, and says what is wrong; good ones pass them all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from smtplugins import Offer
from smtplugins.contracts.adapters import SimpleUndirected
from smtplugins.testing.features import any_feature as features
from smtplugins.testing.features.undirected_features import CHECKS
from tests.testing.bigrams import Bigrams

Failures = Callable[..., dict[str, str]]
ALL = {function.__name__ for function in CHECKS}


def offer(make: Any, needs: frozenset[str] = frozenset({"target"}), **more: Any) -> Offer:
    return Offer(name="tried", make=make, summary="a feature under test", needs=needs, **more)


class UndirectedAlone(SimpleUndirected):
    """The same without its directed form."""

    attach_one = Bigrams.attach_one


class Twice(Bigrams):
    """Two components, as an array."""

    components = 2

    def combine_one(self, target: Any, tails: Any) -> tuple[Any, Any]:
        score, state = super().combine_one(target, tails)
        return [score, 2 * score], state

    def finish_one(self, state: Any) -> Any:
        return [super().finish_one(state), 2 * super().finish_one(state)]

    def estimate_one(self, target: Any) -> Any:
        return [0.0, 0.0]

    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        score, contexts = super().attach_one(target, links)
        return [score, 2 * score], contexts


class OfTopic(UndirectedAlone):
    def undirected(self, sentence: Any) -> Any:
        assert sentence.annotations["topic"]
        return super().undirected(sentence)


def test_good_features_pass(failures: Failures) -> None:
    assert {*ALL} <= {function.__name__ for function in features.CHECKS}
    for make in (Bigrams, UndirectedAlone, Twice):
        assert failures("features", offer(make)) == {}
    assert failures("features", offer(OfTopic, frozenset({"target", "annotations:topic"}))) == {}


def test_the_checks_do_apply(failures: Failures, host: Any, tmp_path: Any) -> None:
    from smtplugins.testing import run_checks

    done = {result.check for result in run_checks("features", offer(UndirectedAlone), tmp_path, host=host)}
    assert done == ALL | {"is_documented", "can_be_made", "options_are_free_of_name"}


class ShortSighted(Bigrams):
    """A child does not learn what stands behind it."""

    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        score, (above, *below) = super().attach_one(target, links)
        return score, [above, *((before, None) for before, _ in below)]


class OtherThanDirected(Bigrams):
    """It adds up, but not to what the directed form gives."""

    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        score, contexts = super().attach_one(target, links)
        return score + 1.0, contexts


class WhenUnderSomething(UndirectedAlone):
    """Words count if the edge comes later than that above it."""

    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        _, contexts = super().attach_one(target, links)
        return float(len(target) if links[0] else 0.0), contexts


class CountsBatch(Bigrams):
    def undirected(self, sentence: Any) -> Any:
        inner = super().undirected(sentence)
        attach = inner.attach
        inner.attach = lambda edges, links: ([len(edges)] * len(edges), attach(edges, links)[1])
        return inner


class ShowsNeighboursInBatch(Bigrams):
    """The scores are right, but what is shown says how many edges were asked for."""

    def undirected(self, sentence: Any) -> Any:
        inner = super().undirected(sentence)
        attach = inner.attach

        def counted(edges: Any, links: Any) -> Any:
            plain = [
                [context[0] if isinstance(context, Counted) else context for context in around] for around in links
            ]
            scores, contexts = attach(edges, plain)
            return scores, [[Counted((context, len(edges))) for context in some] for some in contexts]

        inner.attach = counted
        return inner


class Counted(tuple):  # type: ignore[type-arg]
    __slots__ = ()


class Wrapped(Bigrams):
    """Contexts in boxes."""

    box: Callable[[Any], Any] = staticmethod(list)

    def open(self, boxed: Any) -> Any:
        return tuple(boxed)

    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        plain = [self.open(context) if isinstance(context, (list, Box, AlwaysEqual)) else context for context in links]
        score, contexts = super().attach_one(target, plain)
        return score, [self.box(context) for context in contexts]


class Box:
    def __init__(self, known: Any) -> None:
        self.known = known


class NeverEqual(Wrapped):
    box = Box

    def open(self, boxed: Any) -> Any:
        return boxed.known


class AlwaysEqual(tuple):  # type: ignore[type-arg]
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class MergesAll(Wrapped):
    box = AlwaysEqual


class OddHash(str):
    __slots__ = ()

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)


class HashesOddly(Wrapped):
    def box(self, known: Any) -> Any:  # type: ignore[override]
        return tuple(context if context is None else OddHash(context) for context in known)


class Echoes(Bigrams):
    """What a child shows comes back to it."""

    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        plain = [context[:2] if i == 0 and isinstance(context, tuple) else context for i, context in enumerate(links)]
        score, (above, *below) = super().attach_one(target, plain)
        return score, [above, *((*pair, known) for pair, known in zip(below, links[1:], strict=True))]


class RemembersSentence(Bigrams):
    def undirected(self, sentence: Any) -> Any:
        self.width = len(sentence.tokens)
        return super().undirected(sentence)

    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        score, contexts = super().attach_one(target, links)
        return score * self.width, contexts


class ShowsTooLittle(Bigrams):
    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        score, contexts = super().attach_one(target, links)
        return score, contexts[1:]


class TooWide(Bigrams):
    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        score, contexts = super().attach_one(target, links)
        return [score, score], contexts


class NotFinite(Bigrams):
    def attach_one(self, target: Any, links: Any) -> tuple[Any, Any]:
        return float("nan"), super().attach_one(target, links)[1]


@pytest.mark.parametrize(
    ("make", "wanted", "words"),
    [
        (ShortSighted, {"growing_order_does_not_matter"}, r"by its directed form and grown in some order: 'score' is"),
        (OtherThanDirected, {"growing_order_does_not_matter"}, r"a\]+ by its directed form and grown"),
        (WhenUnderSomething, {"growing_order_does_not_matter"}, r"by in another order and grown in some order"),
        (
            CountsBatch,
            {"growing_order_does_not_matter", "attached_edges_are_independent"},
            r"scores differently alone and in a batch: 'score' is \d+.0 and then 1.0",
        ),
        (
            ShowsNeighboursInBatch,
            {"attached_edges_are_independent", "contexts_fit_a_table", "contexts_do_not_come_back"},
            r"shows .* alone and .* in a batch",
        ),
        (Wrapped, {"contexts_fit_a_table"}, r"the context \[.*\] cannot be hashed: unhashable type"),
        (
            NeverEqual,
            {"contexts_fit_a_table", "attached_edges_are_independent", "contexts_do_not_come_back"},
            "which are not equal",
        ),
        (HashesOddly, {"contexts_fit_a_table"}, "the equal contexts .* have different hashes"),
        (MergesAll, {"equal_contexts_have_equal_futures"}, "are equal, but not for the edge"),
        (Echoes, {"contexts_do_not_come_back"}, r"shows .* at link \d, but .* if nothing is known there"),
        (
            RemembersSentence,
            {"growing_order_does_not_matter", "undirected_sentences_do_not_mix"},
            "scores differently beside another sentence",
        ),
        (ShowsTooLittle, ALL, r"expected 1 contexts for the edge \[.*\], one for each link, found 0"),
        (TooWide, ALL, "expected 1 values, `components`, found 2"),
        (NotFinite, ALL, "expected finite scores, found nan"),
    ],
)
def test_a_bad_undirected_feature_fails(make: type, wanted: set[str], words: str, failures: Failures) -> None:
    failed = failures("features", offer(make), CHECKS)
    assert set(failed) & ALL == wanted, failed
    assert any(re.search(words, message) for message in failed.values()), failed


def test_a_decoder_of_trees_needs_no_lists(failures: Failures) -> None:
    class Named(UndirectedAlone):
        def column_names(self, label: str) -> Sequence[str]:
            return (f"{label}-pairs",)

    class Misnamed(UndirectedAlone):
        def column_names(self, label: str) -> Sequence[str]:
            return (f"{label}-pairs", f"{label}-more")

    assert failures("features", offer(Named)) == {}
    assert set(failures("features", offer(Misnamed))) == {"columns_are_named"}
