"""``cdlm``: a trained discriminative language model as one feature, the weighted sum of its own (section 5.5).

A model is a folder: ``weights.txt`` with the weights of ``blm``, ``wp`` (the number of words) and ``tsrb:...``, the
class map in ``classes``, and in ``about`` what is told of its making. In a decoder that has a language model and a word
penalty itself the part over rules is enough, since the weights of the others are tuned anew; so it is by default.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.model import Files, Model
from smtplugins.plugins.cdlm.features.blm import Baseline, Piece, Pieces
from smtplugins.plugins.cdlm.features.classes import ClassMap, load_classes
from smtplugins.plugins.cdlm.features.tsrb import MARKS, NAMESPACE, Alphabet, PairWeights, bigrams_of_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, GrammarColumns
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.grammar.rules import Edges, Rules
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.core.vocabulary import Vocabulary

    Array = NDArray[Any]

NAME, BLM, WP = "cdlm", "blm", "wp"
CLASSES, ABOUT = "classes", "about"


@dataclass(frozen=True)
class About:
    """What is told of a model's making, as a part of it: values that JSON holds."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def _text(self) -> str:
        return json.dumps(dict(self.values), indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    def save(self, folder: Path) -> None:
        """Write it into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "about.json").write_text(self._text(), encoding="utf-8")

    def digest(self) -> str:
        """The hash of the text."""
        return hashlib.sha256(self._text().encode()).hexdigest()


def split_weights(weights: Mapping[str, float]) -> tuple[float, float, dict[str, float]]:
    """The weights of ``blm`` and ``wp``, 0 if there is none, and those of ``tsrb``; another name is an error."""
    rest = {name: value for name, value in weights.items() if name not in (BLM, WP)}
    for name in rest:
        if not name.startswith(f"{NAMESPACE}:"):
            raise UsageError(f"weight {name!r}: expected those of {BLM}, {WP} and {NAMESPACE}:LEFT_RIGHT")
    return weights.get(BLM, 0.0), weights.get(WP, 0.0), rest


def make_model(weights: Mapping[str, float], classes: ClassMap | None, about: Mapping[str, Any] | None = None) -> Model:
    """The model of these weights; one without features ``tsrb`` needs no class map."""
    _, _, pairs = split_weights(weights)
    if classes is None:
        if pairs:
            raise UsageError(f"weight {min(pairs)!r}: expected a class map with it, found none")
        made = "none"
    else:
        Alphabet(classes).weighted(pairs)
        made = classes.made
    told = {"classes": made, **(about or {})}
    parts: dict[str, Any] = {ABOUT: About(told)}
    if classes is not None:
        parts[CLASSES] = classes
    return Model(dict(weights), parts)


def save_model(
    folder: Path, weights: Mapping[str, float], classes: ClassMap | None, about: Mapping[str, Any] | None = None
) -> Model:
    """Write a model into a folder, for the feature ``cdlm``; the model that was written."""
    made = make_model(weights, classes, about)
    made.save(Path(folder))
    return made


def load_model(folder: Path) -> Model:
    """The model that was saved in a folder, its class map read and checked."""
    folder = Path(folder)
    found = Model.load(folder)
    if ABOUT not in found.artefacts:
        raise SmtError(f"{folder}: expected a model of plugin cdlm, found another")
    parts: dict[str, Any] = dict(found.artefacts)
    if CLASSES in parts:
        given = parts[CLASSES]
        parts[CLASSES] = load_classes(folder / CLASSES, given.digest() if isinstance(given, Files) else "")
    try:
        make_model(found.weights, parts.get(CLASSES))
    except UsageError as error:
        raise SmtError(f"{folder}: {error}") from None
    return replace(found, artefacts=parts)


class OverRules:
    """The features ``tsrb`` of a model, and its word penalty where that is wanted, as one number for each rule."""

    def __init__(self, model: Model, *, words: bool = False) -> None:
        _, word, self._pairs = split_weights(model.weights)
        self.word = word if words else 0.0
        given: Any = model.artefacts.get(CLASSES)
        self._classes: ClassMap = ClassMap({}) if given is None else given

    @cached_property
    def alphabet(self) -> Alphabet:
        """The classes as numbers."""
        return Alphabet(self._classes)

    @cached_property
    def pairs(self) -> PairWeights:
        """The weights of pairs of classes."""
        return self.alphabet.weighted(self._pairs)

    def score_rules(self, rules: Rules) -> Array:
        """What each rule is worth."""
        sums = self.pairs.sums(self.alphabet.bigrams(rules), len(rules))
        if not self.word:
            return sums
        words = rules.is_word & (self.alphabet.numbers(rules.vocabulary)[rules.symbols] >= 0)
        found: Array = sums + self.word * rules.counts(words)
        return found

    def score_candidates(self, source: str | None, candidates: Candidates) -> Array:
        """What each hypothesis of a list is worth, by its tree."""
        import numpy as np

        from smtformats.tokens import blanks

        sums = np.zeros(len(candidates))
        if self._pairs:
            sums = self.pairs.sums(bigrams_of_list(self.alphabet, candidates, NAME), len(candidates))
        if not self.word:
            return sums
        counts = [sum(word not in MARKS for word in blanks(text)) for text in candidates.texts]
        found: Array = sums + self.word * np.array(counts)
        return found

    def score_graph(self, graph: Hypergraph) -> Array:
        """What each rule of a graph is worth."""
        from smtplugins.plugins.cdlm.sets.graphs import graph_bigrams

        if self.word:
            raise UsageError("expected a model's part over pairs of classes, found its word penalty, too")
        return self.pairs.sums(graph_bigrams(graph, self.alphabet), len(graph.grammar))


class Whole:
    """All of a model: the part over rules, the word penalty and the language model."""

    def __init__(self, model: Model, lm: Baseline) -> None:
        self.weight, _, _ = split_weights(model.weights)
        self._lm = lm
        self.over_rules = OverRules(model, words=True)

    def score_candidates(self, source: str | None, candidates: Candidates) -> Array:
        """What each hypothesis of a list is worth, by its tree and its words."""
        of_rules = self.over_rules.score_candidates(source, candidates)
        found: Array = of_rules + self.weight * self._lm.score_candidates(source, candidates)
        return found

    def native(self) -> Any:
        """A scorer of native code."""
        from smtplugins.plugins.cdlm._cdlm import LinearScorer

        rules = self.over_rules
        return LinearScorer(
            self._lm.native(self.weight), rules.pairs.keys, rules.pairs.values, rules.alphabet.size, rules.word
        )

    def numbers(self, vocabulary: Vocabulary) -> Array:
        """What words are called in the language model, and their classes."""
        import numpy as np

        both = [self._lm.numbers(vocabulary), self.over_rules.alphabet.numbers(vocabulary)]
        return np.ascontiguousarray(np.column_stack(both), dtype=np.int32)

    def fragment_scores(self, columns: GrammarColumns) -> Array:
        """What is known of each rule's score without its neighbours."""
        from smtplugins.core.grammar.rules import Rules
        from smtplugins.core.vocabulary import Vocabulary

        rules = Rules(Vocabulary(columns.words[:]), columns.target, columns.target_offsets, ordered=False)
        found: Array = self.weight * self._lm.fragment_scores(columns) + self.over_rules.score_rules(rules)
        return found

    def start(self, sentence: Sentence) -> _AtWork:
        """At work on a sentence, in plain Python."""
        return _AtWork(self, self._lm.start(sentence))


class _AtWork:
    """The model's language model with states, and what rules are worth beside it."""

    def __init__(self, whole: Whole, pieces: Pieces) -> None:
        self._weight, self._rules, self._pieces = whole.weight, whole.over_rules, pieces

    def _sum(self, edges: Edges, scores: Sequence[float]) -> list[float]:
        rules = edges.rules
        if edges.firsts is not None:
            # The gap before a phrase is what was translated before it, no part of the phrase.
            rules = replace(rules, symbols=rules.symbols[rules.is_word], offsets=_word_offsets(rules))
        local = self._rules.score_rules(rules).tolist()
        return [self._weight * score + own for score, own in zip(scores, local, strict=True)]

    def combine(self, edges: Edges, tails: Sequence[Sequence[Piece]]) -> tuple[list[float], list[Piece]]:
        scores, states = self._pieces.combine(edges, tails)
        return self._sum(edges, scores), states

    def finish(self, states: Sequence[Piece]) -> list[float]:
        return [self._weight * score for score in self._pieces.finish(states)]

    def estimate(self, edges: Edges) -> list[float]:
        return self._sum(edges, self._pieces.estimate(edges))


def _word_offsets(rules: Rules) -> Array:
    import numpy as np

    found: Array = np.concatenate([[0], np.cumsum(rules.word_counts())]).astype(np.int64)
    return found


def cdlm(
    path: Path,
    *,
    parts: Literal["tsrb", "all"] = "tsrb",
    lm_path: Path | None = None,
    markers: Literal["sentence", "rules"] = "sentence",
) -> OverRules | Whole:
    """A trained discriminative language model as one column: the sum of its features with their weights.

    ``path`` is the model's folder. ``parts=tsrb`` are the bigrams of rules alone, for decoders that have a language
    model and a word penalty beside them; ``parts=all`` all of it, with the language model ``lm_path``, the one it was
    trained with. ``markers=rules`` says that rules of the grammar hold ``<s>`` and ``</s>``.
    """
    model = load_model(path)
    if parts == "tsrb":
        if lm_path is not None:
            raise UsageError("cdlm: lm_path is for parts=all: parts=tsrb has no language model")
        if CLASSES not in model.artefacts:
            raise UsageError(f"cdlm: {path}: expected a model with features {NAMESPACE}, found one without (parts=all)")
        return OverRules(model)
    if lm_path is None:
        raise UsageError("cdlm: parts=all needs lm_path, the language model that the model was trained with")
    return Whole(model, Baseline(lm_path, markers=markers))
