"""``smt decode`` in a process of its own: pipes and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.systems.decode.systems import Start


class TestProcesses:
    def test_a_closed_pipe_ends_it_in_silence(self, start: Start) -> None:
        Path("many").write_text(Path("source.de").read_text() * 2000)
        for jobs in (1, 2):
            process = start("decode", "-c", "run.yaml", "-i", "many", "-j", jobs, stdin=subprocess.DEVNULL)
            assert process.stdout is not None and process.stderr is not None
            assert process.stdout.readline() == b"the cook has cooked the soup .\n"
            process.stdout.close()
            assert process.wait(timeout=300) == 0
            assert process.stderr.read() == b""

    def test_each_line_is_answered_before_the_next_one_comes(self, start: Start) -> None:
        process = start("decode", "-c", "run.yaml", "-i", "-", "--from", "text")
        assert process.stdin is not None and process.stdout is not None
        for line, answer in ((b"der koch\n", b"the cook\n"), (b"die katze\n", b"the cat\n")):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == answer
        process.stdin.close()
        assert process.wait(timeout=300) == 0

    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_ended_from_outside(self, start: Start, system: Path, number: int, code: int, jobs: int) -> None:
        # The input never ends by itself.
        before = set(os.listdir(system))
        process = start("decode", "-c", "run.yaml", "-i", "-", "-o", "out", "-j", jobs)
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(b"der koch\n" * 100)
        process.stdin.flush()
        for _ in range(3000):
            if set(os.listdir(system)) != before:
                break
            time.sleep(0.1)
        # The output is written aside.
        assert "out" not in os.listdir(system) and set(os.listdir(system)) > before
        process.send_signal(number)
        assert process.wait(timeout=300) == code
        assert process.stderr.read() == (b"smt: interrupted\n" if number == signal.SIGINT else b"")
        assert set(os.listdir(system)) == before
