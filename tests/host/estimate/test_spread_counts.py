"""Extraction by a runner: the same files as without one, and the same errors."""

from __future__ import annotations

import gzip
import os
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats.errors import FormatError
from smtplugins.contracts.errors import UsageError
from smtplugins.host.estimate.spread_counts import threads_of
from tests.core.extract.test_phrase_pairs import MODELS, files
from tests.core.extractions import random_text
from tests.seeds import seeds

BLOCK = "smtplugins.core.extract.phrase_pairs._BLOCK_BYTES"
MAKE = "smtplugins.host.estimate.spread_counts.make_runner"
PROCESSES = "processes,jobs=2"
SETTINGS: list[dict[str, Any]] = [
    {"reordering": MODELS[:3], "occurrences": True},
    {"to_format": "moses"},
    {"to_format": "cdec"},
    {"to_format": "joshua"},
]


class Travelling:
    """Pickles what it is given and returns, as a runner on other machines does, and reads two items ahead."""

    def map(self, function: Any, items: Iterable[Any], *, setup: Any = None) -> Iterator[Any]:
        import pickle

        def travelled(thing: Any) -> Any:
            return pickle.loads(pickle.dumps(thing))

        work, ahead = travelled(function), []
        for item in items:
            ahead.append(travelled(item))
            if len(ahead) > 2:
                yield travelled(work(ahead.pop(0)))
        for item in ahead:
            yield travelled(work(item))


@pytest.fixture
def host() -> smt.Host:
    return smt.load_plugins()


def write(tmp_path: Path, source: bytes, target: bytes, links: bytes) -> tuple[Path, Path, Path]:
    paths = tmp_path / "s", tmp_path / "t", tmp_path / "a"
    for path, lines in zip(paths, (source, target, links), strict=True):
        path.write_bytes(lines)
    return paths


def extracted(host: smt.Host, paths: tuple[Path, Path, Path], folder: Path, **given: Any) -> dict[str, object]:
    extract = host.extract_phrases if "reordering" in given else host.extract_rules
    notes: list[str] = []
    count = extract(*paths, folder, note=notes.append, **given)
    return {"": (count, notes), **{path.name: path.read_bytes() for path in folder.iterdir()}}


def plain(data: object) -> object:
    return gzip.decompress(data) if isinstance(data, bytes) and data.startswith(b"\x1f\x8b") else data


@pytest.mark.parametrize("seed", seeds(24))
def test_the_same_files_by_a_runner(host: smt.Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng = random.Random(seed)
    paths = write(tmp_path, *files(random_text(rng, rng.randint(1, 20))))
    given = dict(SETTINGS[seed % len(SETTINGS)], memory=rng.choice([None, 1 << 20]))
    whole = extracted(host, paths, tmp_path / "whole", **given)
    # The lines of occurrences are compressed piece by piece.
    monkeypatch.setattr(BLOCK, rng.choice([1, 20, 1 << 18]))
    alone = extracted(host, paths, tmp_path / "alone", **given)
    assert len(alone) > 3
    assert {name: plain(data) for name, data in alone.items()} == {name: plain(data) for name, data in whole.items()}
    if seed >= len(SETTINGS):
        monkeypatch.setattr(MAKE, lambda host, spec: Travelling())
    assert extracted(host, paths, tmp_path / "spread", jobs=PROCESSES, **given) == alone


@pytest.mark.parametrize("travelling", [False, True])
def test_errors_have_the_lines_of_the_files(
    host: smt.Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, travelling: bool
) -> None:
    monkeypatch.setattr(BLOCK, 1)
    if travelling:
        monkeypatch.setattr(MAKE, lambda host, spec: Travelling())
    paths = write(tmp_path, b"a b\n" * 6, b"x y\n" * 6, b"0-0 1-1\n" * 4 + b"0-0 1-2\n0-0\n")
    expected = re.escape("a:5: expected links inside the sentences of 2 and 2 words, found '1-2'")
    for extract in (host.extract_phrases, host.extract_rules):
        with pytest.raises(FormatError, match=expected):
            extract(*paths, tmp_path / "out", jobs=PROCESSES)
        assert not (tmp_path / "out").exists()
    # The text ends early, which is read before the line that is wrong has been counted.
    write(tmp_path, b"a b\n" * 6, b"x y\n" * 5, b"0-0 1-1\n" * 4 + b"0-0 1-2\n0-0\n")
    with pytest.raises(FormatError, match=expected):
        host.extract_phrases(*paths, tmp_path / "out", jobs=PROCESSES)
    write(tmp_path, b"a b\n" * 6, b"x y\n" * 5, b"0-0 1-1\n" * 6)
    with pytest.raises(FormatError, match="t:6: expected a line for line 6 of the source side"):
        host.extract_phrases(*paths, tmp_path / "out", jobs=PROCESSES)
    assert not (tmp_path / "out").exists()


def test_given_tables_of_words_and_bad_links(host: smt.Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write(tmp_path, b"a b\na\n\nb\n", b"x y\ny\nx\nx\n", b"0-0 1-1\n0-3\n\n0-0\n")
    words = tmp_path / "lex"
    words.write_bytes(b"x a 0.5\ny b 0.25\n")
    given: dict[str, Any] = {"lexical": (words, words), "skip_bad": True}
    for more in ({"reordering": ()}, {"to_format": "joshua"}):
        alone = extracted(host, paths, tmp_path / "alone", **given, **more)
        with monkeypatch.context() as patched:
            patched.setattr(BLOCK, 1)
            assert extracted(host, paths, tmp_path / "spread", jobs=PROCESSES, **given, **more) == alone
        assert alone[""][1] == [
            "1 sentence pair with an empty side: left out",
            "1 sentence pair with links outside the sentences: left out",
        ]


def test_tables_are_written_in_threads_when_the_workers_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    threads = {3: 3, None: 1, "serial": 1, "processes": 5, "processes,jobs=0": 5, "processes,jobs=3": 3}
    assert {jobs: threads_of(jobs) for jobs in threads} == threads
    monkeypatch.setenv("SMT_RUNNER", "dask,jobs=2")
    assert threads_of(None) == 2


def test_the_runner_of_the_environment(host: smt.Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write(tmp_path, b"a\n", b"x\n", b"0-0\n")
    monkeypatch.setenv("SMT_RUNNER", "nonesuch")
    for extract in (host.extract_phrases, host.extract_rules):
        with pytest.raises(UsageError, match="nonesuch"):
            extract(*paths, tmp_path / "out")
        assert extract(*paths, tmp_path / "out", jobs=1) == 1
    assert host.extract_rules(*paths, tmp_path / "out", jobs=2) == 1
    with pytest.raises(UsageError, match="jobs=2 needs rules, or a runner"):
        host.extract_phrases(*paths, tmp_path / "out", jobs=2)
    with pytest.raises(UsageError, match="expected 1 or more"):
        host.extract_phrases(*paths, tmp_path / "out", jobs=0)
