"""Plugins found, loaded, set aside, switched off; mistakes in them named with both sides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import PluginError, UsageError
from smtplugins.host.host import Host

Plugin = Callable[[str, str], ModuleType]
Install = Callable[..., Path]

ONE = """
from smtplugins import Offer, hookimpl

class Ones:
    def score_candidates(self, source, candidates):
        return [1.0] * len(candidates)

@hookimpl
def smt_features():
    yield Offer(name="NAME", make=Ones, summary="one each")
"""


def offering(name: str) -> str:
    return ONE.replace("NAME", name)


def info(host: Host, name: str) -> Any:
    (found,) = [one for one in host.plugins if one.name == name]
    return found


def test_own_plugins_come_through_the_same_door(host: Host) -> None:
    standard = info(host, "standard")
    assert (standard.distribution, standard.origin, standard.status) == (
        "smtplugins",
        "smtplugins.plugins.standard",
        "ok",
    )
    assert standard.version
    assert standard.hooks == ("smt_features", "smt_formats", "smt_metrics", "smt_runners")


def test_installed_distribution_is_loaded(install: Install) -> None:
    install("ones", offering("ones"))
    host = smt.load_plugins()
    found = info(host, "ones")
    assert (found.distribution, found.version, found.status) == ("smt-ones", "1.2", "ok")
    assert (found.hooks, found.offers) == (("smt_features",), {"features": ("ones",)})
    (scored,) = host.score([smt.candidates(["a"])], ["ones"])
    assert scored.values == [[1.0]]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("raise RuntimeError('out of luck')", "RuntimeError: out of luck"),
        ("raise SystemExit('gone')", "it called sys.exit('gone')"),
        (
            "import sys\nfrom smtplugins import hookimpl\n@hookimpl\ndef smt_metrics():\n    sys.exit(0)\n",
            "it called sys.exit(0)",
        ),
        ("x = 1", "ValueError: it offers nothing: no @hookimpl function and no @feature in it"),
        (
            "from smtplugins import hookimpl\n@hookimpl\ndef smt_features():\n    yield 'length'\n",
            "TypeError: smt_features yields Offer records, found 'length'",
        ),
        (
            "from smtplugins import hookimpl\n@hookimpl\ndef smt_commands():\n    return 3\n",
            "TypeError: 'int' object is not iterable",
        ),
        (
            "from smtplugins import hookimpl\n@hookimpl\ndef smt_features():\n    raise KeyError('x')\n",
            "KeyError: 'x'",
        ),
        (
            offering("fine") + "    yield Offer(name='a b', make=Ones, summary='x')\n",
            "ValueError: expected a name of letters, digits, `-`, `_` and `.`, found 'a b'",
        ),
    ],
)
def test_broken_plugin_is_set_aside_with_its_reason(install: Install, code: str, reason: str) -> None:
    install("bad", code)
    install("ones", offering("ones"))
    host = smt.load_plugins()
    assert (info(host, "bad").status, info(host, "bad").reason) == ("broken", reason)
    assert info(host, "bad").offers == {}
    assert info(host, "ones").status == "ok"
    assert host.hooks.get_plugin("bad") is None
    with pytest.raises(PluginError) as caught:
        host.registry.entry("features", "bad")
    assert str(caught.value) == f"feature 'bad': plugin 'bad' (smt-bad 1.2) is broken: {reason}"


def test_unknown_name_mentions_broken_plugins(install: Install) -> None:
    install("bad", "raise RuntimeError('out of luck')")
    with pytest.raises(UsageError) as caught:
        smt.load_plugins().registry.make("features", "other")
    assert "plugin 'bad' (smt-bad 1.2), which may have had it, is broken: RuntimeError: out of luck" in str(
        caught.value
    )


def test_entry_point_that_is_no_module_is_broken(install: Install) -> None:
    path = install("value", "offers = [1]")
    (path.parent / "smt_value-1.2.dist-info" / "entry_points.txt").write_text(
        "[smtplugins]\nvalue = installed_value:offers\n"
    )
    assert info(smt.load_plugins(), "value").reason == "TypeError: expected a module, found [1]"


def test_hook_with_foreign_parameters_is_broken(install: Install) -> None:
    install("bad", "from smtplugins import hookimpl\n@hookimpl\ndef smt_features(host): return []\n")
    found = info(smt.load_plugins(), "bad")
    assert found.status == "broken"
    assert "smt_features(host)" in found.reason


def test_one_module_under_two_names_is_broken_once(install: Install) -> None:
    install("one", offering("ones"), module="installed_same")
    install("two", offering("ones"), module="installed_same")
    host = smt.load_plugins()
    assert (info(host, "one").status, info(host, "two").status) == ("ok", "broken")
    assert "already registered" in info(host, "two").reason


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("@hookimpl\ndef smt_feature(): return []", "implements 'smt_feature', which is no hook .* 'smt_features'"),
        ("def smt_feature(): return []", "'smt_feature' lacks @hookimpl and is no hook .*did you mean 'smt_features'"),
        ("def smt_metrics(): return []", "'smt_metrics' lacks @hookimpl"),
    ],
)
@pytest.mark.parametrize("installed", [True, False])
def test_misspelt_hook_is_an_error(
    install: Install, plugin: Plugin, function: str, message: str, installed: bool
) -> None:
    code = offering("ones") + function + "\n"
    if installed:
        install("typo", code)
        with pytest.raises(PluginError, match=f"plugin 'typo' .smt-typo 1.2.:? {message}"):
            smt.load_plugins()
    else:
        with pytest.raises(PluginError, match=f"plugin 'typo' .typo.:? {message}"):
            smt.load_plugins([plugin("typo", code)])


def test_imported_helper_with_the_prefix_is_no_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "manager_helper.py").write_text("def smt_help(): pass\n")
    (tmp_path / "manager_user.py").write_text("from manager_helper import smt_help\n" + offering("ones"))
    assert info(smt.load_plugins(["manager_user"]), "manager_user").status == "ok"


def test_two_offers_of_one_name_name_both_sides(install: Install) -> None:
    install("one", offering("twice"))
    install("two", offering("twice"))
    with pytest.raises(PluginError) as caught:
        smt.load_plugins()
    assert str(caught.value) == (
        "feature 'twice' is offered twice: by plugin 'one' (smt-one 1.2) and by plugin 'two' (smt-two 1.2); "
        "rename one, or switch one off with SMT_DISABLE_PLUGINS=two"
    )
    assert smt.load_plugins(disable=["two"]).registry.entry("features", "twice").plugin.name == "one"


def test_offer_of_our_own_name_is_refused_too(plugin: Plugin) -> None:
    with pytest.raises(PluginError, match=r"feature 'length' .* by plugin 'standard' .* and by plugin 'mine'"):
        smt.load_plugins([plugin("mine", offering("length"))])
    host = smt.load_plugins([plugin("mine", offering("length"))], disable=["standard"])
    assert host.registry.entry("features", "length").plugin.name == "mine"


def test_two_plugins_of_one_name_name_both_sides(install: Install) -> None:
    install("same", offering("a"), distribution="smt-a", module="installed_a")
    install("same", offering("b"), distribution="smt-b", module="installed_b")
    with pytest.raises(PluginError) as caught:
        smt.load_plugins()
    assert str(caught.value) == (
        "two plugins are named 'same': installed_a of 'same' (smt-a 1.2) and installed_b of 'same' (smt-b 1.2); "
        "rename or uninstall one"
    )


def test_disabled_plugins_are_listed_and_not_imported(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("one", "raise RuntimeError('imported')")
    install("two", offering("two"))
    monkeypatch.setenv("SMT_DISABLE_PLUGINS", "one, standard")
    host = smt.load_plugins(disable=["two"])
    assert {name: info(host, name).status for name in ("one", "two", "standard")} == dict.fromkeys(
        ("one", "two", "standard"), "disabled"
    )
    assert info(host, "one").reason == "switched off by name"
    assert "length" not in host.registry.names("features")
    assert "two" not in host.registry.names("features")


def test_variable_loads_files_and_modules(install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(offering("mine"))
    (tmp_path / "site" / "manager_module.py").write_text(offering("other"))
    monkeypatch.setenv("SMT_PLUGINS", f"{tmp_path / 'mine.py'},manager_module")
    host = smt.load_plugins()
    assert (info(host, "mine").origin, info(host, "mine").distribution) == (str(tmp_path / "mine.py"), "")
    assert {"mine", "other"} <= set(host.registry.names("features"))


def test_trace_prints_hook_calls(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    smt.load_plugins()
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("SMT_TRACE_PLUGINS", "1")
    smt.load_plugins()
    trace = capsys.readouterr().err
    assert "smt_metrics" in trace
    assert "finish smt_features" in trace


def test_file_given_by_name_must_work(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    with pytest.raises(PluginError, match=r"plugin file .*mine\.py: no such file"):
        smt.load_plugins([path])
    path.write_text("import no_such_module_at_all\n")
    with pytest.raises(PluginError, match="cannot be imported: ModuleNotFoundError: No module named 'no_such_module"):
        smt.load_plugins([path])
    path.write_text("def (:\n")
    with pytest.raises(PluginError, match="cannot be imported: SyntaxError"):
        smt.load_plugins([path])
    path.write_text("raise SystemExit(0)\n")
    with pytest.raises(PluginError, match=r"cannot be imported: it called sys\.exit\(0\)"):
        smt.load_plugins([path])
    path.write_text("x = 1\n")
    with pytest.raises(PluginError, match=r"plugin 'mine' \(.*mine\.py\) failed: ValueError: it offers nothing"):
        smt.load_plugins([path])
    path.write_text("from smtplugins import hookimpl\n@hookimpl\ndef smt_metrics():\n    raise OSError('disk')\n")
    with pytest.raises(PluginError, match=r"plugin 'mine' \(.*mine\.py\) failed: OSError: disk"):
        smt.load_plugins([path])
    path.write_text("from smtplugins import hookimpl\n@hookimpl\ndef smt_metrics():\n    raise SystemExit\n")
    with pytest.raises(PluginError, match=r"plugin 'mine' \(.*mine\.py\) failed: it called"):
        smt.load_plugins([path])


def test_module_given_by_name_must_be_there() -> None:
    with pytest.raises(
        PluginError, match=r"plugin 'no_such_module': no such module; the name of a plugin file ends in .py"
    ):
        smt.load_plugins(["no_such_module"])
    with pytest.raises(PluginError, match=r"plugin 'no_such.module' cannot be imported: ModuleNotFoundError"):
        smt.load_plugins(["no_such.module"])


def test_files_of_one_stem_are_two_plugins_of_one_name(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "mine.py" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(offering(f"mine-{path.parent.name}"))
    with pytest.raises(PluginError, match=r"two plugins are named 'mine': .*a/mine\.py of .* and .*b/mine\.py of"):
        smt.load_plugins(paths)


def test_order_of_plugins_changes_nothing(plugin: Plugin) -> None:
    modules = [plugin(name, offering(name)) for name in ("zeta", "alpha")]
    hosts = [smt.load_plugins(modules), smt.load_plugins(modules[::-1])]
    assert hosts[0].registry.names("features") == hosts[1].registry.names("features")
    lists = [
        [one.layouts for one in host.score([smt.candidates(["a b"])], ["zeta", "length", "alpha"])] for host in hosts
    ]
    assert lists[0] == lists[1] == [[("zeta", "length", "alpha")]]


def test_hosts_are_independent(plugin: Plugin) -> None:
    first = smt.load_plugins([plugin("ones", offering("ones"))])
    second = smt.load_plugins()
    assert "ones" in first.registry.names("features")
    assert "ones" not in second.registry.names("features")


MINE = """
from smtformats import Format
from smtplugins import hookimpl

@hookimpl
def smt_formats():
    yield Format(name="NAME", kind="weights", summary="mine", matches=lambda head: False, parse=lambda lines: iter(()))
"""


def test_formats_of_a_kind_are_the_packages_and_the_plugins(plugin: Plugin) -> None:
    host = smt.load_plugins([plugin("mine", MINE.replace("NAME", "mine-weights"))])
    names = [record.name for record in host.formats("weights")]
    assert names == sorted(names)
    assert {"cdec-weights", "mine-weights"} <= set(names)
    assert names == [record.name for record in host.formats() if record.kind == "weights"]
    assert [record.name for record in smt.load_plugins().formats("weights")] == [
        name for name in names if name != "mine-weights"
    ]
    assert host.formats("no such kind") == []
    assert "cdec-weights" in info(host, "standard").offers["formats"]


def test_format_with_a_name_of_ours_is_an_error_that_names_both(plugin: Plugin) -> None:
    with pytest.raises(PluginError, match=r"'cdec-weights' is offered twice: by plugin 'standard' .* and by plugin"):
        smt.load_plugins([plugin("mine", MINE.replace("NAME", "cdec-weights"))])


def test_without_the_standard_plugin_there_are_no_formats() -> None:
    assert smt.load_plugins(disable=["standard"]).formats("weights") == []
