"""Programs that answer batches: every order of answers, every way to die or to be silent."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtplugins.contracts.errors import FeatureError, UsageError
from smtplugins.contracts.tools.running import WorkerPool
from smtplugins.host.scores import worker_pool
from smtplugins.host.scores.scoring_program import Frame, ScoringProgram

READ = (
    "import json, os, sys, time\nfor line in sys.stdin:\n    batch = json.loads(line)\n    items = batch['items']\n    "
)
ANSWER = "print(json.dumps({'scores': {item['key']: len(item['hyp']) / 7 for item in items}}))\n"
TEXTS = ["a house", "houses", "", "the „house“ \U0001f600", "x \u2028 y\ty", "a", "b\\n", '"', "\ud800", "a house"]

Pool = Callable[..., WorkerPool]


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    made: list[WorkerPool] = []

    def make(code: str, **options: Any) -> WorkerPool:
        path = tmp_path / f"worker-{len(made)}.py"
        path.write_text(code, encoding="utf-8")
        made.append(WorkerPool("feature 'x'", [sys.executable, "-S", str(path)], **options))
        return made[-1]

    yield make
    for one in made:
        one.abandon()


def items_of(texts: Sequence[str]) -> list[Mapping[str, Any]]:
    return [{"hyp": text} for text in texts]


def scores(pool: WorkerPool, texts: Sequence[str], **options: Any) -> list[float]:
    """The scores in the order of the texts."""
    return [row[0] for _, row in sorted(pool.ask(items_of(texts), **options))]


def expected(texts: Sequence[str]) -> list[float]:
    return [len(text) / 7 for text in texts]


def test_batches_are_sorted_by_length_and_answered_by_key(pool: Pool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    one = pool(f"log = open({str(log)!r}, 'w')\n" + READ + "log.write(line); log.flush()\n    " + ANSWER, batch=3)
    assert scores(one, TEXTS[:8]) == expected(TEXTS[:8])
    assert scores(one, TEXTS[8:]) == expected(TEXTS[8:])
    one.close()
    asked = [json.loads(line) for line in log.read_text().split("\n")[:-1]]
    assert [batch["batch"] for batch in asked] == [0, 1, 2, 3]
    assert [len(batch["items"]) for batch in asked] == [3, 3, 2, 2]
    assert [item["key"] for batch in asked for item in batch["items"]] == [str(i) for i in range(10)]
    lengths = [len(item["hyp"]) for batch in asked[:3] for item in batch["items"]]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(
    "code",
    [
        READ
        + "for item in reversed(items):\n        print(json.dumps({'scores': {item['key']: len(item['hyp']) / 7}}))\n",
        READ
        + "for part in (items[1:], items[:1]):\n        "
        + "print(json.dumps({'scores': {i['key']: len(i['hyp']) / 7 for i in part}, 'more': 1}))\n",
        READ + "text = json.dumps({'scores': {i['key']: len(i['hyp']) / 7 for i in items}})\n    "
        "sys.stdout.write(text[:9]); sys.stdout.flush(); time.sleep(0.01); sys.stdout.write(text[9:] + '\\n')\n",
    ],
    ids=["one by one, backwards", "in parts", "half a line"],
)
def test_answers_may_come_in_any_order_and_in_parts(pool: Pool, code: str) -> None:
    one = pool(code, batch=4)
    assert scores(one, TEXTS) == expected(TEXTS)
    one.close()


COLLECTS = """\
import itertools, json, sys
while lines := list(itertools.islice(sys.stdin, 4)):
    for line in lines:
        items = json.loads(line)["items"]
        print(json.dumps({"scores": {item["key"]: len(item["hyp"]) / 7 for item in items}}))
"""


@pytest.mark.parametrize("count", [1, 3, 4, 10])
def test_a_program_that_reads_four_lines_at_a_time_is_given_them_or_the_end(pool: Pool, count: int) -> None:
    one = pool(COLLECTS, batch=1)
    before = time.monotonic()
    assert scores(one, TEXTS[:count], last=True) == expected(TEXTS[:count])
    one.close()
    assert time.monotonic() - before < worker_pool._PATIENCE / 2


def test_a_silent_program_is_not_asked_more_and_its_input_ends(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows whether more will be asked: a program that still waits is started again for the next call."""
    monkeypatch.setattr(worker_pool, "_PATIENCE", 0.3)
    one = pool(COLLECTS, batch=1)
    before = time.monotonic()
    assert scores(one, TEXTS[:6]) == expected(TEXTS[:6])
    assert time.monotonic() - before > 0.3
    # Now it is known to wait.
    monkeypatch.setattr(worker_pool, "_PATIENCE", 9.0)
    monkeypatch.setattr(worker_pool, "_PROMPT", 0.1)
    assert scores(one, TEXTS[:6]) == expected(TEXTS[:6])
    one.close()


def test_a_slow_program_is_given_more_time_the_next_time(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "_PATIENCE", 0.1)
    monkeypatch.setattr(worker_pool, "_PROMPT", 0.1)
    code = "import time\ntime.sleep(0.5)\n" + READ
    one = pool(code + "print(json.dumps({'scores': {item['key']: os.getpid() for item in items}}))\n")
    numbers = [scores(one, ["a"])[0] for _ in range(3)]
    one.close()
    # Its input was ended while it began; the second process is the last.
    assert numbers[0] != numbers[1] == numbers[2]


def test_several_programs_share_the_batches(pool: Pool) -> None:
    code = READ + "time.sleep(0.01)\n    print(json.dumps({'scores': {item['key']: os.getpid() for item in items}}))\n"
    one = pool(code, batch=2, workers=3)
    assert len(set(scores(one, TEXTS))) == 3
    one.close()
    other = pool(code, batch=20, workers=3)
    assert len(set(scores(other, TEXTS))) == 1
    other.close()


DIES = """\
import json, os, signal, sys
marks = sys.argv[0] + ".marks"
for line in sys.stdin:
    items = json.loads(line)["items"]
    if len(items) > 1:
        print(json.dumps({"scores": {items[0]["key"]: len(items[0]["hyp"]) / 7}}))
        items = items[1:]
    open(marks, "a").write(".")
    if os.path.getsize(marks) in (2, 5, 6):
        os.kill(os.getpid(), signal.SIGKILL)
    print(json.dumps({"scores": {item["key"]: len(item["hyp"]) / 7 for item in items}}))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_program_that_dies_is_started_again_for_what_it_has_not_answered(pool: Pool, workers: int) -> None:
    notes: list[str] = []
    # Two programs may see the same number of marks, and die both.
    one = pool(DIES, batch=2, workers=workers, note=notes.append, retries=9)
    assert scores(one, TEXTS) == expected(TEXTS)
    one.close()
    assert len(notes) == 3 if workers == 1 else notes
    killed = "was killed by signal 9, Killed (out of memory?); it is started again for "
    assert all(note.startswith(f"feature 'x': command {sys.executable!r} {killed}") for note in notes)


def test_a_batch_that_kills_is_tried_so_often_and_named(pool: Pool, tmp_path: Path) -> None:
    code = (
        f"open({str(tmp_path / 'starts')!r}, 'a').write('.')\n"
        + READ
        + "if any(item['hyp'] == 'poison' for item in items): sys.exit(3)\n    "
        + ANSWER
    )
    for retries, shown in ((0, ""), (2, " 3 times")):
        one = pool(code, batch=1, retries=retries)
        with pytest.raises(
            FeatureError, match=rf": ended \(exit code 3\){shown} at the batch that begins with 'poison'$"
        ):
            scores(one, [*TEXTS, "poison"])
    assert len((tmp_path / "starts").read_text()) == 4


def test_a_program_that_ends_between_calls_is_started_for_the_next(pool: Pool) -> None:
    one = pool(READ + ANSWER + "    break\n")
    for _ in range(3):
        assert scores(one, ["a", "bc"]) == expected(["a", "bc"])
    one.close()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (READ + "print('Loading ..')\n", "expected {\"scores\": {key: score, ...}}, found 'Loading ..'"),
        (READ + "print('[1]')\n", "expected {\"scores\": {key: score, ...}}, found '[1]'"),
        (READ + "print('[' * 100000)\n", 'expected {"scores": {key: score, ...}}, found \'[[['),
        (READ + "print(json.dumps({'error': 'no GPU'}))\n", "failed: no GPU"),
        (READ + "print(json.dumps({'scores': {'7': 1}}))\n", "items that it was asked and has not answered, found '7'"),
        (READ + 'print(\'{"scores": {"0": 1}}\\n{"scores": {"0": 1}}\')\n', "has not answered, found '0'"),
        (READ + "print(json.dumps({'scores': {'0': None}}))\n", "expected a number as a score, found null"),
        (READ + "print(json.dumps({'scores': {'0': 'good'}}))\n", 'expected a number as a score, found "good"'),
        (READ + "print(json.dumps({'scores': {'0': [1]}}))\n", "expected a number as a score, found [1]"),
        (READ + "print('{\"scores\": {\"0\": 1' + '0' * 400 + '}}')\n", "expected a number as a score, found 1000"),
        ("import os, time\nos.close(1)\ntime.sleep(3000)\n", "closed its output at the batch that begins with "),
        (
            READ + "time.sleep(3000)\n",
            'within 0.3 s, found none for 3 of 3 items (keys "0", "1", "2"; the first is \'a house\'); it must flush',
        ),
        (
            'import sys\nfor line in sys.stdin:\n    print(\'{"scores": {"1": 1}}\')\n',
            'expected a score for each key, found none for 2 of 3 items (keys "0", "2"; the first is \'a house\')',
        ),
    ],
    ids=lambda value: value[:30] if value.startswith("expected") else "",
)
def test_other_answers_and_silence_are_errors(pool: Pool, code: str, message: str) -> None:
    one = pool(code, timeout=0.3 if "sleep" in code else 300.0, retries=0)
    with pytest.raises(FeatureError) as caught:
        scores(one, TEXTS[:3])
    assert re.match(rf"command '{re.escape(sys.executable)} -S \S+/worker-0\.py': ", str(caught.value))
    assert message in str(caught.value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["scores", "error", "0", "1"]), inner),
    max_leaves=6,
)


@given(answers=st.lists(_JSON.map(json.dumps).map(str.encode) | st.binary(max_size=9), max_size=4))
def test_any_answer_is_a_score_or_an_error(answers: list[bytes]) -> None:
    program = ScoringProgram(["true"], 1)
    rows: collections.deque[Any] = collections.deque()
    program.send(Frame(0, {str(i): ({"hyp": "x"}, rows, i) for i in range(2)}))
    with contextlib.suppress(FeatureError):
        for answer in answers:
            program._take(answer)
    program.kill()
    assert sorted(position for position, _ in rows) == sorted({position for position, _ in rows})
    assert bool(program.frames) == (len(rows) < 2)


def test_rows_of_several_numbers(pool: Pool) -> None:
    one = pool(
        READ + "print(json.dumps({'scores': {item['key']: [1, len(item['hyp'])] for item in items}}))\n", width=2
    )
    assert [row for _, row in sorted(one.ask(items_of(TEXTS[:3])))] == [(1.0, 7.0), (1.0, 6.0), (1.0, 0.0)]
    one.close()
    other = pool(READ + ANSWER, width=2)
    with pytest.raises(FeatureError, match=r"expected a list of 2 numbers as a score, found 0\.14285714285714285"):
        scores(other, ["a"])


def test_what_follows_the_last_answer_is_an_error(pool: Pool) -> None:
    for code, message in (
        (READ + ANSWER + "print('bye')\n", "expected one answer for each item, found more"),
        (READ + ANSWER + "sys.exit(3)\n", "ended with exit code 3"),
    ):
        one = pool(code)
        assert scores(one, ["a"]) == expected(["a"])
        with pytest.raises(FeatureError, match=message):
            one.close()
        one.close()


def test_long_batches_do_not_block(pool: Pool) -> None:
    """Pipes are full in both directions: of a program that answers before it reads on, and of one that reads first."""
    texts = ["word " * (2000 + i % 3) for i in range(400)]
    for code in (
        READ + "print(json.dumps({'scores': {i['key']: len(i['hyp']) / 7 for i in items}, 'pad': 'x' * 300000}))\n",
        "import json, sys\nfor line in list(sys.stdin):\n    items = json.loads(line)['items']\n    " + ANSWER,
    ):
        one = pool(code, workers=2)
        assert scores(one, texts, last=True) == expected(texts)
        one.close()


def test_several_calls_are_in_work_at_once(pool: Pool) -> None:
    one = pool(READ + ANSWER, batch=2, workers=2)
    first, second = one.ask(items_of(TEXTS[:5])), one.ask(items_of(TEXTS[5:]), last=True)
    assert [row[0] for _, row in sorted(second)] == expected(TEXTS[5:])
    assert [row[0] for _, row in sorted(first)] == expected(TEXTS[:5])
    assert list(one.ask([])) == []
    one.close()


def test_a_pool_that_is_closed_early_kills_its_programs(pool: Pool) -> None:
    one = pool(READ + "print(json.dumps({'scores': {items[0]['key']: os.getpid()}}))\n    time.sleep(3000)\n", batch=2)
    _, (number,) = next(one.ask(items_of(TEXTS)))
    one.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)


def test_forked_processes_start_programs_of_their_own(pool: Pool) -> None:
    one = pool(READ + "print(json.dumps({'scores': {item['key']: os.getpid() for item in items}}))\n")
    (own,) = scores(one, ["a"])
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(int(scores(one, ["a"])[0])).encode())
            one.close()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert int(os.read(reading, 99)) != own
    assert scores(one, ["b"]) == [own]
    one.close()


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("", {}, "feature 'x': the command is empty"),
        ("a 'b", {}, r"feature 'x': command \"a 'b\": No closing quotation"),
        ("a", {"workers": 0}, "feature 'x': workers: expected 1 to 1000000, found 0"),
        ("a", {"batch": 0}, "feature 'x': batch: expected 1 to 1000000, found 0"),
        ("a", {"retries": -1}, "feature 'x': retries: expected 0 to 1000000, found -1"),
        ("a", {"timeout": float("nan")}, "feature 'x': timeout: expected seconds, above 0 to 1000000, found nan"),
    ],
)
def test_options_are_checked(command: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WorkerPool("feature 'x'", command, **options)


def test_a_program_that_is_none_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="command '/no/such/program' cannot be run: No such file or directory"):
        WorkerPool("feature 'x'", "/no/such/program").ask(items_of(["a"]))
