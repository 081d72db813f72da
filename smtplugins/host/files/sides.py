"""Files with a sentence for each list, sources or annotations, joined by id while lists go by."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from smtplugins.host.files.joining import Joined, Role, texts_in
from smtplugins.host.files.opening import Opened, Path, open_known

if TYPE_CHECKING:
    from smtformats import Candidates, Format

_TEXT = "text"
# A tab in a line of annotations is part of it, and so are tags of a source.
_ANNOTATIONS = (_TEXT, "jsonl-corpus")
_NO_SOURCE = "moses-xml"


class _Lines:
    """A line for each id from 0 on, for lists whose ids ascend; both must correspond unless ``partial``."""

    def __init__(self, opened: Opened, partial: bool) -> None:
        from smtformats.files import shown_name

        self._texts: Iterator[str] = opened.records()
        self._shown = shown_name(opened.path)
        self._partial = partial
        self._at, self._text = -1, ""

    def text_of(self, key: str, file: str, line: int) -> str:
        """The line for the id of a list, which begins at a line of a file."""
        from smtformats import FormatError

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
                expected = f"a list for id {self._at}, line {self._at + 1} of {self._shown} (--allow-partial skips it)"
                raise FormatError(expected, f"id {number}", file=file, line=line, field=1)
        return self._text

    def finish(self, name: str) -> None:
        """Nothing may be left over behind the last list."""
        from smtformats import FormatError

        if self._partial or next(self._texts, None) is None:
            return
        expected = f"lines for the ids 0 to {self._at} alone (--allow-partial skips the rest)"
        left = self._at + 1
        raise FormatError(expected, f"a line for id {left}", file=self._shown, line=left + 1, field=1)


class _Whole:
    """Sentences in memory, for ids in any order."""

    def __init__(self, opened: Opened, role: Role, partial: bool) -> None:
        self._joined = Joined(texts_in(opened, role))
        self._partial = partial
        self._seen: set[int] = set()

    def text_of(self, key: str, file: str, line: int) -> str:
        """The sentence for the id of a list, which begins at a line of a file."""
        at = self._joined.place(key, f"{file}:{line}" if file else "<lists>")
        self._seen.add(at)
        return self._joined.streams[0].texts[at] or ""

    def finish(self, name: str) -> None:
        """Every sentence needs a list."""
        if not self._partial:
            self._joined.check_complete(name, self._seen, "skips such sentences")


Side = _Lines | _Whole


@contextlib.contextmanager
def open_side(
    path: Path, annotation: bool, partial: bool, ordered: bool, formats: Iterable[Format] | None = None
) -> Iterator[Side]:
    """A file of sources, or of annotations; ``ordered`` says that the ids of the lists ascend."""
    from smtformats import all_formats

    known = [one for one in (all_formats() if formats is None else formats) if one.kind == "corpus"]
    fitting = [one for one in known if (one.name in _ANNOTATIONS if annotation else one.name != _NO_SOURCE)]
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
    """Give each list its sentence of a file, as its source or as an annotation; ``name`` is that of the lists."""
    with open_side(path, annotation is not None, partial, ordered, formats) as side:
        for one in lists:
            text = side.text_of(one.id, one.file, one.line)
            if annotation is None:
                yield replace(one, source=text)
            else:
                yield replace(one, annotations={**one.annotations, annotation: text})
        side.finish(name)
