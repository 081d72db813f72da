"""The methods of the host."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.host import Host, default_runner

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
        assert [listed.values for listed in host.score(nbest, ["length"], runner=runner)] == expected
    with pytest.raises(UsageError, match="unknown runner 'proceses'; did you mean 'processes'"):
        host.score(nbest, ["length"], runner="proceses").load()


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
