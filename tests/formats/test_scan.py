"""The native scanner: its committed stub, an engine that knows nothing of Python, and its life once spent."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import smtformats
from smtformats import _scan

NATIVE = Path(__file__).parents[2] / "formats" / "native"
REMEDY = "python -m nanobind.stubgen -m smtformats._scan -o formats/smtformats/_scan.pyi"


def outline(stub: str) -> str:
    """A stub without its spacing, which differs between versions of the generator."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = inspect.cleandoc(node.value)
    return ast.dump(tree, indent=1)


def test_the_stub_is_what_the_generator_writes() -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_scan)
    generator.put(_scan)
    committed = Path(smtformats.__file__).with_name("_scan.pyi").read_text(encoding="utf-8")
    assert outline(generator.get()) == outline(committed), f"write it anew: {REMEDY}"


def test_only_bindings_include_python() -> None:
    sources = sorted([*NATIVE.glob("*.hpp"), *NATIVE.glob("*.cpp")])
    assert {"grammar.hpp", "grammar.cpp"} <= {source.name for source in sources}
    for source in sources:
        if not source.name.startswith("bind") and source.name != "module.cpp":
            text = source.read_text(encoding="utf-8")
            assert "nanobind" not in text, source
            assert "Python.h" not in text, source


def test_a_spent_scanner_is_closed() -> None:
    scanner = _scan.GrammarScanner(1000, 10, 10)
    assert scanner.feed(b"[X] ||| a ||| b\nx\n")
    assert not scanner.finish()
    assert scanner.fault() == (2, b"x\n", 1, False)
    assert scanner.lines == 2
    assert len(scanner.columns()["level"]) == 1
    for again in (scanner.finish, lambda: scanner.feed(b"")):
        with pytest.raises(RuntimeError, match="the grammar scanner is closed"):
            again()
    with pytest.raises(RuntimeError, match="the columns were taken already"):
        scanner.columns()
