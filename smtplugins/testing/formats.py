"""Checks of file formats: round trips, recognition, and errors that name file and line."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.files.opening import format_options
from smtplugins.testing import samples
from smtplugins.testing.checks import Check, DoesNotApply, described

if TYPE_CHECKING:
    from smtformats import Format, FormatError
    from smtplugins.host.host import Host

_STREAMED = ("nbest", "corpus", "alignment")
"""Kinds whose files hold many records, read one at a time."""


@dataclass(frozen=True)
class FormatSubject:
    """A format to check, with named samples: records to write and files to read.

    A format may raise ``FormatError`` for records that it cannot hold, except for the sample ``plain``.
    """

    format: Format
    samples: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    def parse(self, data: bytes) -> Iterator[Any]:
        """Parse a file with this content."""
        from smtformats.files import Lines

        if self.format.parse is None:
            raise DoesNotApply("the format can only be written")
        if self.format.folder:
            raise DoesNotApply("the format reads folders")
        if any(parameter.default is parameter.empty for parameter in format_options(self.format).values()):
            raise DoesNotApply("the format has a required option")
        return self.format.parse(Lines(io.BytesIO(data), samples.FILE))

    def write(self, records: Iterable[Any], number: Callable[[float], str] | None = None) -> tuple[bytes, int]:
        """Write a file with these records; returns it and the writer's count."""
        from smtformats.format import shortest

        if self.format.write is None:
            raise DoesNotApply("the format can only be read")
        if self.format.binary:
            binary = io.BytesIO()
            count = self.format.write(records, binary, number or shortest)
            return binary.getvalue(), count
        out = io.StringIO(newline="")
        count = self.format.write(records, out, number or shortest)
        return out.getvalue().encode(), count

    def written(self) -> Iterator[tuple[str, Sequence[Any], bytes]]:
        """Yield the samples that the format can hold, with the file of each."""
        from smtformats import FormatError

        if self.format.write is not None and not self.samples:
            raise DoesNotApply(f"the kit has no records of kind {self.format.kind!r}; give it `samples`")
        for name, records in self.samples.items():
            try:
                data, _ = self.write(records)
            except FormatError:
                if name == "plain":
                    raise
                continue
            yield name, records, data

    def readable(self) -> dict[str, bytes]:
        """Return valid files of this format: those given, and those it writes."""
        files = dict(self.files)
        if self.format.write is not None:
            files.update((name, data) for name, _, data in self.written())
        return files


def subject(
    record: Format,
    folder: Path,
    host: Host,
    *,
    samples: Mapping[str, Sequence[Any]] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> FormatSubject:
    """Return a format to check, with the given records and files, or the kit's records of its kind and its example."""
    from smtplugins.testing.samples import records

    example = {"its example": record.example.encode()} if record.example and record.parse is not None else {}
    return FormatSubject(record, records(record.kind) if samples is None else samples, files or example)


def is_described(subject: FormatSubject) -> None:
    """A format has a kind and a one-line summary, and can be read or written."""
    record = subject.format
    assert record.kind, f"format {record.name!r} has no kind"
    assert record.summary.strip() and "\n" not in record.summary, f"format {record.name!r} has no one-line summary"
    assert record.parse or record.write, f"format {record.name!r} can neither be read nor written"
    for suffix in record.suffixes:
        assert suffix.startswith("."), f"expected suffixes that start with a point, found {suffix!r}"


def plain_records_are_written(subject: FormatSubject) -> None:
    """Plain records of the kind can be written; the writer takes any iterable and returns the number of records."""
    for name, records, data in subject.written():
        again, count = subject.write(iter(records))
        assert again == data, f"the sample {name!r} is written differently from an iterator than from a list"
        assert count == len(records), f"expected the number of records written, {len(records)}, found {count}"


def written_files_are_read_back(subject: FormatSubject) -> None:
    """Written files are read back with the same ids, texts, names and numbers."""
    if subject.format.parse is None:
        raise DoesNotApply("the format can only be written")
    for name, records, data in subject.written():
        reread = list(subject.parse(data))
        wanted = list(map(_essence, records))
        assert len(reread) == len(records), f"sample {name!r}: wrote {len(records)} records, read {len(reread)}"
        for i, (before, after) in enumerate(zip(wanted, map(_essence, reread), strict=True)):
            assert before == after, f"sample {name!r}: record {i} was {before!r} and came back as {after!r}"


def files_are_kept_byte_for_byte(subject: FormatSubject) -> None:
    """A file is written back byte for byte, also from records without the lines they were read from."""
    if subject.format.write is None:
        raise DoesNotApply("the format can only be read")
    for name, data in subject.readable().items():
        records = list(subject.parse(data))
        again, _ = subject.write(records)
        assert again == data, f"{name!r}, read and written again, differs at line {_first_difference(data, again)}"
        if name in subject.files:
            continue
        again, _ = subject.write([_forgetful(record) for record in records])
        assert again == data, (
            f"{name!r}, written from its records alone, differs at line {_first_difference(data, again)}"
        )


def given_files_are_read(subject: FormatSubject) -> None:
    """Each file given to the checks can be read and has a record."""
    if not subject.files:
        raise DoesNotApply("no files were given")
    for name, data in subject.files.items():
        assert list(subject.parse(data)), f"no record was read from {name!r}"


def own_files_are_recognised(subject: FormatSubject) -> None:
    """``matches`` accepts the format's own files, unless another format reads them the same, and never raises."""
    if subject.format.parse is None:
        raise DoesNotApply("the format can only be written")
    for name, data in subject.readable().items():
        known = subject.format.matches(data) or _read_elsewhere(subject, data)
        assert known, f"`matches` does not recognise the format's own file {name!r}"
    for data in (b"", b"\n", b"\x00", b"\xff\xfe|||", bytes(range(256)), b"||| ||| |||\n", b"= = =\n[\n"):
        try:
            subject.format.matches(data)
        except Exception as error:
            raise AssertionError(f"`matches` raises an error on {data!r}: {described(error)}") from error


def _read_elsewhere(subject: FormatSubject, data: bytes) -> bool:
    """Whether another format recognises the file and reads it the same: toolkits' dialects overlap."""
    from smtformats import FormatError, all_formats

    others = [record for record in all_formats() if record.kind == subject.format.kind and record.matches(data)]
    try:
        wanted, *readings = [
            [_essence(record) for record in each.parse(data)] for each in (subject, *map(FormatSubject, others))
        ]
    except FormatError:
        return False
    return wanted in readings


def foreign_files_are_left_alone(subject: FormatSubject) -> None:
    """``matches`` does not accept files of other kinds (a ``fallback`` may)."""
    if subject.format.parse is None or subject.format.fallback:
        raise DoesNotApply("the format can only be written, or is the fallback of its kind")
    for kind, files in samples.FILES.items():
        for data in files if kind != subject.format.kind else ():
            assert not subject.format.matches(data), f"`matches` accepts a file of kind {kind!r}: {data!r}"


def reading_streams(subject: FormatSubject) -> None:
    """The first record of a long file is available before the whole file is read."""
    if subject.format.kind not in _STREAMED or subject.format.write is None or "plain" not in subject.samples:
        raise DoesNotApply("files of this kind hold one record, or the kit cannot make a long file")
    if subject.format.binary:
        raise DoesNotApply("a binary file may have its index at the end")
    from smtformats import Candidates
    from smtformats.files import Lines

    plain = list(subject.samples["plain"])
    many = [
        replace(record, id=str(i)) if isinstance(record, Candidates) else record for i, record in enumerate(plain * 200)
    ]
    stream = io.BytesIO(subject.write(many)[0])
    if subject.format.parse is None:
        raise DoesNotApply("the format can only be written")
    next(subject.format.parse(Lines(stream, samples.FILE)))
    assert stream.tell() < len(stream.getvalue()), "the first record is available only after the whole file was read"


def an_empty_file_is_refused(subject: FormatSubject) -> None:
    """An empty file raises a ``FormatError`` that names it, except where no records are valid (corpora and trees)."""
    error = _failure(subject, b"", "an empty file")
    if subject.format.kind not in ("corpus", "tree"):
        assert error is not None, "an empty file was read without an error"


def invalid_utf8_is_refused(subject: FormatSubject) -> None:
    """Invalid UTF-8 raises a ``FormatError`` that names its line."""
    if subject.format.binary:
        raise DoesNotApply("a binary file has no lines")
    for name, data in subject.readable().items():
        lines = data.split(b"\n")
        for number in sorted({1, (len(lines) + 1) // 2, max(1, len(lines) - 1)}):
            half = len(lines[number - 1]) // 2
            spoilt = lines[number - 1][:half] + b"\xff" + lines[number - 1][half:]
            changed = b"\n".join([*lines[: number - 1], spoilt, *lines[number:]])
            _must_fail(subject, changed, f"{name!r} with a byte 0xff in line {number}", number)


def bad_numbers_are_refused(subject: FormatSubject) -> None:
    """A malformed or infinite number raises a ``FormatError`` that names its line."""
    if subject.format.parse is None or not subject.samples:
        raise DoesNotApply("the format can only be written, or the kit has no records of its kind")
    for name, records, data in subject.written():
        _, count = _with_number(subject, records, -1, "")
        for at in sorted({0, count // 2, count - 1} if count else ()):
            for bad in ("nan", "x", "1_0", "1,5", "0x10"):
                spoilt, _ = _with_number(subject, records, at, bad)
                line = _first_difference(data, spoilt)
                _must_fail(subject, spoilt, f"{name!r} with {bad!r} as a number in line {line}", line)


def damage_is_reported(subject: FormatSubject) -> None:
    """A damaged file is read, if it is still valid, or raises a ``FormatError`` with file and line."""
    files = {
        **subject.readable(),
        **{f"a file of kind {k}": data for k, every in samples.FILES.items() for data in every},
    }
    for name, data in files.items():
        for what, damaged in _damage(data):
            _failure(subject, damaged, f"{name!r} {what}")


def update_changes_values_only(subject: FormatSubject) -> None:
    """``update`` with a file's own values changes nothing; with other values, reading returns these."""
    from smtformats.files import Lines
    from smtformats.format import shortest

    update = subject.format.update
    if update is None:
        raise DoesNotApply("the format has no update")
    for name, records, data in subject.written():
        values = dict(records[0])
        for what, new in (("its own", values), ("other", {key: 2 * value + 1 for key, value in values.items()})):
            out = io.StringIO(newline="")
            left = update(new, Lines(io.BytesIO(data), samples.FILE), out, shortest)
            assert not left, f"sample {name!r}: no place was found for {', '.join(left)}"
            changed = out.getvalue().encode()
            updated = next(subject.parse(changed))
            assert updated == new, f"sample {name!r}, updated with {what} values, gives {updated}, expected {new}"
            if new is values:
                assert changed == data, f"sample {name!r} changes when updated with its own values"


def _essence(record: Any) -> Any:
    """Return the part of a record that has to survive writing and reading."""
    from smtformats import Candidates
    from smtformats.alignment.links import Alignment
    from smtformats.corpus.segments import Segment

    if isinstance(record, Candidates):
        return record.id, [(text, features, total) for text, features, total in record.rows()]
    if isinstance(record, Segment):
        return record.source
    return record.points if isinstance(record, Alignment) else record


def _forgetful(record: Any) -> Any:
    """Return the record without the lines it was read from."""
    return replace(record, raw=None, origin="") if hasattr(record, "raw") else record


def _first_difference(first: bytes, second: bytes) -> int:
    """Return the number of the first line in which two files differ."""
    left, right = first.split(b"\n"), second.split(b"\n")
    for number, (a, b) in enumerate(zip(left, right, strict=False), 1):
        if a != b:
            return number
    return min(len(left), len(right)) + 1


def _with_number(subject: FormatSubject, records: Sequence[Any], at: int, text: str) -> tuple[bytes, int]:
    """Write a file with its number ``at`` printed as ``text``; returns it and the count of numbers."""
    from smtformats.format import shortest

    printed = 0

    def number(value: float) -> str:
        nonlocal printed
        printed += 1
        return text if printed - 1 == at else shortest(value)

    data, _ = subject.write(records, number)
    return data, printed


def _failure(subject: FormatSubject, data: bytes, what: str) -> FormatError | None:
    """Return the error of reading, if any; anything but a ``FormatError`` with file and line fails the check."""
    from smtformats import FormatError

    failure = None
    try:
        for _ in subject.parse(data):
            pass
    except FormatError as error:
        failure = error
    except DoesNotApply:
        raise
    except Exception as error:
        raise AssertionError(f"{what}: expected a FormatError, found {described(error)}") from error
    if failure is not None:
        lines = range(1, data.count(b"\n") + 2)
        assert failure.file == samples.FILE, f"{what}: the error does not name the file: {failure}"
        assert failure.line in lines, f"{what}: the error names no line of the file: {failure}"
    return failure


def _must_fail(subject: FormatSubject, data: bytes, what: str, line: int) -> None:
    error = _failure(subject, data, what)
    assert error is not None, f"{what} was read without an error"
    assert error.line == line, f"{what}: the error names another line: {error}"


def _damage(data: bytes) -> Iterator[tuple[str, bytes]]:
    lines = data.split(b"\n")
    half = len(lines) // 2
    yield "cut in the middle of its last line", data[: len(data) - len(lines[-2 if len(lines) > 1 else -1]) // 2 - 1]
    yield "cut in the middle", data[: len(data) // 2]
    for number, line in list(enumerate(lines[:6], 1)):
        for part in (line[: len(line) // 2], line.rpartition(b" ")[0], line.partition(b" ")[2], b"", line + line):
            yield f"with {part!r} for line {number}", b"\n".join([*lines[: number - 1], part, *lines[number:]])
    yield "with its halves exchanged", b"\n".join([*lines[half:], *lines[:half]])
    yield "twice", data + data
    yield "with blank lines", b"\n\n" + data.replace(b"\n", b"\n\n")
    yield "with Windows line ends", data.replace(b"\n", b"\r\n")
    source = random.Random(len(data))
    for _ in range(40):
        at, size = source.randrange(len(data) + 1), source.randrange(1, 12)
        junk = bytes(source.choice(b"0 9-+.eE=|[]:\t\n\x00ab") for _ in range(source.randrange(8)))
        yield f"with {junk!r} for {size} bytes at {at}", data[:at] + junk + data[at + size :]


CHECKS: tuple[Check, ...] = (
    is_described,
    plain_records_are_written,
    written_files_are_read_back,
    files_are_kept_byte_for_byte,
    given_files_are_read,
    own_files_are_recognised,
    foreign_files_are_left_alone,
    reading_streams,
    an_empty_file_is_refused,
    invalid_utf8_is_refused,
    bad_numbers_are_refused,
    damage_is_reported,
    update_changes_values_only,
)
