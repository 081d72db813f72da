"""``itg-history``: a policy's score of a derivation's labels, as a feature with its own weights.

The decoder ``amasis`` computes it at each step. On lists it uses the segmentation: items are the phrases in source
order, and labels follow from eager reduction (Zhang, Sun and Li 2008, section 3.2). Ours, not the paper's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtformats.tokens import blanks
from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.searn.decoding.following import load_policy, pair_columns
from smtplugins.plugins.searn.learning.policy import BEGIN, History, Policy, operations, static_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.contracts.tools.features import Phrase
    from smtplugins.plugins.searn.labels.pair_columns import PairColumns

COLUMNS = ("labels", "reversed", "unlabelled")
"""Log-probability of the labels, reductions in reverse order, final reductions that no label asked for."""


class ItgHistory:
    """A policy's score of a derivation's labels, in three columns.

    ``path`` is a model of ``smt searn train``, or the policy in it. ``LABEL[0]`` is the log-probability of all labels,
    by a softmax of the policy's scores; ``LABEL[1]`` counts reductions in reverse order, and ``LABEL[2]`` reductions at
    the end of a sentence that no label asked for. The decoder ``amasis`` computes them during search. Lists need a
    segmentation; there, a label unknown to the policy has log-probability ``unknown``.
    """

    components = len(COLUMNS)
    start_weights = (0.2, 0.0, 0.0)

    def __init__(self, path: Path, *, unknown: float = -10.0) -> None:
        if not unknown <= 0:
            raise UsageError(f"itg-history: unknown: expected a log-probability (0 or less), found {unknown}")
        self.path = path
        self._unknown = unknown

    @cached_property
    def policy(self) -> Policy:
        """The policy that scores labels."""
        return load_policy(self.path)

    @cached_property
    def _columns(self) -> PairColumns | None:
        return pair_columns(self.policy)

    def names(self, label: str) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(f"{label}[{k}]" for k in range(len(COLUMNS)))

    def score_candidates(self, source: str | None, candidates: Candidates) -> NDArray[Any]:
        """Score the hypotheses, a row each."""
        import numpy as np

        from smtplugins.contracts.tools.features import phrases_of

        if source is None:
            raise UsageError(f"list {candidates.id}: expected a source sentence for itg-history, found none")
        tokens = tuple(blanks(source))
        rows = [self.row(tokens, phrases) for phrases in phrases_of(candidates)]
        return np.array(rows, dtype=np.float64).reshape(len(candidates), len(COLUMNS))

    def row(self, tokens: Sequence[str], phrases: Sequence[Phrase]) -> tuple[float, float, float]:
        """Score a segmentation, given as phrases in target order."""
        from smtplugins.plugins.searn.labels.labels import labels_of_spans

        ends = list(itertools.accumulate((len(phrase.words) for phrase in phrases), initial=0))
        items = sorted(zip(phrases, ends, strict=False), key=lambda item: item[0].first)
        labels, left = labels_of_spans([(begin, begin + len(phrase.words)) for phrase, begin in items])
        history, total = History(), 0.0
        for (phrase, _), label in zip(items, labels, strict=True):
            total += self._log(tokens, phrase, label, history)
            history = history.after(label, " ".join(phrase.words))
        swapped = sum(not in_order for label in labels for in_order in operations(label))
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
