"""Translations, lists, forests and statistics in files, by `Host.decode`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.host import Host

RULES = "[X] ||| haus ||| house ||| p=-1\n[X] ||| haus ||| home ||| p=-2\n[X] ||| das [X,1] ||| the [1] ||| p=-0.5\n"
CONFIG = """\
decoder: hiero
source: source
model:
  tables: rules
  features: [word-penalty, glue, pass-through]
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules").write_text(RULES)
    Path("run.yaml").write_text(CONFIG)
    Path("source").write_text("das haus\nhaus\n")
    Path("w").write_text("p 1\npass-through -9\n")


def test_sentences_from_everywhere(host: Host) -> None:
    for sentences in (None, "source", ["das haus", "haus"], [("das", "haus"), ["haus"]], iter(["das haus", "haus"])):
        done = host.decode("run.yaml", "out", sentences, weights={"p": 1.0, "pass-through": -9.0}, cache="off")
        assert Path("out").read_text() == "the house\nhouse\n"
        assert done.sentences == 2
    host.decode(load_config("run.yaml"), "out", ["haus"], weights="w", cache="off")
    assert Path("out").read_text() == "house\n"
    with pytest.raises(UsageError, match="sentences: expected a file or sentences, or a source in the configuration"):
        host.decode("run.yaml", "out", overrides="source=null", cache="off")


def test_lists_forests_and_statistics(host: Host) -> None:
    notes: list[str] = []
    traced: list[str] = []
    host.decode(
        "run.yaml", "out", overrides={"output.format": "jsonl"}, nbest=2, unique=True, forests="forests", stats="stats",
        built="built", trace=traced.append, cache="off", note=notes.append,
    )  # fmt: skip
    assert [len(nbest) for nbest in host.read("out")] == [2, 2]
    assert sorted(os.listdir("forests")) == ["0.json.gz", "1.json.gz"]
    assert json.loads(Path("stats").read_text())["sentences"] == 2
    assert len(Path("built").read_text().splitlines()) == 2
    assert traced[0] == "sentence 0"
    assert notes == [
        "no weights: those that tuning starts from are used (`smt tune` learns better ones): p 0, word-penalty -1, "
        "glue 0, pass-through -5"
    ]


def test_what_needs_something_else(host: Host) -> None:
    for arguments, message in (
        ({"unique": True}, r"unique needs n-best lists \(nbest=N\)"),
        ({"fields": "input"}, r"fields needs n-best lists \(nbest=N\)"),
        ({"forests_format": "moses-search-graph"}, "forests_format needs forests=DIR"),
    ):
        with pytest.raises(UsageError, match=message):
            host.decode("run.yaml", "out", **arguments)
    with pytest.raises(FileNotFoundError):
        host.decode("run.yaml", "out", stats="nowhere/stats")


@pytest.mark.parametrize(
    ("template", "other"),
    [
        ('template: "%s"', "lists: nbest"),
        ('template: "%s"', "show: [id]"),
        ('template: "%s"', "choice: mbr"),
        ("project_case: true", "show: [id]"),
    ],
)
def test_lines_are_made_in_one_way(host: Host, template: str, other: str) -> None:
    Path("run.yaml").write_text(f"{CONFIG}output:\n  {template}\n  {other}\n")
    (key, _), (way, _) = (text.split(": ") for text in (other, template))
    with pytest.raises(SmtError, match=rf"run.yaml:8: output\.{key}: cannot be used with output\.{way}"):
        host.decode("run.yaml", "out", ["haus"], weights="w", cache="off")
    assert not Path("out").exists()
