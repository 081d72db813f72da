"""External commands that are asked in batches or not at all, because their scores are known."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.contracts.tools.running import command_files
from smtplugins.host.host import Host

LISTS = [
    smt.candidates(
        [f"house {'x' * (7 * i % 11)} {k}" for k in range(3)] + ["house"], id=f"s-{i}", source=f"haus {i % 3}"
    )
    for i in range(10)
]
BOTH = """\
import json, sys
open(__file__ + ".starts", "a").write(".")
for line in sys.stdin:
    open(__file__ + ".asked", "a").write(line)
    one = json.loads(line)
    def score(item):
        return len(item["hyp"]) / 7 + len(item["source"] or "") + 10 * len(item.get("refs", ()))
    print(json.dumps({"scores": {i["key"]: score(i) for i in one["items"]}} if "items" in one else score(one)))
"""

Scorer = Callable[..., str]


@pytest.fixture
def scorer(tmp_path: Path) -> Scorer:
    def write(code: str = BOTH, name: str = "my scorer.py") -> str:
        (tmp_path / name).write_text(code, encoding="utf-8")
        return f"{shlex.quote(sys.executable)} -S {shlex.quote(str(tmp_path / name))}"

    return write


def starts(tmp_path: Path) -> int:
    path = tmp_path / "my scorer.py.starts"
    return path.stat().st_size if path.exists() else 0


def asked(tmp_path: Path) -> list[Any]:
    return [json.loads(line) for line in (tmp_path / "my scorer.py.asked").read_text().split("\n")[:-1]]


def expected(lists: Any) -> list[list[list[float]]]:
    return [[[len(text) / 7 + len(one.source)] for text in one.texts] for one in lists]


def values(host: Host, spec: Spec, **options: Any) -> list[Any]:
    return [one.values for one in host.score(LISTS, [spec], **options)]


@pytest.fixture
def keeping(tmp_path: Path) -> tuple[Callable[[], Host], list[str]]:
    notes: list[str] = []
    return lambda: smt.load_plugins(score_cache=tmp_path / "kept", note=notes.append), notes


def test_batches_across_lists_give_what_lines_give(host: Host, scorer: Scorer, tmp_path: Path) -> None:
    lines = values(host, Spec("external", {"command": scorer()}))
    assert lines == expected(LISTS)
    (tmp_path / "my scorer.py.asked").unlink()
    spec = Spec("external", {"command": scorer(), "protocol": "batches", "batch": "8"})
    assert values(host, spec) == lines
    batches = [batch["items"] for batch in asked(tmp_path)]
    # Texts that occur in several lists with the same source are asked once.
    assert [len(items) for items in batches] == [8, 8, 8, 8, 1]
    assert set(batches[0][0]) == {"key", "source", "hyp"}
    lengths = [len(item["hyp"]) + len(item["source"]) for items in batches for item in items]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("jobs", [1, 2])
def test_any_number_of_workers_gives_the_same(host: Host, scorer: Scorer, jobs: int) -> None:
    options = {"command": scorer(), "protocol": "batches", "batch": 3, "workers": 2}
    assert values(host, Spec("external", options), jobs=jobs) == expected(LISTS)


def test_a_killed_worker_changes_nothing(scorer: Scorer, tmp_path: Path) -> None:
    kill = BOTH.replace(
        "    one =", "    if len(open(__file__ + '.asked').readlines()) in (2, 5): os.abort()\n    one ="
    )
    command = scorer("import os\n" + kill)
    written = []
    for i, options in enumerate(({}, {"workers": 2})):
        (tmp_path / "my scorer.py.asked").unlink(missing_ok=True)
        notes: list[str] = []
        host = smt.load_plugins(note=notes.append)
        spec = Spec("external", {"command": command, "protocol": "batches", "batch": 4, **options})
        path = tmp_path / f"{i}.nbest"
        host.write(host.score(LISTS, [spec]), path, "jsonl-nbest")
        written.append(path.read_bytes())
        assert len(notes) >= 2
    whole = tmp_path / "whole.nbest"
    host.write(
        host.score(LISTS, [Spec("external", {"command": scorer(), "protocol": "batches"})]), whole, "jsonl-nbest"
    )
    assert written == [whole.read_bytes()] * 2


@pytest.mark.parametrize("protocol", ["lines", "batches"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_second_run_does_not_start_the_command(
    keeping: Any, scorer: Scorer, tmp_path: Path, protocol: str, jobs: int
) -> None:
    load, notes = keeping
    spec = Spec("external", {"command": scorer(), "protocol": protocol})
    assert values(load(), spec, jobs=jobs) == expected(LISTS)
    first = starts(tmp_path)
    assert (first >= 1, notes) == (True, [])
    assert values(load(), spec, jobs=jobs) == expected(LISTS)
    assert starts(tmp_path) == first
    if jobs == 1:
        command = shlex.join(shlex.split(scorer()))
        anew = "score_cache='off' computes them anew"
        assert notes == [f"feature 'external', {protocol}: {command}: uses scores kept in {tmp_path / 'kept'}; {anew}"]


def test_only_lists_that_are_not_known_are_asked(keeping: Any, scorer: Scorer, tmp_path: Path) -> None:
    load, _ = keeping
    spec = Spec("external", {"command": scorer()})
    load().score(LISTS[:4], [spec]).load()
    load().score(LISTS[3:6], [spec]).load()
    assert [item["id"] for item in asked(tmp_path)] == [f"s-{i}" for i in range(6) for _ in range(4)]


def test_scores_belong_to_the_command_its_version_protocol_and_files(
    keeping: Any, scorer: Scorer, tmp_path: Path
) -> None:
    load, _ = keeping
    command = scorer()
    options: list[dict[str, str]] = [{}, {"version": "2"}, {"protocol": "batches"}]
    for i, some in enumerate(options, 1):
        values(load(), Spec("external", {"command": command, **some}))
        assert starts(tmp_path) == i
    (tmp_path / "helper.py").write_text("# beside the program, which may import it\n")
    values(load(), Spec("external", {"command": command}))
    scorer(BOTH.replace("/ 7", "/ 8"))
    changed = values(load(), Spec("external", {"command": command}))
    assert starts(tmp_path) == 5
    assert changed != expected(LISTS)
    (tmp_path / "helper.py").unlink()
    scorer()
    assert values(load(), Spec("external", {"command": command})) == expected(LISTS)
    assert starts(tmp_path) == 5


def test_a_command_that_answers_by_position_is_not_kept(keeping: Any, scorer: Scorer, tmp_path: Path) -> None:
    load, notes = keeping
    lists = [smt.candidates(["a", "b", "a"], id=0)]
    command = scorer("import sys\nfor i, _ in enumerate(sys.stdin):\n    print(i)\n")
    for _ in range(2):
        (one,) = load().score(lists, [Spec("external", {"command": command})])
        assert one.values == [[0.0], [1.0], [2.0]]
    why = "it answered a line that it was sent twice with different scores; its scores are not kept"
    assert [note.endswith(why) for note in notes] == [True, True]


@pytest.mark.parametrize("protocol", ["lines", "batches"])
def test_a_metric_asks_in_batches_and_remembers(keeping: Any, scorer: Scorer, tmp_path: Path, protocol: str) -> None:
    load, _ = keeping
    hypotheses, references = ["ab", "c", "ab", "dddd"], [["r", "s", "r", "t"]]
    wanted = [[n / 7 + 1 + 10, 1] for n in (2, 1, 2, 4)]
    for _ in range(2):
        metric = load().metric(Spec("external", {"command": scorer(), "protocol": protocol, "version": "v2"}))
        for _ in range(2):
            assert metric.stats(hypotheses, references, ["u", "v", "u", "w"]).tolist() == wanted
        assert metric.signature().endswith("|version:v2|mean:segments")
    assert starts(tmp_path) == 1
    requests = asked(tmp_path)
    items = requests if protocol == "lines" else requests[0]["items"]
    assert [len(items), set(items[0]) - {"key"}] == [3, {"source", "hyp", "refs"}]


def test_progress_knows_the_total(host: Host, scorer: Scorer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    lists = tmp_path / "lists.jsonl"
    host.write(LISTS, lists, "jsonl-nbest")
    spec = Spec("external", {"command": scorer(), "protocol": "batches"})
    for quiet in (False, True):
        monkeypatch.setattr(sys, "stderr", screen := Terminal())
        host.write(host.score(lists, [spec]), tmp_path / "out", quiet=quiet)
        assert ("/10" in screen.getvalue()) != quiet
    metric = host.metric(spec)
    for shown in (True, False):
        monkeypatch.setattr(sys, "stderr", screen := Terminal())
        metric.stats([f"text {i}" for i in range(17)], [])
        # The second time all are remembered.
        assert ("/17" in screen.getvalue()) == shown


def test_other_protocols_and_options_are_refused(host: Host) -> None:
    for kind, who in (("features", "feature"), ("metrics", "metric")):
        with pytest.raises(
            UsageError, match=f"{who} 'external': protocol: expected one of lines, batches, found 'frames'"
        ):
            host.registry.make(kind, "external,command=true,protocol=frames")
        with pytest.raises(UsageError, match=f"{who} 'external': workers needs protocol=batches, found protocol=lines"):
            host.registry.make(kind, "external,command=true,workers=2")


def test_a_batch_that_fails_names_the_command(host: Host, scorer: Scorer) -> None:
    spec = Spec("external", {"command": scorer("import sys\nsys.exit(4)\n"), "protocol": "batches", "retries": 1})
    message = r"ended \(exit code 4\) 2 times at the batch that begins with 'house xxxxxxxxxx 0'"
    with pytest.raises(FeatureError, match=message):
        values(host, spec)


def test_the_files_of_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("smtplugins.host.scores.command_files._MOST", 3)
    modules = ("judges/__main__.py", "judges/first.py", "path/other.py")
    for name in ("a.py", "b.py", "c.txt", "model/weights", "model/more", "run/x", *modules):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    notes: list[str] = []

    def files(*arguments: str) -> list[str]:
        program, *others = command_files(["sh", *arguments], notes.append)
        assert Path(program).samefile("/bin/sh")
        return [str(Path(path).relative_to(tmp_path)) for path in others]

    assert files("b.py", "--beam", "5") == ["a.py", "b.py"]
    assert files("c.txt", "--model=model", "absent", str(tmp_path)) == ["c.txt", "model"]
    assert files("-c", "cat c.txt | python a.py 'x") == []
    assert files("-c", "cat c.txt | python a.py") == ["c.txt", "a.py", "b.py"]
    assert files("-c", "python a.py --model=model") == ["a.py", "b.py", "model"]
    assert files("-c", "python -m b --model=model") == files("-m", "b", "--model=model") == ["a.py", "b.py", "model"]
    assert files("-m", "judges") == ["judges", "judges/__main__.py", "judges/first.py"]
    assert files("-m", "judges.first") == ["judges/__main__.py", "judges/first.py"]
    assert files("-m", "absent") == files("-m", "other") == []
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))
    assert files("-m", "other") == ["path/other.py"]
    assert command_files(["./c.txt"]) == [str(tmp_path / "c.txt")]
    assert notes == []
    for i in range(3):
        (tmp_path / f"model/{i}").write_text("")
    assert files("model") == []
    untold = "whose contents are not looked at: set version= to tell versions apart"
    assert notes == [f"command 'sh': model has more than 3 files, {untold}"]
