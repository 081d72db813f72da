"""Records against the standard library's dataclasses: equality, hash, representation, copies and what is refused."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any

import pytest

from smtformats.records import dataclass

Decorator = Callable[..., Any]


def plain(dataclass: Decorator) -> list[Any]:
    @dataclass
    class Record:
        a: int
        b: Any = field(default_factory=list)

    return [Record(1), Record(1), Record(1, [2]), Record(True, []), Record(2)]


def frozen(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Record:
        a: int
        b: str = "x"

    @dataclass(frozen=True)
    class Child(Record):
        c: float = 0.0

    class Grandchild(Child):
        pass

    return [Record(1), Record(1), Record(2), Child(1), Child(1), Child(1, c=2.0), Grandchild(1), Grandchild(1)]


def fields_apart(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True, kw_only=True)
    class Record:
        a: int = field(repr=False)
        b: int = field(compare=False)
        c: int = field(hash=False)
        d: list[int] = field(default_factory=list, hash=False)

    return [Record(a=1, b=2, c=3), Record(a=1, b=4, c=3), Record(a=1, b=2, c=4), Record(a=2, b=2, c=3)]


def few_fields(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Empty:
        pass

    @dataclass(frozen=True)
    class Single:
        a: Any

    value = [1]
    return [Empty(), Empty(), Single(1), Single(1), Single((1,)), Single(value), Single(value)]


def with_slots(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True, slots=True)
    class Record:
        a: int
        b: int = 0

    return [Record(1), Record(1), Record(1, 2)]


def own_methods(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True)
    class Hashed:
        a: int

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True)
    class Compared:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

    @dataclass
    class Unhashed:
        a: int
        __hash__ = None  # type: ignore[assignment]

    return [Hashed(1), Hashed(1), Hashed(2), Compared(1), Compared(2), Unhashed(1), Unhashed(1)]


def without_comparison(dataclass: Decorator) -> list[Any]:
    @dataclass(frozen=True, eq=False)
    class Record:
        a: int

    @dataclass(eq=False, repr=False)
    class Silent:
        a: int

        def __repr__(self) -> str:
            return "silent"

    one = Record(1)
    return [one, one, Record(1), Silent(1)]


def within_itself(dataclass: Decorator) -> list[Any]:
    @dataclass
    class Record:
        a: Any

    record = Record(None)
    record.a = [record]
    return [record]


def attempted(call: Callable[[], Any]) -> Any:
    """The result of a call, or its error."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "define",
    [plain, frozen, fields_apart, few_fields, with_slots, own_methods, without_comparison, within_itself],
)
def test_records_are_as_dataclasses(define: Callable[[Decorator], list[Any]]) -> None:
    ours, theirs = define(dataclass), define(dataclasses.dataclass)
    assert [repr(one) for one in ours] == [repr(one) for one in theirs]
    pairs = [(i, j) for i in range(len(ours)) for j in range(len(ours)) if ours[i] is not ours[j]]
    assert [ours[i] == ours[j] for i, j in pairs] == [theirs[i] == theirs[j] for i, j in pairs]
    for one, other in zip(ours, theirs, strict=True):
        assert (type(one).__hash__ is None) == (type(other).__hash__ is None)
        assert repr(one.__dataclass_params__) == repr(other.__dataclass_params__)
        assert [each.name for each in dataclasses.fields(one)] == [each.name for each in dataclasses.fields(other)]
        if define not in (without_comparison, within_itself):
            assert attempted(lambda one=one: hash(one)) == attempted(lambda other=other: hash(other))
        for change in (lambda it: setattr(it, "a", 1), lambda it: delattr(it, "a"), lambda it: dataclasses.replace(it)):
            assert attempted(lambda one=one, change=change: repr(change(copy.copy(one)))) == attempted(
                lambda other=other, change=change: repr(change(copy.copy(other)))
            )


@dataclass(frozen=True)
class Kept:
    """A record that can be pickled."""

    a: int
    b: tuple[str, ...] = ()


def test_records_are_pickled_and_copied() -> None:
    record = Kept(1, ("x",))
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == dataclasses.replace(record, a=1) == record
    assert {record: 1}[Kept(1, ("x",))] == 1
    assert record not in [(1, ("x",)), Kept(2)]


def test_dataclasses_of_others_derive_from_records() -> None:
    @dataclasses.dataclass(frozen=True)
    class Child(Kept):
        c: int = 0

    assert (Child(1), hash(Child(1))) == (Child(1), hash(Child(1)))
    assert Child(1) != Kept(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'c'"):
        Child(1).c = 2  # type: ignore[misc]


def test_options_of_the_standard_library_are_its_own() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_such'"):
        dataclass(no_such=True)(type("Record", (), {}))  # type: ignore[call-overload]
