"""`smt align`: align the words of a text, or symmetrise given alignments of both directions.

Forward: each target word has at most one source word. Backward: each source word has at most one target word.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from smtformats.alignment import pharaoh
from smtformats.alignment.links import Alignment, Point
from smtformats.corpus.text import open_sentences
from smtformats.errors import FormatError, quote
from smtformats.files import open_write, shown_name
from smtformats.format import shortest
from smtformats.tokens import words
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.symmetrisation import check_heuristic, symmetrise
from smtplugins.host.files.opening import find_format, open_known
from smtplugins.host.progress import hushed, progress

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs, Runner
    from smtplugins.host.estimate.aligners import Stage
    from smtplugins.host.host import AnySpec, Host

FileName: TypeAlias = "str | os.PathLike[str]"
Text: TypeAlias = "FileName | Sequence[str | Sequence[str]]"
Words: TypeAlias = "tuple[str, ...]"
Note: TypeAlias = Callable[[str], None]

PHARAOH = "pharaoh-alignment"
DEFAULT_MODEL = "fast-align"
_BAL = "bal-alignment"


@dataclass(frozen=True)
class Directions:
    """Links (source, target) of a sentence pair in both directions, with its words if known."""

    source: Words | None
    target: Words | None
    forward: tuple[Point, ...]
    backward: tuple[Point, ...]


def read_text(source: Text, target: Text) -> Iterator[tuple[Words, Words]]:
    """Iterate over the sentence pairs of two files or sequences; raises FormatError if their lengths differ."""
    sides = (source, target)
    both = (("<source>", source), ("<target>", target))
    names = [shown_name(text) if isinstance(text, (str, os.PathLike)) else name for name, text in both]
    if names.count("<stdin>") > 1:
        raise UsageError("only one of source and target can be read from standard input")
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(_sentences(text)) for text in sides]
        line = 0
        for line, pair in enumerate(itertools.zip_longest(*streams), 1):
            first, second = pair
            if second is None:
                raise FormatError(
                    f"a line for line {line} of {names[0]}", "the end of the file", file=names[1], line=line
                )
            if first is None:
                raise FormatError(f"{line - 1} lines, as {names[0]} has", "more", file=names[1], line=line)
            yield first, second
    if not line:
        raise FormatError("a sentence on each line", "an empty file", file=names[0], line=1)


@contextlib.contextmanager
def _sentences(text: Text) -> Iterator[Iterator[Words]]:
    if isinstance(text, (str, os.PathLike)):
        with open_sentences(text) as lines:
            yield (tuple(words(line)) for line in lines)
    else:
        yield (tuple(words(sentence) if isinstance(sentence, str) else sentence) for sentence in text)


def _train_and_align(
    host: Host,
    text: Iterable[tuple[Words, Words]],
    stages: Sequence[Stage],
    jobs: Jobs,
    note: Note,
    quiet: bool,
) -> Iterator[Directions]:
    """Train models on the text and align it in both directions. Pairs that are empty or too long get no links.

    A runner spreads the two directions; a model reads all of the text, so there is no more to spread.
    """
    from smtplugins.host.estimate.aligners import align_words, check_library
    from smtplugins.host.spread.choice import PROCESSES, SERIAL, default_runner

    check_library()
    pairs = list(text)
    spec = default_runner(jobs)
    if spec.name == PROCESSES:
        # If the library is already loaded its threads may be running, and a forked process would wait for them forever.
        spec = Spec(SERIAL) if "thot" in sys.modules else Spec(PROCESSES, {"jobs": 2, "chunk": 1})
    apart = spec.name != SERIAL
    sides = [[pair[side] for pair in pairs] for side in (0, 1)]

    def one_way(forward: bool) -> tuple[list[list[int]], int]:
        first, second = sides if forward else sides[::-1]
        with hushed(apart):
            return align_words(stages, first, second, quiet=quiet)

    runner: Runner = host.registry.make("runners", spec)
    done = runner.map(one_way, (True, False))
    (forward, longest), (backward, _) = progress(done, "directions", total=2, quiet=quiet) if apart else done
    _tell_left_out(pairs, longest, note)
    for (source, target), ahead, back in zip(pairs, forward, backward, strict=True):
        yield Directions(
            source,
            target,
            tuple((i - 1, j) for j, i in enumerate(ahead) if i),
            tuple((i, j - 1) for i, j in enumerate(back) if j),
        )


def _tell_left_out(pairs: Sequence[tuple[Words, Words]], longest: int, note: Note) -> None:
    empty = sum(not (source and target) for source, target in pairs)
    long = sum(bool(source and target) and max(len(source), len(target)) > longest for source, target in pairs)
    for count, what in ((empty, "with an empty side"), (long, f"of more than {longest} words")):
        if count:
            note(f"{count} sentence pair{'s' if count > 1 else ''} {what}: no links")


def read_directions(
    host: Host,
    forward: FileName,
    backward: FileName,
    text: Iterable[tuple[Words, Words]] | None = None,
    format: str | None = None,
) -> Iterator[Directions]:
    """Read alignments of both directions from files, with the words of a text if given.

    A file with source and target exchanged, such as GIZA++'s second file, is swapped back.
    """
    if os.fspath(forward) == os.fspath(backward) == "-":
        raise UsageError(
            f"only one of {argument('forward')} and {argument('backward')} can be read from standard input"
        )
    files = (forward, backward)
    records = [_records(host, file, format, way) for file, way in zip(files, ("tgttosrc", "srctotgt"), strict=True)]
    names = [shown_name(file) for file in files]
    orienters = [_Orienter(name) for name in names]
    there: Iterator[tuple[Words, Words] | None] = itertools.repeat(None) if text is None else iter(text)
    for line, (first, second, both) in enumerate(itertools.zip_longest(records[0], records[1], there), 1):
        if first is None and second is None and text is None:
            return
        if first is None or second is None:
            name, other = names if first is None else names[::-1]
            expected = f"an alignment of sentence pair {line}, as {other if text is None else 'the text'} has"
            raise FormatError(expected, "the end of the file", file=name)
        if text is not None and both is None:
            expected = f"{line - 1} sentence pairs, as the text has"
            raise FormatError(expected, "more", file=names[0], line=first.line)
        known = both or _words(first) or _words(second)
        ahead, back = orienters[0].orient(first, known), orienters[1].orient(second, known)
        source, target = known or (None, None)
        yield Directions(source, target, ahead.points, back.points)


def _records(host: Host, file: FileName, format: str | None, method: str) -> Iterator[Alignment]:
    opened = open_known(file, "alignment", format, host.formats(), empty=PHARAOH)
    if opened.record.name == _BAL and format in (None, _BAL, "bal"):
        # A .bal file holds both directions, with symal's names for them.
        opened.record = find_format(Spec(_BAL, {"method": method}), "alignment", host.formats())
    yield from opened.records()


def _words(alignment: Alignment) -> tuple[Words, Words] | None:
    return None if alignment.source is None or alignment.target is None else (alignment.source, alignment.target)


class _Orienter:
    """Gives the alignments of one file the direction of the text: source to target."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._mirrored = False

    def orient(self, alignment: Alignment, known: tuple[Words, Words] | None) -> Alignment:
        """Check an alignment against the known words; swap its sides if its words are swapped."""
        words = _words(alignment)
        if known is not None and words is not None and known[0] != known[1]:
            if words not in (known, known[::-1]):
                expected = f"the words {quote(' '.join(known[0]))} and {quote(' '.join(known[1]))}"
                raise FormatError(
                    expected, quote(" ||| ".join(map(" ".join, words))), file=self._name, line=alignment.line
                )
            self._mirrored = words != known
        alignment = alignment.swapped() if self._mirrored else alignment
        if known is not None:
            lengths = len(known[0]), len(known[1])
            for point in alignment.points:
                if point[0] >= lengths[0] or point[1] >= lengths[1]:
                    expected = f"links within {lengths[0]} and {lengths[1]} words"
                    raise FormatError(expected, f"{point[0]}-{point[1]}", file=self._name, line=alignment.line)
        return alignment


@dataclass(frozen=True)
class AlignSettings:
    """How to align, and files of both directions to read or to write; see :meth:`smtplugins.host.host.Host.align`."""

    forward: FileName | None
    backward: FileName | None
    format: str | None
    model: AnySpec | None
    iterations: int | None
    heuristic: str
    seed: int | None
    jobs: Jobs
    keep: tuple[FileName | None, FileName | None]


def align(
    host: Host, source: Text | None, target: Text | None, settings: AlignSettings, note: Note, quiet: bool
) -> Iterator[Alignment]:
    """Align a text, in order."""
    from smtplugins.host.estimate.aligners import model_stages
    from smtplugins.host.spread.choice import default_runner

    forward, backward, model = settings.forward, settings.backward, settings.model
    check_heuristic(settings.heuristic)
    default_runner(settings.jobs)
    if (source is None) != (target is None):
        raise UsageError(f"expected both {argument('source')} and {argument('target')}, found one of them")
    if (forward is None) != (backward is None):
        raise UsageError(f"expected both {argument('forward')} and {argument('backward')}, found one of them")
    text = None if source is None or target is None else read_text(source, target)
    if forward is not None and backward is not None:
        if (model, settings.iterations, settings.seed) != (None, None, None):
            model_names = f"{argument('model')}, {argument('iterations')} and {argument('seed')}"
            ways = f"{argument('forward')} and {argument('backward')}"
            raise UsageError(f"{model_names} cannot be used with {ways}")
        pairs = read_directions(host, forward, backward, text, settings.format)
    elif text is None:
        sides, ways = (
            f"{argument(first)} and {argument(second)}"
            for first, second in (("source", "target"), ("forward", "backward"))
        )
        raise UsageError(f"expected a text ({sides}) or alignments ({ways})")
    else:
        stages = model_stages(model or DEFAULT_MODEL, settings.iterations, settings.seed)
        pairs = _train_and_align(host, text, stages, settings.jobs, note, quiet)
    return _results(pairs, settings.heuristic, settings.keep)


def _results(
    pairs: Iterator[Directions], heuristic: str, keep: tuple[FileName | None, FileName | None]
) -> Iterator[Alignment]:
    with contextlib.ExitStack() as stack:
        outs = [None if path is None else stack.enter_context(open_write(path)) for path in keep]
        for pair in pairs:
            for out, points in zip(outs, (pair.forward, pair.backward), strict=True):
                if out is not None:
                    pharaoh.write([Alignment(tuple(sorted(points)))], out, shortest)
            yield Alignment(symmetrise(pair.forward, pair.backward, heuristic), pair.source, pair.target)
