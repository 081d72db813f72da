"""Specs as users write them, and options as constructors want them."""

# The old spellings of unions are what is tested here.
# ruff: noqa: UP007, UP045

from __future__ import annotations

import abc
import collections
import enum
import functools
import inspect
import os
import string
from pathlib import Path
from typing import Any, Literal, Optional, Union

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec, build, convert, evaluated, parameters, shown_type, suggestion


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("length", "length", {}),
        ("lm,path=en.arpa,base=10", "lm", {"path": "en.arpa", "base": "10"}),
        (" lm , path = en.arpa ", "lm", {"path": "en.arpa"}),
        ('external,command="score --beam 5, --fast"', "external", {"command": "score --beam 5, --fast"}),
        ("external,command='say \"yes\"'", "external", {"command": 'say "yes"'}),
        ('external,command="say ""yes"""', "external", {"command": 'say "yes"'}),
        ('external,command=python "my scorer.py"', "external", {"command": 'python "my scorer.py"'}),
        ('external,command="my scorer" "en, de"', "external", {"command": '"my scorer" "en, de"'}),
        ("a,x=1=2", "a", {"x": "1=2"}),
        ("a,x=", "a", {"x": ""}),
        ('a,x=""', "a", {"x": ""}),
        ('a,x=" "', "a", {"x": " "}),
    ],
)
def test_parse_reads_name_and_options(text: str, name: str, options: dict[str, str]) -> None:
    assert Spec.parse(text) == Spec(name, options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected NAME[,key=value...], found ''"),
        (",x=1", "expected NAME[,key=value...], found ',x=1'"),
        ("a,x", "expected key=value after 'a', found 'x'"),
        ("a,", "expected key=value after 'a', found ''"),
        ("a, =1", "expected key=value after 'a', found '=1'"),
        ("a,x=1,x=2", "option 'x' of 'a' is given twice"),
        ("a,x=1,x =2", "option 'x' of 'a' is given twice"),
        ('a,x="1', "expected a closing \" in 'a,x=\"1'"),
    ],
)
def test_bad_spelling_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        Spec.parse(text)
    assert str(caught.value) == message


def test_of_takes_text_mapping_and_spec() -> None:
    spec = Spec("lm", {"order": 3})
    assert Spec.of(spec) is spec
    assert Spec.of({"name": "lm", "order": 3}) == spec
    assert Spec.of("lm,order=3") == Spec("lm", {"order": "3"})
    with pytest.raises(UsageError, match=r"expected a mapping with a `name`, found {'order': 3}"):
        Spec.of({"order": 3})


@given(
    st.text(string.ascii_letters, min_size=1),
    st.dictionaries(st.text(string.ascii_lowercase + "_", min_size=1), st.text()),
)
def test_printed_specs_read_back(name: str, options: dict[str, str]) -> None:
    spec = Spec(name, options)
    assert Spec.parse(str(spec)) == spec


def test_suggestion_names_close_ones_else_all() -> None:
    assert suggestion("lenght", ["length", "lm"]) == "; did you mean 'length'?"
    assert suggestion("zzz", ["lm", "length"]) == "; known: length, lm"
    assert suggestion("zzz", []) == "; none is known"


@pytest.mark.parametrize(
    ("value", "wanted", "result"),
    [
        ("3", int, 3),
        (3.0, int, 3),
        ("-0.5", float, -0.5),
        ("1e-3", float, 0.001),
        (2, float, 2.0),
        ("yes", bool, True),
        ("Off", bool, False),
        (True, bool, True),
        (0, bool, False),
        ("text", str, "text"),
        (5, str, "5"),
        (Path("a"), str, "a"),
        ("a/b", Path, Path("a/b")),
        ("a/b", os.PathLike[str], Path("a/b")),
        ("10", Literal["e", "10"], "10"),
        ("2", Literal[1, 2], 2),
        (2, Literal[1, 2], 2),
        ("none", Optional[int], None),
        ("4", Optional[int], 4),
        (None, Optional[int], None),
        ("none", Optional[str], "none"),
        (None, str | None, None),
        ("4", int | str, 4),
        ("x", Union[int, str], "x"),
        ("0.5", float | Literal["moses"], 0.5),
        ("moses", float | Literal["moses"], "moses"),
        (["a"], Any, ["a"]),
        ("3", "int", "3"),
        (["a", "b"], list[str], ["a", "b"]),
    ],
)
def test_convert_gives_the_annotated_type(value: Any, wanted: Any, result: Any) -> None:
    made = convert(value, wanted, "feature 'x': option")
    assert made == result
    assert type(made) is type(result)


@pytest.mark.parametrize(
    ("value", "wanted", "message"),
    [
        ("3.5", int, "expected a whole number, found '3.5'"),
        (3.5, int, "expected a whole number, found 3.5"),
        (float("inf"), int, "expected a whole number, found inf"),
        ("x", int, "expected a whole number, found 'x'"),
        (None, int, "expected a whole number, found None"),
        (True, int, "expected a number, found True"),
        ("x", float, "expected a number, found 'x'"),
        ("maybe", bool, "expected true or false, found 'maybe'"),
        (["a"], str, "expected text, found ['a']"),
        (True, str, "expected text, found True"),
        (3, Path, "expected a path, found 3"),
        ("2", Literal["e", "10"], "expected one of e, 10, found '2'"),
        ("x", Optional[int], "expected a whole number, found 'x'"),
        ("x", float | Literal["moses"], "expected one of float, Literal['moses'], found 'x'"),
    ],
)
def test_convert_says_what_was_expected(value: Any, wanted: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        convert(value, wanted, "feature 'x': option")
    assert str(caught.value) == f"feature 'x': option: {message}"


@pytest.mark.parametrize(
    ("annotation", "shown"),
    [(int, "int"), (Path, "Path"), (Path | None, "Path | None"), (Literal["e", 1], "Literal['e', 1]")],
)
def test_types_are_shown_as_written(annotation: Any, shown: str) -> None:
    assert shown_type(annotation) == shown
    assert shown_type(inspect.Parameter.empty) == ""


class Made:
    def __init__(self, path: Path, *, order: int = 3, unknown: SomewhereElse = None) -> None:  # noqa: F821
        self.values = (path, order, unknown)


class Typed:
    def __init__(self, path: Path, other: str, *, order: int = 3) -> None:
        self.values = (path, other, order)


def test_build_converts_options() -> None:
    assert build("feature 'x'", Typed, {"path": "a", "other": "b", "order": "5"}).values == (Path("a"), "b", 5)


def test_build_works_where_annotations_cannot_be_evaluated() -> None:
    assert list(parameters(Made)) == ["path", "order", "unknown"]
    for make in (Made, functools.partial(Made)):
        assert build("feature 'x'", make, {"path": "a", "order": "5"}).values == (Path("a"), 5, None)
        assert build("feature 'x'", make, {"path": "a", "unknown": "b"}).values == (Path("a"), 3, "b")


def test_variable_arguments_are_no_options() -> None:
    def make(*args: int, order: int = 1, **more: int) -> None: ...

    assert list(parameters(make)) == ["order"]


@pytest.mark.parametrize(
    "make", [type("Plain", (), {}), type("Sealed", (abc.ABC,), {}), collections.Counter, enum.Enum, Made, object]
)
def test_signatures_are_those_of_inspect(make: type) -> None:
    """Classes without a constructor are told without `inspect`, which reads the text of object's signature."""
    assert list(evaluated(make).parameters) == list(inspect.signature(make).parameters)


def test_unknown_option_suggests() -> None:
    with pytest.raises(UsageError, match=r"^feature 'x' has no option 'ordre'; did you mean 'order'\?$"):
        build("feature 'x'", Typed, {"path": "a", "other": "b", "ordre": "5"})


def test_missing_options_are_all_named() -> None:
    with pytest.raises(UsageError, match=r"^feature 'x' needs the options path, other$"):
        build("feature 'x'", Typed, {})
    with pytest.raises(UsageError, match=r"^feature 'x' needs the option other$"):
        build("feature 'x'", Typed, {"path": "a"})
