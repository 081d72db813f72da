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
    assert {"cdec.hpp", "cdec.cpp"} <= {source.name for source in sources}
    for source in sources:
        if not source.name.startswith("bind") and source.name != "module.cpp":
            text = source.read_text(encoding="utf-8")
            assert "nanobind" not in text, source
            assert "Python.h" not in text, source


def test_a_bad_line_is_set_aside() -> None:
    scanner = _scan.CdecScanner(1000, 10, 10)
    assert scanner.feed(b"[X] ||| a ||| b\nx\n")
    assert not scanner.finish()
    assert (scanner.lines, scanner.fault, scanner.levels, scanner.is_bad_refinement) == (2, b"x\n", 1, False)
    for again in (scanner.finish, lambda: scanner.feed(b"")):
        with pytest.raises(RuntimeError, match="the scanner stands at a bad line"):
            again()
    assert scanner.resume()
    with pytest.raises(RuntimeError, match="the scanner stands at no bad line"):
        scanner.resume()


def test_a_spent_scanner_is_closed() -> None:
    scanner = _scan.MosesScanner(1000, 10, 10, False, "T_")
    assert not scanner.feed(b"a ||| b ||| 1\n" + b"c ||| d ||| 0.5\n" * 9)
    assert scanner.fault == b"a ||| b ||| 1\n"
    scanner.expect(["T"])
    scanner.add("X", [("a", 0)], [("b", 0)], [("T", 0.0)], [])
    assert scanner.resume()
    assert scanner.finish()
    columns = scanner.columns()
    assert len(columns["level"]) == 10
    assert columns["words"][0] == b"abcd"
    for again in (scanner.finish, lambda: scanner.feed(b"")):
        with pytest.raises(RuntimeError, match="the scanner is closed"):
            again()
    with pytest.raises(RuntimeError, match="the columns were taken already"):
        scanner.columns()


def test_a_rule_of_words_that_are_none_is_refused() -> None:
    scanner = _scan.MosesScanner(1000, 10, 10, True, "T_")
    with pytest.raises(ValueError, match="no word of Moses: \\[X\\]"):
        scanner.add("X", [("[X]", 0)], [], [], [])
