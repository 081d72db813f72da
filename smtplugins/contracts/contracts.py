"""The contracts: what a feature, scorer, learner, decoder, metric and runner have to do. The kit checks each.

Three ways to be a feature, from the most local: ``RuleFeature`` sees rules, ``StatefulFeature`` needs the words of
neighbours, ``CandidateFeature`` whole hypotheses. The host adapts the first two to lists, so a feature is written once.
One with states may be an ``UndirectedFeature``, too, for decoders that do not work from the leaves to the root.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Columns, GrammarColumns
    from smtformats.corpus.segments import Mark
    from smtformats.hypergraph.graph import GraphColumns
    from smtplugins.core.grammar.rules import Edges, Rules
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.vocabulary import Vocabulary
    from smtplugins.host.learn import search_tasks
    from smtplugins.host.model import Model

S = TypeVar("S")
C = TypeVar("C")
Scores = Any
"""Columns, an array (rows, or rows x components), or a sequence of floats: one row for each thing scored."""


@dataclass(frozen=True)
class Sentence:
    """What is to be translated or was translated: an id, tokens or a lattice, and whatever else travels with it.

    ``grammars`` are files of rules for this sentence alone, ``marks`` tags on its words, as Moses' mark-up has them.
    """

    id: str
    tokens: tuple[str, ...]
    references: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    lattice: GraphColumns | None = None
    grammars: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def text(self) -> str:
        """The tokens joined by blanks."""
        return " ".join(self.tokens)


@runtime_checkable
class RuleFeature(Protocol):
    """Local to a rule: one call for all rules of a grammar, or all that were made for a sentence."""

    def score_rules(self, rules: Rules) -> Scores: ...


class Scorer(Protocol[S]):
    """A stateful feature at work on one sentence.

    ``combine`` scores a batch of edges, ``tails[i]`` being the states of edge i's children in target order, and gives
    each new state. States are hashable and compared by ``==``; edges with equal ones are interchangeable. ``finish``
    scores what only the whole sentence shows. ``estimate`` guides pruning and never enters a score.
    """

    def combine(self, edges: Edges, tails: Sequence[Sequence[S]]) -> tuple[Scores, Sequence[S]]: ...

    def finish(self, states: Sequence[S]) -> Scores: ...

    def estimate(self, edges: Edges) -> Scores: ...


@runtime_checkable
class StatefulFeature(Protocol):
    """Needs neighbours' words. The feature itself never changes; what belongs to a sentence lives in the scorer.

    One with several columns has an attribute ``components``, their number. It may have ``score_rules``, too, for
    columns that are local to rules. If its offer needs the ``segmentation``, it is for derivations made of phrases, one
    behind the other: edges say which source words they translate (``firsts`` and ``lasts`` of ``Edges``).
    """

    def start(self, sentence: Sentence) -> Scorer[Any]: ...


@runtime_checkable
class NativeFeature(Protocol):
    """A feature with states that decoders in native code ask without Python in between, and in its place.

    ``native()`` is a scorer of ``core/search/stateful_search.py`` for one thread, and ``numbers`` what its words are
    called there: a number for each word of a vocabulary. A scorer that needs source words has ``set_sentence(words)``,
    called for each sentence. Its values are those of lists. A feature in C has an attribute
    ``smt_feature_v1`` instead, the capsule of ``smt_feature.h``.
    """

    def native(self) -> Any: ...

    def numbers(self, vocabulary: Vocabulary) -> NDArray[Any]: ...


class Outside:
    """What is around a whole sentence: the context above the goal's edge."""

    def __repr__(self) -> str:
        return "OUTSIDE"


OUTSIDE = Outside()


class UndirectedScorer(Protocol[C]):
    """An undirected feature at work on one sentence.

    A tree grows edge by edge, each put beside one that is there. ``links[i]`` are the contexts of edge i's neighbours:
    that of the one above it, then those of its children in target order; ``None`` is an open place, ``OUTSIDE`` is
    above the goal. ``attach`` gives what each edge adds where these neighbours are known, and the context that each
    neighbour is shown in turn, made of the edge and of its other neighbours: as many as there are links. Contexts are
    hashable and compared by ``==``. Whatever the order in which a tree grows, what its edges added when each came is
    in sum what the feature's directed form gives for the tree.
    """

    def attach(
        self, edges: Edges, links: Sequence[Sequence[C | Outside | None]]
    ) -> tuple[Scores, Sequence[Sequence[C]]]: ...


@runtime_checkable
class UndirectedFeature(Protocol):
    """Scores edges in partial context. It may have ``components``, like a feature with states."""

    def undirected(self, sentence: Sentence) -> UndirectedScorer[Any]: ...


@runtime_checkable
class FragmentFeature(Protocol):
    """A feature with states that knows something of a rule alone, as tables need that use the best rules only."""

    def fragment_scores(self, columns: GrammarColumns) -> NDArray[Any]: ...


@runtime_checkable
class NamedColumns(Protocol):
    """A feature that names its columns itself in decoders, those of states before those of rules.

    ``label`` is what the feature is called in the run. Other features have ``LABEL``, or ``LABEL[0]`` and so on.
    """

    def column_names(self, label: str) -> tuple[str, ...]: ...


@runtime_checkable
class CandidateFeature(Protocol):
    """Scores whole hypotheses, one call per list.

    May have ``done(hypotheses)``, called once with their number when all lists went through, to check that its own
    data had as many; and ``close()``.
    """

    def score_candidates(self, source: str | None, candidates: Candidates) -> Scores: ...


class SimpleStateful:
    """A stateful feature written for one edge at a time.

    Implement ``combine_one(target, tails)``, where ``target`` mixes words with child numbers (0 is the first child),
    and, if the ends of the sentence matter, ``finish_one(state)``. States must be hashable.
    """

    def combine_one(self, target: Sequence[str | int], tails: Sequence[Any]) -> tuple[float, Any]:
        """Score of one edge, and the state of its result."""
        raise NotImplementedError

    def finish_one(self, state: Any) -> float:
        """What is added for the whole sentence."""
        return 0.0

    def estimate_one(self, target: Sequence[str | int]) -> float:
        """A guess at the score of an edge whose children are unknown."""
        return 0.0

    def start(self, sentence: Sentence) -> Scorer[Any]:
        """A scorer for this sentence."""
        return _OneByOne(self)


class _OneByOne:
    def __init__(self, feature: SimpleStateful) -> None:
        self._feature = feature

    def combine(self, edges: Edges, tails: Sequence[Sequence[Any]]) -> tuple[list[float], list[Any]]:
        return self.combine_targets([edges.rules.target_of(i) for i in range(len(edges.rules))], tails)

    def combine_targets(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[Any]]
    ) -> tuple[list[float], list[Any]]:
        """The same of target sides, which a decoder has at hand as lists."""
        combine = self._feature.combine_one
        results = [combine(target, below) for target, below in zip(targets, tails, strict=True)]
        return [score for score, _ in results], [state for _, state in results]

    def finish(self, states: Sequence[Any]) -> list[float]:
        return [self._feature.finish_one(state) for state in states]

    def estimate(self, edges: Edges) -> list[float]:
        return [self._feature.estimate_one(edges.rules.target_of(i)) for i in range(len(edges.rules))]


class SimpleUndirected:
    """An undirected feature written for one edge at a time.

    Implement ``attach_one(target, links)``. ``target`` mixes words with child numbers (0 is the first child), and
    ``links`` are the contexts of what is above (``links[0]``) and of each child k (``links[1 + k]``): ``None`` is an
    open place, ``OUTSIDE`` is above the goal. It gives the score that the edge adds, and what each of these neighbours
    is shown in turn. Contexts must be hashable. With ``SimpleStateful`` beside it a class has a directed form, too.
    """

    def attach_one(self, target: Sequence[str | int], links: Sequence[Any]) -> tuple[float, Sequence[Any]]:
        """Score of one edge, and the context for each of its neighbours."""
        raise NotImplementedError

    def undirected(self, sentence: Sentence) -> UndirectedScorer[Any]:
        """A scorer for this sentence."""
        return _AttachedOneByOne(self)


class _AttachedOneByOne:
    def __init__(self, feature: SimpleUndirected) -> None:
        self._feature = feature

    def attach(self, edges: Edges, links: Sequence[Sequence[Any]]) -> tuple[list[float], list[Sequence[Any]]]:
        attach = self._feature.attach_one
        results = [attach(edges.rules.target_of(i), around) for i, around in enumerate(links)]
        return [score for score, _ in results], [contexts for _, contexts in results]


@runtime_checkable
class Metric(Protocol):
    """Scores translations by statistics that add up, so that any learner and any test can use it.

    ``references`` is a sequence of reference streams, each as long as ``hypotheses``. ``score`` takes statistics of
    one corpus, or of many along leading axes. ``sentence`` scores single rows, smoothed as the signature says.
    """

    name: str
    higher_is_better: bool

    def stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str]], sources: Sequence[str] | None = None
    ) -> NDArray[Any]: ...

    def score(self, stats: NDArray[Any]) -> NDArray[Any]: ...

    def sentence(self, stats: NDArray[Any]) -> NDArray[Any]: ...

    def signature(self) -> str: ...


@runtime_checkable
class LinearMetric(Protocol):
    """A metric with a form that is a sum over edges, for risk on hypergraphs.

    ``linear`` takes the references of one sentence, and gives a feature whose value is a gain: the more the better,
    whatever ``higher_is_better`` says. It gives ``None`` if its options leave no such form. The feature is a
    ``NativeFeature``, too, where that is possible.
    """

    def linear(self, references: Sequence[str]) -> StatefulFeature | None: ...


class Prepared(Protocol):
    """References that hypotheses are compared with again and again.

    ``stats`` takes a segment's number for each hypothesis (by default hypothesis i belongs to segment i) and gives the
    rows of :meth:`Metric.stats`.
    """

    def __len__(self) -> int: ...

    def stats(
        self, hypotheses: Sequence[str], segments: Sequence[int] | NDArray[Any] | None = None
    ) -> NDArray[Any]: ...


@runtime_checkable
class PreparedMetric(Protocol):
    """A metric that prepares references. ``references`` are streams, as for :meth:`Metric.stats`.

    ``matrix`` gives the statistics of each hypothesis against each of other texts, by hypothesis, then by text:
    what minimum Bayes risk decoding asks for. For any metric ``host/judge/consensus.py`` has functions that do the
    same.
    """

    def prepare(self, references: Sequence[Sequence[str]]) -> Prepared: ...

    def matrix(self, hypotheses: Sequence[str], others: Sequence[str]) -> NDArray[Any]: ...


@runtime_checkable
class Runner(Protocol):
    """Spreads the items of a job. Results come in the order of the items; a failure names its item.

    With ``setup``, each worker calls it once and ``function`` is called as ``function(state, item)``; a state that has
    ``close()`` is closed where it was set up, after the last item or when the work is given up, and its failure counts.
    """

    def map(
        self, function: Callable[..., Any], items: Iterable[Any], *, setup: Callable[[], Any] | None = None
    ) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Lists:
    """A problem for a learner: n-best lists, and for each the metric's statistics of its hypotheses."""

    lists: Sequence[Candidates]
    stats: Sequence[NDArray[Any]]
    metric: Metric


@dataclass(frozen=True)
class Forests:
    """A problem for a learner: the forests of each sentence (one for each time it was decoded), and the references.

    ``references`` are streams, as for :meth:`Metric.stats`, with a text for each sentence.
    """

    graphs: Sequence[Sequence[Hypergraph]]
    references: Sequence[Sequence[str]]
    metric: Metric
    sources: Sequence[str] | None = None


@dataclass(frozen=True)
class Rows:
    """A problem for a learner: feature rows with a label (and a weight) each."""

    features: Columns
    labels: NDArray[Any]
    weights: NDArray[Any] | None = None


@dataclass(frozen=True)
class EventRows:
    """Events as groups of rows: event i has the rows ``offsets[i]`` to before ``offsets[i + 1]`` of ``features``.

    Each row is something that might have happened, and row ``right[i]`` of the event's own, from 0, is what did.
    """

    features: Columns
    offsets: NDArray[Any]
    right: NDArray[Any]

    def __len__(self) -> int:
        return len(self.right)


@dataclass(frozen=True)
class Events:
    """A problem for a learner: events, in each of which one of several alternatives was the right one.

    ``pieces`` hold some of the events each, in order. They may be made when they are asked for, by number and again
    and again, so that not all have to be in memory; each brings the names of its own features.
    """

    pieces: Sequence[EventRows]


class SearchTask(Protocol):
    """Decisions, one after another, until a thing is built.

    A state is a value: ``after`` gives the next one and leaves the old as it was, and the same action leads from equal
    states to equal ones. A state without actions is an end. ``features`` has a row for each action. ``reward`` is what
    arriving in a state brings, the more the better; for many tasks it is 0 but at an end.
    """

    def begin(self, example: Any) -> Any: ...

    def actions(self, state: Any) -> Sequence[Any]: ...

    def features(self, state: Any, actions: Sequence[Any]) -> Columns: ...

    def after(self, state: Any, action: Any) -> Any: ...

    def reward(self, state: Any) -> float: ...


@runtime_checkable
class GuidedTask(Protocol):
    """A search task that follows linear policies by itself, in native code perhaps.

    What both give is what the functions of these names in ``host/learn/search_tasks.py`` give of other tasks: the path
    from a state to an end, ``first`` being an action to begin with whatever the policy says; and actions with their
    scores, best first, the first being the one that the policy takes.
    """

    def follow(self, state: Any, weights: search_tasks.Weights, first: Any = None) -> search_tasks.Path: ...

    def ranked(self, state: Any, weights: search_tasks.Weights) -> tuple[Sequence[Any], NDArray[Any]]: ...


@runtime_checkable
class OptimalTask(Protocol):
    """A search task that knows for its examples what is best: no action earns more than ``optimal`` of a state.

    The reward of an action is what it brings at once and all that is brought when ``optimal`` is taken from there on.
    """

    def optimal(self, state: Any) -> Any: ...


@dataclass(frozen=True)
class Task:
    """A problem for a learner: examples of a search task, whose policy is to be learnt.

    ``start`` are weights to begin with for features of which the run knows none.
    """

    search: SearchTask
    examples: Sequence[Any]
    start: Mapping[str, float] = field(default_factory=dict)


@dataclass
class State:
    """All a learner needs to go on bit for bit: arrays, and values that JSON holds (generator states among them)."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: Path) -> None:
        """Write the state; plain files, never pickle."""
        import numpy as np

        folder.mkdir(parents=True, exist_ok=True)
        for name, array in self.arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        (folder / "state.json").write_text(json.dumps({"arrays": sorted(self.arrays), "values": self.values}))

    @classmethod
    def load(cls, folder: Path) -> State:
        """Read a state that was saved."""
        import numpy as np

        data = json.loads((folder / "state.json").read_text())
        arrays = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in data["arrays"]}
        return cls(arrays, data["values"])


@dataclass(frozen=True)
class Step:
    """One step of learning: the model so far, the objective, metrics, and the state to resume from."""

    model: Model
    objective: float
    metrics: Mapping[str, float]
    state: State


@runtime_checkable
class Learner(Protocol):
    """Makes a model from a problem of one of the accepted types, step by step; the last step is the result.

    With ``resume`` it goes on behind the step that had this state, and ``start`` is the model of that step, its
    artefacts as :class:`~smtplugins.host.model.Files` if it was loaded. The end is that of a run never interrupted.
    """

    accepts: frozenset[type]

    def learn(
        self, problem: Any, start: Model, *, resume: State | None = None, seed: int = 1, runner: Runner | None = None
    ) -> Iterator[Step]: ...


@dataclass(frozen=True)
class Built:
    """A step in which a tree of rules grew: what came, over which words, and beside which earlier step it was put.

    ``rule`` is ``[LHS] ||| source ||| target`` with gaps like ``[X,1]`` (``rule_text`` of
    ``host/decode/built_steps.py``). ``beside`` is the number of that step, -1 for the first and for all that begin a
    piece of their own. The new rule is ``above`` it or below; ``child`` says which child of the upper one the lower one
    is, from 0 in the order of the source side. Pairs in ``further`` are other steps that become children of the new
    rule, and which children: in a chart a rule comes above all of its children at once.
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
    """What a decoder gives for one sentence: the best translation, and what else it can say of it.

    ``features`` and ``score`` are those of the best derivation; ``graph`` (its edges have scores) holds all that the
    search kept, if it was asked for; ``shown`` makes the words of a derivation in it what a reader is shown; ``trace``
    is for people, ``built`` the same as records where a decoder grows one tree step by step. All three are made when
    they are called. ``stats`` are sums over the sentence, CPU and wall seconds among them (``cpu.parsing``,
    ``wall.search``).
    """

    id: str
    best: str
    score: float | None = None
    features: Mapping[str, float] = field(default_factory=dict)
    graph: Callable[[], Hypergraph] | None = None
    shown: Callable[[str], str] | None = None
    trace: Callable[[], Iterable[str]] | None = None
    built: Callable[[], Sequence[Built]] | None = None
    stats: Mapping[str, float] = field(default_factory=dict)
    found: bool = True


@runtime_checkable
class Decoder(Protocol):
    """Translates sentences with a model, in input order.

    A decoder whose constructor has a parameter ``resources`` is given the tables and features of the run
    (``host/config/resources.py``). ``graphs`` asks for a graph with each decoding; one without any says so by ``None``.
    """

    def decode(
        self, sentences: Iterable[Sentence], model: Model, *, threads: int = 1, graphs: bool = False
    ) -> Iterator[Decoding]: ...


@runtime_checkable
class TaskDecoder(Protocol):
    """A decoder whose decisions can be learnt as a policy.

    ``references`` are streams with a text for each sentence, as for :meth:`Metric.stats`; ``model`` has the weights
    from before learning. The names of the task's features are those of the decoder's weights.
    """

    def task(
        self, sentences: Sequence[Sentence], references: Sequence[Sequence[str]], metric: Metric, model: Model
    ) -> Task: ...
