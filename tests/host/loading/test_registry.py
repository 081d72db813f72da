"""Offers by kind and name: what is known, what is lacking, what is made."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.host.host import Host

Plugin = Callable[[str, str], ModuleType]

NEEDY = """
from smtplugins import Command, Offer, hookimpl

class Ones:
    def score_candidates(self, source, candidates):
        return [1.0] * len(candidates)

@hookimpl
def smt_features():
    yield Offer(name="needy", make=Ones, summary="x", requires=("learner:absent", "metric:bleu", "runner:gone"))
    yield Offer(name="content", make=Ones, summary="x", requires=("metric:bleu",))
"""
COMMAND = """
from smtplugins import Command, hookimpl

@hookimpl
def smt_commands():
    yield Command(name="run", summary="x", configure=lambda parser: None, run=lambda host, args: None)
"""


def test_unknown_name_suggests(host: Host) -> None:
    with pytest.raises(UsageError, match=r"^unknown feature 'lenght'; did you mean 'length'\?$"):
        host.registry.make("features", "lenght")


def test_unknown_name_lists_the_known_and_how_to_load_more(host: Host) -> None:
    with pytest.raises(UsageError, match=r"^unknown metric 'zzz'; known: bleu, .*; `--plugin FILE.py` loads one more"):
        host.metric("zzz")


def test_offer_is_unavailable_without_what_it_requires(plugin: Plugin) -> None:
    registry = smt.load_plugins([plugin("needy", NEEDY)]).registry
    assert registry.unavailable(registry.entry("features", "needy").record) == "needs learner:absent, runner:gone"
    with pytest.raises(PluginError, match=r"^feature 'needy' is unavailable: needs learner:absent, runner:gone$"):
        registry.make("features", "needy")
    assert registry.unavailable(registry.entry("features", "content").record) == ""
    assert registry.make("features", "content") is not None


def test_make_leaves_out_the_callers_own_options(host: Host) -> None:
    made = host.registry.make("features", "word-penalty,name=wp,value=2", without=("name",))
    assert made.value == 2.0
    with pytest.raises(UsageError, match="feature 'word-penalty' has no option 'name'"):
        host.registry.make("features", "word-penalty,name=wp")


def test_plugins_may_share_names_of_commands(plugin: Plugin) -> None:
    host = smt.load_plugins([plugin("b", COMMAND), plugin("a", COMMAND)])
    assert [one for one in host.registry.names("commands") if one.endswith(" run")] == ["a run", "b run"]


def test_entries_come_by_name(host: Host) -> None:
    for kind in ("features", "metrics", "formats", "runners"):
        names = [entry.record.name for entry in host.registry.entries(kind)]
        assert names == sorted(names) == host.registry.names(kind)
        assert names
