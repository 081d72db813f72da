"""Sequence labelling as a search task: items get labels from left to right.

A state is the labels so far. Features come from the item and, by the templates of ``learning/policy.py``, from the
labels before it. The loss of a sequence is the number of wrong labels (D. Zhang, L. Sun, W. Li, 2008, equation 1), or
a metric of the labels as words. The optimal policy assigns the right label, whatever the earlier ones are.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from smtformats import Columns
from smtplugins.contracts.errors import UsageError
from smtplugins.plugins.searn._searn import Sequences as Native
from smtplugins.plugins.searn.learning.policy import BEGIN, DEEPEST, HISTORY, History, Policy, operations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric

    Array = NDArray[Any]

Loss = Any
"""``hamming``, or a :class:`~smtplugins.contracts.metrics.Metric`."""


@dataclass(frozen=True)
class Labelled:
    """A search state: a sequence and the labels of its items so far."""

    sequence: int
    taken: tuple[str, ...] = ()
    history: History = field(default_factory=History)


@dataclass(frozen=True)
class Sequences:
    """Items with gold labels and numbered features, and the search task of labelling them.

    Sequence ``i`` has items ``offsets[i]`` to ``offsets[i + 1]``. Item ``j`` has the label ``gold[j]`` and the features
    ``ids[starts[j]:starts[j + 1]]``, indices into ``names``, with ``values``, or all 1 if that is None. ``last[j]`` is
    the index in ``words`` of the item's last target word, -1 if it has none; the template ``fragment`` uses it.
    ``templates`` become those of the policy.
    """

    labels: tuple[str, ...]
    templates: tuple[str, ...]
    names: tuple[str, ...]
    offsets: Array
    gold: Array
    starts: Array
    ids: Array
    values: Array | None
    last: Array
    words: tuple[str, ...]
    loss: Loss = "hamming"

    def __len__(self) -> int:
        """The number of sequences."""
        return len(self.offsets) - 1

    @classmethod
    def of(
        cls,
        sequences: Iterable[Sequence[tuple[Iterable[str] | Mapping[str, float], str] | tuple[Any, str, str]]],
        templates: Sequence[str] = (),
        *,
        min_count: int = 1,
        trained: int | None = None,
        loss: Loss = "hamming",
    ) -> Sequences:
        """Build from items as (features, label) or (features, label, last target word).

        ``templates`` are those of the history. Features that occur fewer than ``min_count`` times in the first
        ``trained`` sequences (by default all) are dropped. Labels are numbered by decreasing frequency.
        """
        import numpy as np

        listed = [list(sequence) for sequence in sequences]
        items = [item for sequence in listed for item in sequence]
        until = sum(map(len, listed[:trained]))
        rows = [dict(item[0]) if isinstance(item[0], Mapping) else dict.fromkeys(item[0], 1.0) for item in items]
        counts = collections.Counter(name for row in rows[:until] for name in row)
        names = {name: i for i, name in enumerate(sorted(name for name, n in counts.items() if n >= min_count))}
        kept = [[(names[name], value) for name, value in row.items() if name in names] for row in rows]
        frequent = collections.Counter(item[1] for item in items)
        labels = {
            label: i for i, (label, _) in enumerate(sorted(frequent.items(), key=lambda pair: (-pair[1], pair[0])))
        }
        last = [item[2] if len(item) > 2 else "" for item in items]
        seen = collections.Counter(word for word in last[:until] if word)
        words = {word: i for i, word in enumerate(sorted(seen))}
        values = np.array([value for row in kept for _, value in row], dtype=np.float64)
        return cls.from_columns(
            labels=tuple(labels),
            templates=templates,
            names=tuple(names),
            offsets=np.cumsum([0, *map(len, listed)]),
            gold=np.array([labels[item[1]] for item in items]),
            starts=np.cumsum([0, *map(len, kept)]),
            ids=np.array([i for row in kept for i, _ in row]),
            values=None if (values == 1.0).all() else values,
            last=np.array([words.get(word, len(words)) if word else -1 for word in last]),
            words=tuple(words),
            fragments=[word for word in words if seen[word] >= min_count],
            loss=loss,
        )

    @classmethod
    def from_columns(cls, *, fragments: Sequence[str], **columns: Any) -> Sequences:
        """Build from columns and add the names of history features; ``fragments`` are the words with a feature.

        An item's last word may have the number ``len(words)``, which stands for words without a feature.
        """
        import numpy as np

        kinds = {"offsets": np.int64, "gold": np.int32, "starts": np.int64, "ids": np.int32, "last": np.int32}
        columns |= {name: np.ascontiguousarray(columns[name], dtype=kind) for name, kind in kinds.items()}
        templates = tuple(columns.pop("templates"))
        known = [template for template in templates if template in HISTORY]
        if len(set(templates)) < len(templates):
            raise UsageError(f"templates: expected each template once, found {', '.join(templates)}")
        # Native code expects this order.
        ordered = [template for template in templates if template not in HISTORY] + [
            template for template in HISTORY if template in known
        ]
        own = (*columns["labels"], BEGIN)
        history = {
            "label": own,
            "label2": [f"{first} {second}" for first in own for second in own],
            "depth": [str(depth) for depth in range(DEEPEST + 1)],
            "fragment": [*fragments, "", BEGIN],
        }
        names = [
            *columns.pop("names"),
            *(f"{template}={key}" for template in HISTORY if template in known for key in history[template]),
        ]
        words = (*columns.pop("words"), "\n")
        return cls(templates=tuple(ordered), names=tuple(names), words=words, **columns)

    @property
    def history(self) -> tuple[str, ...]:
        """The templates of the history."""
        return tuple(template for template in self.templates if template in HISTORY)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The number of each name."""
        return {name: at for at, name in enumerate(self.names)}

    def policy(self, weights: Array, shares: Array) -> Policy:
        """The policy with weights of shape policies x names x labels."""
        return Policy(self.labels, self.templates, self.names, weights, shares)

    @cached_property
    def native(self) -> Any:
        """The sequences as a native object."""
        import numpy as np

        blank = Policy(self.labels, self.templates, self.names, self._no_weights(), np.ones(1))
        rows = blank.history_rows()
        own = [operations(label) for label in self.labels]
        none = np.empty(0, dtype=np.int32)
        fragments = [rows.fragment.get(word, -1) for word in (*self.words, "", BEGIN)]
        return Native(
            self.offsets,
            self.gold,
            self.starts,
            self.ids,
            self.values,
            self.last,
            len(self.labels),
            len(self.names),
            rows.label if "label" in self.history else none,
            rows.label2.reshape(-1) if "label2" in self.history else none,
            rows.depth if "depth" in self.history else none,
            np.array(fragments, dtype=np.int32) if "fragment" in self.history else none,
            np.cumsum([0, *map(len, own)]).astype(np.int64),
            np.array([in_order for label in own for in_order in label], dtype=np.uint8),
        )

    def _no_weights(self) -> Array:
        import numpy as np

        return np.broadcast_to(np.float32(0), (1, len(self.names), len(self.labels)))

    def begin(self, example: int) -> Labelled:
        """The state without labels; an example is the number of a sequence."""
        return Labelled(example)

    def actions(self, state: Labelled) -> Sequence[str]:
        """The labels allowed for the next item."""
        return self.labels if self._item(state) < self.offsets[state.sequence + 1] else ()

    def features(self, state: Labelled, actions: Sequence[str]) -> Columns:
        """The features of each label: those of the item and its history; blanks in names become open boxes."""
        item = self._item(state)
        part = slice(self.starts[item], self.starts[item + 1])
        names = [self.names[at] for at in self.ids[part].tolist()]
        values = [1.0] * len(names) if self.values is None else self.values[part].tolist()
        history = [name for name in state.history.names(self.templates) if name in self.rows]
        # Weight names must not contain blanks.
        shown = [name.replace(" ", "␣") for name in (*names, *history)]
        layouts = [tuple(f"{name}|{action}" for name in shown) for action in actions]
        return Columns.from_rows(layouts, [[*values, *(1.0 for _ in history)] for _ in actions])

    def after(self, state: Labelled, action: str) -> Labelled:
        """The state after the next item gets this label."""
        word = int(self.last[self._item(state)])
        history = state.history.after(action, self.words[word] if word >= 0 else "")
        return Labelled(state.sequence, (*state.taken, action), history)

    def reward(self, state: Labelled) -> float:
        """-1 for a wrong label; with a metric, 0 until the end and its score there."""
        first, end = (int(offset) for offset in self.offsets[state.sequence : state.sequence + 2])
        if self.loss == "hamming":
            return 0.0 if state.taken[-1] == self.labels[self.gold[first + len(state.taken) - 1]] else -1.0
        if first + len(state.taken) < end:
            return 0.0
        metric: Metric = self.loss
        numbers = [self.labels.index(label) for label in state.taken]
        # Labels as words that no metric's tokenizer splits.
        chosen, right = (" ".join(f"L{number}" for number in row) for row in (numbers, self.gold[first:end].tolist()))
        score = float(metric.sentence(metric.stats([chosen], [[right]]))[0])
        return score if metric.higher_is_better else -score

    def optimal(self, state: Labelled) -> str:
        """The gold label of the next item."""
        return self.labels[int(self.gold[self._item(state)])]

    def _item(self, state: Labelled) -> int:
        return int(self.offsets[state.sequence]) + len(state.taken)
