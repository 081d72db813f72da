"""Score n-best lists with features: check needs, adapt contracts, name and check columns."""

from __future__ import annotations

import collections
import contextlib
import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from smtformats import Columns, FormatError
from smtformats.records import dataclass
from smtformats.tokens import blanks
from smtplugins.contracts.errors import FeatureError, SmtError, UsageError
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.spec import Spec, convert
from smtplugins.core.grammar.rules import Edges, Rules
from smtplugins.host.arguments import argument
from smtplugins.host.errors import failure_text
from smtplugins.host.loading.shortcut import function_offer

if TYPE_CHECKING:
    from smtformats import Candidates
    from smtplugins.contracts.data import Scores, Sentence
    from smtplugins.contracts.features import Scorer
    from smtplugins.contracts.runners import Runner
    from smtplugins.host.loading.registry import Registry

_Result = TypeVar("_Result")
Layout = tuple[str, ...]
Block = tuple[list[Layout], list[list[float]]]

_REMEDIES = {
    "alignment": "the decoder has to print word alignments into the list",
    "segmentation": "the decoder has to print the segmentation into the list",
    "derivation": "lists have it as trees, for features of whole hypotheses; other features need a decoder or forest",
    "grammar": "n-best lists have no grammar; use the feature in a decoder",
}


@dataclass(frozen=True)
class Active:
    """A feature instantiated for a run, and the name of its column; ``made`` is what it was made from."""

    label: str
    offer: Offer
    feature: Any
    named: bool = False
    made: tuple[Registry, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # Features may be large, and hold files and processes: another machine makes them again.
        from smtplugins.host.spread.shipping import sent_spec

        assert self.made is not None, "made by activate()"
        registry, requested = self.made
        return _active_again, (registry, sent_spec(requested) if isinstance(requested, Spec) else requested)

    def score(self, nbest: Candidates) -> Block:
        """Score a list: names and values for each hypothesis."""
        self._check_needs(nbest)
        with self._at(nbest):
            return self._block(adapt(self.feature, self.offer.needs)(nbest), nbest)

    def score_batches(self, lists: Iterable[Candidates]) -> Iterator[Block]:
        """Score lists with a feature that reads them ahead; an error names the first list without scores."""
        waiting: collections.deque[Candidates] = collections.deque()
        foreign: list[BaseException] = []

        def ahead() -> Iterator[Candidates]:
            try:
                for nbest in lists:
                    self._check_needs(nbest)
                    waiting.append(nbest)
                    yield nbest
            except BaseException as error:
                # Of who made the lists; the feature only passes it on.
                foreign.append(error)
                raise

        batches = iter(self.feature.score_batches(ahead()))
        while True:
            with self._at(None, waiting, foreign):
                scores = next(batches, None)
                if scores is None:
                    break
                if not waiting:
                    raise ValueError("expected the scores of each list once, found more")
            with self._at(waiting[0]):
                block = self._block(scores, waiting.popleft())
            yield block
        if waiting:
            with self._at(waiting[0]):
                raise ValueError("expected the scores of each list, found none")

    def _block(self, scores: Any, nbest: Candidates) -> Block:
        layouts, values = as_block(scores, len(nbest), self.label)
        renamed = {layout: tuple(self.column(name, len(layout)) for name in layout) for layout in set(layouts)}
        return [renamed[layout] for layout in layouts], values

    @contextlib.contextmanager
    def _at(
        self,
        nbest: Candidates | None,
        waiting: Sequence[Candidates] = (),
        foreign: Sequence[BaseException] = (),
    ) -> Iterator[None]:
        """Errors name the feature and the list, or the first of those that wait; but for ``foreign`` ones."""
        try:
            yield
        except (SmtError, FormatError):
            raise
        except (Exception, SystemExit) as error:
            if error in foreign:
                raise
            at = nbest if nbest is not None or not waiting else waiting[0]
            place = "" if at is None else f" on list {at.id} ({at.file or '<data>'}:{at.line})"
            raise FeatureError(f"feature {self.label!r}{place}: {failure_text(error)}") from error

    def start(self, sentence: Sentence) -> Scorer[Any]:
        """Start a stateful feature on a sentence; errors name the feature and the sentence."""
        place = (self.label, sentence.id)
        try:
            scorer = self.feature.start(sentence)
            return _StartedOneByOne(scorer, place) if hasattr(scorer, "combine_targets") else _Started(scorer, place)
        except (Exception, SystemExit) as error:
            raise _feature_error(place, error) from error

    def column(self, name: str, width: int) -> str:
        """Rename a column: the label replaces the offer's name, or is prefixed to other names if the user set it."""
        if _begins(name, self.offer.name):
            return self.label + name[len(self.offer.name) :]
        if not self.named or _begins(name, self.label):
            return name
        return self.label if width == 1 else f"{self.label}-{name}"

    def _check_needs(self, nbest: Candidates) -> None:
        for need in sorted(self.offer.needs - {"target", "list"}):
            kind, _, name = need.partition(":")
            if kind == "annotations":
                there = name in nbest.annotations
                remedy = "add it with " + argument(f"annotations={{{name!r}: FILE}}", f"--annotation {name}=FILE")
            else:
                # Trees do not help a feature that sees each hypothesis as one edge.
                whole = kind == "derivation" and hasattr(self.feature, "score_candidates")
                there = nbest.source is not None if kind == "source" else ("tree" if whole else kind) in nbest.extras
                # An empty sentence has no phrases, so its segmentation may be missing.
                there = there or (kind == "segmentation" and not any(nbest.texts))
                remedy = _REMEDIES.get(kind) or f"add it with {argument('source=FILE', '--source FILE')}"
            if not there:
                raise UsageError(f"feature {self.label!r} needs the {kind} {name}".rstrip() + f": {remedy}")


def _feature_error(place: tuple[str, str], error: BaseException) -> Exception:
    """The exception to raise when a feature fails on a sentence."""
    label, key = place
    if type(error) is UsageError and repr(label) not in str(error):
        return UsageError(f"feature {label!r}: {error}")
    if isinstance(error, (SmtError, FormatError)):
        return error
    return FeatureError(f"feature {label!r} on sentence {key}: {failure_text(error)}")


class _Started:
    """A scorer whose errors name the feature and the sentence."""

    def __init__(self, scorer: Scorer[Any], place: tuple[str, str]) -> None:
        self._scorer = scorer
        self._place = place

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[Scores, Sequence[Any]]:
        return self._call(self._scorer.combine, edges, tails)

    def finish(self, states: Sequence[Any]) -> Scores:
        return self._call(self._scorer.finish, states)

    def estimate(self, edges: Edges) -> Scores:
        return self._call(self._scorer.estimate, edges)

    def _call(self, method: Callable[..., _Result], *arguments: Any) -> _Result:
        try:
            return method(*arguments)
        except (Exception, SystemExit) as error:
            raise _feature_error(self._place, error) from error


class _StartedOneByOne(_Started):
    """A scorer that also accepts target sides as lists."""

    def combine_targets(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[Any]]
    ) -> tuple[Scores, Sequence[Any]]:
        scorer: Any = self._scorer
        combined: tuple[Scores, Sequence[Any]] = self._call(scorer.combine_targets, targets, tails)
        return combined


def _begins(column: str, name: str) -> bool:
    """Whether a column has this name, or is a component (``name[k]``) or open name (``name:x``) of it."""
    return column == name or column.startswith((f"{name}[", f"{name}:"))


def activate(
    registry: Registry,
    specs: Iterable[str | Mapping[str, Any] | Spec | Callable[..., Any]],
    at: Callable[..., contextlib.AbstractContextManager[None]] = lambda *key: contextlib.nullcontext(),
) -> list[Active]:
    """Instantiate features; two columns with the same name raise UsageError.

    ``at(i)`` is a context that adds the position of feature i to errors.
    """
    active: list[Active] = []
    for i, spec in enumerate(specs):
        with at(str(i)):
            _activate_one(registry, spec, active)
    if not active:
        raise UsageError("features: expected at least one, found none")
    return active


def _active_again(registry: Registry, requested: Spec | Callable[..., Any]) -> Active:
    return activate(registry, [requested])[0]


def _activate_one(
    registry: Registry, requested: str | Mapping[str, Any] | Spec | Callable[..., Any], active: list[Active]
) -> None:
    """Instantiate a feature and append it to ``active``."""
    if callable(requested):
        offer = function_offer(requested)
        feature = Active(offer.name, offer, offer.factory(), made=(registry, requested))
    else:
        spec = Spec.of(requested)
        offer = registry.entry("features", spec.name).record
        tuneable(spec)
        feature = Active(
            str(spec.options.get("name", spec.name)),
            offer,
            registry.make("features", spec, without=("name", "tuneable")),
            named="name" in spec.options,
            made=(registry, spec),
        )
    check_label(feature.label, [other.label for other in active])
    active.append(feature)


def check_label(label: str, others: Iterable[str]) -> None:
    """Refuse a name of columns that another feature or table has, or that lists cannot hold."""
    if label in others:
        raise UsageError(f"two features are named {label!r}; rename one of them with `name=`")
    if not label or any(char in label for char in " \t\n=|"):
        raise UsageError(f"expected a column name without blanks, `=` and `|`, found {label!r}")


def tuneable(spec: Spec) -> bool:
    """Whether the weights of a feature are to be learnt (its option ``tuneable``)."""
    return bool(convert(spec.options.get("tuneable", True), bool, f"feature {spec.name!r}: tuneable"))


def adapt(feature: Any, needs: Collection[str] = ()) -> Callable[[Candidates], Any]:
    """A function that scores a list with a feature of any contract that works on lists.

    A feature that needs the segmentation scores phrase by phrase; any other sees a hypothesis as one edge without
    tails.
    """
    if hasattr(feature, "score_candidates"):
        return lambda nbest: feature.score_candidates(nbest.source, nbest)
    if "segmentation" in needs and (hasattr(feature, "start") or hasattr(feature, "score_rules")):
        from smtplugins.host.features.segmentations import score_phrases

        return functools.partial(score_phrases, feature)
    if hasattr(feature, "score_rules"):
        return lambda nbest: feature.score_rules(_as_rules(nbest))
    if hasattr(feature, "start"):
        return functools.partial(_score_stateful, feature)
    raise UsageError(
        f"{type(feature).__name__}: expected score_candidates, score_rules or start in a feature for lists, found none"
    )


def _as_rules(nbest: Candidates) -> Any:
    return Rules.from_words(map(blanks, nbest.texts))


def _score_stateful(feature: Any, nbest: Candidates) -> Any:
    """Score with a stateful feature; each hypothesis is one edge without tails."""
    import numpy as np

    from smtplugins.contracts.data import Sentence

    scorer = feature.start(Sentence(nbest.id, tuple(blanks(nbest.source or "")), annotations=nbest.annotations))
    inner, states = scorer.combine(Edges(_as_rules(nbest)), [()] * len(nbest))
    ends = scorer.finish(states)
    if isinstance(inner, Columns):
        return inner + ends
    scores, more = np.asarray(inner, dtype=np.float64), np.asarray(ends, dtype=np.float64)
    if scores.shape != more.shape:
        raise ValueError(f"expected scores of one shape from combine and finish, found {scores.shape} and {more.shape}")
    return scores + more


def as_block(result: Any, count: int, label: str) -> Block:
    """Convert a feature's result to names and finite floats for each of ``count`` hypotheses."""
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
    """Append the features' columns to the lists, in input order with any runner."""
    count = 0
    for nbest, blocks in _scored(lists, active, runner):
        count += len(nbest)
        present = set(nbest.names())
        for feature, (layouts, values) in zip(active, blocks, strict=True):
            for layout in set(layouts):
                twice = present & set(layout)
                if twice:
                    ours = _begins(min(twice), feature.label)
                    remedy = f"rename {feature.label!r} with `name=`" if ours else "rename that column where it is made"
                    raise UsageError(
                        f"{nbest.file or '<data>'}:{nbest.line}: list already has a feature {min(twice)!r}; {remedy}"
                    )
            nbest = nbest.with_columns(layouts, values)
            present.update(name for layout in set(layouts) for name in layout)
        yield nbest
    for feature in active:
        done = getattr(feature.feature, "done", None)
        if done is not None:
            done(count)


def reads_ahead(feature: Active) -> bool:
    """Whether a feature reads lists ahead."""
    return hasattr(feature.feature, "score_batches")


def _scored(
    lists: Iterable[Candidates], active: Sequence[Active], runner: Runner
) -> Iterator[tuple[Candidates, list[Block]]]:
    """Lists with the block of each feature; lists that batches wait for are in memory."""
    spread = [feature for feature in active if not reads_ahead(feature)]
    ahead = [feature for feature in active if reads_ahead(feature)]
    if not ahead:
        yield from _spread(lists, spread, runner)
        return
    scored = _spread(lists, spread, runner) if spread else ((nbest, []) for nbest in lists)
    session = _Session(ahead)
    try:
        for feature in ahead:
            scored = _with_batches(scored, feature)
        places = [[*spread, *ahead].index(feature) for feature in active]
        for nbest, blocks in scored:
            yield nbest, [blocks[place] for place in places]
    except BaseException:
        # Report the original error, not what follows from it.
        with contextlib.suppress(Exception):
            session.close()
        raise
    session.close()


def _spread(
    lists: Iterable[Candidates], active: Sequence[Active], runner: Runner
) -> Iterator[tuple[Candidates, list[Block]]]:
    """Score lists one by one on the runner's workers."""
    waiting: collections.deque[Candidates] = collections.deque()

    def slim() -> Iterator[Candidates]:
        for nbest in lists:
            waiting.append(nbest)
            yield replace(nbest, raw=None)

    for blocks in runner.map(_score_one, slim(), setup=functools.partial(_Session, active)):
        yield waiting.popleft(), blocks


def _with_batches(
    scored: Iterable[tuple[Candidates, list[Block]]], feature: Active
) -> Iterator[tuple[Candidates, list[Block]]]:
    """Add the blocks of a feature that reads lists ahead."""
    waiting: collections.deque[tuple[Candidates, list[Block]]] = collections.deque()

    def ahead() -> Iterator[Candidates]:
        for pair in scored:
            waiting.append(pair)
            yield pair[0]

    for block in feature.score_batches(ahead()):
        nbest, blocks = waiting.popleft()
        yield nbest, [*blocks, block]


class _Session:
    """The features of one worker process, closed when its work is done."""

    def __init__(self, active: Sequence[Active]) -> None:
        self.active = active

    def close(self) -> None:
        for feature in self.active:
            if hasattr(feature.feature, "close"):
                feature.feature.close()


def _score_one(session: _Session, nbest: Candidates) -> list[Block]:
    return [feature.score(nbest) for feature in session.active]
