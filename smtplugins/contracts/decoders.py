"""What a decoder implements and returns, and its optional members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from smtformats.records import dataclass

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tasks import TaskProblem
    from smtplugins.core.graph.hypergraph import Hypergraph


@dataclass(frozen=True)
class BuiltStep:
    """A step that adds one rule to a growing tree.

    ``rule`` is ``[LHS] ||| source ||| target`` with gaps like ``[X,1]`` (``rule_text`` of
    ``host/decode/built_steps.py``), over source words ``first`` to ``last``. ``beside`` is the number of the step it is
    attached to, -1 if it starts a new fragment. ``above`` says whether the rule is attached above that step or below
    it; ``child`` is the position of the lower of the two among the children of the upper, from 0 in source order.
    ``further`` are pairs of other steps and child numbers: in a chart, a rule is put above all its children at once.
    """

    rule: str
    first: int
    last: int
    beside: int
    above: bool
    child: int
    score: float
    further: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Decoding:
    """A decoder's output for one sentence: the best translation, and more on demand.

    ``features`` and ``score`` describe the best derivation. ``graph`` returns the hypergraph of all that the search
    kept, with edge scores, if it was requested. ``endings`` numbers for each edge of a graph of phrases, but for those
    to the goal, what features know of its phrase beside its words: Moses recombines hypotheses only if these are equal,
    our searches also if they have the same future. ``shown`` maps the words of a derivation to what readers see;
    ``trace`` explains the derivation; ``built`` lists the steps of decoders that grow one tree; ``unknown`` lists the
    input words that no rule translates alone. All are computed when called. ``stats`` are sums over the sentence, such
    as CPU and wall seconds (``cpu.parsing``, ``wall.search``).
    ``found`` is false if there was no translation.
    """

    id: str
    best: str
    score: float | None = None
    features: Mapping[str, float] = field(default_factory=dict)
    graph: Callable[[], Hypergraph] | None = None
    endings: Callable[[], Sequence[int]] | None = None
    shown: Callable[[str], str] | None = None
    trace: Callable[[], Iterable[str]] | None = None
    built: Callable[[], Sequence[BuiltStep]] | None = None
    unknown: Callable[[], Sequence[str]] | None = None
    stats: Mapping[str, float] = field(default_factory=dict)
    found: bool = True


@runtime_checkable
class Decoder(Protocol):
    """Translates sentences with a model, in input order.

    A constructor parameter ``resources`` receives the run's tables and features (``host/config/resources.py``).
    ``graphs`` asks for a hypergraph with each decoding; a decoder that has none returns ``None``.
    """

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]: ...


@runtime_checkable
class LoadingDecoder(Protocol):
    """A decoder that loads tables before the first sentence and returns the seconds spent (``cpu.loading``)."""

    def load(self, model: Model) -> Mapping[str, float]: ...


@runtime_checkable
class NotingDecoder(Protocol):
    """A decoder with notes for the user, printed before decoding starts."""

    @property
    def notes(self) -> Sequence[str]: ...


@runtime_checkable
class TableDecoder(Protocol):
    """A decoder that knows the features of its tables of rules.

    ``dense_names`` are features that every rule has, in the tables' order. ``table_names`` are all features of the
    tables and of the files ``own``, or ``None`` if others may turn up while decoding.
    """

    @property
    def dense_names(self) -> Sequence[str]: ...

    def table_names(self, own: Iterable[str] = ()) -> Sequence[str] | None: ...


@runtime_checkable
class UsualFeatures(Protocol):
    """A decoder that says which features a new configuration has, as in a run.yaml: ``oov,value=-100``.

    The class has the attribute. A feature whose offer has ``files`` is there once for each file of its kind.
    """

    usual_features: Sequence[str]


@runtime_checkable
class StartingDecoder(Protocol):
    """A decoder with start weights by name, for features of its own; they take precedence over those of features."""

    start_weights: Mapping[str, float]


@runtime_checkable
class PassDecoder(Protocol):
    """A decoder that searches its forests again with the features of ``resources.passes``: the number of passes."""

    @property
    def passes(self) -> int: ...


@runtime_checkable
class TaskDecoder(Protocol):
    """A decoder whose decisions can be learnt as a policy.

    ``references`` are streams with a text for each sentence, as for :meth:`Metric.stats`; ``model`` has the initial
    weights. The task's features have the names of the decoder's weights.
    """

    def task(
        self, sentences: Sequence[Sentence], references: Sequence[Sequence[str]], metric: Metric, model: Model
    ) -> TaskProblem: ...
