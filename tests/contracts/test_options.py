"""Options as dataclasses: what a constructor that takes one has on a command line, and what it is made with."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import CheckedOptions, check_bounds, fill, option
from smtplugins.contracts.spec import build, documentation, parameters
from smtplugins.core.search.search_options import SearchOptions


@dataclass(frozen=True, kw_only=True)
class SharedOptions(CheckedOptions):
    glue: bool = option(True, "add glue rules")
    limit: int = option(20, "rules kept", least=0)


@dataclass(frozen=True, kw_only=True)
class ToyOptions(SharedOptions):
    model_path: Path = option(doc="a model")
    order: Literal["free", "window"] = option("free", "what may come next")
    share: float | None = option(0.5, "a share", probability=True)
    names: list[str] = field(default_factory=lambda: ["a"])
    limit: int = 7


class Toy:
    def __init__(self, *, resources: Any = None, options: ToyOptions, extra: int = 1) -> None:
        self.given = (resources, options, extra)


def test_fields_are_options_the_own_ones_first() -> None:
    known = parameters(Toy)
    assert list(known) == ["model_path", "order", "share", "names", "glue", "limit", "extra"]
    assert known["model_path"].default is inspect.Parameter.empty
    assert (known["limit"].default, known["names"].default) == (7, ["a"])
    assert known["order"].annotation == Literal["free", "window"]


def test_fields_say_what_they_do_those_of_base_classes_too() -> None:
    assert documentation(Toy) == {
        "model_path": "a model",
        "order": "what may come next",
        "share": "a share",
        "glue": "add glue rules",
        "limit": "rules kept",
    }
    assert documentation(ToyOptions) == documentation(Toy)
    assert documentation(build) == {}


def test_build_fills_the_dataclass() -> None:
    texts = {"model_path": "m", "glue": "false", "order": "window", "extra": "3", "share": "0.25"}
    made = build("toy 'x'", Toy, texts, {"resources": "tables"})
    assert made.given == ("tables", ToyOptions(model_path=Path("m"), glue=False, order="window", share=0.25), 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "toy 'x' needs the option model_path"),
        ({"modelpath": "m"}, "toy 'x' has no option 'modelpath'; did you mean 'model_path'?"),
        ({"options": "m"}, "toy 'x' has no option 'options'"),
        ({"model_path": "m", "order": "no"}, "toy 'x': order: expected one of free, window, found 'no'"),
        ({"model_path": "m", "limit": "-1"}, "limit: expected 0 or more, found -1"),
        ({"model_path": "m", "share": "2"}, "share: expected a probability, found 2.0"),
    ],
)
def test_what_does_not_fit_is_an_error(options: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        build("toy 'x'", Toy, options)
    assert str(caught.value).startswith(message)


def test_bounds_name_their_owner() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Unchecked:
        size: int = option(1, least=1)

    check_bounds(Unchecked(), "toy")
    with pytest.raises(UsageError, match=r"^toy: size: expected 1 or more, found 0$"):
        check_bounds(Unchecked(size=0), "toy")


def test_a_plain_parameter_called_options_is_one_option() -> None:
    def make(options: str = "", *, more: ToyOptions | None = None) -> tuple[str, Any]:
        return options, more

    assert list(parameters(make)) == ["options", "more"]
    assert build("x", make, {"options": "a"}) == ("a", None)


class TestFill:
    def test_takes_what_has_the_same_name(self) -> None:
        shared = fill(SharedOptions, ToyOptions(model_path=Path("m"), glue=False))
        assert shared == SharedOptions(glue=False, limit=7)
        assert fill(SharedOptions, ToyOptions(model_path=Path("m")), limit=3).limit == 3

    def test_a_native_struct(self) -> None:
        @dataclass
        class Own:
            pop_limit: int = 5
            other: str = ""

        made = fill(SearchOptions, Own(), exact=True)
        assert (made.pop_limit, made.exact, made.adapt) == (5, True, 0.5)

    @pytest.mark.parametrize("members", [{"pop": 1}, {"pop_limit": "many"}, {"pop_limit": 1.5}])
    def test_what_a_native_struct_has_not_is_an_error(self, members: dict[str, Any]) -> None:
        with pytest.raises(TypeError):
            SearchOptions(**members)
        with pytest.raises(TypeError, match="SearchOptions has no option 'pop'"):
            fill(SearchOptions, object_without_fields(), pop=1)


def object_without_fields() -> Any:
    return type("Nothing", (), {})()
