"""Finding commands, help pages, exit codes, and files left behind by a run."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smtplugins.cli import main
from smtplugins.cli.main import COMMANDS, command_parser
from tests.forked import Process

Smt = Callable[..., Any]
Start = Callable[..., Process]

MAIN = "import sys; from smtplugins.cli.main import main; sys.exit(main())"

GREETER = """
from smtplugins import Command, hookimpl

def run(host, args):
    if args.end == "exit":
        raise SystemExit
    if args.end == "words":
        raise SystemExit("no more")
    if args.end == "bug":
        raise ValueError("a bug")
    print(f"hello {args.name}")

def configure(parser):
    parser.add_argument("name", help="whom")
    parser.add_argument("--end", default="", help="how")

@hookimpl
def smt_commands():
    yield Command(name="hello", summary="greets", configure=configure, run=run)
"""


def parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    result = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            result += [inner for child in action.choices.values() for inner in parsers(child)]
    return result


class TestHelp:
    def test_page_lists_commands_and_installed_plugins(self, smt: Smt, install: Callable[[str, str], None]) -> None:
        install("other", "raise RuntimeError('imported')")
        page = smt("--help").ok()
        assert page == smt("-h").ok() == smt("help").ok() == smt().ok()
        for name in COMMANDS:
            assert f"\n  {name} " in page
        assert "standard" in page.split("\nplugins: ")[1].split("\n")[0].split(", ")
        assert "other" in page.split("\nplugins: ")[1].split("\n")[0].split(", ")

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_command_and_option_is_described(self, smt: Smt, name: str) -> None:
        page = smt(name, "--help").ok()
        assert page.startswith(f"usage: smt {name}")
        for parser in parsers(command_parser(name)):
            assert parser.description or parser.prog != f"smt {name}"
            for action in parser._actions:
                if not isinstance(action, argparse._SubParsersAction):
                    assert action.help, f"{parser.prog}: {action.dest}"
                    parser.format_help()

    def test_heavy_packages_are_not_imported(self) -> None:
        code = (
            "import sys\nfrom smtplugins.cli.main import main\nmain(['--help'])\n"
            "heavy = {'numpy', 'sacrebleu', 'kenlm', 'scipy', 'rich', 'yaml', 'pluggy', 'xopen'}\n"
            "print(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (0, "[]\n")
        assert done.stdout.startswith("usage: smt COMMAND")

    def test_decoding_a_sentence_imports_what_it_needs(self, tmp_path: Path) -> None:
        """A cold start is mostly imports: those of other commands, formats and kinds of work are left alone."""
        (tmp_path / "rules").write_text("[X] ||| a ||| b ||| p=1\n")
        (tmp_path / "cdec.ini").write_text("formalism=scfg\ngrammar=rules\n")
        code = (
            "import sys; from smtplugins.cli.main import main\n"
            f"main(['decode', '-q', '-c', {str(tmp_path / 'cdec.ini')!r}, '-i', {str(tmp_path / 'text')!r}])\n"
            "others = {'importlib.metadata', 'subprocess', 'multiprocessing', 'xopen', 'yaml', 'sqlite3'}\n"
            "others |= {'smtformats.json_shapes', 'smtformats.hypergraph.cdec_json'}\n"
            "others |= {f'smtplugins.host.config.toolkits.{name}' for name in ('moses', 'joshua')}\n"
            "others |= {f'smtplugins.host.decode.printing.{name}' for name in ('choice', 'details', 'rescored')}\n"
            "others |= {'smtformats.nbest.jsonl', 'smtformats.tree.bracketed', 'smtformats.alignment.giza'}\n"
            "others |= {'smtformats.nbest.moses', 'smtformats.reordering.rows', 'smtformats.list_columns'}\n"
            "others |= {f'smtplugins.core.graph.{name}' for name in ('derivations', 'hypergraph', 'inference')}\n"
            "others |= {f'smtplugins.host.files.{name}' for name in ('conversion', 'joining', 'list_fields')}\n"
            "others |= {'smtplugins.host.decode.decoded_lists', 'smtplugins.host.forests.forest_files'}\n"
            "others |= {'smtplugins.plugins.hiero.passes', 'difflib', 'traceback', 'base64'}\n"
            "print(sorted(others & set(sys.modules)), file=sys.stderr)\n"
        )
        (tmp_path / "text").write_text("a\n")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
        assert (done.stdout, done.stderr.splitlines()[-1]) == ("b\n", "[]")

    def test_version_names_the_folder_it_runs_from(self, smt: Smt) -> None:
        import smtplugins

        out = smt("--version").ok()
        assert out.startswith("smtplugins ")
        assert out.endswith(f"({Path(smtplugins.__file__).parent})\n")

    def test_installed_command_runs(self) -> None:
        command = Path(sys.executable).with_name("smt")
        if not command.exists():
            pytest.skip("the console script is not beside this Python")
        done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=300)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("smtplugins ")


class TestCalls:
    def test_unknown_command_suggests(self, smt: Smt) -> None:
        result = smt("rescor")
        assert (result.code, result.out) == (2, "")
        assert result.err == "smt: unknown command 'rescor'; did you mean 'rescore' or 'score' or 'report'?\n"

    @pytest.mark.parametrize(
        "arguments",
        [
            ("score",),
            ("score", "--feature"),
            ("score", "--feature", "length", "--no-such-option"),
            ("score", "--feature", "length", "-j", "many"),
            ("rescore",),
            ("evaluate",),
            ("config",),
            ("config", "show"),
            ("plugins", "chek"),
            ("dedup", "--merge", "sum"),
            ("features", "-f", "html"),
        ],
    )
    def test_wrong_options_end_with_2_and_usage(self, smt: Smt, arguments: tuple[str, ...]) -> None:
        result = smt(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"usage: smt {arguments[0]}")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("score", "--feature", "lenght"), "smt: unknown feature 'lenght'; did you mean 'length'?"),
            (("score", "--feature", "length", "-j", "0"), "smt: jobs: expected 1 or more, found 0"),
            (("score", "--feature", "length", "--precision", "0"), "smt: precision: expected 1 to 17 significant"),
            (("score", "--feature", "length", "--annotation", "x"), "smt: --annotation: expected NAME=FILE, found 'x'"),
            (("score", "--feature", "length", "-s", "-"), "smt: only one of lists, source and"),
            (("score", "--feature", "length", "--to", "text-nbst"), "smt: unknown format 'text-nbst'; did you mean"),
            (("score", "--feature", "length", "--from", "text"), "smt: format 'text-nbest' can only be written"),
            (("score", "--feature", "length", "--plugin", "no.py"), "smt: plugin file no.py: no such file"),
        ],
    )
    def test_wrong_calls_end_with_2_and_a_message(
        self, smt: Smt, nbest: Path, arguments: tuple[str, ...], message: str
    ) -> None:
        result = smt(*arguments, stdin=nbest.read_text())
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(message)
        assert result.err.count("\n") == 1

    def test_missing_file_ends_with_1(self, smt: Smt, nbest: Path) -> None:
        result = smt("score", "--feature", "length", "-i", "absent")
        assert (result.code, result.out, result.err) == (1, "", "smt: absent: No such file or directory\n")
        result = smt("score", "--feature", "length", "-i", nbest, "-o", "no/such/folder/out")
        assert (result.code, result.err) == (1, "smt: no/such/folder/out: No such file or directory\n")

    def test_verbose_adds_a_traceback(self, smt: Smt, nbest: Path) -> None:
        arguments = ("best", "-i", nbest, "--from", "zzz")
        assert "Traceback" not in smt(*arguments).err
        noisy = smt(*arguments, "-v")
        assert noisy.code == 2
        assert "Traceback" in noisy.err
        assert noisy.err.splitlines()[-1].startswith("smt: unknown format 'zzz'")


class TestPluginCommands:
    @pytest.fixture(autouse=True)
    def _greeter(self, install: Callable[[str, str], None]) -> None:
        install("greeter", GREETER)
        install("broken", "import no_such_module_at_all\n")

    def test_command_of_a_plugin_runs(self, smt: Smt) -> None:
        assert smt("greeter", "hello", "Anna").ok() == "hello Anna\n"
        assert "greets" in smt("greeter", "--help").ok()
        assert smt("greeter").code == 2

    def test_a_plugin_from_the_variable_has_commands_too(
        self, smt: Smt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "mine.py").write_text(GREETER)
        monkeypatch.setenv("SMT_PLUGINS", "mine.py")
        assert smt("mine", "hello", "Anna").ok() == "hello Anna\n"

    @pytest.mark.parametrize(("end", "code", "err"), [("exit", 0, ""), ("words", 1, "smt: no more\n")])
    def test_command_may_exit(self, smt: Smt, end: str, code: int, err: str) -> None:
        result = smt("greeter", "hello", "Anna", "--end", end)
        assert (result.code, result.err) == (code, err)

    def test_bug_has_its_traceback(self, smt: Smt) -> None:
        result = smt("greeter", "hello", "Anna", "--end", "bug")
        assert result.code == 1
        assert "Traceback" in result.err
        assert result.err.endswith("smt: a bug\n")

    def test_broken_plugin_tells_why(self, smt: Smt) -> None:
        result = smt("broken", "run")
        assert (result.code, result.err) == (
            2,
            "smt: plugin 'broken' (smt-broken 1.2) is broken: "
            "ModuleNotFoundError: No module named 'no_such_module_at_all'\n",
        )

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            ("raise ValueError('no data')", "ValueError: no data"),
            ("import no_such_module_at_all", "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
            ("raise SystemExit('no data')", "it called sys.exit('no data')"),
        ],
    )
    def test_command_that_cannot_be_configured_stops_no_other(
        self, smt: Smt, install: Callable[[str, str], None], fault: str, reason: str
    ) -> None:
        torn = f"""
def torn(parser):
    {fault}
"""
        second = '    yield Command(name="torn", summary="is torn", configure=torn, run=run)\n'
        install("tearing", GREETER + second + torn)
        assert smt("tearing", "hello", "Anna").ok() == "hello Anna\n"
        page = smt("tearing", "--help").ok()
        assert "greets" in page
        assert "is torn" in page
        for arguments in (("torn",), ("torn", "--help"), ("torn", "x")):
            result = smt("tearing", *arguments)
            assert (result.code, result.out) == (2, "")
            assert result.err == f"smt: command 'torn' of plugin 'tearing' (smt-tearing 1.2) is broken: {reason}\n"

    def test_plugin_without_commands_and_switched_off(self, smt: Smt, monkeypatch: pytest.MonkeyPatch) -> None:
        assert smt("standard").err.endswith("has no commands of its own\n")
        monkeypatch.setenv("SMT_DISABLE_PLUGINS", "greeter")
        result = smt("greeter", "hello", "Anna")
        assert (result.code, result.err) == (2, "smt: plugin 'greeter' (smt-greeter 1.2) is disabled\n")


SLOW = """
import sys, time
from smtplugins import feature

@feature("slow")
def slow(hyp):
    sys.stderr.write("begun\\n")
    time.sleep(3000)
    return 1.0
"""


class TestEnds:
    @pytest.mark.parametrize("jobs", [1, 2])
    def test_interrupt_ends_with_130_and_leaves_nothing(self, start: Start, nbest: Path, jobs: int) -> None:
        Path("slow.py").write_text(SLOW)
        process = start("score", "--plugin", "slow.py", "--feature", "slow", "-j", jobs, "-o", "out")
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(nbest.read_bytes())
        process.stdin.close()
        assert process.stderr.readline() == b"begun\n"
        before = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 130
        assert time.monotonic() - before < 300
        assert process.stderr.read().replace(b"begun\n", b"") == b"smt: interrupted\n"
        assert sorted({*os.listdir()} - {"__pycache__"}) == ["slow.py", "source", "test.nbest"]

    def test_another_end_comes_while_one_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def told(error: BaseException, verbose: bool) -> int:
            raise main._EndedError(signal.SIGTERM)

        monkeypatch.setattr(main, "_report_error", told)
        assert main.main(["no-such-command"]) == 128 + signal.SIGTERM

    @pytest.mark.parametrize("arguments", [("score", "--feature", "length"), ("best",), ("convert",)])
    def test_closed_pipe_is_quiet(self, start: Start, arguments: tuple[str, ...]) -> None:
        lines = "".join(f"{i} ||| {'word ' * 20} ||| f= {i} ||| -1\n" for i in range(20_000))
        Path("long").write_text(lines)
        process = start(*arguments, "-i", "long")
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=300) == 0

    @pytest.mark.usefixtures("signals")
    def test_closed_pipe_of_a_table_is_quiet(self) -> None:
        """An interpreter of its own, to its end; other tests fork theirs (``forked.py``)."""
        command = [sys.executable, "-c", MAIN, "features"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(timeout=300) == 0


LEAVING = """
import argparse, os, sys
import numpy as np
from smtplugins import Offer, feature, hookimpl
from smtplugins.contracts.learners import ListProblem

@feature("quits")
def quits(hyp):
    sys.exit(0)

@feature("pipe")
def pipe(hyp):
    raise BrokenPipeError(32, "Broken pipe")

class Unmade:
    def __init__(self):
        sys.exit(0)

class Metric:
    name, higher_is_better = "quits", True
    def stats(self, hypotheses, references, sources=None):
        argparse.ArgumentParser().exit()

class Piped(Metric):
    def stats(self, hypotheses, references, sources=None):
        raise BrokenPipeError(32, "Broken pipe")

class Learner:
    accepts = frozenset({ListProblem})
    def learn(self, problem, start, *, resume=None, seed=1, runner=None):
        raise SystemExit
        yield

class Decoder:
    def decode(self, sentences, model, *, threads=1):
        sys.exit()
        yield

@hookimpl
def smt_features():
    yield Offer(name="unmade", make=Unmade, summary="ends the program while it is made")

@hookimpl
def smt_metrics():
    yield Offer(name="quits", make=Metric, summary="ends the program")
    yield Offer(name="piped", make=Piped, summary="a pipe of its own is broken")

@hookimpl
def smt_learners():
    yield Offer(name="quits", make=Learner, summary="ends the program")

@hookimpl
def smt_decoders():
    yield Offer(name="quits", make=Decoder, summary="ends the program")
"""


class TestPluginsThatEnd:
    """A plugin that ends the program has failed: exit code 0 means that the output is what was asked for."""

    @pytest.fixture(autouse=True)
    def _leaving(self, nbest: Path) -> None:
        Path("leaving.py").write_text(LEAVING)
        Path("refs").write_text("a house\nthe house\n")
        Path("run.yaml").write_text("decoder: quits\nplugins: [leaving.py]\n")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (
                "score --feature quits -i test.nbest -o out",
                "feature 'quits' on list 0 (test.nbest:1): it called sys.exit",
            ),
            (
                "score --feature quits -i test.nbest -o out -j 2",
                "feature 'quits' on list 0 (test.nbest:1): it called sys.exit",
            ),
            ("score --feature unmade -i test.nbest -o out", "feature 'unmade' cannot be made: it called"),
            ("evaluate -m quits -r refs test.nbest", "leaving.py: stats: a plugin failed: it called"),
            ("evaluate -m piped -r refs test.nbest", "[Errno 32] Broken pipe"),
            ("score --feature pipe -i test.nbest -o out", "feature 'pipe' on list 0 (test.nbest:1): BrokenPipeError"),
            (
                "tune --learner quits -i test.nbest -r refs -o out",
                "leaving.py: learn: a plugin failed: it called sys.exit",
            ),
            ("decode -c run.yaml -i source -o out -q", "leaving.py: decode: a plugin failed: it called"),
            ("decode -c run.yaml -i source -o out -q -j 2", "leaving.py: decode: a plugin failed: it called sys.exit"),
        ],
    )
    def test_is_an_error_that_says_where(self, smt: Smt, tmp_path: Path, arguments: str, message: str) -> None:
        plugin = [] if "run.yaml" in arguments else ["--plugin", "leaving.py"]
        result = smt(*arguments.split(), *plugin)
        assert (result.code, result.out) == (1, "")
        last = re.sub(r"py:\d+:", "py:", result.err.splitlines()[-1].replace(f"{tmp_path}/", ""))
        assert last.startswith(f"smt: {message}")
        assert not Path("out").exists()

    def test_a_command_may_end_but_not_what_it_uses(
        self, smt: Smt, monkeypatch: pytest.MonkeyPatch, install: Callable[[str, str], None]
    ) -> None:
        judging = GREETER.replace(
            'print(f"hello {args.name}")', 'print(host.evaluate([["a"]], {"s": ["a"]}, ["quits"]).rows())'
        )
        install("greeter", judging)
        monkeypatch.setenv("SMT_PLUGINS", "leaving.py")
        result = smt("greeter", "hello", "Anna")
        assert (result.code, result.out) == (1, "")
        assert re.search(r"leaving\.py:\d+: stats: a plugin failed: it called sys\.exit\(0\)", result.err)
        assert smt("greeter", "hello", "Anna", "--end", "exit").code == 0


LOUD = """
import os, subprocess, sys
from smtplugins import feature
print("imported")

@feature("loud")
def loud(hyp):
    print("printed")
    sys.__stdout__.write("kept\\n")
    sys.__stdout__.flush()
    sys.__stdout__.write("left in its buffer\\n")
    os.write(1, b"native\\n")
    subprocess.run(["echo", "child"])
    return 1.0
"""


class TestPrints:
    """Standard output is for results: what plugins print goes to standard error."""

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_of_plugins_stay_out_of_the_data(self, start: Start, nbest: Path, jobs: int) -> None:
        Path("loud.py").write_text(LOUD)
        process = start("score", "--plugin", "loud.py", "--feature", "loud", "-i", nbest, "-j", jobs)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0
        assert out.decode().replace("loud= 1 |||", "|||") == nbest.read_text()
        assert [err.count(word) for word in (b"imported", b"printed", b"kept", b"native", b"child")] == [1, 3, 3, 3, 3]

    def test_of_plugins_stay_out_of_tables(self, smt: Smt, nbest: Path) -> None:
        Path("loud.py").write_text(LOUD)
        result = smt("features", "show", "loud", "--plugin", "loud.py", "-f", "json")
        assert result.out.startswith("[")
        assert result.err == "imported\n"

    def test_of_a_command_of_a_plugin_are_its_results(
        self, smt: Smt, install: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path("loud.py").write_text(LOUD)
        monkeypatch.setenv("SMT_PLUGINS", "loud.py")
        install("greeter", GREETER)
        result = smt("greeter", "hello", "Anna")
        assert (result.code, result.out, result.err) == (0, "hello Anna\n", "imported\n")
        assert "whom" in smt("greeter", "hello", "--help").out

    @pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
    def test_results_go_to_standard_output_by_any_name(self, start: Start, nbest: Path, name: str) -> None:
        if name.startswith("/proc") and not Path("/proc/self/fd").exists():
            pytest.skip("needs /proc")
        process = start("score", "--feature", "length", "-i", nbest, "-o", name)
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, b"")
        assert out.count(b"length= ") == 3

    def test_closed_standard_output_is_an_error(self) -> None:
        done = subprocess.run(
            ["sh", "-c", '"$0" -c "$1" features >&-', sys.executable, MAIN], capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (1, "smt: standard output: it is closed\n")

    def test_closed_pipe_of_standard_error_is_no_success(self, start: Start, nbest: Path) -> None:
        """Nobody reads the note about weights: that must not end the run as if all had been written."""
        Path("leaving.py").write_text(LEAVING)
        Path("run.yaml").write_text("decoder: quits\nplugins: [leaving.py]\n")
        process = start("decode", "-c", "run.yaml", "-i", "source", "-o", "out")
        assert process.stderr is not None
        process.stderr.close()
        assert process.wait(timeout=300) == 1
