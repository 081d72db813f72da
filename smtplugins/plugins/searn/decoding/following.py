"""A policy as the search of ``amasis`` follows it: rows of features for rules, summed before the search begins.

D. Zhang, L. Sun, W. Li (2008), sections 5.1 and 6: the current source word, the one before it, the target word. What an
item alone says is summed for each option once; features of the history are added for each hypothesis, natively.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.plugins.searn.learning.policy import BEGIN, STATIC, Policy, operations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.core.grammar.tables import Tables
    from smtplugins.host.decode.forests import SentenceForest
    from smtplugins.plugins.searn._searn import Labels
    from smtplugins.plugins.searn.labels.pair_columns import PairColumns

    Array = NDArray[Any]

NO_WORDS = -2
_UNKNOWN = -3
_COLUMNS = ("source", "target", "fragment")


def monotone() -> Policy:
    """The policy that puts each item behind those before it."""
    import numpy as np

    return Policy(("S,R+",), (), (), np.zeros((1, 0, 1), dtype=np.float32), np.ones(1))


def load_policy(path: Path) -> Policy:
    """The policy in a folder, or in that of a model."""
    return Policy.load(path / "policy" if (path / "policy").is_dir() else path)


class Follower:
    """What a policy says of rules. One object serves all threads; rules of the run's tables are looked up once."""

    def __init__(self, policy: Policy) -> None:
        import numpy as np

        self.policy = policy
        self.history = policy.history_rows()
        # A last row for features that there are none of.
        zeros = np.zeros((len(policy.shares), 1, len(policy.labels)), dtype=np.float32)
        self._weights = np.concatenate([policy.weights, zeros], axis=1)
        self._lock = threading.Lock()
        self._tables: Tables | None = None
        self._known = np.empty((0, len(_COLUMNS)), dtype=np.int32)
        self._columns = pair_columns(policy)
        self._pairs: dict[tuple[str, str], Array] = {}

    def begin(self, tables: Tables, rules: int) -> None:
        """Takes the run's tables, which have so many rules."""
        import numpy as np

        with self._lock:
            if self._tables is not tables:
                self._tables = tables
                self._known = np.full((rules, len(_COLUMNS)), _UNKNOWN, dtype=np.int32)

    def labels(self) -> Labels:
        """The policy for native code."""
        import numpy as np

        from smtplugins.plugins.searn._searn import Labels

        used, rows = self.policy.history, self.history
        reduced = [operations(label) for label in self.policy.labels]
        none = np.empty(0, dtype=np.int32)
        return Labels(
            np.ascontiguousarray(self.policy.weights),
            np.ascontiguousarray(self.policy.shares, dtype=np.float64),
            np.array(list(map(len, reduced)), dtype=np.int32),
            np.array([sum(one << k for k, one in enumerate(some)) for some in reduced], dtype=np.uint32),
            rows.label if "label" in used else none,
            np.ascontiguousarray(rows.label2).reshape(-1) if "label2" in used else none,
            rows.depth if "depth" in used else none,
            "fragment" in used,
            rows.fragment.get(BEGIN, -1),
            rows.fragment.get("", -1),
        )

    def sums(self, made: SentenceForest) -> tuple[Array, Array]:
        """What each policy gives to each label for each edge of a forest, and the last word of each rule as a row."""
        import numpy as np

        native = made.forest.native
        edges = len(native.rules)
        shape = (len(self.policy.shares), edges, len(self.policy.labels))
        rules = self._rows(made)
        found = np.zeros(shape)
        for column, name in enumerate(_COLUMNS[:2]):
            if name in self.policy.templates:
                found += self._weights[:, rules[native.rules, column]]
        if "previous" in self.policy.templates:
            row = self.policy.rows.get
            words = (BEGIN, *made.sentence.tokens)
            rows = np.array([row(f"previous={word}", -1) for word in words], dtype=np.int64)
            found += self._weights[:, rows[_firsts(native)]]
        if self._columns is not None:
            found += self._real(made)[:, native.rules]
        if "bias" in self.policy.templates:
            found += self._weights[:, [self.policy.rows.get("bias", -1)]]
        return np.ascontiguousarray(found.transpose(1, 0, 2)).reshape(-1), np.ascontiguousarray(rules[:, 2])

    def _real(self, made: SentenceForest) -> Array:
        """What candidate features of the policy add for each rule; they are asked once about the same words."""
        import numpy as np

        assert self._columns is not None
        count = len(made.forest.native.origins)
        found = np.zeros((len(self.policy.shares), count, len(self.policy.labels)))
        pairs = {
            number: (" ".join(source), " ".join(target))
            for number, source, target in _sides(made, np.arange(max(count - 1, 0)))
        }
        with self._lock:
            fresh = [pair for pair in dict.fromkeys(pairs.values()) if pair not in self._pairs]
            for pair, (names, values) in self._columns.table(fresh).items():
                self._pairs[pair] = self.policy.scores(names, values)
            for number, pair in pairs.items():
                found[:, number] = self._pairs[pair]
        return found

    def _rows(self, made: SentenceForest) -> Array:
        """The rows of each rule of a forest; the goal's, which is the last, has none."""
        import numpy as np

        origins = made.forest.native.origins
        rows = np.full((len(origins), len(_COLUMNS)), -1, dtype=np.int32)
        rows[-1:, 2] = NO_WORDS
        own = np.arange(max(len(origins) - 1, 0))
        # A sentence whose grammars are its alone has none of the run's.
        static = own[origins[own] < len(self._known)] if made.forest.tables is self._tables else own[:0]
        with self._lock:
            if len(static):
                rows[static] = self._known[origins[static]]
                fresh = static[rows[static, 0] == _UNKNOWN]
                if len(fresh):
                    rows[fresh] = self._known[origins[fresh]] = self._looked_up(made, fresh)
        own = np.setdiff1d(own, static)
        if len(own):
            rows[own] = self._looked_up(made, own)
        return rows

    def _looked_up(self, made: SentenceForest, rules: Array) -> Array:
        import numpy as np

        row, fragment = self.policy.rows.get, self.history.fragment.get
        found = np.empty((len(rules), len(_COLUMNS)), dtype=np.int32)
        for place, source, target in _sides(made, rules):
            last = fragment(target[-1], -1) if target else NO_WORDS
            found[place] = row(f"source={' '.join(source)}", -1), row(f"target={' '.join(target)}", -1), last
        return found


def pair_columns(policy: Policy) -> PairColumns | None:
    """The candidate features of a policy, as those of plugins that are installed."""
    if not policy.features:
        return None
    from smtplugins.host.loading.manager import load_plugins
    from smtplugins.plugins.searn.labels.pair_columns import PairColumns

    return PairColumns(load_plugins(), policy.features)


def _sides(made: SentenceForest, rules: Array) -> Iterator[tuple[int, list[str], list[str]]]:
    """The places of rules among those given, and the words of their sides."""
    for columns, chosen, places in made.forest.in_parts(rules):
        for rule, place in zip(chosen.tolist(), places.tolist(), strict=True):
            source = _text(columns.words, columns.source, columns.source_offsets, rule)
            yield place, source, _text(columns.words, columns.target, columns.target_offsets, rule)


def _text(words: Any, column: Array, offsets: Array, rule: int) -> list[str]:
    return [words[symbol] for symbol in column[offsets[rule] : offsets[rule + 1]].tolist()]


def _firsts(native: Any) -> Array:
    """The position where each edge begins."""
    import numpy as np

    counts = np.diff(native.rule_offsets[native.node_bundles]) if len(native.nodes) else np.empty(0, np.int64)
    firsts: Array = np.repeat(np.asarray(native.nodes).reshape(-1, 3)[:, 1], counts)
    return firsts


assert set(_COLUMNS[:2]) | {"previous", "bias"} == set(STATIC)
