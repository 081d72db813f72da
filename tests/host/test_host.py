"""The methods of the host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.host import Host
from smtplugins.host.spread.choice import default_runner

LIST = "0 ||| a house  ||| LM0= -2 ||| -1\n0 ||| home  ||| LM0= -1 ||| -2\n"


@pytest.fixture
def nbest(tmp_path: Path) -> Path:
    path = tmp_path / "test.nbest"
    path.write_text(LIST)
    return path


def test_score_takes_paths_streams_columns_and_lists(host: Host, nbest: Path) -> None:
    listed = smt.candidates(["a house", "home"])
    for lists in (nbest, str(nbest), smt.read(nbest), smt.load(nbest), [listed], iter([listed])):
        (scored,) = host.score(lists, ["length"])
        assert [row[-1] for row in scored.values] == [2.0, 1.0]


def test_scored_lists_can_be_read_again_and_scored_further(host: Host, nbest: Path) -> None:
    scored = host.score(host.score(nbest, ["length"]), ["word-penalty"])
    for _ in range(2):
        assert scored.load().features.names == ("LM0", "length", "word-penalty")


def test_scored_lists_keep_their_format(host: Host, nbest: Path, tmp_path: Path) -> None:
    host.score(nbest, ["length"]).write(tmp_path / "out")
    assert (tmp_path / "out").read_text() == LIST.replace(" ||| -", " length= 2 ||| -", 1).replace(
        "-1 ||| -2", "-1 length= 1 ||| -2"
    )


def test_runner_can_be_chosen(host: Host, nbest: Path) -> None:
    expected = [listed.values for listed in host.score(nbest, ["length"])]
    for runner in ("serial", "processes,jobs=2,chunk=1", {"name": "processes", "jobs": 2}, Spec("serial")):
        assert [listed.values for listed in host.score(nbest, ["length"], jobs=runner)] == expected
    with pytest.raises(UsageError, match="unknown runner 'proceses'; did you mean 'processes'"):
        host.score(nbest, ["length"], jobs="proceses").load()


def test_jobs_choose_the_runner() -> None:
    assert default_runner(1) == Spec("serial")
    assert default_runner(3) == Spec("processes", {"jobs": 3})
    for wrong in (0, -2):
        with pytest.raises(UsageError, match=f"jobs: expected 1 or more, found {wrong}"):
            default_runner(wrong)


def test_features_are_made_before_anything_is_read(host: Host, nbest: Path) -> None:
    with pytest.raises(UsageError, match="unknown feature"):
        host.score(nbest, ["lenght"])


CLOSING = """
from smtplugins import feature
events = []

@feature("closing")
class Closing:
    '''Remembers that it was closed.'''
    def __init__(self, fail: bool = False):
        self.fail = fail

    def score_candidates(self, source, candidates):
        if self.fail:
            raise ValueError("no")
        return [0.0] * len(candidates)

    def close(self):
        events.append("closed")
        if self.fail:
            raise OSError("not again")
"""


def test_features_are_closed_after_the_last_list(plugin: Callable[[str, str], ModuleType], nbest: Path) -> None:
    module = plugin("closing", CLOSING)
    host = smt.load_plugins([module])
    stream = iter(host.score(nbest, ["closing"]))
    next(stream)
    assert module.events == []
    assert list(stream) == []
    assert module.events == ["closed"]


def test_features_are_closed_when_the_reader_gives_up(plugin: Callable[[str, str], ModuleType], nbest: Path) -> None:
    module = plugin("closing", CLOSING)
    stream = iter(smt.load_plugins([module]).score(nbest, ["closing"]))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert module.events == ["closed"]


def test_first_failure_is_the_one_told(plugin: Callable[[str, str], ModuleType], nbest: Path) -> None:
    module = plugin("closing", CLOSING)
    host = smt.load_plugins([module])
    with pytest.raises(Exception, match=r"feature 'closing' on list 0 .*: ValueError: no"):
        host.score(nbest, ["closing,fail=true"]).load()
    assert module.events == ["closed"]


def test_formats_of_plugins_are_known(plugin: Callable[[str, str], ModuleType], tmp_path: Path) -> None:
    code = (
        "from smtformats import Format\n"
        "from smtplugins import hookimpl\n"
        "def parse(lines):\n"
        "    yield {name: 1.0 for line in lines for name in line.split()[1:]}\n"
        "@hookimpl\n"
        "def smt_formats():\n"
        "    yield Format(name='ones', kind='weights', summary='x',\n"
        "                 matches=lambda head: head[:2] == b'1:', parse=parse)\n"
    )
    host = smt.load_plugins([plugin("ones", code)])
    (tmp_path / "w").write_text("1: a b\n")
    assert host.read_weights(tmp_path / "w") == {"a": 1.0, "b": 1.0}
    assert "ones" in [fmt.name for fmt in host.formats()]


def test_host_shows_its_plugins(host: Host) -> None:
    assert repr(host).startswith("<smtplugins host, plugins: ")
    assert "standard" in repr(host)


def test_a_function_is_a_feature(host: Host, nbest: Path) -> None:
    def shouted(hyp: str) -> float:
        """Number of exclamation marks."""
        return float(hyp.count("o"))

    def same(source: str, hyp: str, *, factor: float = 2.0) -> float:
        return factor * (source == hyp)

    (scored,) = host.score(nbest, shouted)
    assert scored.names() == ("LM0", "shouted")
    assert [row[-1] for row in scored.values] == [1.0, 1.0]
    (scored,) = host.score(smt.candidates(["a", "b"], source="b"), [same, "length"])
    assert [features for _, features, _ in scored.rows()] == [
        {"same": 0.0, "length": 1.0},
        {"same": 2.0, "length": 1.0},
    ]
    with pytest.raises(UsageError, match=r"features: expected names, functions with a name, .*found <lambda>"):
        host.score(nbest, lambda hyp: 0.0)
    with pytest.raises(UsageError, match="feature 'wrong': expected parameters among hyp, source"):
        host.score(nbest, wrong)
    with pytest.raises(UsageError, match="classes marked by @feature, found Path"):
        host.score(nbest, Path)
    with pytest.raises(UsageError, match=r"feature 'same' needs the source: add it with source=FILE"):
        host.score(nbest, same).load()


def wrong(text: str) -> float:
    return 0.0


def test_one_feature_needs_no_list(host: Host, nbest: Path) -> None:
    for one in ("length", {"name": "length"}, Spec("length")):
        assert [nbest.names() for nbest in host.score(nbest, one)] == [("LM0", "length")]


def test_lists_are_written_in_formats_of_plugins(plugin: Callable[[str, str], ModuleType], tmp_path: Path) -> None:
    host = smt.load_plugins([plugin("bars", BARS)])
    listed = smt.candidates(["a", "b"], scores=[-1.0, -2.0])
    assert host.write([listed], tmp_path / "out", "bars") == 1
    assert (tmp_path / "out").read_text() == "#bars 0\na|-1\nb|-2\n"
    assert host.read(tmp_path / "out").best() == host.mbr(tmp_path / "out", "chrf", scale=9.0).best() == ["a"]
    assert host.describe(tmp_path / "out").facts["format"].startswith("bars")


BARS = """
from smtformats import Candidates, Format
from smtplugins import hookimpl

def parse(lines):
    items = [line.rstrip("\\n").split("|") for line in lines][1:]
    yield Candidates("0", [t for t, _ in items], [("s",)] * len(items), [[float(s)] for _, s in items],
                     [float(s) for _, s in items])

def write(lists, out, number):
    for nbest in lists:
        out.write(f"#bars {nbest.id}\\n" + "".join(f"{t}|{number(s)}\\n" for t, s in zip(nbest.texts, nbest.totals)))
    return 1

@hookimpl
def smt_formats():
    yield Format(name="bars-nbest", kind="nbest", summary="x", matches=lambda head: head.startswith(b"#bars"),
                 parse=parse, write=write)
"""


def test_formats_of_installed_plugins_are_known_everywhere(install: Callable[..., Path], tmp_path: Path) -> None:
    install("bars", BARS)
    (tmp_path / "x").write_text("#bars 0\na|-1\nb|-2\n")
    for options in ({}, {"format": "bars"}, {"format": "bars-nbest"}):
        assert smt.read(tmp_path / "x", **options).best() == ["a"]
        assert smt.load(tmp_path / "x", **options).texts[:] == ["a", "b"]
    smt.read(tmp_path / "x").write(tmp_path / "y", "bars")
    assert (tmp_path / "y").read_bytes() == (tmp_path / "x").read_bytes()
    with pytest.raises(UsageError, match="unknown format 'bar'; known: bars-nbest, "):
        smt.read(tmp_path / "x", format="bar")
    (tmp_path / "z").write_text("?\n")
    with pytest.raises(FormatError, match="the shape of"):
        smt.read(tmp_path / "z", format=None)


def test_plugins_are_not_loaded_for_our_formats(monkeypatch: pytest.MonkeyPatch, nbest: Path) -> None:
    monkeypatch.setattr("smtplugins.host.files.opening.installed_formats", lambda: pytest.fail("loaded plugins"))
    assert smt.read(nbest).best() == smt.read(nbest, format="moses").best() == ["a house"]


def test_weights_are_put_into_a_file(host: Host, tmp_path: Path) -> None:
    (tmp_path / "old").write_text("# note\n[weight]\na= 1\nb= 2\n")
    notes: list[str] = []
    host.update_weights({"a": 3.0, "c": 1.0}, tmp_path / "old", tmp_path / "new", note=notes.append)
    assert (tmp_path / "new").read_text() == "# note\n[weight]\na= 3\nb= 2\n"
    assert len(notes) == 1 and notes[0].endswith("has no line for c: left out")
    assert host.convert(tmp_path / "new", tmp_path / "pipes", "pipe") == 1
    with pytest.raises(SmtError, match="old: expected lines for these weights, found none"):
        host.update_weights({"x": 1.0}, tmp_path / "old", tmp_path / "none")
    with pytest.raises(UsageError, match="ignore needs a configuration converted with to_format='run-yaml'"):
        host.convert(tmp_path / "new", tmp_path / "pipes", "pipe", ignore="x")


def test_a_host_is_shown_as_a_table(host: Host) -> None:
    assert "<th>plugin</th>" in host._repr_html_() and "standard" in host._repr_html_()


def test_best_texts_are_written(host: Host, nbest: Path, tmp_path: Path) -> None:
    nbest.write_text(LIST.replace("0 ||| home", "2 ||| home"))
    notes: list[str] = []
    assert host.write_best(nbest, tmp_path / "best", note=notes.append) == 1
    assert (tmp_path / "best").read_text() == "a house\nhome\n"
    assert notes == ["1 ids have no list, so line numbers are not ids; fill=True writes empty lines for them"]
    assert host.write_best(nbest, tmp_path / "best", fill=True, note=notes.append) == len(notes) == 1
    assert (tmp_path / "best").read_text() == "a house\n\nhome\n"


def test_a_configuration_is_checked_and_shown(host: Host, tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text("decoder: hiero\nmodel:\n  features: [length]\n")
    shown = host.show_config(config, {"decoder.pop_limit": 7})
    assert "decoder: {name: hiero, pop_limit: 7}\n" in shown
    assert host.show_config(load_config(config, ["decoder.pop_limit=7"])) == shown
    config.write_text("decoder: hiero\nmodel:\n  features: [lenght]\n")
    with pytest.raises(SmtError, match=r"run.yaml:3: model.features.0: unknown feature 'lenght'; did you mean"):
        host.show_config(config)


def test_cached_grammars_are_listed_and_removed(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cache"
    assert host.cached_grammars(folder) == []
    folder.mkdir()
    (folder / "1234.part").write_bytes(b"torn")
    monkeypatch.setenv("SMT_CACHE", str(folder))
    assert [(entry.path, entry.size) for entry in host.cached_grammars()] == [(folder / "1234.part", 4)]
    assert host.cache_folder() == folder
    assert host.clear_cache() == (1, 4)
    assert list(folder.iterdir()) == []
    with pytest.raises(UsageError, match=r"the cache is switched off \(\$SMT_CACHE or cache is 'off'\)"):
        host.clear_cache("off")
