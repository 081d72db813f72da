"""The rooms: their size, what they say of themselves, and who imports whom by which door."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1]
PACKAGES = [SOURCES / "smtplugins", SOURCES / "formats/smtformats"]
FOLDERS = sorted({path.parent for package in PACKAGES for path in package.rglob("*.py")})
NATIVE_FILES = sorted(
    path
    for place in ("formats/native", "smtplugins/**/native", "smtplugins/include")
    for path in [*SOURCES.glob(f"{place}/**/*.?pp"), *SOURCES.glob(f"{place}/**/*.h")]
)
NATIVE = sorted({path.parent for path in NATIVE_FILES})
MODULES = sorted(path for package in PACKAGES for path in package.rglob("*.py"))
PUBLIC = ("smtplugins", "smtplugins.contracts", "smtplugins.testing", "smtplugins.include", "smtformats")


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCES))


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_room_is_small_and_says_what_belongs_there(folder: Path) -> None:
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(modules) <= 15
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert text


@pytest.mark.parametrize("folder", NATIVE, ids=name_of)
def test_a_native_room_is_small(folder: Path) -> None:
    assert sum(path.parent == folder for path in NATIVE_FILES) <= 25


def test_native_files_are_short() -> None:
    lines = {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in NATIVE_FILES}
    assert {name: count for name, count in lines.items() if count > 450} == {}


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, with handlers and cases, as ``ast.walk`` yields among the expressions, which take long."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        inner = getattr(tree, name, None)
        for node in inner if isinstance(inner, list) else ():
            yield node
            yield from statements(node)


@functools.cache
def functions_and_classes(path: Path) -> tuple[list[tuple[str, int]], list[str]]:
    """The functions of a module with their lines, and its public classes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [
        (node.name, (node.end_lineno or 0) - node.lineno + 1)
        for node in statements(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return functions, [one.name for one in tree.body if isinstance(one, ast.ClassDef) and not one.name.startswith("_")]


def test_modules_and_functions_are_short() -> None:
    long = []
    for path in MODULES:
        count = path.read_text(encoding="utf-8").count("\n")
        if count > 450:
            long.append(f"{name_of(path)}: {count} lines")
        long += [f"{name_of(path)}: {name}, {n} lines" for name, n in functions_and_classes(path)[0] if n > 60]
    assert long == []


def test_a_public_class_name_means_one_thing() -> None:
    places: dict[str, set[str]] = {}
    for path in MODULES:
        for name in functions_and_classes(path)[1]:
            places.setdefault(name, set()).add(name_of(path))
    assert {name: sorted(found) for name, found in places.items() if len(found) > 1} == {}
