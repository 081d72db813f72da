"""Features on n-best lists: needs are checked, contracts adapted, columns named and checked."""

from __future__ import annotations

import collections
import contextlib
import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smtformats import FormatError
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.spec import Spec, convert
from smtplugins.host.errors import FeatureError, SmtError, UsageError, failure_text

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.contracts.contracts import Runner, Scorer, Scores, Sentence
    from smtplugins.core.grammar.rules import Edges
    from smtplugins.host.loading.registry import Registry

Layout = tuple[str, ...]
Block = tuple[list[Layout], list[list[float]]]

_REMEDIES = {
    "source": "--source FILE brings it",
    "alignment": "the decoder has to print word alignments into the list",
    "segmentation": "the decoder has to print the segmentation into the list",
    "derivation": "a list has it as trees, for features of whole hypotheses; a decoder or a forest has it for others",
    "grammar": "an n-best list does not carry the grammar; a decoder does",
}


@dataclass(frozen=True)
class Active:
    """A feature made for one run, and the name of its column."""

    label: str
    offer: Offer
    feature: Any
    named: bool = False

    def score(self, one: Candidates) -> Block:
        """Names and values for each hypothesis of a list."""
        self._check_needs(one)
        try:
            layouts, values = as_block(adapt(self.feature, self.offer.needs)(one), len(one), self.label)
            renamed = {layout: tuple(self.column(name, len(layout)) for name in layout) for layout in set(layouts)}
            return [renamed[layout] for layout in layouts], values
        except (SmtError, FormatError):
            raise
        except (Exception, SystemExit) as error:
            place = f"list {one.id} ({one.file or '<data>'}:{one.line})"
            raise FeatureError(f"feature {self.label!r} on {place}: {failure_text(error)}") from error

    def start(self, sentence: Sentence) -> Scorer[Any]:
        """A feature with states at work on a sentence; a failure names the feature and the sentence."""
        place = (self.label, sentence.id)
        try:
            scorer = self.feature.start(sentence)
            return _StartedOneByOne(scorer, place) if hasattr(scorer, "combine_targets") else _Started(scorer, place)
        except (Exception, SystemExit) as error:
            raise _failed(place, error) from error

    def column(self, name: str, width: int) -> str:
        """The label in place of the offer's name, or before the names a feature gives its columns if asked for one."""
        if _begins(name, self.offer.name):
            return self.label + name[len(self.offer.name) :]
        if not self.named or _begins(name, self.label):
            return name
        return self.label if width == 1 else f"{self.label}-{name}"

    def _check_needs(self, one: Candidates) -> None:
        for need in sorted(self.offer.needs - {"target", "list"}):
            kind, _, name = need.partition(":")
            if kind == "annotations":
                there, remedy = name in one.annotations, f"--annotation {name}=FILE brings it"
            else:
                # A tree says nothing to a feature that is shown a hypothesis as one edge.
                whole = kind == "derivation" and hasattr(self.feature, "score_candidates")
                there = one.source is not None if kind == "source" else ("tree" if whole else kind) in one.extras
                # An empty sentence has no phrases, which leaves nothing to print.
                there = there or (kind == "segmentation" and not any(one.texts))
                remedy = _REMEDIES[kind]
            if not there:
                raise UsageError(f"feature {self.label!r} needs the {kind} {name}".rstrip() + f": {remedy}")


def _failed(place: tuple[str, str], error: BaseException) -> Exception:
    """What is raised for a failure of a feature on a sentence."""
    if isinstance(error, (SmtError, FormatError)):
        return error
    label, key = place
    return FeatureError(f"feature {label!r} on sentence {key}: {failure_text(error)}")


class _Started:
    """A scorer whose failures say whose they are."""

    def __init__(self, scorer: Scorer[Any], place: tuple[str, str]) -> None:
        self._scorer = scorer
        self._place = place

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Scores, Sequence[Any]]:
        try:
            return self._scorer.combine(edges, tails)
        except (Exception, SystemExit) as error:
            raise _failed(self._place, error) from error

    def finish(self, states: Sequence[Any]) -> Scores:
        try:
            return self._scorer.finish(states)
        except (Exception, SystemExit) as error:
            raise _failed(self._place, error) from error

    def estimate(self, edges: Edges) -> Scores:
        try:
            return self._scorer.estimate(edges)
        except (Exception, SystemExit) as error:
            raise _failed(self._place, error) from error


class _StartedOneByOne(_Started):
    """One that takes target sides as lists, too."""

    def combine_targets(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[Any]]
    ) -> tuple[Scores, Sequence[Any]]:
        try:
            scorer: Any = self._scorer
            found: tuple[Scores, Sequence[Any]] = scorer.combine_targets(targets, tails)
        except (Exception, SystemExit) as error:
            raise _failed(self._place, error) from error
        return found


def _begins(column: str, name: str) -> bool:
    """Whether a column is called so, or is a component or an open name of it."""
    return column == name or column.startswith((f"{name}[", f"{name}:"))


def activate(
    registry: Registry,
    specs: Iterable[str | Mapping[str, Any] | Spec | Callable[..., Any]],
    at: Callable[..., contextlib.AbstractContextManager[None]] = lambda *key: contextlib.nullcontext(),
) -> list[Active]:
    """Make features; two columns of one name are an error with the remedy.

    ``at(i)`` is the place where feature i was named.
    """
    active: list[Active] = []
    for i, one in enumerate(specs):
        with at(str(i)):
            _activate_one(registry, one, active)
    if not active:
        raise UsageError("name at least one feature")
    return active


def _activate_one(
    registry: Registry, one: str | Mapping[str, Any] | Spec | Callable[..., Any], active: list[Active]
) -> None:
    """Make a feature and put it behind the others."""
    if callable(one) and isinstance(offer := getattr(one, "smt_offers", None), Offer):
        made = Active(offer.name, offer, offer.make())
    else:
        spec = Spec.of(one)  # type: ignore[arg-type]
        offer = registry.entry("features", spec.name).record
        tuneable(spec)
        made = Active(
            str(spec.options.get("name", spec.name)),
            offer,
            registry.make("features", spec, without=("name", "tuneable")),
            named="name" in spec.options,
        )
    if any(other.label == made.label for other in active):
        raise UsageError(f"two features are named {made.label!r}; give one of them another `name=`")
    if not made.label or any(char in made.label for char in " \t\n=|"):
        raise UsageError(f"expected a column name without blanks, `=` and `|`, found {made.label!r}")
    active.append(made)


def tuneable(spec: Spec) -> bool:
    """Whether the weights of a feature are to be learnt, as its option ``tuneable`` says."""
    return bool(convert(spec.options.get("tuneable", True), bool, f"feature {spec.name!r}: tuneable"))


def adapt(feature: Any, needs: Collection[str] = ()) -> Callable[[Candidates], Any]:
    """How to score a list with a feature of any contract that lists can serve.

    One that needs the segmentation is shown phrase by phrase, any other a hypothesis as one edge without children.
    """
    if hasattr(feature, "score_candidates"):
        return lambda one: feature.score_candidates(one.source, one)
    if "segmentation" in needs and (hasattr(feature, "start") or hasattr(feature, "score_rules")):
        from smtplugins.host.features.segmentations import score_phrases

        return functools.partial(score_phrases, feature)
    if hasattr(feature, "score_rules"):
        return lambda one: feature.score_rules(_as_rules(one))
    if hasattr(feature, "start"):
        return functools.partial(_score_stateful, feature)
    raise UsageError(
        f"{type(feature).__name__} has none of score_candidates, score_rules and start: no feature for lists"
    )


def _as_rules(one: Candidates) -> Any:
    from smtformats.tokens import blanks
    from smtplugins.core.grammar.rules import Rules

    return Rules.from_words(map(blanks, one.texts))


def _score_stateful(feature: Any, one: Candidates) -> Any:
    """A hypothesis is one edge without children."""
    import numpy as np

    from smtformats import Columns
    from smtformats.tokens import blanks
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.rules import Edges

    scorer = feature.start(Sentence(one.id, tuple(blanks(one.source or "")), annotations=one.annotations))
    inner, states = scorer.combine(Edges(_as_rules(one)), [()] * len(one))
    ends = scorer.finish(states)
    if isinstance(inner, Columns):
        return inner + ends
    scores, more = np.asarray(inner, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    if scores.shape != more.shape:
        raise ValueError(f"expected scores of one shape from combine and finish, found {scores.shape} and {more.shape}")
    return scores + more


def as_block(result: Any, count: int, label: str) -> Block:
    """What a feature returned as names and finite floats for each of ``count`` hypotheses."""
    from smtformats import Columns

    if isinstance(result, Columns):
        rows = [result.row(i) for i in range(len(result))]
        known: dict[Layout, Layout] = {}
        layouts = [known.setdefault(tuple(row), tuple(row)) for row in rows]
        values = [list(row.values()) for row in rows]
    else:
        listed = result.tolist() if hasattr(result, "tolist") else list(result)
        if listed and isinstance(listed[0], list):
            layout = tuple(f"{label}[{k}]" for k in range(len(listed[0])))
            values = [[float(value) for value in row] for row in listed]
        else:
            layout = (label,)
            values = [[float(value)] for value in listed]
        layouts = [layout] * len(values)
    if len(values) != count:
        raise ValueError(f"expected {count} scores, one for each hypothesis, found {len(values)}")
    for i, row in enumerate(values):
        if len(row) != len(layouts[i]):
            raise ValueError(f"expected {len(layouts[i])} components for hypothesis {i}, found {len(row)}")
        for name, value in zip(layouts[i], row, strict=True):
            if not math.isfinite(value):
                raise ValueError(f"expected finite scores, found {value} in {name!r} for hypothesis {i}")
    return layouts, values


def score_lists(lists: Iterable[Candidates], active: Sequence[Active], runner: Runner) -> Iterator[Candidates]:
    """The lists with the features' columns behind their own, in input order whatever the runner."""
    waiting: collections.deque[Candidates] = collections.deque()
    count = 0

    def slim() -> Iterator[Candidates]:
        for one in lists:
            waiting.append(one)
            yield replace(one, raw=None)

    for blocks in runner.map(_score_one, slim(), setup=lambda: _Session(active)):
        one = waiting.popleft()
        count += len(one)
        present = set(one.names())
        for feature, (layouts, values) in zip(active, blocks, strict=True):
            for layout in set(layouts):
                twice = present & set(layout)
                if twice:
                    ours = _begins(min(twice), feature.label)
                    remedy = (
                        f"give {feature.label!r} another `name=`" if ours else "rename that column where it is made"
                    )
                    raise UsageError(
                        f"{one.file or '<data>'}:{one.line}: the list already has a feature {min(twice)!r}; {remedy}"
                    )
            one = one.with_columns(layouts, values)
            present.update(name for layout in set(layouts) for name in layout)
        yield one
    for feature in active:
        done = getattr(feature.feature, "done", None)
        if done is not None:
            done(count)


class _Session:
    """The features at work in one process; closed there when the work is done."""

    def __init__(self, active: Sequence[Active]) -> None:
        self.active = active

    def close(self) -> None:
        for one in self.active:
            if hasattr(one.feature, "close"):
                one.feature.close()


def _score_one(session: _Session, one: Candidates) -> list[Block]:
    return [feature.score(one) for feature in session.active]
