"""Configurations of all toolkits: whole files, limits and composed files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats import Format, FormatError, all_formats, detect
from smtformats.config import cdec, joshua, moses
from smtformats.config.settings import Setting, Settings
from smtformats.files import Lines
from smtformats.format import shortest

FORMATS = [cdec.FORMAT, joshua.FORMAT, moses.FORMAT]


def read(record: Format, data: bytes, name: str = "x") -> Settings:
    settings = record.read(Lines(io.BytesIO(data), name))
    assert isinstance(settings, Settings)
    return settings


def written(record: Format, settings: Settings) -> bytes:
    out = io.StringIO()
    assert record.write is not None
    assert record.write([settings], out, shortest) == 1
    return out.getvalue().encode()


def pairs(settings: Settings) -> list[tuple[str, str]]:
    return [(setting.key, setting.value) for setting in settings.entries]


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.name)
def test_the_same_bytes_and_the_same_settings_composed(record: Format) -> None:
    data = b"# first\r\n\n" + record.example.encode().replace(b"\n", b" \n") + b"\n# last"
    settings = read(record, data)
    assert written(record, settings) == data
    again = read(record, written(record, replace(settings, raw=None)))
    assert pairs(again) == pairs(settings)


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.name)
def test_settings_of_another_toolkit_are_not_written(record: Format) -> None:
    other = read(FORMATS[0] if record is not FORMATS[0] else FORMATS[1], FORMATS[record is FORMATS[0]].example.encode())
    with pytest.raises(FormatError) as caught:
        written(record, other)
    assert str(caught.value) == f"x:1: expected settings of {record.name}, found those of {other.origin}"
    with pytest.raises(FormatError, match="found those of no toolkit"):
        written(record, Settings(()))


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.name)
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff", "x:1: field 1: expected UTF-8 text, found byte 0xff at column 1"),
        (b"# a\n#\0\n", "x:2: field 1: expected text, found a NUL character"),
        (b"# a\n\n", "x:1: field 1: expected "),
        (b"", "x:1: field 1: expected "),
    ],
)
def test_no_text(record: Format, data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(record, data)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.name)
def test_limit(record: Format) -> None:
    assert record.parse is not None
    with pytest.raises(FormatError, match="x:3: field 1: expected at most 2 lines, found more"):
        list(record.parse(Lines(io.BytesIO(b"#\n" * 3), "x"), max_lines=2))  # type: ignore[call-arg]


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.name)
@given(st.data())
def test_any_text_is_settings_or_an_error(record: Format, data: st.DataObject) -> None:
    pieces = ["\n", " ", "=", "#", "[", "]", "\x0b", "\r", "-", "1", "x", "feature", "weight", "tm", "lm", "formalism"]
    pieces += [
        "KLanguageModel",
        "feature_function=",
        "KENLM path=x",
        "[feature]\n",
        "top_n = ",
        "-owner o",
        "²",
        "99e999",
    ]
    text = "".join(data.draw(st.lists(st.one_of(st.sampled_from(pieces), VALUE), max_size=30)))
    blob = text.encode("utf-8", "replace")
    record.matches(blob)
    try:
        settings = read(record, blob)
    except FormatError:
        return
    assert written(record, settings) == blob


VALUE = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
KEYS = {cdec.NAME: "feature_function", joshua.NAME: "output-format", moses.NAME: "description"}


@pytest.mark.parametrize("record", FORMATS, ids=lambda record: record.name)
@given(value=VALUE)
def test_what_is_composed_reads_back_or_is_refused(record: Format, value: str) -> None:
    settings = read(record, record.example.encode())
    changed = replace(settings, entries=(*settings.entries, Setting(KEYS[record.name], value)), raw=None)
    try:
        data = written(record, changed)
    except FormatError:
        # A kind of feature is a word of ASCII letters.
        assert not value.isascii() or not value.isalnum() or value[:1].isdigit() or "#" in value
        return
    assert pairs(read(record, data)) == pairs(changed)


@pytest.mark.parametrize("value", ["a\nb", "a\ud800", " a", "a\0"])
def test_values_that_no_line_holds(value: str) -> None:
    for record in FORMATS:
        settings = read(record, record.example.encode())
        with pytest.raises(FormatError):
            written(record, replace(settings, entries=(*settings.entries, Setting(KEYS[record.name], value)), raw=None))


def test_what_holds_weights_too_is_taken_for_weights() -> None:
    wanted = {cdec.NAME: cdec.NAME, joshua.NAME: "joshua-config", moses.NAME: "moses-ini"}
    configs = [record for record in all_formats() if record.kind == "config"]
    weights = [record for record in all_formats() if record.kind == "weights"]
    for record in FORMATS:
        head = record.example.encode()
        assert detect(head, configs, "x").name == record.name
        assert detect(head, all_formats(), "x").name == wanted[record.name]
    for text in ("Glue 1\n", "Glue=0.5\nk_best=100\n", "k_best=100\n", "A=1\nB=2\nfoo=x\n"):
        assert detect(text.encode(), weights, "x").name == "cdec-weights"
        assert not any(record.matches(text.encode()) for record in configs)
    assert not any(
        record.matches(b"# joshua.config\nseed: 1\n[a, b]\n") for record in configs if record is not joshua.FORMAT
    )


REFUSED = {
    "cdec/quirks/f2.ini": "2: field 1: expected key=value, found 'add_pass_through_rules'",
    "cdec/quirks/f4.ini": "2: field 1: expected a key that cdec knows, found 'unknown_option'",
    "cdec/quirks/o3.ini": "3: field 1: expected each key once, found 'cubepruning_pop_limit' again",
}


def golds(gold: Path) -> Iterator[Path]:
    """The configurations of the toolkits, without the files `config` of packed grammars and binary tables."""
    for path in sorted(gold.rglob("*")):
        named = path.suffix in (".ini", ".config") or path.name in ("config", "config.packed")
        binary = path.parent.name.endswith(".packed") or path.with_name("probing_hash.dat").exists()
        if named and path.is_file() and not binary:
            yield path


@pytest.mark.shared
def test_gold(shared: Path) -> None:
    gold = shared / "gold"
    counts = dict.fromkeys((record.name for record in FORMATS), 0)
    for path in golds(gold):
        data = path.read_bytes()
        record = detect(data, FORMATS, str(path))
        assert record.name == f"{path.relative_to(gold).parts[0]}-settings"
        detect(data, all_formats(), str(path))
        if message := REFUSED.get(path.relative_to(gold).as_posix()):
            with pytest.raises(FormatError) as caught:
                read(record, data)
            assert str(caught.value) == f"x:{message}"
            continue
        settings = read(record, data)
        assert written(record, settings) == data
        assert pairs(read(record, written(record, replace(settings, raw=None)))) == pairs(settings)
        counts[record.name] += 1
    assert counts == {"cdec-settings": 26, "joshua-settings": 14, "moses-settings": 31}
