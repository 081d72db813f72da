"""The native module: its committed stub, and an engine that knows nothing of Python."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from smtplugins.plugins import bitree
from smtplugins.plugins.bitree import _bitree

HERE = Path(bitree.__file__).parent
REMEDY = "python -m nanobind.stubgen -m smtplugins.plugins.bitree._bitree -o smtplugins/plugins/bitree/_bitree.pyi"


def outline(stub: str) -> str:
    """A stub without its spacing, which differs between versions of the generator."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = inspect.cleandoc(node.value)
    return ast.dump(tree, indent=1)


def test_the_stub_is_what_the_generator_writes() -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(_bitree)
    generator.put(_bitree)
    committed = (HERE / "_bitree.pyi").read_text(encoding="utf-8")
    assert outline(generator.get()) == outline(committed), f"write it anew: {REMEDY}"


def test_only_bindings_include_python() -> None:
    native = Path(__file__).parents[3] / "smtplugins/plugins/bitree/native"
    sources = sorted([*native.glob("*.hpp"), *native.glob("*.cpp")])
    assert {"boosting.cpp", "trees.cpp"} <= {source.name for source in sources}
    for source in sources:
        if not source.name.startswith("bind") and source.name not in ("module.cpp", "bindings.hpp"):
            text = source.read_text(encoding="utf-8")
            assert "nanobind" not in text, source
            assert "Python.h" not in text, source
