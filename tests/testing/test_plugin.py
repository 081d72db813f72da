"""All checks on all that a plugin offers."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

import smtplugins as smt
from smtplugins import Offer, feature, hookimpl
from smtplugins.contracts import hookspecs
from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.testing import check_plugin
from smtplugins.testing.samples import WordOverlap


def plugin() -> ModuleType:
    module = ModuleType("tried")

    @feature("questions", summary="number of question marks")
    def questions(hyp: str) -> float:
        return float(hyp.count("?"))

    @hookimpl
    def smt_metrics() -> list[Offer]:
        worse = type("Worse", (WordOverlap,), {"higher_is_better": False})
        return [
            Offer(name="overlap", make=WordOverlap, summary="words in both"),
            Offer(name="worse", make=worse, summary="the same, the wrong way round"),
            Offer(name="lonely", make=WordOverlap, summary="never there", requires=("learner:absent",)),
        ]

    questions.__module__ = module.__name__
    vars(module).update(questions=questions, smt_metrics=smt_metrics)
    return module


def test_each_offer_is_checked_by_kind_and_name(tmp_path: Path) -> None:
    results = check_plugin(smt.load_plugins([plugin()]), "tried", tmp_path)
    assert {(kind, name) for kind, name, _ in results} == {
        ("feature", "questions"),
        ("metric", "overlap"),
        ("metric", "worse"),
        ("metric", "lonely"),
    }
    failed = {(name, result.check) for _, name, result in results if not result.ok}
    assert failed == {("worse", "the_reference_is_best"), ("lonely", "can_be_made")}


@pytest.mark.parametrize("hook", [hook.__name__ for hook in hookspecs.HOOKS])
def test_the_example_of_each_hook_passes(hook: str, tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", inspect.getdoc(getattr(hookspecs, hook)) or "", re.DOTALL)
    module = ModuleType("from_docstring")
    exec(code, vars(module))
    results = check_plugin(smt.load_plugins([module]), "from_docstring", tmp_path)
    assert [(name, result.check, result.message) for _, name, result in results if not result.ok] == []
    assert bool(results) == (hook not in ("smt_runners", "smt_commands"))


def test_a_plugin_that_is_not_there_or_not_on_cannot_be_checked(tmp_path: Path) -> None:
    host = smt.load_plugins(disable=["standard"])
    with pytest.raises(PluginError, match=r"plugin 'standard' .* is disabled"):
        check_plugin(host, "standard", tmp_path)
    with pytest.raises(UsageError, match="unknown plugin 'standrad'; did you mean 'standard'"):
        check_plugin(host, "standrad", tmp_path)
