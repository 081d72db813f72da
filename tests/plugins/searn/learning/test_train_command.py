"""``smt searn train``: what it writes and tells, that it goes on where it stopped, and what it refuses."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from smtplugins.cli.main import main
from smtplugins.plugins.searn.labels.item_files import ItemWriter
from smtplugins.plugins.searn.learning.policy import Policy
from smtplugins.plugins.searn.learning.searn import Searn

WORDS = {"w": "W", "x": "X", "y": "", "z": "Z z"}


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Sentences in which y has no translation and z stands before what it follows."""
    source = random.Random(3)
    sentences, spans = [], []
    for _ in range(60):
        words = [source.choice("wxyz") for _ in range(source.randint(1, 6))]
        labels = ["S" if not i else "S,R-" if word == "z" else "S,R+" for i, word in enumerate(words)]
        sentences.append([(word, WORDS[word], label) for word, label in zip(words, labels, strict=True)])
        spans += [(i, i + 1, 0, 0) for i in range(len(words))]
    with ItemWriter(tmp_path / "items") as writer:
        writer.add(sentences, np.array(spans, dtype=np.uint16))
    (tmp_path / "phrase-table.gz").write_bytes(b"")
    return tmp_path


def train(items: Path, name: str, *more: str) -> int:
    return main(["searn", "train", "-i", str(items), "-o", str(items / name), "--min-count", "2", *more])


def test_what_it_writes(items: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(items, "model", "--history", "label,depth", "--bias", "--held-out", "0.2", "--lm", "en.arpa") == 0
    policy = Policy.load(items / "model/policy")
    assert policy.templates == ("source", "previous", "target", "bias", "label", "depth")
    assert len(policy.shares) == 3
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("48 sentences, ")
    assert told[0].endswith(f"held out: 12 sentences, {told[0].split()[-2]} items")
    assert [line.split()[0] for line in told[1:]] == ["iteration", "1", "2", "3"]
    accuracy, held_out = (float(told[-1].split()[i]) for i in (2, 4))
    # y is left where it is, at the beginning of a sentence only a history tells what to do.
    assert accuracy == held_out == 1.0
    record = json.loads((items / "model/model.json").read_text())
    assert record["policy"] == policy.digest()
    assert record["iterations"] == 3
    text = (items / "model/run.yaml").read_text()
    assert 'tables: "../phrase-table.gz"' in text
    assert "{name: itg-history, path: policy}" in text
    assert "en.arpa" in text


def test_killed_and_resumed(items: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--history", "label,label2,depth,fragment", "--beta", "search", "--held-out", "0.3", "-q")
    assert train(items, "whole", *options) == 0
    learn = Searn.learn

    def killed(self: Searn, *args: object, **named: object) -> object:
        for number, step in enumerate(learn(self, *args, **named)):  # type: ignore[arg-type]
            if number == 1:
                raise KeyboardInterrupt
            yield step

    with monkeypatch.context() as patch:
        patch.setattr(Searn, "learn", killed)
        assert train(items, "part", *options) != 0
    assert not (items / "part/policy").exists()
    assert train(items, "part", *options) != 0
    assert train(items, "part", *options, "--resume") == 0
    for path in sorted((items / "whole").rglob("*")):
        other = items / "part" / path.relative_to(items / "whole")
        if path.is_file() and path.name != "manifest.json":
            assert path.read_bytes() == other.read_bytes(), path


def test_jobs_and_seeds(items: Path) -> None:
    options = ("-q", "--history", "label", "--roll-out", "sampled", "--iterations", "2", "--loss", "wer")
    for name, more in (("one", ("-j", "1")), ("two", ("-j", "2")), ("other", ("--seed", "2"))):
        assert train(items, name, *options, *more) == 0
    one, two, other = (Policy.load(items / name / "policy").digest() for name in ("one", "two", "other"))
    assert one == two != other


def test_a_dev_set(items: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(items / "items", items / "dev")
    assert train(items, "model", "--dev", str(items / "dev"), "--feature", "length") == 0
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert row[2:4] == row[4:6]
    assert Policy.load(items / "model/policy").features == ("length",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--history", "lable"], "--history: unknown feature 'lable'; did you mean 'label'"),
        (["--beta", "much"], "--beta: expected a number or search, found 'much'"),
        (["--beta", "2"], "beta: expected a number above 0 and not above 1, or search, found 2.0"),
        (["--beta", "search"], "--beta search: expected held-out sentences: --dev DIR, or --held-out 0.1"),
        (["--held-out", "1"], "--held-out: expected a fraction between 0 and 1, found 1.0"),
        (["--held-out", "0.1", "--dev", "x"], "expected --dev or --held-out, found both"),
        (["--min-count", "0"], "expected --min-count of 1 and --seed of 0 or more, found 0, 1"),
        (["--feature", "lenght"], "lenght"),
        (["--passes", "0"], "expected passes of 1 or more"),
        (["--dev", "elsewhere"], "elsewhere"),
    ],
)
def test_what_it_refuses(items: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    assert train(items, "model", *options) != 0
    assert message in capsys.readouterr().err
    assert not (items / "model").exists()
