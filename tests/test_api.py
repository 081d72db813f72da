"""The Python face: these names and no others."""

from __future__ import annotations

import inspect
import re

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
    "merge",
    "read",
    "rescore",
]
METHODS = [
    "align",
    "cache_folder",
    "cached_grammars",
    "check_config",
    "clear_cache",
    "clear_scores",
    "config_schema",
    "convert",
    "decode",
    "describe",
    "estimate_lm",
    "evaluate",
    "extract_phrases",
    "extract_rules",
    "filter_table",
    "formats",
    "kept_scores",
    "mbr",
    "mbr_forests",
    "merge",
    "metric",
    "mix_lms",
    "new_config",
    "oracle",
    "prepare",
    "read",
    "read_weights",
    "report",
    "rerank",
    "score",
    "score_folder",
    "show_config",
    "train",
    "translator",
    "tune",
    "tune_decoder",
    "tune_policy",
    "update_weights",
    "write",
    "write_best",
]
STREAM = ["best", "best_by_id", "dedup", "load", "map", "rescore", "write"]


def public(made: type) -> list[str]:
    names = {name: value for base in made.__mro__ for name, value in vars(base).items()}
    return sorted(name for name, value in names.items() if not name.startswith("_") and callable(value))


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
            assert parameter.kind is not inspect.Parameter.VAR_KEYWORD, (function, name)
            assert name == "self" or parameter.annotation is not inspect.Parameter.empty, (function, name)


def test_documentation_names_arguments_and_no_options() -> None:
    for name in METHODS:
        text = inspect.getdoc(getattr(Host, name)) or ""
        assert not re.search(r"(^|\s|`)--?[a-z]", text), name
