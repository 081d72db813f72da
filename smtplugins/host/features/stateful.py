"""The scorers of features with states, for searches in native code: a set for each thread, sentence after sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.core.search.stateful_search import Stateful, contract_scorer, native_scorer, start_native
from smtplugins.host.features.rule_columns import column_names

if TYPE_CHECKING:
    from smtplugins.contracts.contracts import Sentence
    from smtplugins.core.vocabulary import Vocabulary
    from smtplugins.host.features.scoring import Active


class SearchScorers:
    """Features at work in a search: in core's own code, in C, or in Python."""

    def __init__(self, features: Sequence[Active]) -> None:
        self._features = features
        self._natives = [one.feature.native() if hasattr(one.feature, "native") else None for one in features]

    def native_scorers(self) -> Iterator[tuple[Active, Any]]:
        """The features that have a scorer in core's own code, with it."""
        for one, scorer in zip(self._features, self._natives, strict=True):
            if hasattr(one.feature, "native"):
                yield one, scorer

    def prepared(self, sentence: Sentence, vocabulary: Vocabulary) -> tuple[list[Any], bool]:
        """Scorers ready for a sentence, and whether all of them are those of the sentence before."""
        same = True
        parts = []
        for i, one in enumerate(self._features):
            own: Any = self._natives[i]
            if hasattr(one.feature, "native"):
                own.set_words(one.feature.numbers(vocabulary))
                if hasattr(own, "set_sentence"):
                    own.set_sentence(sentence.tokens)
            elif not hasattr(one.feature, "smt_feature_v1"):
                own = contract_scorer(one.start(sentence), vocabulary, getattr(one.feature, "components", 1))
                same = False
            elif own is None:
                own = self._natives[i] = native_scorer(one.feature, vocabulary, sentence, name=one.label)
                same = False
            else:
                start_native(own, vocabulary, sentence)
            parts.append(own)
        return parts, same

    def weighted(self, parts: Sequence[Any], weights: Mapping[str, float]) -> list[Stateful]:
        """The scorers with names and weights of their components."""
        found = []
        for one, part in zip(self._features, parts, strict=True):
            names = _names(one, part)
            found.append(Stateful(part, names, tuple(weights.get(name, 0.0) for name in names)))
        return found


def _names(one: Active, scorer: Any) -> tuple[str, ...]:
    """The names of what a scorer gives: a feature in C has its own, behind its label."""
    own = getattr(scorer, "names", None)
    if own is not None:
        return (one.label,) if len(own) == 1 else tuple(f"{one.label}-{name}" for name in own)
    return column_names(one, scorer.components)[: scorer.components]
