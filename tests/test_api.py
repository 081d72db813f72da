"""The Python face: these names and no others."""

from __future__ import annotations

import inspect

import smtplugins as smt
from smtplugins.host.host import Host

NAMES = [
    "Command",
    "ListStream",
    "Offer",
    "candidates",
    "feature",
    "hookimpl",
    "load",
    "load_grammar",
    "load_plugins",
    "read",
    "rescore",
]
METHODS = [
    "align",
    "evaluate",
    "formats",
    "metric",
    "read",
    "read_weights",
    "rerank",
    "score",
    "translator",
    "tune",
    "tune_policy",
]
STREAM = ["best", "best_by_id", "dedup", "load", "map", "rescore", "write"]


def public(made: type) -> list[str]:
    return sorted(name for name, value in vars(made).items() if not name.startswith("_") and callable(value))


def test_names_are_the_documented_ones() -> None:
    assert smt.__all__ == NAMES
    for name in NAMES:
        assert inspect.getdoc(getattr(smt, name)), name


def test_methods_are_the_documented_ones() -> None:
    for made, names in ((Host, METHODS), (smt.ListStream, STREAM)):
        assert public(made) == names
        for name in names:
            assert inspect.getdoc(getattr(made, name)), name


def test_everything_public_has_types() -> None:
    functions = [getattr(smt, name) for name in NAMES if inspect.isfunction(getattr(smt, name))]
    functions += [getattr(Host, name) for name in METHODS] + [getattr(smt.ListStream, name) for name in STREAM]
    for function in functions:
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, function
        for name, parameter in signature.parameters.items():
            assert name == "self" or parameter.annotation is not inspect.Parameter.empty, (function, name)
