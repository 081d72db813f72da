"""Scorers of stateful features for native searches: one set per thread, reused for sentence after sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.core.search.stateful_search import Stateful, contract_scorer, native_scorer, start_native
from smtplugins.host.features.rule_columns import column_names

if TYPE_CHECKING:
    from smtplugins.contracts.data import Sentence
    from smtplugins.core.vocabulary import Vocabulary
    from smtplugins.host.features.scoring import Active


class SearchScorers:
    """Stateful features in a search, implemented in core's native code, in C or in Python."""

    def __init__(self, features: Sequence[Active]) -> None:
        self._features = features
        self._natives = [active.feature.native() if hasattr(active.feature, "native") else None for active in features]

    def native_scorers(self) -> Iterator[tuple[Active, Any]]:
        """The features with a scorer in core's native code, and that scorer."""
        for active, scorer in zip(self._features, self._natives, strict=True):
            if hasattr(active.feature, "native"):
                yield active, scorer

    def prepared(self, sentence: Sentence, vocabulary: Vocabulary) -> tuple[list[Any], bool]:
        """Start the scorers on a sentence; also tells whether all are the same objects as for the previous sentence."""
        same = True
        parts = []
        for i, active in enumerate(self._features):
            own: Any = self._natives[i]
            if hasattr(active.feature, "native"):
                if hasattr(own, "set_words"):
                    own.set_words(active.feature.numbers(vocabulary))
                if hasattr(own, "set_sentence"):
                    own.set_sentence(sentence.tokens)
            elif not hasattr(active.feature, "smt_feature_v1"):
                own = contract_scorer(active.start(sentence), vocabulary, getattr(active.feature, "components", 1))
                same = False
            elif own is None:
                own = self._natives[i] = native_scorer(active.feature, vocabulary, sentence, name=active.label)
                same = False
            else:
                start_native(own, vocabulary, sentence)
            parts.append(own)
        return parts, same

    def weighted(self, parts: Sequence[Any], weights: Mapping[str, float]) -> list[Stateful]:
        """Attach names and weights to the scorers' components."""
        stateful = []
        for active, part in zip(self._features, parts, strict=True):
            names = _names(active, part)
            stateful.append(Stateful(part, names, tuple(weights.get(name, 0.0) for name in names)))
        return stateful


def _names(active: Active, scorer: Any) -> tuple[str, ...]:
    """The names of a scorer's components: a C feature's own names, prefixed with its label."""
    own = getattr(scorer, "names", None)
    if own is not None:
        return (active.label,) if len(own) == 1 else tuple(f"{active.label}-{name}" for name in own)
    return column_names(active, scorer.components)[: scorer.components]
