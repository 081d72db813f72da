"""Learn from the output of Moses' extractor: features and statistics of hypotheses, without their texts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ListProblem
from smtplugins.host.arguments import argument
from smtplugins.host.files.opening import Path, open_known
from smtplugins.host.learn.training_data import Material, WrappedMetric, append_list

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates, Format
    from smtplugins.contracts.metrics import Metric

_EXTRACTED = re.compile(r"(.*)_([0-9]+)")
_ORDERS = 4


class _FileMetric(WrappedMetric):
    """A metric on statistics read from a file; its signature leaves out tokenisation, which the file does not tell."""

    def __init__(self, metric: Metric, origin: str) -> None:
        super().__init__(metric)
        self.origin = origin

    def signature(self) -> str:
        parts = super().signature().split("|")
        kept = [part for part in parts if part.partition(":")[0] not in ("nrefs", "case", "tok")]
        return "|".join([kept[0], f"stats:{self.origin}", *kept[1:]])


def load_extracted(
    features: Sequence[Path], scores: Sequence[Path], metric: Metric, formats: Sequence[Format] | None = None
) -> Material:
    """Read features and statistics of Moses' extractor; several pairs of files are concatenated per sentence."""
    import numpy as np

    if len(features) != len(scores):
        raise UsageError(f"expected {len(features)} files of statistics, one per feature file, found {len(scores)}")
    probe = np.asarray(metric.stats(["a b c d e"], [["a b c d x"]]), dtype=np.float64)
    if probe.tolist() != [[5, 5, 4, 3, 2, 1, 5, 4, 3, 2]]:
        raise UsageError(f"extractor files have statistics of bleu: expected metric bleu, found {metric.name!r}")
    lists: dict[str, Candidates] = {}
    stats: dict[str, list[NDArray[Any]]] = {}
    for pair in zip(features, scores, strict=True):
        for nbest, rows in _pairs(*pair, formats):
            lists[nbest.id] = append_list(lists.get(nbest.id), nbest)
            stats.setdefault(nbest.id, []).append(rows)
    if not lists:
        raise SmtError(f"{features[0]}: expected lists to learn from, found none")
    wrapped = _FileMetric(metric, ",".join(str(path).rpartition("/")[2] for path in scores))
    statistics = [np.concatenate(stats[key]) for key in lists]
    return Material(ListProblem(list(lists.values()), statistics, wrapped), wrapped.signature)


def _pairs(features: Path, scores: Path, formats: Sequence[Format] | None) -> Iterator[tuple[Candidates, NDArray[Any]]]:
    import numpy as np

    from smtformats import Candidates, FormatError
    from smtformats.files import shown_name

    first, second = (shown_name(path) for path in (features, scores))
    with (
        open_known(features, "tuning", None, formats) as feature_file,
        open_known(scores, "tuning", None, formats) as score_file,
    ):
        for left, right in itertools.zip_longest(feature_file.records(), score_file.records()):
            if left is None or right is None:
                short, other, at = (first, second, right) if left is None else (second, first, left)
                raise FormatError(f"sentence {at.id}, as {other} has", "the end", file=short, line=at.line)
            if left.scorer is not None or right.scorer is None:
                raise UsageError(f"expected features in {first} and statistics in {second} ({argument('scores')})")
            if (left.id, len(left)) != (right.id, len(right)):
                expected = f"sentence {left.id} with {len(left)} entries, as line {left.line} of {first}"
                found = f"sentence {right.id} with {len(right)}"
                raise FormatError(expected, found, file=second, line=right.line)
            if right.scorer != "BLEU" or any(len(row) != 2 * _ORDERS + 1 for row in right.rows):
                raise FormatError("9 statistics of BLEU", f"{right.scorer}", file=second, line=right.line)
            names = inner_names(left.names)
            rows: tuple[dict[str, float], ...] = left.sparse or ({},) * len(left)
            table = np.array(right.rows, dtype=np.float64).reshape(len(right), 2 * _ORDERS + 1)
            columns = [table[:, 1], table[:, -1], *table[:, 0:-1:2].T, *table[:, 1:-1:2].T]
            yield (
                Candidates(
                    id=left.id,
                    texts=[""] * len(left),
                    layouts=[names + tuple(more) for more in rows],
                    values=[[*row, *more.values()] for row, more in zip(left.rows, rows, strict=True)],
                    file=first,
                    line=left.line,
                ),
                np.stack(columns, axis=1),
            )


def inner_names(names: Sequence[str]) -> tuple[str, ...]:
    """Translate Moses' names ``TM0_0 TM0_1 LM0_0`` to those of lists and configurations: ``TM0[0] TM0[1] LM0``."""
    cut = [_EXTRACTED.fullmatch(name) for name in names]
    stems = [match[1] if match is not None else name for match, name in zip(cut, names, strict=True)]
    return tuple(
        name if match is None else (stem if stems.count(stem) == 1 else f"{stem}[{int(match[2])}]")
        for match, stem, name in zip(cut, stems, names, strict=True)
    )
