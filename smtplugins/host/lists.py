"""N-best lists as a stream that can be read again: open, join with sources by id, rescore, dedup, best, write."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.opening import Path, find_format, open_known, writable, write_all

if TYPE_CHECKING:
    from smtformats import Candidates, Format, ListColumns


class ListStream:
    """A source of n-best lists, one sentence at a time.

    Iterating starts afresh each time, so a stream over files can be gone through often while only one list is in
    memory; standard input can be read once.
    """

    def __init__(self, start: Callable[[], Iterator[Candidates]], name: str, format: Format | None = None) -> None:
        self._start = start
        self.name = name
        self.format = format

    def __iter__(self) -> Iterator[Candidates]:
        return self._start()

    def __repr__(self) -> str:
        return f"<n-best lists of {self.name}>"

    def map(self, change: Callable[[Candidates], Candidates]) -> ListStream:
        """The stream with every list changed."""
        return ListStream(lambda: (change(one) for one in self), self.name, self.format)

    def load(self) -> ListColumns:
        """All lists at once, as columns."""
        from smtformats import ListColumns

        return ListColumns.from_lists(self)

    def rescore(
        self,
        weights: Mapping[str, float] | Path,
        *,
        missing: float | None = None,
        required: Iterable[str] = (),
        note: Callable[[str], None] = lambda text: None,
    ) -> ListStream:
        """Total scores from weights, and each list sorted by them (equal totals keep their order).

        When all lists went through, it is an error if none of the weights, or not all ``required`` ones, name a feature
        of the lists; ``note`` is told of the others that do not.
        """
        from smtplugins.host.model import Weigher
        from smtplugins.host.spec import suggestion

        table = weights if isinstance(weights, Mapping) else read_weights(weights)

        def start() -> Iterator[Candidates]:
            weigher = Weigher(table, missing)
            for one in self:
                totals = weigher.totals(one)
                order = sorted(range(len(one)), key=lambda i: -totals[i])
                yield one.with_totals(totals).select(order)
            if not weigher.used:
                raise SmtError(f"{self.name}: none of the {len(table)} weights names a feature of the lists")
            idle = [name for name in table if name not in weigher.used]
            for name in required:
                if name in idle:
                    close = suggestion(name, weigher.used)
                    raise UsageError(f"weight {name!r} names no feature of {self.name}{close}")
            if idle:
                shown = ", ".join(idle[:10]) + (f" and {len(idle) - 10} more" if len(idle) > 10 else "")
                note(f"no feature of the lists has the name of these weights: {shown}")

        return ListStream(start, self.name, self.format)

    def dedup(self, merge: Literal["max", "logsum"] = "max") -> ListStream:
        """Each text once per list, at the place of its first; its total is the best one, or the log of their sum."""
        if merge not in ("max", "logsum"):
            raise UsageError(f"merge: expected max or logsum, found {merge!r}")
        return self.map(lambda one: _dedup(one, merge))

    def best(self) -> list[str]:
        """The text with the highest total of each list (the first of equals; the first of all without totals)."""
        return [text for _, text in self.best_by_id()]

    def best_by_id(self) -> Iterator[tuple[str, str]]:
        """The same with ids, streaming."""
        for one in self:
            at = 0 if one.totals is None else max(range(len(one)), key=one.totals.__getitem__)
            yield one.id, one.texts[at]

    def write(self, path: Path, format: str | None = None, *, precision: int | None = None) -> int:
        """Write the lists, in their own format unless another is named; returns how many lists."""
        record = find_format(format, "nbest") if format else self.format
        if record is None or record.write is None:
            raise UsageError(f"name a format that can be written: {', '.join(writable('nbest'))}")
        return write_all(record, self, path, precision)


def _dedup(one: Candidates, merge: str) -> Candidates:
    groups: dict[str, list[int]] = {}
    for i, text in enumerate(one.texts):
        groups.setdefault(text, []).append(i)
    totals = one.totals
    if totals is None:
        return one.select([group[0] for group in groups.values()])
    order = [max(group, key=totals.__getitem__) for group in groups.values()]
    kept = one.select(order)
    if merge == "max" or len(groups) == len(one):
        return kept
    return kept.with_totals([_log_sum([totals[i] for i in group]) for group in groups.values()])


def _log_sum(values: Sequence[float]) -> float:
    top = max(values)
    if math.isinf(top):
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def read_weights(path: Path, format: str | None = None, formats: Iterable[Format] | None = None) -> dict[str, float]:
    """The weights in a file of any weights format."""
    with open_known(path, "weights", format, formats) as opened:
        weights: dict[str, float] = opened.record.read(opened.lines())
    return weights


def write_best(lists: ListStream, path: Path, *, fill: bool = False) -> int:
    """The best text of each list, a line each; returns how many ids in between had no list."""
    from smtformats.files import open_write

    skipped = at = 0
    with open_write(path) as out:
        for key, text in lists.best_by_id():
            if "\n" in text:
                raise SmtError(f"{lists.name}: expected texts of one line, found a line break in that of id {key}")
            missing = int(key) - at if key.isdigit() else 0
            skipped += missing
            out.write("\n" * missing * fill + text + "\n")
            at += missing + 1
    return skipped


def read_corpus(path: Path) -> Iterator[str]:
    """The sentences of a text file."""
    from smtformats.corpus.text import FORMAT
    from smtformats.files import open_lines

    assert FORMAT.parse is not None
    with open_lines(path) as lines:
        yield from FORMAT.parse(lines)


def read_lists(
    path: Path,
    *,
    source: Path | None = None,
    annotations: Mapping[str, Path] | None = None,
    format: str | None = None,
    allow_partial: bool = False,
    formats: Iterable[Format] | None = None,
) -> ListStream:
    """Open n-best lists; sources and annotations (a line per sentence) are joined by id, id 0 being the first line."""
    if [path, source, *(annotations or {}).values()].count("-") > 1:
        raise UsageError("standard input can be one of lists, source and annotations, not two of them")
    first = open_known(path, "nbest", format, formats)
    again = os.fspath(path) != "-" and os.path.isfile(path)
    pipe = [first]
    if again:
        # Opened only to tell its format: every reading opens a file again.
        pipe.pop().close()

    def opened() -> Iterator[Candidates]:
        if not again and not pipe:
            raise UsageError(f"{os.fspath(path)}: a pipe can be read only once; write it to a file first")
        yield from (first.again() if again else pipe.pop()).records()

    def start() -> Iterator[Candidates]:
        lists = opened()
        if source is not None:
            lists = _join(lists, source, None, allow_partial)
        for name, side in (annotations or {}).items():
            lists = _join(lists, side, name, allow_partial)
        return lists

    return ListStream(start, os.fspath(path), first.record)


def _join(lists: Iterable[Candidates], path: Path, annotation: str | None, partial: bool) -> Iterator[Candidates]:
    """Give each list its line of a side file; ids and lines must correspond one to one unless ``partial``."""
    from dataclasses import replace

    from smtformats import FormatError
    from smtformats.files import shown_name

    texts = enumerate(read_corpus(path))
    shown = shown_name(path)
    at, text = -1, ""
    for one in lists:
        if not one.id.isdigit():
            raise FormatError(f"a line number of {shown} as id", repr(one.id), file=one.file, line=one.line, field=1)
        wanted = int(one.id)
        while at < wanted:
            skipped = at
            at, text = next(texts, (math.inf, ""))  # type: ignore[assignment]
            if at == math.inf:
                raise FormatError(
                    f"an id below {skipped + 1}, as {shown} has {skipped + 1} lines (the first is id 0)",
                    f"id {wanted}",
                    file=one.file,
                    line=one.line,
                    field=1,
                )
            if at < wanted and not partial:
                raise FormatError(
                    f"a list for id {at}, line {at + 1} of {shown} (--allow-partial skips it)",
                    f"id {wanted}",
                    file=one.file,
                    line=one.line,
                    field=1,
                )
        if annotation is None:
            yield replace(one, source=text)
        else:
            yield replace(one, annotations={**one.annotations, annotation: text})
    left = next(texts, None)
    if left is not None and not partial:
        raise FormatError(
            f"lines for the ids 0 to {at} alone (--allow-partial skips the rest)",
            f"a line for id {left[0]}",
            file=shown,
            line=left[0] + 1,
            field=1,
        )


def candidates(
    texts: Sequence[str],
    *,
    id: str | int = 0,
    scores: Sequence[float] | Mapping[str, Sequence[float]] | None = None,
    source: str | None = None,
) -> Candidates:
    """A list made from Python objects: texts, one score each or several named ones, the source."""
    from smtformats import Candidates

    named = scores if isinstance(scores, Mapping) else ({} if scores is None else {"score": scores})
    layout = tuple(named)
    for name, column in named.items():
        if len(column) != len(texts):
            raise ValueError(f"expected {len(texts)} values of {name!r}, found {len(column)}")
    return Candidates(
        id=str(id),
        texts=list(texts),
        layouts=[layout] * len(texts),
        values=[[float(named[name][i]) for name in layout] for i in range(len(texts))],
        totals=None if scores is None or isinstance(scores, Mapping) else [float(score) for score in scores],
        source=source,
    )


def read(
    path: Path, *, source: Path | None = None, format: str | None = None, allow_partial: bool = False
) -> ListStream:
    """Open n-best lists for streaming."""
    return read_lists(path, source=source, format=format, allow_partial=allow_partial)


def load(path: Path, *, source: Path | None = None, format: str | None = None) -> ListColumns:
    """Read n-best lists into columns."""
    return read(path, source=source, format=format).load()


def rescore(
    lists: ListStream | Iterable[Candidates], weights: Mapping[str, float] | Path, *, missing: float | None = None
) -> ListStream:
    """Total scores from weights, each list sorted by them."""
    return as_stream(lists).rescore(weights, missing=missing)


def as_stream(lists: ListStream | Iterable[Candidates] | Path) -> ListStream:
    """Whatever holds lists as a stream: a path, a stream, columns, a Python list of candidates."""
    if isinstance(lists, ListStream):
        return lists
    if isinstance(lists, (str, os.PathLike)):
        return read(lists)
    return ListStream(lambda: _numbered(lists), "<lists>")


def _numbered(lists: Iterable[Candidates]) -> Iterator[Candidates]:
    """Lists made in Python count their hypotheses on; those of a file know their place in it."""
    from dataclasses import replace

    count = 0
    for one in lists:
        yield one if one.file else replace(one, first=count)
        count += len(one)
