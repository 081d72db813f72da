"""Join sources or annotations, a sentence per list, to a stream of n-best lists by id."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from smtformats import Candidates, Format, FormatError, all_formats
from smtformats.files import shown_name
from smtplugins.host.arguments import argument
from smtplugins.host.files.joining import Joined, Role, texts_in
from smtplugins.host.files.opening import Opened, Path, open_known

_TEXT = "text"
# Tabs in annotations and tags in sources are part of the text, so formats that parse them are excluded.
_ANNOTATIONS = (_TEXT, "jsonl-corpus")
_NO_SOURCE = "moses-xml"


class _Lines:
    """Line i of a text for id i, streamed, for lists with ascending ids; none may be missing unless ``partial``."""

    def __init__(self, opened: Opened, partial: bool) -> None:
        self._texts: Iterator[str] = opened.records()
        self._shown = shown_name(opened.path)
        self._partial = partial
        self._at, self._text = -1, ""

    def text_of(self, key: str, file: str, line: int) -> str:
        """The line for the id of a list; ``file`` and ``line`` locate the list in errors."""
        number = int(key) if key.isascii() and key.isdigit() else -1
        if number < max(self._at, 0):
            expected = f"a line number of {self._shown} as id" + (f", {self._at} or more" if number >= 0 else "")
            raise FormatError(expected, repr(key), file=file, line=line, field=1)
        while self._at < number:
            text = next(self._texts, None)
            if text is None:
                count = self._at + 1
                expected = f"an id below {count}, as {self._shown} has {count} lines (the first is id 0)"
                raise FormatError(expected, f"id {number}", file=file, line=line, field=1)
            self._at, self._text = self._at + 1, text
            if self._at < number and not self._partial:
                skipping = argument("allow_partial=True")
                expected = f"a list for id {self._at}, line {self._at + 1} of {self._shown} ({skipping} skips it)"
                raise FormatError(expected, f"id {number}", file=file, line=line, field=1)
        return self._text

    def finish(self, name: str) -> None:
        """Raise FormatError if lines remain after the last list."""
        if self._partial or next(self._texts, None) is None:
            return
        expected = f"lines for the ids 0 to {self._at} alone ({argument('allow_partial=True')} skips the rest)"
        left = self._at + 1
        raise FormatError(expected, f"a line for id {left}", file=self._shown, line=left + 1, field=1)


class _Whole:
    """Sentences in memory, for ids in any order."""

    def __init__(self, opened: Opened, role: Role, partial: bool) -> None:
        self._joined = Joined(texts_in(opened, role, tabs=role == "system"))
        self._partial = partial
        self._seen: set[int] = set()

    def text_of(self, key: str, file: str, line: int) -> str:
        """The sentence for the id of a list; ``file`` and ``line`` locate the list in errors."""
        at = self._joined.place(key, f"{file}:{line}" if file else "<lists>")
        self._seen.add(at)
        return self._joined.streams[0].texts[at] or ""

    def finish(self, name: str) -> None:
        """Raise SmtError if a sentence has no list."""
        if not self._partial:
            self._joined.check_complete(name, self._seen, "skips such sentences")


Side = _Lines | _Whole


@contextlib.contextmanager
def open_side(
    path: Path, annotation: bool, partial: bool, ordered: bool, formats: Iterable[Format] | None = None
) -> Iterator[Side]:
    """Open a file of sources or annotations; ``ordered`` means that the lists' ids ascend, so it can be streamed."""
    known = [fmt for fmt in (all_formats() if formats is None else formats) if fmt.kind == "corpus"]
    fitting = [fmt for fmt in known if (fmt.name in _ANNOTATIONS if annotation else fmt.name != _NO_SOURCE)]
    with open_known(path, "corpus", None, fitting, empty=_TEXT) as opened:
        if ordered and opened.record.name == _TEXT:
            yield _Lines(opened, partial)
        else:
            yield _Whole(opened, "system" if annotation else "source", partial)


def join_side(
    lists: Iterable[Candidates],
    path: Path,
    name: str,
    *,
    annotation: str | None = None,
    partial: bool = False,
    ordered: bool = False,
    formats: Iterable[Format] | None = None,
) -> Iterator[Candidates]:
    """Add to each list its sentence in a file, as source or annotation; ``name`` names the lists in errors."""
    with open_side(path, annotation is not None, partial, ordered, formats) as side:
        for nbest in lists:
            text = side.text_of(nbest.id, nbest.file, nbest.line)
            if annotation is None:
                yield replace(nbest, source=text)
            else:
                yield replace(nbest, annotations={**nbest.annotations, annotation: text})
        side.finish(name)
