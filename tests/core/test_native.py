"""The native module: its committed stub, and an engine that knows nothing of Python."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import smtplugins.core
from smtplugins.core import _core

NATIVE = Path(__file__).parents[2] / "smtplugins" / "core" / "native"
REMEDY = "python -m nanobind.stubgen -m smtplugins.core._core -o smtplugins/core/_core.pyi"


def outline(stub: str) -> str:
    """A stub without its spacing, which differs between versions of the generator."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = inspect.cleandoc(node.value)
    return ast.dump(tree, indent=1)


def test_the_stub_is_what_the_generator_writes() -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_core)
    generator.put(_core)
    committed = Path(smtplugins.core.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    assert outline(generator.get()) == outline(committed), f"write it anew: {REMEDY}"


def test_only_bindings_include_python() -> None:
    sources = sorted([*NATIVE.glob("*.hpp"), *NATIVE.glob("*.cpp")])
    assert {"lm.hpp", "lm.cpp"} <= {source.name for source in sources}
    for source in sources:
        if not source.name.startswith("bind") and source.name != "module.cpp":
            text = source.read_text(encoding="utf-8")
            assert "nanobind" not in text, source
            assert "Python.h" not in text, source
