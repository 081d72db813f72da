"""The sentence scores of systems as a table, a row per sentence and a column per metric and run of a system."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtplugins.contracts.metrics import Metric


@dataclass(frozen=True)
class SentenceScores:
    """The score of each sentence by :meth:`Metric.sentence`; a column is named ``SYSTEM/METRIC``.

    Runs of a system are numbered, ``SYSTEM[1]/METRIC``, and so are metrics of the same name, ``SYSTEM/METRIC(2)``.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, tuple[float, ...]]

    def rows(self) -> list[dict[str, Any]]:
        """One row per sentence, with its id."""
        return [
            {"id": key, **{name: column[i] for name, column in self.columns.items()}} for i, key in enumerate(self.ids)
        ]

    def write(self, path: str | os.PathLike[str]) -> int:
        """Write a table with a header line, or JSON lines if the name ends in ``.jsonl``; return the number of rows.

        A further suffix (``.jsonl.gz``) compresses. The file appears when it is complete.
        """
        from smtformats.files import open_write

        lines = self._json_lines() if is_jsonl(path) else self._table_lines()
        with open_write(path) as out:
            out.writelines(f"{line}\n" for line in lines)
        return len(self.ids)

    def _json_lines(self) -> list[str]:
        return [json.dumps(row, ensure_ascii=False) for row in self.rows()]

    def _table_lines(self) -> list[str]:
        from smtformats.format import shortest

        header = ["id", *self.columns]
        for name in (*header, *self.ids):
            if any(char in name for char in "\t\r\n"):
                raise SmtError(
                    f"sentence scores: expected names without tabs and line breaks in a table, found {name!r}; "
                    "a file name that ends in .jsonl takes any"
                )
        values = zip(self.ids, *self.columns.values(), strict=True)
        return ["\t".join(header), *("\t".join([key, *map(shortest, row)]) for key, *row in values)]


def is_jsonl(path: str | os.PathLike[str]) -> bool:
    """Whether the name ends in ``.jsonl``, also before the suffix of a compression."""
    return re.search(r"\.jsonl(\.(gz|bz2|xz|zst))?$", os.fspath(path)) is not None


def score_sentences(
    ids: Sequence[str], metrics: Sequence[Metric], stats: Sequence[Mapping[str, Sequence[NDArray[Any]]]]
) -> SentenceScores:
    """Score each sentence; ``stats`` has for each metric the statistics of each run by system."""
    import numpy as np

    columns: dict[str, tuple[float, ...]] = {}
    names = [metric.name for metric in metrics]
    for k, (metric, systems) in enumerate(zip(metrics, stats, strict=True)):
        shown = metric.name if names.count(metric.name) == 1 else f"{metric.name}({names[: k + 1].count(metric.name)})"
        for system, runs in systems.items():
            for run, rows in enumerate(runs, 1):
                column = f"{system}{f'[{run}]' * (len(runs) > 1)}/{shown}"
                if column in columns:
                    raise UsageError(f"sentence scores: expected different columns, found {column!r} twice")
                scores = np.asarray(metric.sentence(rows), dtype=np.float64)
                bad = np.flatnonzero(~np.isfinite(scores))
                if len(bad):
                    at = int(bad[0])
                    raise SmtError(
                        f"metric {metric.name!r}: expected a score of id {ids[at]} of {system}, found {scores[at]}"
                    )
                columns[column] = tuple(scores.tolist())
    return SentenceScores(tuple(ids), columns)


def check_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if the table cannot be written there: it needs a file in a folder that exists."""
    import errno

    if os.fspath(path) == "-":
        raise UsageError(f"{argument('sentences=...')}: expected a file, found standard output, which has the scores")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(folder))
