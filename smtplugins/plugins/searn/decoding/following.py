"""A policy prepared for the search of ``amasis``: static features of translation options, summed before the search.

D. Zhang, L. Sun, W. Li (2008), sections 5.1 and 6: the current source word, the previous one, the target word. Features
of the item alone are summed once per option; features of the history are added per hypothesis in native code.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.plugins.searn._searn import Labels
from smtplugins.plugins.searn.learning.policy import BEGIN, STATIC, Policy, operations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.tools.decoding import SentenceForest
    from smtplugins.contracts.tools.grammars import Tables
    from smtplugins.plugins.searn.labels.pair_columns import PairColumns

    Array = NDArray[Any]

NO_WORDS = -2
_UNKNOWN = -3
_COLUMNS = ("source", "target", "fragment")


def monotone() -> Policy:
    """A policy that translates monotonely: each item is appended to the previous ones."""
    import numpy as np

    return Policy(("S,R+",), (), (), np.zeros((1, 0, 1), dtype=np.float32), np.ones(1))


def load_policy(path: Path) -> Policy:
    """Load the policy in a folder, or in a model's folder."""
    return Policy.load(path / "policy" if (path / "policy").is_dir() else path)


class Follower:
    """A policy's scores of rules, shared by all threads; features of the run's rules are looked up once and cached."""

    def __init__(self, policy: Policy) -> None:
        import numpy as np

        self.policy = policy
        self.history = policy.history_rows()
        # The last row, all 0, stands for unknown features.
        zeros = np.zeros((len(policy.shares), 1, len(policy.labels)), dtype=np.float32)
        self._weights = np.concatenate([policy.weights, zeros], axis=1)
        self._lock = threading.Lock()
        self._tables: Tables | None = None
        self._known = np.empty((0, len(_COLUMNS)), dtype=np.int32)
        self._columns = pair_columns(policy)
        self._pairs: dict[tuple[str, str], Array] = {}

    def begin(self, tables: Tables, rules: int) -> None:
        """Set the run's tables, which have this many rules."""
        import numpy as np

        with self._lock:
            if self._tables is not tables:
                self._tables = tables
                self._known = np.full((rules, len(_COLUMNS)), _UNKNOWN, dtype=np.int32)

    def labels(self) -> Labels:
        """Convert the policy for native code."""
        import numpy as np

        used, rows = self.policy.history, self.history
        reduced = [operations(label) for label in self.policy.labels]
        none = np.empty(0, dtype=np.int32)
        return Labels(
            np.ascontiguousarray(self.policy.weights),
            np.ascontiguousarray(self.policy.shares, dtype=np.float64),
            np.array(list(map(len, reduced)), dtype=np.int32),
            np.array([sum(in_order << k for k, in_order in enumerate(row)) for row in reduced], dtype=np.uint32),
            rows.label if "label" in used else none,
            np.ascontiguousarray(rows.label2).reshape(-1) if "label2" in used else none,
            rows.depth if "depth" in used else none,
            "fragment" in used,
            rows.fragment.get(BEGIN, -1),
            rows.fragment.get("", -1),
        )

    def sums(self, parsed: SentenceForest) -> tuple[Array, Array]:
        """The static scores by edge, policy and label, and the fragment row of each rule's last word."""
        import numpy as np

        native = parsed.forest.native
        edges = len(native.rules)
        shape = (len(self.policy.shares), edges, len(self.policy.labels))
        rules = self._rows(parsed)
        sums = np.zeros(shape)
        for column, name in enumerate(_COLUMNS[:2]):
            if name in self.policy.templates:
                sums += self._weights[:, rules[native.rules, column]]
        if "previous" in self.policy.templates:
            row = self.policy.rows.get
            words = (BEGIN, *parsed.sentence.tokens)
            rows = np.array([row(f"previous={word}", -1) for word in words], dtype=np.int64)
            sums += self._weights[:, rows[_firsts(native)]]
        if self._columns is not None:
            sums += self._real(parsed)[:, native.rules]
        if "bias" in self.policy.templates:
            sums += self._weights[:, [self.policy.rows.get("bias", -1)]]
        return np.ascontiguousarray(sums.transpose(1, 0, 2)).reshape(-1), np.ascontiguousarray(rules[:, 2])

    def _real(self, parsed: SentenceForest) -> Array:
        """The scores of the policy's candidate features for each rule; cached by words."""
        import numpy as np

        assert self._columns is not None
        count = len(parsed.forest.native.origins)
        sums = np.zeros((len(self.policy.shares), count, len(self.policy.labels)))
        pairs = {
            number: (" ".join(source), " ".join(target))
            for number, source, target in _sides(parsed, np.arange(max(count - 1, 0)))
        }
        with self._lock:
            fresh = [pair for pair in dict.fromkeys(pairs.values()) if pair not in self._pairs]
            for pair, (names, values) in self._columns.table(fresh).items():
                self._pairs[pair] = self.policy.scores(names, values)
            for number, pair in pairs.items():
                sums[:, number] = self._pairs[pair]
        return sums

    def _rows(self, parsed: SentenceForest) -> Array:
        """The feature rows of each rule of a forest; the goal rule, the last one, has none."""
        import numpy as np

        origins = parsed.forest.native.origins
        rows = np.full((len(origins), len(_COLUMNS)), -1, dtype=np.int32)
        rows[-1:, 2] = NO_WORDS
        own = np.arange(max(len(origins) - 1, 0))
        # A sentence with grammars of its own shares no rules with the run.
        static = own[origins[own] < len(self._known)] if parsed.forest.tables is self._tables else own[:0]
        with self._lock:
            if len(static):
                rows[static] = self._known[origins[static]]
                fresh = static[rows[static, 0] == _UNKNOWN]
                if len(fresh):
                    rows[fresh] = self._known[origins[fresh]] = self._look_up(parsed, fresh)
        own = np.setdiff1d(own, static)
        if len(own):
            rows[own] = self._look_up(parsed, own)
        return rows

    def _look_up(self, parsed: SentenceForest, rules: Array) -> Array:
        import numpy as np

        row, fragment = self.policy.rows.get, self.history.fragment.get
        table = np.empty((len(rules), len(_COLUMNS)), dtype=np.int32)
        for place, source, target in _sides(parsed, rules):
            last = fragment(target[-1], -1) if target else NO_WORDS
            table[place] = row(f"source={' '.join(source)}", -1), row(f"target={' '.join(target)}", -1), last
        return table


def pair_columns(policy: Policy) -> PairColumns | None:
    """Create the candidate features of a policy from the installed plugins; None if it has none."""
    if not policy.features:
        return None
    from smtplugins.contracts.tools.running import load_plugins
    from smtplugins.plugins.searn.labels.pair_columns import PairColumns

    return PairColumns(load_plugins(), policy.features)


def _sides(parsed: SentenceForest, rules: Array) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield the index of each rule among ``rules``, and the words of its source and target side."""
    for columns, chosen, places in parsed.forest.in_parts(rules):
        for rule, place in zip(chosen.tolist(), places.tolist(), strict=True):
            source = _text(columns.words, columns.source, columns.source_offsets, rule)
            yield place, source, _text(columns.words, columns.target, columns.target_offsets, rule)


def _text(words: Any, column: Array, offsets: Array, rule: int) -> list[str]:
    return [words[symbol] for symbol in column[offsets[rule] : offsets[rule + 1]].tolist()]


def _firsts(native: Any) -> Array:
    """The first source position of each edge."""
    import numpy as np

    counts = np.diff(native.rule_offsets[native.node_bundles]) if len(native.nodes) else np.empty(0, np.int64)
    firsts: Array = np.repeat(np.asarray(native.nodes).reshape(-1, 3)[:, 1], counts)
    return firsts


assert set(_COLUMNS[:2]) | {"previous", "bias"} == set(STATIC)
