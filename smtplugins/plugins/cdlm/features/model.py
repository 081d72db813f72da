"""``cdlm``: a trained discriminative language model as a feature, the weighted sum of its own features (section 5.5).

A model is a folder: ``weights.txt`` with the weights of ``blm``, ``wp`` (the number of words) and ``tsrb:...``, the
class map in ``classes``, and a description of its training in ``about``. By default only ``tsrb`` is used, for decoders
that have their own language model and word penalty with retuned weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from smtformats.tokens import blanks
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.models import Files, Model
from smtplugins.contracts.tools.grammars import Rules, Vocabulary
from smtplugins.plugins.cdlm._cdlm import LinearScorer
from smtplugins.plugins.cdlm.features.blm import Baseline, LmPiece, PieceScorer
from smtplugins.plugins.cdlm.features.classes import ClassMap, load_classes
from smtplugins.plugins.cdlm.features.tsrb import MARKS, NAMESPACE, Alphabet, PairWeights, bigrams_of_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, GrammarColumns
    from smtplugins.contracts.data import Sentence
    from smtplugins.contracts.tools.grammars import Edges

    Array = NDArray[Any]

NAME, BLM, WP = "cdlm", "blm", "wp"
CLASSES, ABOUT = "classes", "about"


@dataclass(frozen=True)
class About:
    """A description of a model's training, as an artefact of the model: JSON values."""

    values: Mapping[str, Any] = field(default_factory=dict)

    def _text(self) -> str:
        return json.dumps(dict(self.values), indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    def save(self, folder: Path) -> None:
        """Save the description into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "about.json").write_text(self._text(), encoding="utf-8")

    def digest(self) -> str:
        """Return the hash of the JSON text."""
        return hashlib.sha256(self._text().encode()).hexdigest()


def split_weights(weights: Mapping[str, float]) -> tuple[float, float, dict[str, float]]:
    """Split weights into ``blm``, ``wp`` (default 0) and ``tsrb``; raises UsageError for other names."""
    rest = {name: value for name, value in weights.items() if name not in (BLM, WP)}
    for name in rest:
        if not name.startswith(f"{NAMESPACE}:"):
            raise UsageError(f"weight {name!r}: expected weights of {BLM}, {WP} and {NAMESPACE}:LEFT_RIGHT")
    return weights.get(BLM, 0.0), weights.get(WP, 0.0), rest


def make_model(weights: Mapping[str, float], classes: ClassMap | None, about: Mapping[str, Any] | None = None) -> Model:
    """Make a model from weights; the class map may be None if there are no ``tsrb`` weights."""
    _, _, pairs = split_weights(weights)
    if classes is None:
        if pairs:
            raise UsageError(f"weight {min(pairs)!r}: expected a class map, found none")
        made = "none"
    else:
        Alphabet(classes).weighted(pairs)
        made = classes.made
    values = {"classes": made, **(about or {})}
    parts: dict[str, Any] = {ABOUT: About(values)}
    if classes is not None:
        parts[CLASSES] = classes
    return Model(dict(weights), parts)


def save_model(
    folder: Path, weights: Mapping[str, float], classes: ClassMap | None, about: Mapping[str, Any] | None = None
) -> Model:
    """Save a model into a folder, for the feature ``cdlm``; returns the model."""
    made = make_model(weights, classes, about)
    made.save(Path(folder))
    return made


def load_model(folder: Path) -> Model:
    """Load the model saved in a folder, and check its class map."""
    folder = Path(folder)
    model = Model.load(folder)
    if ABOUT not in model.artefacts:
        raise SmtError(f"{folder}: expected a model of plugin cdlm, found another")
    parts: dict[str, Any] = dict(model.artefacts)
    if CLASSES in parts:
        classes = parts[CLASSES]
        parts[CLASSES] = load_classes(folder / CLASSES, classes.digest() if isinstance(classes, Files) else "")
    try:
        make_model(model.weights, parts.get(CLASSES))
    except UsageError as error:
        raise SmtError(f"{folder}: {error}") from None
    return replace(model, artefacts=parts)


class OverRules:
    """Scores rules by the ``tsrb`` part of a model, with ``words`` also by its word penalty."""

    def __init__(self, model: Model, *, words: bool = False) -> None:
        _, word, self._pairs = split_weights(model.weights)
        self.word = word if words else 0.0
        classes: Any = model.artefacts.get(CLASSES)
        self._classes: ClassMap = ClassMap({}) if classes is None else classes

    @cached_property
    def alphabet(self) -> Alphabet:
        """The numbered classes."""
        return Alphabet(self._classes)

    @cached_property
    def pairs(self) -> PairWeights:
        """The weights of pairs of classes."""
        return self.alphabet.weighted(self._pairs)

    def score_rules(self, rules: Rules) -> Array:
        """Score each rule."""
        sums = self.pairs.sums(self.alphabet.bigrams(rules), len(rules))
        if not self.word:
            return sums
        words = rules.is_word & (self.alphabet.numbers(rules.vocabulary)[rules.symbols] >= 0)
        scores: Array = sums + self.word * rules.counts(words)
        return scores

    def score_candidates(self, source: str | None, candidates: Candidates) -> Array:
        """Score each hypothesis of a list by its tree."""
        import numpy as np

        sums = np.zeros(len(candidates))
        if self._pairs:
            sums = self.pairs.sums(bigrams_of_list(self.alphabet, candidates, NAME), len(candidates))
        if not self.word:
            return sums
        counts = [sum(word not in MARKS for word in blanks(text)) for text in candidates.texts]
        scores: Array = sums + self.word * np.array(counts)
        return scores


class Whole:
    """A whole model: rule bigrams, word penalty and language model."""

    def __init__(self, model: Model, lm: Baseline) -> None:
        self.weight, _, _ = split_weights(model.weights)
        self._lm = lm
        self.over_rules = OverRules(model, words=True)

    def score_candidates(self, source: str | None, candidates: Candidates) -> Array:
        """Score each hypothesis of a list by its tree and words."""
        of_rules = self.over_rules.score_candidates(source, candidates)
        scores: Array = of_rules + self.weight * self._lm.score_candidates(source, candidates)
        return scores

    def native(self) -> Any:
        """Return the scorer for native searches."""
        rules = self.over_rules
        return LinearScorer(
            self._lm.native(self.weight), rules.pairs.keys, rules.pairs.values, rules.alphabet.size, rules.word
        )

    def numbers(self, vocabulary: Vocabulary) -> Array:
        """Return each word's id in the language model and its class."""
        import numpy as np

        both = [self._lm.numbers(vocabulary), self.over_rules.alphabet.numbers(vocabulary)]
        return np.ascontiguousarray(np.column_stack(both), dtype=np.int32)

    def fragment_scores(self, columns: GrammarColumns) -> Array:
        """Score each rule out of context."""
        rules = Rules(Vocabulary(columns.words[:]), columns.target, columns.target_offsets, ordered=False)
        scores: Array = self.weight * self._lm.fragment_scores(columns) + self.over_rules.score_rules(rules)
        return scores

    def start(self, sentence: Sentence) -> _WholeScorer:
        """Return the scorer in plain Python."""
        return _WholeScorer(self, self._lm.start(sentence))


class _WholeScorer:
    """Scores edges by the stateful language model and the stateless rule scores."""

    def __init__(self, whole: Whole, pieces: PieceScorer) -> None:
        self._weight, self._rules, self._pieces = whole.weight, whole.over_rules, pieces

    def _sum(self, edges: Edges, scores: Sequence[float]) -> list[float]:
        rules = edges.rules
        if edges.firsts is not None:
            # The gap before a phrase stands for the partial translation and is not part of the phrase.
            rules = replace(rules, symbols=rules.symbols[rules.is_word], offsets=_word_offsets(rules))
        local = self._rules.score_rules(rules).tolist()
        return [self._weight * score + own for score, own in zip(scores, local, strict=True)]

    def combine(self, edges: Edges, tails: Sequence[Sequence[LmPiece]]) -> tuple[list[float], list[LmPiece]]:
        scores, states = self._pieces.combine(edges, tails)
        return self._sum(edges, scores), states

    def finish(self, states: Sequence[LmPiece]) -> list[float]:
        return [self._weight * score for score in self._pieces.finish(states)]

    def estimate(self, edges: Edges) -> list[float]:
        return self._sum(edges, self._pieces.estimate(edges))


def _word_offsets(rules: Rules) -> Array:
    import numpy as np

    offsets: Array = np.concatenate([[0], np.cumsum(rules.word_counts())]).astype(np.int64)
    return offsets


def cdlm(
    path: Path,
    *,
    parts: Literal["tsrb", "all"] = "tsrb",
    lm_path: Path | None = None,
    markers: Literal["sentence", "rules"] = "sentence",
) -> OverRules | Whole:
    """A trained discriminative language model as a single column: the weighted sum of its features.

    ``path`` is the model's folder. ``parts=tsrb`` uses only the rule bigrams, for decoders with their own language
    model and word penalty; ``parts=all`` uses the whole model, with ``lm_path``, the language model that it was trained
    with. ``markers=rules`` says that the grammar's rules contain ``<s>`` and ``</s>``.
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
