"""What a feature function implements: one contract for each kind of context it needs.

``RuleFeature`` sees single rules, ``StatefulFeature`` the words of neighbouring rules, ``CandidateFeature`` whole
hypotheses. The host applies the first two to n-best lists, too, so a feature is written once. A stateful feature may
also be an :class:`UndirectedFeature`, for decoders that do not build trees bottom-up.
The other protocols are optional: the host looks for each of their members on a feature and uses it if it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, GrammarColumns
    from smtplugins.contracts.data import Scores, Sentence
    from smtplugins.core.grammar.rules import Edges, Rules
    from smtplugins.core.vocabulary import Vocabulary

S = TypeVar("S")
C = TypeVar("C")


@runtime_checkable
class RuleFeature(Protocol):
    """Scores rules out of context; a call scores all rules of a grammar, or all that are made for a sentence."""

    def score_rules(self, rules: Rules) -> Scores: ...


class Scorer(Protocol[S]):
    """A stateful feature on one sentence.

    ``combine`` scores a batch of edges and returns their new states; ``tails[i]`` are the states of edge i's children
    in target order. States are hashable; edges whose states are equal are recombined. ``finish`` scores complete
    derivations. ``estimate`` is a heuristic for pruning and never part of a score.
    """

    def combine(self, edges: Edges, tails: Sequence[Sequence[S]]) -> tuple[Scores, Sequence[S]]: ...

    def finish(self, states: Sequence[S]) -> Scores: ...

    def estimate(self, edges: Edges) -> Scores: ...


@runtime_checkable
class TargetScorer(Protocol[S]):
    """A scorer that also takes target sides as lists of words and child numbers, which saves building ``Edges``."""

    def combine_targets(
        self, targets: Sequence[Sequence[str | int]], tails: Sequence[Sequence[S]]
    ) -> tuple[Scores, Sequence[S]]: ...


@runtime_checkable
class StatefulFeature(Protocol):
    """Needs the words of neighbouring rules. Immutable: the state of a sentence lives in the scorer.

    It may have ``score_rules``, too, for columns that are local to rules. If its offer needs ``segmentation``, it
    scores phrase-based derivations: edges say which source words they translate (``firsts``, ``lasts`` of ``Edges``).
    """

    def start(self, sentence: Sentence) -> Scorer[Any]: ...


@runtime_checkable
class MultiColumnFeature(Protocol):
    """A feature with several columns, named ``LABEL[0]``, ``LABEL[1]`` and so on."""

    components: int


@runtime_checkable
class NamedColumns(Protocol):
    """A feature that names its own columns: those of states first, then those of rules.

    ``label`` is the feature's name in the run. Other features have ``LABEL``, or ``LABEL[0]`` and so on.
    """

    def column_names(self, label: str) -> tuple[str, ...]: ...


@runtime_checkable
class StartWeights(Protocol):
    """A feature that says which weights tuning starts from: one for each of its columns, or one for all.

    Features without them start at 0.
    """

    start_weights: Sequence[float]


@runtime_checkable
class NativeFeature(Protocol):
    """A stateful feature that native decoders score without calling Python.

    ``native()`` returns a scorer of core's native search for one thread. Scores must equal those of the Python
    contract.
    """

    def native(self) -> Any: ...


@runtime_checkable
class WordScorer(Protocol):
    """A native scorer that needs the words of target sides: ``numbers`` are its own, in the vocabulary's order."""

    def set_words(self, numbers: NDArray[Any]) -> None: ...


@runtime_checkable
class NumberedFeature(NativeFeature, Protocol):
    """A native feature with a ``WordScorer``: ``numbers`` maps each word of a vocabulary to the scorer's number."""

    def numbers(self, vocabulary: Vocabulary) -> NDArray[Any]: ...


@runtime_checkable
class CompiledFeature(Protocol):
    """A stateful feature in C: the capsule of ``smtplugins/include/smt_feature.h``."""

    smt_feature_v1: Any


@runtime_checkable
class SourceScorer(Protocol):
    """A native scorer that needs the source words: called before each sentence."""

    def set_sentence(self, words: Sequence[str]) -> None: ...


@runtime_checkable
class FragmentFeature(Protocol):
    """A stateful feature that estimates its score for a rule out of context, to prune tables with a ``limit``."""

    def fragment_scores(self, columns: GrammarColumns) -> NDArray[Any]: ...


@runtime_checkable
class PhrasePositionFeature(Protocol):
    """A feature of phrase positions that native phrase search computes itself.

    ``positional`` is ``"jump"`` for the distance between phrases, or ``"orientation"`` for a lexicalised reordering
    model, which the feature then holds as ``model``.
    """

    positional: str


@runtime_checkable
class ArcCosts(Protocol):
    """A feature that names the scores read from lattice arcs; ``arcs`` is the number of scores of an arc."""

    arcs: int


@runtime_checkable
class ArcFeature(Protocol):
    """Turns the numbers on a lattice arc into features; ``word`` is ``None`` on an arc without a word.

    Raises :class:`smtformats.tokens.BadField` for an arc without the scores that it expects.
    """

    def arc_features(self, label: str, features: Mapping[str, float], word: str | None) -> Mapping[str, float]: ...


@runtime_checkable
class UnknownWordFeature(Protocol):
    """A feature of rules made for unknown words, whose value may depend on the label that a rule is given.

    With ``labelled_unknowns`` true the parser writes the log probability of each label (cdec's and Joshua's lists of
    labels for unknown words) into this feature's column, and ``score_rules`` is not called for these rules.
    """

    labelled_unknowns: bool


@runtime_checkable
class CandidateFeature(Protocol):
    """Scores whole hypotheses, one call per n-best list."""

    def score_candidates(self, source: str | None, candidates: Candidates) -> Scores: ...


@runtime_checkable
class BatchFeature(CandidateFeature, Protocol):
    """Scores the hypotheses of several lists at a time, for models and programs that are fast in batches.

    ``score_batches`` reads as many lists ahead as it likes, which stay in memory, and yields the scores of each list in
    their order: those of ``score_candidates``. The host calls it in its own process, whatever runner spreads other
    features over workers; the feature may have processes and threads of its own.
    """

    def score_batches(self, lists: Iterator[Candidates]) -> Iterator[Scores]: ...


@runtime_checkable
class CountingFeature(Protocol):
    """A feature whose own data has a row per hypothesis; it checks the number of rows after the last list."""

    def done(self, hypotheses: int) -> None: ...


@runtime_checkable
class ClosableFeature(Protocol):
    """A feature that holds a process, file or connection, to be closed after the last list."""

    def close(self) -> None: ...


class Outside:
    """The context above the goal: nothing surrounds the whole sentence."""

    def __repr__(self) -> str:
        return "OUTSIDE"


OUTSIDE = Outside()


class UndirectedScorer(Protocol[C]):
    """An undirected feature on one sentence.

    A tree grows by one edge at a time. ``links[i]`` are the contexts of edge i's neighbours: the edge above it, then
    its children in target order; ``None`` is an open place, ``OUTSIDE`` is above the goal. ``attach`` returns the
    score each edge adds given the neighbours known so far, and the contexts it passes on, one for each link.
    Contexts are hashable and compared by ``==``. In whatever order a tree is built, the scores of its edges must sum
    to the feature's directed score of the tree.
    """

    def attach(
        self, edges: Edges, links: Sequence[Sequence[C | Outside | None]]
    ) -> tuple[Scores, Sequence[Sequence[C]]]: ...


@runtime_checkable
class UndirectedFeature(Protocol):
    """Scores edges in partial context. It may have ``components``, like a stateful feature."""

    def undirected(self, sentence: Sentence) -> UndirectedScorer[Any]: ...
