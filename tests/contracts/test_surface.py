"""The public surface: every name that a plugin may import, with its signature, compared with a golden text."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import smtformats
import smtplugins
import smtplugins.contracts
import smtplugins.testing

PACKAGES = (smtplugins, smtformats, smtplugins.testing)
SOURCES = Path(__file__).resolve().parents[2]
PUBLIC = ("smtplugins.contracts", "smtplugins.testing", "smtplugins.include")
READS_PLUGINS = ("decode", "features", "learn", "judge")
METHODS = "smtplugins.host.methods."
TYPE_ONLY = object()
OWN = {"fault", "line", "names", "pass_through", "smt_offers", "source", "tolist", "worker"}
"""What the host looks for on objects that are not a plugin's: records, options, arrays, threads, native scorers."""


def public_modules() -> Iterator[ModuleType]:
    yield from PACKAGES
    for found in pkgutil.walk_packages(smtplugins.contracts.__path__, "smtplugins.contracts."):
        yield importlib.import_module(found.name)


def names_of(module: ModuleType) -> list[str]:
    """``__all__``, or all public names that the module defines itself."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    own = (
        name for name, value in vars(module).items() if getattr(value, "__module__", module.__name__) == module.__name__
    )
    tree = ast.parse(inspect.getsource(module))
    assigned = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} | assigned
    return sorted(name for name in own if name in defined and not name.startswith("_"))


def signature_of(value: Any) -> str:
    try:
        return re.sub(r" at 0x[0-9a-f]+", "", str(inspect.signature(value))).replace("'", "")
    except (TypeError, ValueError):
        return "(...)"


def lines_of(name: str, value: Any) -> Iterator[str]:
    if value is TYPE_ONLY:
        yield f"type {name}"
    elif inspect.ismodule(value):
        yield f"module {name}"
    elif inspect.isclass(value):
        protocol = getattr(value, "_is_protocol", False)
        yield f"{'protocol' if protocol else 'class'} {name}" + ("" if protocol else signature_of(value))
        for field, kind in sorted(vars(value).get("__annotations__", {}).items()):
            if protocol and not field.startswith("_"):
                yield f"    {field}: {kind}"
        methods = {k: v for base in value.__mro__ if base.__module__.startswith(METHODS) for k, v in vars(base).items()}
        for member, own in sorted({**methods, **vars(value)}.items()):
            if member.startswith("_"):
                continue
            function = inspect.unwrap(getattr(own, "__func__", own))
            if isinstance(own, property):
                yield f"    {member}"
            elif inspect.isfunction(function):
                yield f"    {member}{signature_of(function)}"
    elif callable(value):
        yield f"{name}{signature_of(value)}"
    else:
        yield f"{name}: {type(value).__name__}"


def test_the_surface_is_what_was_agreed(golden: Callable[[str, str], None]) -> None:
    parts = []
    for module in public_modules():
        lines = [line for name in names_of(module) for line in lines_of(name, getattr(module, name, TYPE_ONLY))]
        if lines:
            parts.append("\n".join([f"# {module.__name__}", *lines]))
    golden("\n\n".join(parts) + "\n", "surface.txt")


def test_the_tools_only_pass_on() -> None:
    for found in pkgutil.iter_modules([str(SOURCES / "smtplugins/contracts/tools")]):
        tree = ast.parse((SOURCES / f"smtplugins/contracts/tools/{found.name}.py").read_text(encoding="utf-8"))
        assert not [node for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef))]


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("folder", ["smtplugins/plugins", "examples"])
def test_plugins_and_examples_import_from_public_rooms(folder: str) -> None:
    wrong = []
    for path in sorted((SOURCES / folder).rglob("*.py")):
        own = ".".join(path.relative_to(SOURCES).parts[:3])
        for module in imports_of(path):
            if module.startswith("smtplugins.") and not module.startswith((*PUBLIC, own)):
                wrong.append(f"{path.relative_to(SOURCES)}: {module}")
    assert wrong == []


OTHER_MEANINGS = {
    "host/decode/phrase_decoding.py": {"orientation"},  # a kind of PhrasePositionFeature
    "host/decode/phrase_options.py": {"glue", "pass-through"},  # an option, a value of one
    "host/decode/sentences.py": {"pass-through"},  # the same value
    "core/grammar/rules.py": {"glue", "oov"},  # where rules come from
}
"""Words of host and core that are also the name of a feature."""


def test_no_feature_is_known_to_host_or_core_by_its_name() -> None:
    """Toolkits' configurations are converted to features by name; ``old_keys`` is what earlier versions wrote."""
    names = {
        "translation-model",
        *(entry.record.name for entry in smtplugins.load_plugins().registry.entries("features")),
    }
    found: dict[str, set[str]] = {}
    for room in ("host", "core"):
        for path in sorted((SOURCES / "smtplugins" / room).rglob("*.py")):
            name = path.relative_to(SOURCES / "smtplugins").as_posix()
            if name.startswith("host/config/toolkits/") or name == "host/config/old_keys.py":
                continue
            texts = {
                node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant)
            }
            if used := {name for name in names if name in texts}:
                found[name] = used
    # Names of plugins that are switched off are no names.
    expected = {path: used & names for path, used in OTHER_MEANINGS.items()}
    assert found == {path: used for path, used in expected.items() if used}


def members() -> set[str]:
    """The members of all protocols, and what classes of the surface say a plugin's object may have."""
    found = set()
    for module in public_modules():
        if module.__name__.startswith("smtplugins.contracts.") and ".tools" not in module.__name__:
            for value in vars(module).values():
                if getattr(value, "_is_protocol", False):
                    found |= {*vars(value), *getattr(value, "__annotations__", {})}
    return found


def test_each_attribute_that_the_host_looks_for_is_in_a_contract() -> None:
    """``hasattr`` and ``getattr`` with a name are how optional parts of a plugin's object are read."""
    looked_for = set()
    for room in READS_PLUGINS:
        for path in sorted((SOURCES / "smtplugins/host" / room).glob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id in ("hasattr", "getattr")
                    and isinstance(node.args[1], ast.Constant)
                ):
                    looked_for.add(node.args[1].value)
    assert looked_for - OWN - members() == set()
