"""Read sentence pairs and their word alignments in parallel, from two texts and an alignment file of any format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias

from smtformats import Format
from smtformats.alignment.links import Alignment
from smtplugins.contracts.errors import SmtError
from smtplugins.host.files.lists import read_corpus
from smtplugins.host.files.opening import open_known

Pair: TypeAlias = "tuple[str, str, Alignment | None]"


def read_pairs(
    source: str,
    target: str,
    alignment: str | None,
    *,
    format: str | None = None,
    formats: Iterable[Format] | None = None,
) -> Iterator[Pair]:
    """Iterate over sentence pairs with their links, or None; raises SmtError if the files differ in length."""
    stop = object()
    texts = zip_longest(read_corpus(Path(source)), read_corpus(Path(target)), fillvalue=stop)
    aligned = iter(()) if alignment is None else _links(alignment, format, formats)
    number = 0
    for number, (source_text, target_text) in enumerate(texts, 1):
        if source_text is stop or target_text is stop:
            short, long = (source, target) if source_text is stop else (target, source)
            raise SmtError(f"{short}:{number}: expected as many sentences as in {long}, found the end of the file")
        if alignment is None:
            yield str(source_text), str(target_text), None
            continue
        links = next(aligned, None)
        if links is None:
            raise SmtError(f"{alignment}:{number}: expected as many lines as in {source}, found the end of the file")
        yield str(source_text), str(target_text), links
    if next(aligned, None) is not None:
        raise SmtError(f"{alignment}: expected links of {number} sentence pairs, as in {source}, found more")


def _links(path: str, format: str | None, formats: Iterable[Format] | None) -> Iterator[Alignment]:
    with open_known(Path(path), "alignment", format, formats) as opened:
        yield from opened.records()
