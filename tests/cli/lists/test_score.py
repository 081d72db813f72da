"""``smt score``: one more column and no other change; no output from bad input."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.host.runs import file_hash

Smt = Callable[..., Any]

QUESTION = """
from smtplugins import feature

@feature("question")
def question(source: str, hyp: str) -> float:
    return float(source.endswith("?") == hyp.endswith("?"))
"""


def fields(line: str) -> list[str]:
    return line.split("|||")


class TestColumns:
    def test_nothing_but_the_column_changes(self, smt: Smt, nbest: Path) -> None:
        smt("score", "--feature", "length", "--feature", "word-penalty,name=wp", "-i", nbest, "-o", "out").ok()
        before, after = nbest.read_text().split("\n"), Path("out").read_text().split("\n")
        assert len(before) == len(after) == 4
        for old, new in zip(before[:3], after[:3], strict=True):
            changed = fields(new)
            assert changed[2] == fields(old)[2] + "length= 2 wp= -2 "
            assert changed[:2] + changed[3:] == fields(old)[:2] + fields(old)[3:]

    @pytest.mark.parametrize("name", ["moses.nbest", "cdec.kbest"])
    def test_real_lists_keep_every_other_field(self, smt: Smt, example: Path, name: str) -> None:
        smt("score", "--feature", "lm,path=en.arpa,oov=true", "-i", name, "-o", "out").ok()
        before, after = Path(name).read_text().splitlines(), Path("out").read_text().splitlines()
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            kept, changed = fields(old), fields(new)
            assert changed[2].startswith(kept[2].rstrip(" "))
            assert "lm" in changed[2]
            assert changed[:2] + changed[3:] == kept[:2] + kept[3:]

    @pytest.mark.parametrize("name", ["moses.nbest", "cdec.kbest"])
    def test_same_bytes_with_one_and_two_jobs(self, smt: Smt, example: Path, name: str) -> None:
        Path("q.py").write_text(QUESTION)
        features = ["lm,path=en.arpa", "question", "length", "column,path=qe.tsv"]
        arguments = [word for feature in features for word in ("--feature", feature)]
        for jobs in ("1", "2"):
            smt("score", "--plugin", "q.py", *arguments, "-s", "source.de", "-i", name, "-j", jobs, "-o", jobs).ok()
        assert Path("1").read_bytes() == Path("2").read_bytes()
        assert Path("1").read_bytes().count(b"question") == 400

    def test_order_of_plugins_changes_nothing(self, smt: Smt, nbest: Path) -> None:
        Path("q.py").write_text(QUESTION)
        Path("r.py").write_text(QUESTION.replace("question", "other"))
        asked = ["--feature", "question", "--feature", "other", "-i", nbest, "-s", "source"]
        first = smt("score", "--plugin", "q.py", "--plugin", "r.py", *asked).ok()
        assert first == smt("score", "--plugin", "r.py", "--plugin", "q.py", *asked).ok()

    def test_streams_compression_and_formats(self, smt: Smt, nbest: Path) -> None:
        expected = smt("score", "--feature", "length", "-i", nbest).ok()
        assert smt("score", "--feature", "length", stdin=nbest.read_text()).ok() == expected
        assert smt("score", "--feature", "length", stdin=gzip.compress(nbest.read_bytes())).ok() == expected
        smt("score", "--feature", "length", "-i", nbest, "-o", "out.gz").ok()
        assert gzip.decompress(Path("out.gz").read_bytes()).decode() == expected
        result = smt("score", "--feature", "length", "-i", nbest, "--to", "cdec")
        assert result.out.splitlines()[0] == "0 ||| a house ||| LM0=-2 TM0[0]=-1.5 TM0[1]=-3 length=2 ||| -1.5"
        assert result.err == "smt: note: cdec-nbest cannot carry alignment: left out\n"
        assert smt("score", "--feature", "length", "-i", nbest, "--to", "cdec", "-q").err == ""

    def test_precision_is_that_of_new_numbers(self, smt: Smt, nbest: Path) -> None:
        out = smt("score", "--feature", "word-penalty,value=cdec", "-i", nbest, "--precision", "3").ok()
        assert "TM0= -1.50 -3 word-penalty= -0.869 ||| -1.5" in out

    def test_annotations_reach_features(self, smt: Smt, nbest: Path) -> None:
        Path("a.py").write_text(
            "from smtplugins import Offer, hookimpl\n"
            "class Topic:\n"
            "    def score_candidates(self, source, candidates):\n"
            "        return [float(candidates.annotations['topic'])] * len(candidates)\n"
            "@hookimpl\n"
            "def smt_features():\n"
            "    yield Offer(name='topic', make=Topic, summary='x', needs={'annotations:topic'})\n"
        )
        Path("topics").write_text("5\n7\n")
        arguments = ("score", "--plugin", "a.py", "--feature", "topic", "-i", nbest)
        assert smt(*arguments, "--annotation", "topic=topics").ok().count("topic= 7") == 1
        result = smt(*arguments)
        assert (result.code, result.err) == (
            2,
            "smt: feature 'topic' needs the annotations topic: add it with --annotation topic=FILE\n",
        )

    def test_manifest_names_versions_and_all_inputs(self, smt: Smt, nbest: Path) -> None:
        Path("rows").write_text("1\n2\n3\n")
        Path("topics").write_text("5\n7\n")
        arguments = [
            "score", "--feature", "column,path=rows", "-i", nbest, "-s", "source", "--annotation", "topic=topics",
            "-o", "out", "--manifest",
        ]  # fmt: skip
        smt(*arguments, "m.json").ok()
        record = json.loads(Path("m.json").read_text())
        assert sorted(record["inputs"]) == sorted([str(nbest), "rows", "source", "topics"])
        assert record["command"] == ["smt", *map(str, arguments), "m.json"]
        assert record["plugins"]["standard"]["status"] == "ok"
        first = Path("m.json").read_bytes()
        smt(*arguments, "m.json").ok()
        assert Path("m.json").read_bytes() == first


BAD = {
    "empty file": (b"", "1: field 1: expected nbest data, found an empty file"),
    "no list": (b"hello there\n", "1: field 1: expected the shape of one of"),
    "missing field": (b"0 ||| a ||| LM= 1 ||| 0\n0 ||| b ||| LM= 1\n", "2: field 4: expected"),
    "no number": (
        b"0 ||| a ||| LM= 1 ||| 0\n0 ||| b ||| LM= x ||| 0\n",
        "2: field 3: expected a finite number, found 'x'",
    ),
    "nan": (
        b"0 ||| a ||| LM= 1 ||| 0\n0 ||| b ||| LM= nan ||| 0\n",
        "2: field 3: expected a finite number, found 'nan'",
    ),
    "total": (b"0 ||| a ||| LM= 1 ||| 0\n0 ||| b ||| LM= 1 ||| best\n", "2: field 4: expected a number as total score"),
    "backwards": (b"1 ||| a ||| LM= 1 ||| 0\n0 ||| b ||| LM= 1 ||| 0\n", "2: field 1: expected an id after 1"),
    "no id": (b"0 ||| a ||| LM= 1 ||| 0\nx ||| b ||| LM= 1 ||| 0\n", "2: field 1: expected a sentence id"),
    "twice": (b"0 ||| a ||| LM= 1 ||| 0\n0 ||| b ||| LM= 1 LM= 2 ||| 0\n", "2: field 3: expected each feature once"),
    "invalid UTF-8": (
        b"0 ||| a ||| LM= 1 ||| 0\n0 ||| \xff ||| LM= 1 ||| 0\n",
        "2: field 2: expected UTF-8 text, found",
    ),
    "cut gzip": (gzip.compress(b"0 ||| a ||| LM= 1 ||| 0\n" * 99)[:-9], "field 1: expected a complete compressed file"),
}


class TestBadInput:
    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("name", BAD)
    def test_place_is_named_and_nothing_written(self, smt: Smt, name: str, jobs: int) -> None:
        data, message = BAD[name]
        Path("in").write_bytes(data)
        result = smt("score", "--feature", "length", "-i", "in", "-o", "out", "-j", jobs)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("smt: in:")
        assert message in result.err
        assert result.err.count("\n") == 1
        assert os.listdir() == ["in"]

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("ein haus\n", "smt: {nbest}:3: field 1: expected an id below 1, as source has 1 lines"),
            ("a\nb\nc\n", "smt: source:3: field 1: expected lines for the ids 0 to 1 alone"),
            ("", "smt: {nbest}:1: field 1: expected an id below 0, as source has 0 lines"),
        ],
    )
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_source_of_other_ids(self, smt: Smt, nbest: Path, source: str, message: str, jobs: int) -> None:
        Path("source").write_text(source)
        before = sorted(os.listdir())
        result = smt("score", "--feature", "length", "-i", nbest, "-s", "source", "-o", "out", "-j", jobs)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(message.format(nbest=nbest))
        assert sorted(os.listdir()) == before

    def test_missing_ids_are_accepted_when_asked(self, smt: Smt, nbest: Path) -> None:
        Path("source").write_text("a\nb\nc\n")
        smt("score", "--feature", "length", "-i", nbest, "-s", "source", "--allow-partial", "-o", "out").ok()
        assert Path("out").read_text().count("length= 2") == 3

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_what_was_there_stays(self, smt: Smt, nbest: Path, jobs: int) -> None:
        Path("out").write_text("precious")
        nbest.write_text(nbest.read_text() + "1 ||| broken\n")
        assert smt("score", "--feature", "length", "-i", nbest, "-o", "out", "-j", jobs).code == 1
        assert Path("out").read_text() == "precious"

    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("return 1 / 0", "feature 'f' on list 0 ({nbest}:1): ZeroDivisionError: division by zero"),
            ("return 'high'", "feature 'f' on list 0 ({nbest}:1): ValueError: could not convert string to float"),
            ("return float('nan')", "feature 'f' on list 0 ({nbest}:1): ValueError: expected finite scores, found nan"),
        ],
    )
    def test_failing_feature(self, smt: Smt, nbest: Path, body: str, message: str, jobs: int) -> None:
        Path("f.py").write_text(f"from smtplugins import feature\n@feature('f')\ndef f(hyp):\n    {body}\n")
        result = smt("score", "--plugin", "f.py", "--feature", "f", "-i", nbest, "-o", "out", "-j", jobs)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith("smt: " + message.format(nbest=nbest))
        assert not Path("out").exists()

    def test_killed_worker(self, start: Callable[..., Any], nbest: Path) -> None:
        Path("f.py").write_text(
            "import os\nfrom smtplugins import feature\n@feature('f')\ndef f(hyp):\n    os.kill(os.getpid(), 9)\n"
        )
        process = start("score", "--plugin", "f.py", "--feature", "f", "-i", nbest, "-o", "out", "-j", 2)
        died = b"smt: a worker process died, at or after item 0: it was killed by signal 9, Killed (out of memory?)\n"
        assert process.stderr.read() == died
        assert process.wait(timeout=300) == 1
        assert not Path("out").exists()

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_lack_of_a_source_names_the_remedy(self, smt: Smt, nbest: Path, jobs: int) -> None:
        Path("q.py").write_text(QUESTION)
        result = smt("score", "--plugin", "q.py", "--feature", "question", "-i", nbest, "-o", "out", "-j", jobs)
        assert (result.code, result.err) == (
            2,
            "smt: feature 'question' needs the source: add it with --source FILE\n",
        )
        assert not Path("out").exists()

    def test_column_that_is_there(self, smt: Smt, nbest: Path) -> None:
        result = smt("score", "--feature", "length,name=LM0", "-i", nbest)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"smt: {nbest}:1: list already has a feature 'LM0'; rename")


def test_killed_run_leaves_nothing_at_the_output(start: Callable[..., Any], nbest: Path) -> None:
    Path("slow.py").write_text(
        "import sys, time\nfrom smtplugins import feature\n@feature('slow')\ndef slow(hyp):\n"
        "    sys.stderr.write('begun\\n')\n    time.sleep(3000)\n"
    )
    process = start("score", "--plugin", "slow.py", "--feature", "slow", "-i", nbest, "-o", "out")
    assert process.stderr.readline() == b"begun\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) == 128 + signal.SIGTERM
    assert sorted(path.name for path in Path().iterdir() if "out" in path.name) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_killed_while_a_plugin_is_loaded_ends(start: Callable[..., Any], number: int) -> None:
    Path("killed.py").write_text(f"import os\nos.kill(os.getpid(), {int(number)})\n")
    process = start("formats", "--plugin", "killed.py")
    assert process.communicate(timeout=300) == (b"", b"")
    assert process.returncode == 128 + number


@pytest.mark.parametrize("jobs", [1, 2])
def test_command_that_fails_at_its_end_fails_the_run(smt: Smt, nbest: Path, jobs: int) -> None:
    Path("ext.sh").write_text('while read -r line; do echo "${#line}"; done; exit 3\n')
    result = smt("score", "--feature", 'external,command="sh ext.sh"', "-i", nbest, "-o", "out", "-j", jobs)
    assert (result.code, result.err) == (1, "smt: command 'sh': ended with exit code 3\n")
    assert not Path("out").exists()


def test_output_that_is_open_already_is_written_on(start: Callable[..., Any], nbest: Path) -> None:
    for name in ("/dev/stdout", "/dev/fd/1"):
        Path("out").write_text("kept\n")
        with open("out", "ab") as out:
            process = start("best", "-i", nbest, "-o", name, stdout=out)
            assert process.wait(timeout=300) == 0
        assert Path("out").read_text() == "kept\na house\nthe house\n"


def test_closed_streams_are_named(nbest: Path) -> None:
    code = "import sys; from smtplugins.cli.main import main; sys.exit(main())"
    for arguments, redirection, name in (("best -i", ">&-", "output"), ("best <&-; #", "", "input")):
        command = f"{sys.executable} -c '{code}' {arguments} {nbest} {redirection}"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (1, f"smt: standard {name}: it is closed\n")


def test_hangup_leaves_nothing_behind(start: Callable[..., Any], nbest: Path) -> None:
    Path("slow.py").write_text(
        "import sys, time\nfrom smtplugins import feature\n@feature('slow')\ndef slow(hyp):\n"
        "    sys.stderr.write('begun\\n')\n    time.sleep(3000)\n"
    )
    process = start("score", "--plugin", "slow.py", "--feature", "slow", "-i", nbest, "-o", "out")
    assert process.stderr.readline() == b"begun\n"
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=300) == 128 + signal.SIGHUP
    assert [path.name for path in Path().iterdir() if "out" in path.name] == []


def test_manifest_has_what_was_read_not_what_was_written(smt: Smt, nbest: Path) -> None:
    before = file_hash(nbest)
    smt("score", "--feature", "length", "-i", nbest, "-o", nbest, "--manifest", "m.json").ok()
    assert json.loads(Path("m.json").read_text())["inputs"][str(nbest)] == before
    assert file_hash(nbest) != before
    result = smt("score", "--feature", "length,name=l2", "-i", nbest, "-o", "out", "--manifest", "no/m.json")
    assert (result.code, result.err) == (1, "smt: no: No such file or directory\n")
    assert not Path("out").exists()


def test_a_file_called_dash_is_not_standard_input(smt: Smt) -> None:
    Path("-").write_text("no list\n")
    assert "length= 1" in smt("score", "--feature", "length", stdin="0 ||| a ||| L= 1 ||| 0\n").ok()


def test_folder_that_is_not_there_is_no_file_name(smt: Smt, nbest: Path) -> None:
    result = smt("score", "--feature", "length", "-i", nbest, "-o", "sub/")
    assert (result.code, result.err) == (1, "smt: sub/: Is a directory\n")
