"""Native modules: their committed stubs, and engines that know nothing of Python."""

from __future__ import annotations

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import smtformats
import smtplugins

STUBS = sorted(stub for package in (smtformats, smtplugins) for stub in Path(package.__file__).parent.rglob("_*.pyi"))
SOURCES = Path(__file__).parents[1]
NATIVE = sorted([SOURCES / "formats/native", *(SOURCES / "smtplugins").rglob("native")])


def outline(stub: str) -> str:
    """A stub without its spacing, which differs between versions of the generator."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = inspect.cleandoc(node.value)
    return ast.dump(tree, indent=1)


def test_each_module_has_a_stub() -> None:
    assert {stub.stem for stub in STUBS} >= {"_scan", "_core"}
    assert len(STUBS) == len(NATIVE)


@pytest.mark.parametrize("stub", STUBS, ids=[stub.stem for stub in STUBS])
def test_the_stub_is_what_the_generator_writes(stub: Path, request: pytest.FixtureRequest) -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    package = smtformats if stub.stem == "_scan" else smtplugins
    place = stub.relative_to(Path(package.__file__).parents[1])
    name = ".".join(place.with_suffix("").parts)
    module = importlib.import_module(name)
    generator = stubgen.StubGen(module)
    generator.put(module)
    text = generator.get()
    if outline(text) != outline(stub.read_text(encoding="utf-8")) and request.config.getoption("--update-golden"):
        stub.write_text(text, encoding="utf-8")
    assert outline(text) == outline(stub.read_text(encoding="utf-8")), f"{name}: pytest --update-golden writes it anew"


@pytest.mark.parametrize("folder", NATIVE, ids=[str(folder.parent.name) for folder in NATIVE])
def test_only_bindings_include_python(folder: Path) -> None:
    sources = [*folder.rglob("*.hpp"), *folder.rglob("*.cpp")]
    bindings = [path for path in sources if path.name.startswith(("bind", "module")) or path.parent.name == "bind"]
    engine = sorted({*sources} - {*bindings})
    assert len(engine) > 1
    for source in engine:
        text = source.read_text(encoding="utf-8")
        assert "nanobind" not in text, source
        assert "Python.h" not in text, source
