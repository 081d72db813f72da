"""N-best lists as a re-readable stream: open, join sources by id, rescore, deduplicate, take the best, write."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.files.opening import Opened, Path, open_known, writable, write_all

if TYPE_CHECKING:
    from smtformats import Candidates, Format, ListColumns

Tokens = Literal["words", "sentencepiece", "bpe"]


KINDS = ("nbest", "hypergraph")


class ListStream:
    """A stream of n-best lists, one sentence at a time.

    Each iteration starts again, so files can be read repeatedly with one list in memory; standard input only once.
    """

    def __init__(
        self,
        start: Callable[[], Iterator[Candidates]],
        name: str,
        format: Format | None = None,
        load: Callable[[], ListColumns] | None = None,
        *,
        again: bool = False,
        total: Callable[[], int] | None = None,
    ) -> None:
        self._start = start
        self.again = again
        """Whether the lists are in a file, which can be read at any time."""
        self.total = total
        """Counts the lists, where that is possible and cheap beside what is done with them."""
        self._load = load
        self.name = name
        self.format = format

    def __iter__(self) -> Iterator[Candidates]:
        return self._start()

    def __repr__(self) -> str:
        return f"<n-best lists of {self.name}{'' if self.format is None else f' ({self.format.name})'}>"

    def map(self, change: Callable[[Candidates], Candidates]) -> ListStream:
        """Apply a function to every list."""
        return ListStream(lambda: (change(nbest) for nbest in self), self.name, self.format)

    def load(self) -> ListColumns:
        """Load all lists into memory as columns."""
        from smtformats import ListColumns

        if self._load is not None:
            return self._load()
        return ListColumns.from_lists(self)

    def rescore(
        self,
        weights: Mapping[str, float] | Path,
        *,
        missing: float | None = None,
        required: Iterable[str] = (),
        note: Callable[[str], None] = lambda text: None,
    ) -> ListStream:
        """Compute total scores from weights and sort each list by them (stable).

        After the last list, raises an error if no weight, or not every ``required`` weight, names a feature of the
        lists; ``note`` receives the other unused weights.
        """
        from smtplugins.host.features.weighing import Weigher

        table = weights if isinstance(weights, Mapping) else read_weights(weights)

        def start() -> Iterator[Candidates]:
            weigher = Weigher(table, missing)
            for nbest in self:
                totals = weigher.totals(nbest)
                yield nbest.with_totals(totals).select(ranking(totals))
            weigher.check_used(self.name, required, note)

        return ListStream(start, self.name, self.format)

    def dedup(self, merge: Literal["max", "logsum"] = "max") -> ListStream:
        """Keep each text once per list, at its first position, with the best total or the log of the summed ones."""
        if merge not in ("max", "logsum"):
            raise UsageError(f"merge: expected max or logsum, found {merge!r}")
        return self.map(lambda nbest: _dedup(nbest, merge))

    def best(self) -> list[str]:
        """The text with the highest total of each list (the first on a tie, or if there are no totals)."""
        return [text for _, text in self.best_by_id()]

    def best_by_id(self) -> Iterator[tuple[str, str]]:
        """Iterate over (id, best text)."""
        for nbest in self:
            yield nbest.id, best_text(nbest)

    def write(self, path: Path, format: str | None = None, *, precision: int | None = None) -> int:
        """Write the lists in the named format, that of the file's suffix, or their own; return the number of lists."""
        from smtplugins.host.files.conversion import output_format

        record = output_format(format, "nbest", self.format, path)
        if record is None or record.write is None:
            raise UsageError(f"choose a writable format: {', '.join(writable('nbest'))}")
        return write_all(record, self, path, precision)


def ranking(totals: Sequence[float]) -> list[int]:
    """The positions of totals, the highest first (stable)."""
    return sorted(range(len(totals)), key=lambda i: -totals[i])


def best_text(nbest: Candidates) -> str:
    """The text with the highest total (the first on a tie, or if there are no totals)."""
    return nbest.texts[best_at(nbest)]


def best_at(nbest: Candidates) -> int:
    """The position of the hypothesis with the highest total (the first on a tie, or if there are no totals)."""
    return 0 if nbest.totals is None else max(range(len(nbest)), key=nbest.totals.__getitem__)


def _dedup(nbest: Candidates, merge: str) -> Candidates:
    groups: dict[str, list[int]] = {}
    for i, text in enumerate(nbest.texts):
        groups.setdefault(text, []).append(i)
    totals = nbest.totals
    if totals is None:
        return nbest.select([group[0] for group in groups.values()])
    order = [max(group, key=totals.__getitem__) for group in groups.values()]
    kept = nbest.select(order)
    if merge == "max" or len(groups) == len(nbest):
        return kept
    return kept.with_totals([_log_sum([totals[i] for i in group]) for group in groups.values()])


def _log_sum(values: Sequence[float]) -> float:
    top = max(values)
    if math.isinf(top):
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def read_weights(path: Path, format: str | None = None, formats: Iterable[Format] | None = None) -> dict[str, float]:
    """Read weights from a file of any weights format, or those of a run from its folder."""
    if os.path.isdir(path):
        path = os.path.join(path, "weights")
        if not os.path.exists(path):
            raise UsageError(f"{path}: expected the weights of a run that has ended, found no such file")
    with open_known(path, "weights", format, formats) as opened:
        weights: dict[str, float] = opened.record.read(opened.lines())
    return weights


def write_best(lists: ListStream, path: Path, *, fill: bool | None = False) -> int:
    """Write the best text of each list, one per line, by id; return the number of ids skipped in between.

    ``fill`` writes an empty line for a skipped id; ``None`` does so only if ids are numbers.
    """
    from smtformats.files import open_write
    from smtformats.tokens import is_id
    from smtplugins.host.files.ordering import in_order

    skipped = at = 0
    texts = lists.best_by_id()
    if lists.format is None or not lists.format.ordered:
        texts = in_order(texts, lambda pair: pair[0], lists.name)
    with open_write(path) as out:
        for key, text in texts:
            if "\n" in text:
                raise SmtError(f"{lists.name}: expected single-line texts, found a line break in the text of id {key}")
            if fill and not is_id(key):
                without = "without it there is a line for each list, in their order"
                raise SmtError(
                    f"{lists.name}: {argument('fill=True')}: expected whole numbers as ids, found {key!r}; {without}"
                )
            missing = int(key) - at if is_id(key) else 0
            if missing < 0:
                raise SmtError(f"{lists.name}: expected an id after {at - 1}, found {key}")
            skipped += missing
            out.write("\n" * missing * (fill is not False) + text + "\n")
            at += missing + 1
    return skipped


def read_corpus(path: Path) -> Iterator[str]:
    """Iterate over the sentences of a text file."""
    from smtformats.corpus.text import FORMAT, open_sentences

    assert FORMAT.parse is not None
    with open_sentences(path) as lines:
        yield from FORMAT.parse(lines)


def read(
    path: Path,
    *,
    source: Path | None = None,
    annotations: Mapping[str, Path] | None = None,
    format: str | None = None,
    allow_partial: bool = False,
    derivations: int | None = None,
    unique: bool = False,
    formats: Iterable[Format] | None = None,
) -> ListStream:
    """Open n-best lists for streaming; join sources and annotations by id (id 0 is the first line of a text).

    Of forests, search graphs and lattices the lists are the best ``derivations`` (default: 100), of different texts if
    ``unique``, by the scores in the file; ``rescore`` of the stream finds the best under its weights. The default
    formats are ours, and those of installed plugins, which are loaded only if ``format`` names none of ours, or,
    without ``format``, the file has the shape of none. ``host.read`` also knows the plugins that ``load_plugins`` was
    given.
    """
    if [path, source, *(annotations or {}).values()].count("-") > 1:
        raise UsageError("only one of lists, source and annotations can be read from standard input")
    known = None if formats is None else list(formats)
    first = open_known(path, KINDS, format, known)
    return stream_of_opened(first, source, annotations or {}, allow_partial, derivations, unique, known)


def stream_of_opened(
    first: Opened,
    source: Path | None = None,
    annotations: Mapping[str, Path] = MappingProxyType({}),
    allow_partial: bool = False,
    derivations: int | None = None,
    unique: bool = False,
    known: Sequence[Format] | None = None,
) -> ListStream:
    """The lists of an opened file, as of ``read``."""
    path = first.path
    again = os.fspath(path) != "-" and (os.path.isfile(path) or os.path.isdir(path))
    pipe = [first]
    if again:
        # Opened only to detect the format: each iteration opens the file again.
        pipe.pop().close()

    def opened() -> Opened:
        if not again and not pipe:
            raise UsageError(f"{os.fspath(path)}: a pipe can be read only once; write it to a file first")
        return first.again() if again else pipe.pop()

    def lists() -> Iterator[Candidates]:
        yield from opened().records()

    def join(joined: Iterator[Candidates]) -> Iterator[Candidates]:
        from smtplugins.host.files.sides import join_side

        add = functools.partial(
            join_side, name=os.fspath(path), partial=allow_partial, ordered=first.record.ordered, formats=known
        )
        if source is not None:
            joined = add(joined, source)
        for name, side in annotations.items():
            joined = add(joined, side, annotation=name)
        return joined

    if first.record.kind == "hypergraph":
        from smtplugins.host.forests.forest_lists import LENGTH, ForestLists, Ranking, forests_of

        how = Ranking(LENGTH if derivations is None else derivations, unique)
        return ForestLists(lambda: forests_of(opened), os.fspath(path), how, join)
    if derivations is not None or unique:
        refused = [argument("derivations", "-k")] * (derivations is not None) + [argument("unique")] * unique
        shown = f"{' and '.join(refused)}: expected forests or lattices, found {first.record.name}"
        raise UsageError(f"{os.fspath(path)}: {shown}")
    native = again and first.record.load is not None and not annotations
    load = functools.partial(_load, first, source, allow_partial, known) if native else None
    return ListStream(lambda: join(lists()), os.fspath(path), first.record, load, again=again)


def _load(first: Opened, source: Path | None, partial: bool, formats: Sequence[Format] | None) -> ListColumns:
    """Load columns with a format's native scanner and add the sources."""
    from dataclasses import replace

    from smtformats.files import shown_name
    from smtplugins.contracts.spec import parameters
    from smtplugins.host.files.sides import open_side

    load, limits = first.record.load, {"max_bytes": first.record.max_line}
    assert load is not None
    taken = {name: limit for name, limit in limits.items() if name in parameters(load)}
    with first.again() as again:
        columns: ListColumns = load(again.stream, shown_name(first.path), **taken)
    if source is None:
        return columns
    places = list(zip(columns.ids, columns.lines.tolist(), strict=True))
    with open_side(source, False, partial, first.record.ordered, formats) as side:
        texts = tuple([side.text_of(key, columns.file, line) for key, line in places])
        side.finish(os.fspath(first.path))
    return replace(columns, sources=texts)


@overload
def candidates(
    texts: Sequence[str],
    *,
    id: str | int = 0,
    scores: Sequence[float] | Mapping[str, Sequence[float]] | None = None,
    source: str | None = None,
) -> Candidates: ...
@overload
def candidates(
    texts: object,
    *,
    source: str | Sequence[str] | None = None,
    tokens: Tokens | None = None,
    failed: Literal["error", "skip"] = "error",
    thoughts: Literal["error", "drop"] = "error",
    echo: Literal["error", "drop", "keep"] = "error",
    wrapping: Literal["error", "drop", "keep"] = "error",
    cut: Literal["error", "drop", "keep"] = "error",
) -> Any: ...
def candidates(
    texts: Any,
    *,
    id: str | int | None = None,
    scores: Sequence[float] | Mapping[str, Sequence[float]] | None = None,
    source: str | Sequence[str] | None = None,
    tokens: Tokens | None = None,
    failed: Literal["error", "skip"] = "error",
    thoughts: Literal["error", "drop"] = "error",
    echo: Literal["error", "drop", "keep"] = "error",
    wrapping: Literal["error", "drop", "keep"] = "error",
    cut: Literal["error", "drop", "keep"] = "error",
) -> Any:
    """Make an n-best list from Python objects: texts, one score each or several named ones, the source.

    Instead of texts it takes what a model's library returns: vLLM's ``RequestOutput``, OpenAI's chat and text
    completions, CTranslate2's results (``tokens`` says how to join their tokens), dictionaries of Hugging Face
    pipelines, or decoded JSON of any shape that ``jsonl-nbest`` reads. For a list of them it returns a list of
    n-best lists, with a ``source`` for each if given. ``failed="skip"`` leaves out responses without an answer,
    ``thoughts="drop"`` thoughts before an answer, ``echo="drop"`` the prompt at its begin (``"keep"`` keeps a text
    that begins alike), ``wrapping="drop"`` special tokens and code fences around it, ``cut="drop"`` answers that were
    cut (``"keep"`` keeps both); all are errors otherwise.
    """
    if isinstance(texts, str):
        raise UsageError("candidates: expected a list of texts, found a single text")
    options = {"tokens": tokens, "failed": failed, "thoughts": thoughts, "echo": echo, "wrapping": wrapping, "cut": cut}
    if isinstance(texts, Mapping) or not hasattr(texts, "__len__") or not all(isinstance(text, str) for text in texts):
        from smtformats.nbest.shared.json_objects import from_responses

        if scores is not None or id is not None:
            raise UsageError("candidates: a model's responses have their own scores, and ids by position")
        return from_responses(texts, source, **options)
    from smtformats import Candidates

    if any(value not in (None, "error") for value in options.values()):
        *names, last = options
        raise UsageError(f"candidates: {', '.join(names)} and {last} are for models' responses, found texts")
    if source is not None and not isinstance(source, str):
        raise UsageError("candidates: texts have one source")
    named = scores if isinstance(scores, Mapping) else ({} if scores is None else {"score": scores})
    layout = tuple(named)
    for name, column in named.items():
        if len(column) != len(texts):
            raise ValueError(f"expected {len(texts)} values of {name!r}, found {len(column)}")
    return Candidates(
        id="0" if id is None else str(id),
        texts=list(texts),
        layouts=[layout] * len(texts),
        values=[[float(named[name][i]) for name in layout] for i in range(len(texts))],
        totals=None if scores is None or isinstance(scores, Mapping) else [float(score) for score in scores],
        source=source,
    )


def load(path: Path, *, source: Path | None = None, format: str | None = None) -> ListColumns:
    """Read n-best lists into columns; knows the formats that :func:`read` knows."""
    return read(path, source=source, format=format).load()


def rescore(
    lists: ListStream | Iterable[Candidates], weights: Mapping[str, float] | Path, *, missing: float | None = None
) -> ListStream:
    """Compute total scores from weights and sort each list by them."""
    return as_stream(lists).rescore(weights, missing=missing)


def as_stream(lists: ListStream | Iterable[Candidates] | Candidates | Path) -> ListStream:
    """Turn a path, a stream, columns, a Python list of candidates or a single one into a stream."""
    from smtformats import Candidates

    if isinstance(lists, ListStream):
        return lists
    if isinstance(lists, (str, os.PathLike)):
        return read(lists)
    if isinstance(lists, Candidates):
        lists = [lists]
    return ListStream(lambda: _numbered(lists), "<lists>")


def _numbered(lists: Iterable[Candidates]) -> Iterator[Candidates]:
    """Number the hypotheses of lists made in Python consecutively; lists from a file know their position."""
    from dataclasses import replace

    count = 0
    for nbest in lists:
        yield nbest if nbest.file else replace(nbest, first=count)
        count += len(nbest)
