"""Each check of formats fails for the format that breaks it, and says what is wrong."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TextIO

import pytest

from smtformats import Candidates, Format, FormatError
from smtformats.corpus.text import FORMAT as TEXT
from smtformats.files import Lines
from smtformats.format import Number
from smtformats.nbest.cdec import FORMAT as CDEC_NBEST
from smtformats.nbest.text import FORMAT as TEXTS

Failures = Callable[..., dict[str, str]]
# With the kit's own records alone.
CDEC = replace(CDEC_NBEST, example="")


def parse(lines: Lines) -> Iterator[dict[str, float]]:
    """NAME:NUMBER on each line, the number behind the last colon."""
    weights = {}
    for line in lines:
        name, _, text = line.rstrip("\n").rpartition(":")
        try:
            value = math.nan if "_" in text else float(text)
        except ValueError:
            value = math.nan
        if not name or not math.isfinite(value):
            raise lines.error("NAME:NUMBER", repr(line), 1)
        weights[name] = value
    if not weights:
        raise lines.error("weights", "none", 1)
    yield weights


def write(records: Iterable[dict[str, float]], out: TextIO, number: Number) -> int:
    kept = list(records)
    out.writelines(f"{name}:{number(value)}\n" for weights in kept for name, value in weights.items())
    return len(kept)


def update(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    write([values], out, number)
    return []


def matches(head: bytes) -> bool:
    return re.fullmatch(rb"[^ \n]+:[-+.e0-9]+", head.split(b"\n")[0]) is not None


GOOD = Format(
    name="colon-weights",
    kind="weights",
    summary="NAME:NUMBER on each line",
    matches=matches,
    parse=parse,
    write=write,
    update=update,
)


def test_good_formats_pass(failures: Failures) -> None:
    assert failures("formats", GOOD) == {}


def fails_on_binary(head: bytes) -> bool:
    return matches(head) or head.decode() == "x"


def takes_spaces(head: bytes) -> bool:
    return b" " in head or b":" in head


def no_check(lines: Lines) -> Iterator[dict[str, float]]:
    yield {name: float(text) for name, _, text in (line.rstrip("\n").rpartition(":") for line in lines)}


def takes_nan(lines: Lines) -> Iterator[dict[str, float]]:
    weights = {}
    for line in lines:
        name, _, text = line.rstrip("\n").rpartition(":")
        try:
            weights[name] = float(text.replace("_", "").replace(",", "."))
        except ValueError:
            raise lines.error("NAME:NUMBER", repr(line), 1) from None
    yield weights


def takes_any_bytes(lines: Lines) -> Iterator[dict[str, float]]:
    text = lines.stream.read().decode("utf-8", "replace")
    yield from parse(Lines(io.BytesIO(text.encode()), lines.name))


def forgets_its_place(lines: Lines) -> Iterator[dict[str, float]]:
    try:
        yield from parse(lines)
    except FormatError as error:
        raise FormatError(error.expected, error.found) from None


def names_first_line(lines: Lines) -> Iterator[dict[str, float]]:
    try:
        yield from parse(lines)
    except FormatError as error:
        raise FormatError(error.expected, error.found, file=lines.name, line=1) from None


def rounded(records: Any, out: TextIO, number: Number) -> int:
    return write(({name: round(value, 1) for name, value in values.items()} for values in records), out, number)


def sorts_pairs(records: Any, out: TextIO, number: Number) -> int:
    return write((dict(reversed(values.items())) for values in records), out, number)


def needs_a_list(records: Any, out: TextIO, number: Number) -> int:
    return write(records, out, number) if isinstance(records, list) else 0


def counts_lines(records: Any, out: TextIO, number: Number) -> int:
    return write([weights for record in records for weights in [record]], out, number) * 3


def writes_nothing_plain(records: Any, out: TextIO, number: Number) -> int:
    raise FormatError("other weights", "these")


def update_drops(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    write([dict(list(values.items())[:1])], out, number)
    return []


def update_gives_up(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    return sorted(values)


def update_reorders(values: dict[str, float], lines: Lines, out: TextIO, number: Number) -> list[str]:
    write([dict(sorted(values.items(), reverse=True))], out, number)
    return []


@pytest.mark.parametrize(
    ("changes", "wanted", "words"),
    [
        ({"kind": ""}, {"is_described"}, "format 'colon-weights' has no kind"),
        ({"summary": "a\nb"}, {"is_described"}, "has no one-line summary"),
        ({"suffixes": ("txt",)}, {"is_described"}, "suffixes that start with a point, found 'txt'"),
        ({"parse": None, "write": None, "update": None}, {"is_described"}, "can neither be read nor written"),
        (
            {"write": needs_a_list},
            {"plain_records_are_written"},
            "'plain' is written differently from an iterator than from a list",
        ),
        ({"write": counts_lines}, {"plain_records_are_written"}, "expected the number of records written, 1, found 3"),
        (
            {"write": rounded},
            {"written_files_are_read_back", "update_changes_values_only"},
            "record 0 was .*0.3333333333333333.* and came back as .*'LM0': 0.3}",
        ),
        (
            {"write": sorts_pairs, "update": None},
            {"files_are_kept_byte_for_byte"},
            "'plain', read and written again, differs at line 1",
        ),
        (
            {"matches": lambda head: b"Word" in head},
            {"own_files_are_recognised"},
            "does not recognise the format's own file 'vectors'",
        ),
        ({"matches": fails_on_binary}, {"own_files_are_recognised"}, "raises an error on .*: UnicodeDecodeError"),
        ({"matches": takes_spaces}, {"foreign_files_are_left_alone"}, "accepts a file of kind 'nbest'"),
        (
            {"parse": no_check},
            {"an_empty_file_is_refused", "bad_numbers_are_refused", "damage_is_reported"},
            "expected a FormatError, found ValueError: could not convert string to float",
        ),
        (
            {"parse": takes_nan},
            {"an_empty_file_is_refused", "bad_numbers_are_refused"},
            "'plain' with 'nan' as a number in line 1 was read without an error",
        ),
        (
            {"parse": takes_any_bytes},
            {"invalid_utf8_is_refused"},
            "'plain' with a byte 0xff in line 1 was read without an error",
        ),
        (
            {"parse": forgets_its_place},
            {"an_empty_file_is_refused", "invalid_utf8_is_refused", "bad_numbers_are_refused", "damage_is_reported"},
            "an empty file: the error does not name the file: <data>: expected weights",
        ),
        (
            {"parse": names_first_line},
            {"invalid_utf8_is_refused", "bad_numbers_are_refused"},
            "'plain' with 'nan' as a number in line 2: the error names another line: sample:1",
        ),
        (
            {"update": update_drops},
            {"update_changes_values_only"},
            "'plain', updated with its own values, gives {'LM0'",
        ),
        ({"update": update_gives_up}, {"update_changes_values_only"}, "no place was found for Distortion0, LM0, Word"),
        (
            {"update": update_reorders},
            {"update_changes_values_only"},
            "'plain' changes when updated with its own values",
        ),
    ],
)
def test_a_bad_format_fails(changes: dict[str, Any], wanted: set[str], words: str, failures: Failures) -> None:
    failed = failures("formats", replace(GOOD, **changes))
    assert set(failed) == wanted, failed
    assert any(re.search(words, message) for message in failed.values()), failed


def test_what_is_plain_may_not_be_refused(failures: Failures) -> None:
    failed = failures("formats", replace(GOOD, write=writes_nothing_plain))
    assert failed["plain_records_are_written"] == "FormatError: <data>: expected other weights, found these"


def reads_all(lines: Lines) -> Iterator[Candidates]:
    assert CDEC.parse is not None
    yield from list(CDEC.parse(lines))


def loses_texts(lists: Iterable[Candidates], out: TextIO, number: Number) -> int:
    assert CDEC.write is not None
    return CDEC.write(
        (replace(nbest, texts=[text.split(" ")[0] for text in nbest.texts], raw=None) for nbest in lists), out, number
    )


def test_a_long_file_is_read_one_record_at_a_time(failures: Failures) -> None:
    failed = failures("formats", replace(CDEC, parse=reads_all))
    assert failed == {"reading_streams": "the first record is available only after the whole file was read"}


def test_texts_of_lists_survive(failures: Failures) -> None:
    failed = failures("formats", replace(CDEC, write=loses_texts))
    assert set(failed) == {"written_files_are_read_back"}
    assert re.match("sample 'plain': record 1 was .* and came back as", failed["written_files_are_read_back"])


def test_formats_that_only_write_or_only_read_have_the_checks_that_apply(failures: Failures) -> None:
    assert failures("formats", TEXTS) == {}
    only_reads = replace(GOOD, write=None, update=None, parse=no_check)
    failed = failures("formats", only_reads, files={"mine": b"a:1\nb:2\n"})
    assert set(failed) == {"an_empty_file_is_refused", "damage_is_reported"}
    assert failed["damage_is_reported"].startswith("'mine' cut in the middle of its last line: ")
    failed = failures("formats", replace(GOOD, write=None, update=None), files={"mine": b"a=1\n"})
    assert failed["own_files_are_recognised"] == "`matches` does not recognise the format's own file 'mine'"
    assert failed["given_files_are_read"].startswith("FormatError: sample:1: field 1: expected NAME:NUMBER")


def test_records_of_other_kinds_are_given(failures: Failures) -> None:
    other = replace(TEXT, kind="trees", example="", fallback=0, matches=lambda head: head.startswith(b"("))
    failed = failures("formats", other, samples={"plain": ["(S a)", "(S (A b))"]})
    assert set(failed) == {"an_empty_file_is_refused"}
    assert failures("formats", other).keys() == {"an_empty_file_is_refused"}
