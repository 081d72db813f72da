"""SEARN on tagging with 16 actions: what one thread predicts and learns a second, in CPU time.

Sequences of 25 items, each with three features of its own from vocabularies of 10,000 (the item's word, the one
before, and another), without a history and with the last label or all templates of the history. Predictions are those
of one policy, and of three that vote; what training takes is all of it: rolled in, three iterations of five passes,
judged. VW's search task was measured on such data at 81,000 to 363,000 tokens a second, in its own ways of rolling.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

SEQUENCES = 8_000
LENGTH = 25
ACTIONS = 16
VOCABULARY = 10_000
TEMPLATES: dict[str, Sequence[str]] = {
    "no history": (),
    "label": ("label",),
    "all history": ("label", "label2", "depth", "fragment"),
}


def searn_tagging(rounds: int = 5) -> dict[str, Any]:
    """Predictions and steps of learning a second."""
    import numpy as np

    from smtplugins.contracts.models import Model
    from smtplugins.contracts.tasks import TaskProblem
    from smtplugins.plugins.searn.learning.mixtures import PolicyMixture
    from smtplugins.plugins.searn.learning.searn import Searn

    found: dict[str, Any] = {}
    for name, templates in TEMPLATES.items():
        given = _sequences(templates)
        items = len(given.gold)
        task = TaskProblem(given, range(len(given)))
        row: dict[str, Any] = {}
        for base in ("perceptron", "logistic"):
            best, steps = float("inf"), []
            for _ in range(max(1, rounds // 2)):
                start = time.process_time()
                steps = list(Searn(base=base).learn(task, Model()))
                best = min(best, time.process_time() - start)
            row[f"{base}: M tokens learnt/s (3 iterations of 5 passes)"] = items / best / 1e6
            row[f"{base}: M steps/s"] = 15 * items / best / 1e6
            row[f"{base}: accuracy"] = steps[-1].metrics["accuracy"]
            policy: Any = steps[-1].model.artefacts["policy"]
            weights = policy.weights.reshape(3, -1)
            for policies in (1, 3):
                shares = np.concatenate([[0.0], np.full(policies, 1 / policies)])
                mixture = PolicyMixture(np.ascontiguousarray(weights[-policies:]), shares)
                best = float("inf")
                for _ in range(rounds):
                    start = time.process_time()
                    given.native.follow(
                        0, len(given), mixture.weights.reshape(-1), mixture.shares, mixture.voting, "policy", 1
                    )
                    best = min(best, time.process_time() - start)
                row[f"M predictions/s, policies: {policies}"] = items / best / 1e6
        found[name] = row
    return found


def _sequences(templates: Sequence[str]) -> Any:
    import numpy as np

    from smtplugins.plugins.searn.learning.sequences import Sequences

    draw = np.random.default_rng(1)
    items = SEQUENCES * LENGTH
    # Frequent words are frequent: as Zipf has it.
    words = np.minimum(draw.zipf(1.2, items) - 1, VOCABULARY - 1)
    other = np.minimum(draw.zipf(1.2, items) - 1, VOCABULARY - 1)
    before = np.where(np.arange(items) % LENGTH == 0, 0, np.roll(words, 1))
    labels = ["S", "S,R+", "S,R-", *(f"S,R+,{'R-,' * k}R+" for k in range(ACTIONS - 3))]
    tables = draw.normal(size=(2, VOCABULARY, ACTIONS))
    gold = (tables[0, words] + tables[1, other] + draw.normal(size=(items, ACTIONS)) / 4).argmax(axis=1)
    ids = np.stack([words, VOCABULARY + before, 2 * VOCABULARY + other], axis=1)
    kinds = ("source", "previous", "target")
    return Sequences.from_columns(
        labels=tuple(labels),
        templates=(*kinds, *templates),
        names=tuple(f"{kind}={i}" for kind in kinds for i in range(VOCABULARY)),
        offsets=np.arange(SEQUENCES + 1) * LENGTH,
        gold=gold,
        starts=np.arange(items + 1) * 3,
        ids=ids.reshape(-1),
        values=None,
        last=other,
        words=tuple(str(i) for i in range(VOCABULARY)),
        fragments=[str(i) for i in range(VOCABULARY)],
    )
