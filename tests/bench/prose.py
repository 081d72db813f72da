"""Texts at random for reading aloud: 60 docstrings, 20 help texts, 20 error messages.

``python tests/bench prose --seed N``. A reader who knows machine translation and not this code should need no second
reading. The same seed draws the same texts from the same tree.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import random
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = {"docstrings": 60, "help texts": 20, "error messages": 20}
Texts = dict[str, list[str]]
"""The lines of each text, by where it stands."""


def prose(seed: int) -> dict[str, Texts]:
    """Draw the samples."""
    drawn = random.Random(seed)
    texts = {"docstrings": _docstrings(), "help texts": _help_texts(), "error messages": _error_messages()}
    return {
        kind: {place: texts[kind][place] for place in drawn.sample(sorted(texts[kind]), size)}
        for kind, size in SAMPLES.items()
    }


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("smtplugins", "formats/smtformats"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def _docstrings() -> Texts:
    """Docstrings of modules, classes and functions."""
    texts = {}
    for path, module in _modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                place = path if isinstance(node, ast.Module) else f"{path}:{node.lineno} {node.name}"
                texts[place] = text.splitlines()
    return texts


def _help_texts() -> Texts:
    """Help texts of the arguments and subcommands of every command, each once."""
    from smtplugins.cli.main import COMMANDS, command_parser, find_parser
    from smtplugins.host.loading.manager import load_plugins

    parsers = [command_parser(name) for name in COMMANDS]
    # The arguments of a plugin's command are added when the command is used.
    for entry in load_plugins().registry.entries("commands"):
        parsers += filter(None, [find_parser([entry.plugin.name, entry.record.name])])
    texts: Texts = {}
    for parser in parsers:
        for place, text in _arguments(parser):
            if [text] not in texts.values():
                texts[place] = [text]
    return texts


def _arguments(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in parser._actions:
        name = "/".join(action.option_strings) or action.metavar or action.dest
        if action.help and action.help != argparse.SUPPRESS and name != "-h/--help":
            yield f"{parser.prog} {name}", action.help % {**vars(action), "prog": parser.prog}
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield f"{parser.prog} {choice.dest}", choice.help or ""
            for verb in action.choices.values():
                yield from _arguments(verb)


def _error_messages() -> Texts:
    """Expressions of raise statements that hold text."""
    texts = {}
    for path, module in _modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and _has_words(node.exc):
                texts[f"{path}:{node.lineno}"] = inspect.cleandoc(ast.unparse(node.exc)).splitlines()
    return texts


def _has_words(node: ast.AST) -> bool:
    constants = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return any(isinstance(value, str) and " " in value for value in constants)
