"""A command as a scorer: asked line by line, and every way it can fail named."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.host import Host
from smtplugins.plugins.standard.external import External, ExternalMetric, external_feature

LISTS = [
    smt.candidates(["a house", "ein \u201ehaus\u201c, é \U0001f600", ""], id=3, source="das haus"),
    smt.candidates(["x \u2028 y\ty"], id=4),
]
READ = "import json, sys, time, os\nfor line in sys.stdin:\n    one = json.loads(line)\n    "

Command = Callable[[str], str]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    def write(code: str) -> str:
        path = tmp_path / "my scorer.py"
        path.write_text(code, encoding="utf-8")
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"

    return write


@pytest.fixture
def external(command: Command) -> Iterator[Callable[..., External]]:
    made: list[External] = []

    def make(code: str, timeout: float = 300.0) -> External:
        feature = external_feature(command(code), timeout=timeout)
        assert isinstance(feature, External)
        made.append(feature)
        return feature

    yield make
    for one in made:
        one._command.abandon()


def test_each_hypothesis_is_asked_about_once(external: Callable[..., External], tmp_path: Path) -> None:
    log = tmp_path / "log"
    feature = external(f"import sys\nlog = open({str(log)!r}, 'wb')\n" + READ + (
        "log.write(line.encode()); log.flush(); print(len(one['hyp']))\n"
    ))  # fmt: skip
    assert [feature.score_candidates(one.source, one) for one in LISTS] == [
        [float(len(text)) for text in one.texts] for one in LISTS
    ]
    feature.close()
    asked = [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]]
    assert asked == [{"id": one.id, "source": one.source, "hyp": text} for one in LISTS for text in one.texts]


@pytest.mark.parametrize(
    ("answer", "score"),
    [("-1.25", -1.25), ("3", 3.0), ('{"score": 0.5, "why": "x"}', 0.5), ("1e-3", 0.001), (" 2 ", 2.0)],
)
def test_answers_are_numbers_or_objects(external: Callable[..., External], answer: str, score: float) -> None:
    feature = external(READ + f"print({answer!r})\n")
    assert feature.score_candidates(None, LISTS[1]) == [score]
    feature.close()


@pytest.mark.parametrize("answer", ["", "good", '{"value": 1}', "[1]", "null", '{"score": null}', "1" + "0" * 400])
def test_other_answers_are_shown(external: Callable[..., External], answer: str) -> None:
    feature = external(READ + f"print({answer!r})\n")
    with pytest.raises(FeatureError, match=r'expected a number or {"score": number}, found ') as caught:
        feature.score_candidates(None, LISTS[0])
    assert answer[:60] in str(caught.value)


def test_a_score_that_is_no_number_is_refused(host: Host, command: Command) -> None:
    spec = Spec("external", {"command": command(READ + "print('NaN')\n")})
    with pytest.raises(FeatureError, match=r"feature 'external' on list 3 .*: expected finite scores, found nan"):
        host.score(LISTS, [spec]).load()


def test_dying_command_is_named_with_its_exit_code(external: Callable[..., External]) -> None:
    feature = external(READ + "print(1); sys.exit(7)\n")
    with pytest.raises(FeatureError, match=r": ended \(exit code 7\) after 1 of 3 answers$"):
        feature.score_candidates(None, LISTS[0])


def test_command_that_closes_its_output_is_named(external: Callable[..., External]) -> None:
    feature = external("import os, time\nos.close(1)\ntime.sleep(3000)\n")
    with pytest.raises(FeatureError, match=r": closed its output after 0 of 3 answers$"):
        feature.score_candidates(None, LISTS[0])


@pytest.mark.parametrize(
    "code",
    [
        "import os, sys\nfor line in sys.stdin.buffer:\n    os.write(1, b'1')\n",
        "import time\ntime.sleep(3000)\n",
        "import sys\nlines = sys.stdin.readlines()\nprint(*[1] * len(lines), sep='\\n')\n",
    ],
    ids=["no line end", "no answer", "waits for the end"],
)
def test_silent_command_runs_into_the_timeout(external: Callable[..., External], code: str) -> None:
    feature = external(code, 0.3)
    before = time.monotonic()
    with pytest.raises(FeatureError, match=r": expected 3 answers within 0\.3 s, found 0; it must flush each answer$"):
        feature.score_candidates(None, LISTS[0])
    assert time.monotonic() - before < 300


def test_python_commands_need_no_flush(external: Callable[..., External]) -> None:
    feature = external(READ + "sys.stdout.write('1\\n')\n")
    assert feature.score_candidates(None, LISTS[0]) == [1.0, 1.0, 1.0]
    feature.close()


def test_more_answers_than_lines_are_an_error(external: Callable[..., External]) -> None:
    feature = external(READ + "os.write(1, b'1\\n2\\n')\n")
    with pytest.raises(FeatureError, match=r"expected 1 answers, one for each line, found more"):
        feature.score_candidates(None, LISTS[1])
    late = external(READ + "print(1)\nprint('bye')\n")
    late.score_candidates(None, LISTS[1])
    with pytest.raises(FeatureError, match="expected one answer for each line, found more"):
        late.close()


def test_failure_at_the_end_fails_the_run(external: Callable[..., External]) -> None:
    feature = external(READ + "print(1)\nsys.exit(3)\n")
    feature.score_candidates(None, LISTS[1])
    with pytest.raises(FeatureError, match="ended with exit code 3"):
        feature.close()
    feature.close()


def test_long_lists_do_not_block(external: Callable[..., External]) -> None:
    one = smt.candidates(["word " * 200] * 2000)
    feature = external(READ + "print('{\"score\": 1, \"pad\": \"' + 'x' * 200 + '\"}')\n")
    assert feature.score_candidates(None, one) == [1.0] * 2000
    feature.close()


def test_command_that_answers_without_reading_is_an_error() -> None:
    one = smt.candidates(["word " * 200] * 2000)
    feature = external_feature("sh -c 'yes 1 | head -n 2000; exec sleep 60'", timeout=1.5)
    with pytest.raises(FeatureError, match="it answered before it had read all"):
        feature.score_candidates(None, one)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("/no/such/program x", "command '/no/such/program' cannot be run: No such file or directory"),
        ("/", "command '/' cannot be run: Permission denied"),
    ],
)
def test_command_that_is_none_is_a_wrong_call(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        external_feature(text).score_candidates(None, LISTS[0])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "timeout", "message"),
    [
        ("", 1.0, "the command is empty"),
        ("a 'b", 1.0, "No closing quotation"),
        ("a", 0.0, "timeout: expected seconds, above 0 to 1000000, found 0.0"),
        ("a", float("nan"), "timeout: expected seconds"),
        ("a", float("inf"), "timeout: expected seconds"),
    ],
)
def test_options_are_checked(text: str, timeout: float, message: str) -> None:
    with pytest.raises(UsageError, match=f"feature 'external': .*{message}"):
        external_feature(text, timeout=timeout)


@pytest.mark.parametrize("jobs", [1, 2])
def test_one_command_for_each_worker(host: Host, command: Command, jobs: int) -> None:
    lists = [smt.candidates([f"a{i}"], id=i) for i in range(40)]
    spec = Spec("external", {"command": command(READ + "print(os.getpid())\n")})
    (scores,) = zip(*[one.values[0] for one in host.score(lists, [spec], jobs=jobs)], strict=True)
    assert 1 <= len(set(scores)) <= jobs


def test_command_is_gone_after_the_run(host: Host, command: Command) -> None:
    spec = Spec("external", {"command": command(READ + "print(os.getpid())\n")})
    (one,) = host.score(LISTS[1:], [spec])
    with pytest.raises(ProcessLookupError):
        os.kill(int(one.values[0][0]), 0)


def test_failure_of_another_feature_is_what_is_told(host: Host, command: Command, tmp_path: Path) -> None:
    rows = tmp_path / "rows"
    rows.write_text("1\n")
    specs = [
        Spec("external", {"command": command(READ + "print(1)\nsys.exit(3)\n")}),
        Spec("column", {"path": str(rows)}),
    ]
    with pytest.raises(ValueError, match="rows: expected a row for each hypothesis"):
        host.score(LISTS, specs).load()


JUDGE = """\
import json, sys
for line in sys.stdin:
    one = json.loads(line)
    open({log!r}, "a").write(line)
    print(json.dumps({{"score": len(one["hyp"]) + 10 * len(one["refs"]) + (one["source"] is not None) / 2}}))
"""


@pytest.fixture
def judge(command: Command, tmp_path: Path) -> Iterator[Callable[..., ExternalMetric]]:
    made: list[ExternalMetric] = []

    def make(code: str = "", **options: Any) -> ExternalMetric:
        made.append(ExternalMetric(command(code or JUDGE.format(log=str(tmp_path / "log"))), **options))
        return made[-1]

    yield make
    for one in made:
        one._command.abandon()


def test_metric_asks_once_for_each_segment(judge: Callable[..., ExternalMetric], tmp_path: Path) -> None:
    metric = judge(scale=2.0, name="quality")
    stats = metric.stats(["ab", "c", "ab"], [["r", "s", "r"], ["t", "u", "t"]])
    assert stats.tolist() == [[22, 1], [21, 1], [22, 1]]
    assert metric.sentence(stats).tolist() == [44, 42, 44]
    assert float(metric.score(stats.sum(axis=0))) == pytest.approx(2 * 65 / 3)
    assert metric.stats(["c", "ab"], [["s", "r"], ["u", "t"]]).tolist() == [[21, 1], [22, 1]]
    asked = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert asked == [
        {"source": None, "hyp": "ab", "refs": ["r", "t"]},
        {"source": None, "hyp": "c", "refs": ["s", "u"]},
    ]
    assert metric.stats(["ab"], [], ["src"]).tolist() == [[2.5, 1]]
    assert (metric.name, metric.higher_is_better) == ("quality", True)
    assert metric.signature().startswith("quality|command:")
    assert metric.signature().endswith("|mean:segments|scale:2")


def test_metric_checks_what_it_gets(judge: Callable[..., ExternalMetric]) -> None:
    with pytest.raises(ValueError, match="expected 2 references, found 1"):
        judge().stats(["a", "b"], [["a"]])
    with pytest.raises(ValueError, match="expected 1 sources, found 2"):
        judge().stats(["a"], [["a"]], ["x", "y"])
    with pytest.raises(FeatureError, match="expected a finite number for 'a', found nan"):
        judge("import sys\nfor line in sys.stdin:\n    print('NaN')\n").stats(["a"], [["a"]])
    with pytest.raises(UsageError, match="metric 'external': the command is empty"):
        ExternalMetric("")


def test_forked_workers_start_commands_of_their_own(judge: Callable[..., ExternalMetric]) -> None:
    metric = judge("import os, sys\nfor line in sys.stdin:\n    print(os.getpid())\n")
    own = float(metric.stats(["first"], [])[0, 0])
    runner = smt.load_plugins().registry.make("runners", {"name": "processes", "jobs": 2, "chunk": 1})
    others = list(runner.map(lambda text: float(metric.stats([text], [])[0, 0]), ["a", "b", "c", "d"]))
    assert own not in others
    assert float(metric.stats(["again"], [])[0, 0]) == own
