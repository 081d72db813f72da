"""``itg-history``: what a policy says of the labels of a derivation, as a feature with weights of its own.

The decoder ``amasis`` has it at each step. Of lists it is made from their segmentation: items are the phrases in the
order of the source, and labels those of eager reduction (Zhang, Sun and Li 2008, section 3.2). Ours, not the paper's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError
from smtplugins.plugins.searn.decoding.following import load_policy, pair_columns
from smtplugins.plugins.searn.learning.policy import BEGIN, History, Policy, operations, static_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.host.features.segmentations import Phrase
    from smtplugins.plugins.searn.labels.pair_columns import PairColumns

COLUMNS = ("labels", "reversed", "unlabelled")
"""The logarithm of the labels' probability, reductions in reverse order, those at the end that no label made."""


class ItgHistory:
    """What a policy says of a derivation's labels: three columns.

    ``path`` is a model of ``smt searn train``, or a policy in it. ``LABEL[0]`` is the logarithm of the probability of
    all labels, by a softmax of the policy's scores; ``LABEL[1]`` is how many reductions are in reverse order, and
    ``LABEL[2]`` how many at the end of a sentence no label made. The decoder ``amasis`` counts them while it searches.
    On lists, which need a segmentation, a label that the policy does not know has the probability exp(``unknown``).
    """

    components = len(COLUMNS)

    def __init__(self, path: Path, *, unknown: float = -10.0) -> None:
        if not unknown <= 0:
            raise UsageError(f"itg-history: unknown: expected the logarithm of a probability, found {unknown}")
        self.path = path
        self._unknown = unknown

    @cached_property
    def policy(self) -> Policy:
        """What judges labels."""
        return load_policy(self.path)

    @cached_property
    def _columns(self) -> PairColumns | None:
        return pair_columns(self.policy)

    def names(self, label: str) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(f"{label}[{k}]" for k in range(len(COLUMNS)))

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any]:
        """A row for each hypothesis."""
        import numpy as np

        from smtformats.tokens import blanks
        from smtplugins.host.features.segmentations import phrases_of

        if source is None:
            raise UsageError(f"list {candidates.id}: expected a source sentence for itg-history, found none")
        tokens = tuple(blanks(source))
        rows = [self.row(tokens, phrases) for phrases in phrases_of(candidates)]
        return np.array(rows, dtype=np.float64).reshape(len(candidates), len(COLUMNS))

    def row(self, tokens: Sequence[str], phrases: Sequence[Phrase]) -> tuple[float, float, float]:
        """The columns of phrases in target order."""
        from smtplugins.plugins.searn.labels.labels import labels_of_spans

        ends = list(itertools.accumulate((len(one.words) for one in phrases), initial=0))
        items = sorted(zip(phrases, ends, strict=False), key=lambda one: one[0].first)
        labels, left = labels_of_spans([(begin, begin + len(one.words)) for one, begin in items])
        history, total = History(), 0.0
        for (phrase, _), label in zip(items, labels, strict=True):
            total += self._log(tokens, phrase, label, history)
            history = history.after(label, " ".join(phrase.words))
        swapped = sum(not one for label in labels for one in operations(label))
        return total, float(swapped), float(max(left - 1, 0))

    def _log(self, tokens: Sequence[str], phrase: Phrase, label: str, history: History) -> float:
        policy = self.policy
        if label not in policy.labels:
            return self._unknown
        source = " ".join(tokens[phrase.first : phrase.last])
        previous = tokens[phrase.first - 1] if phrase.first else BEGIN
        target = " ".join(phrase.words)
        names = static_names(policy.templates, source, target, previous)
        scores = policy.scores(names + history.names(policy.templates))
        if self._columns is not None:
            ((real, values),) = self._columns.rows(source, [target])
            scores = scores + policy.scores(real, values)
        return float(policy.log_probabilities(scores)[policy.labels.index(label)])
