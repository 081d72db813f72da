"""`smt localized events`, `train` and `compare`: what they leave, what they print, what they refuse."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.cli.main import main
from smtplugins.contracts.models import Model
from smtplugins.host.estimate.lm import estimate_files
from tests.plugins.cut_examples import cut

BITEXT = "-t table -s train.fr -r train.en -a train.align"


@pytest.fixture(scope="module", name="data")
def _data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some of the example's data, with a language model and a table of words and their neighbours."""
    folder = tmp_path_factory.mktemp("data")
    cut("localized", folder, {"train.fr": 150, "train.en": 150, "train.align": 150, "text.en": 300})
    cut("localized", folder, {f"{name}.{side}": 20 for name in ("devtest", "test") for side in ("fr", "en")})
    estimate_files([folder / "text.en"], 3, fallback=(), quiet=True).write_arpa(str(folder / "lm.arpa"))
    assert main(f"extract --phrases -s {folder}/train.fr -t {folder}/train.en -a {folder}/train.align "
                f"-o {folder}/tables --max-length 3 -q".split()) == 0  # fmt: skip
    shutil.copy(folder / "tables/phrase-table.gz", folder / "table.gz")
    return folder


@pytest.fixture(autouse=True)
def _there(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(data, tmp_path / "data")
    monkeypatch.chdir(tmp_path / "data")
    (tmp_path / "data/table.gz").rename(tmp_path / "data/table")
    # Told by its first bytes.


def run(text: str) -> int:
    return int(main(["localized", *text.split()]))


def test_events_train_and_decode(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"events {BITEXT} --max-length 2 -o events") == 0
    said = capsys.readouterr().err
    record = json.loads(Path("events/events.json").read_text())
    assert f"{record['blocks']} blocks at {record['occurrences']} places of 150 sentence pairs" in said
    options = "--events events --lm lm.arpa --float-rate 0.01 --rate 0.01 --passes 2"
    assert run(f"train {options} -o model") == 0
    assert "train: bigrams, pass 2: loss" in capsys.readouterr().err
    assert sorted(one.name for one in Path("model").iterdir()) == ["block-bigram", "blocks.gz", "run.yaml", "weights"]
    assert main("decode -c model/run.yaml -i test.fr -o found -q".split()) == 0
    found = Path("found").read_text().splitlines()
    wanted = Path("test.en").read_text().splitlines()
    bleu = smt.load_plugins().metric("bleu,tokenize=none")  # type: ignore[arg-type]
    assert float(bleu.score(bleu.stats(found, [wanted]).sum(axis=0))) > 50
    # The same again gives the same bytes; any decoder of phrases takes the configuration.
    assert run(f"train {options} -o again -q") == 0
    assert Path("again/weights").read_bytes() == Path("model/weights").read_bytes()
    assert (Path("again/block-bigram/weights.npy")).read_bytes() == Path("model/block-bigram/weights.npy").read_bytes()
    assert main("decode -c model/run.yaml --decoder phrase -i test.fr -o other -q".split()) == 0
    assert len(Path("other").read_text().splitlines()) == len(wanted)


def test_a_model_knows_its_events(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"events {BITEXT} --max-length 2 -o events -q") == 0
    assert run("train --events events --lm lm.arpa --features abcde --float-rate 0.01 -o model -q") == 0
    decode = "decode -c model/run.yaml -i test.fr -k 3 -q -o".split()
    assert main([*decode, "found"]) == 0
    # Others are not written over them unasked, and the model does not take them for its own.
    others = f"events {BITEXT} --max-length 3 -o events -q"
    assert run(others) == 2
    assert "events: expected a new or empty folder, found one with events.json" in capsys.readouterr().err
    assert main([*decode, "again"]) == 0
    assert run(f"{others} --force") == 0
    assert main([*decode, "other"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("smt: model/run.yaml:5: model.features") and said.count("\n") == 1
    assert "expected the events that the model was learnt from, events_digest" in said and "data/events," in said
    assert not Path("other").exists()
    assert run(f"events {BITEXT} --max-length 2 -o events -q --force") == 0
    assert main([*decode, "third"]) == 0
    assert Path("third").read_bytes() == Path("again").read_bytes() == Path("found").read_bytes()
    # Nothing that was forbidden stands in lists.
    assert "rare-left= 0 " in Path("found").read_text() and "rare-left= -1" not in Path("found").read_text()


def test_a_model_is_not_written_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"events {BITEXT} --max-length 2 -o events -q") == 0
    train = "train --events events --lm lm.arpa --features abc --float-rate 0.01 -o model"
    assert run(f"{train} -q") == 0
    before = Path("model/run.yaml").stat().st_ino
    assert run(train) == 2
    said = capsys.readouterr().err
    assert "pass 1" not in said and "model: expected a new or empty folder, found one with run.yaml" in said
    assert Path("model/run.yaml").stat().st_ino == before
    assert run(f"{train} -q --force") == 0


def test_letters_say_which_weights_are_learnt() -> None:
    assert run(f"events {BITEXT} --min-count 2 -o events -q") == 0
    assert run("train --events events --lm lm.arpa --features abc --float-rate 0.01 -o model -q") == 0
    weights = dict(line.split() for line in Path("model/weights").read_text().splitlines())
    used = {name for name, value in weights.items() if float(value)}
    assert used == {"unigram", "orientation", "lm-first", "neutral-unigram", "neutral-lm-first"}
    assert not Path("model/block-bigram").exists()


def test_the_nine_rows(capsys: pytest.CaptureFixture[str]) -> None:
    common = (
        "--lm lm.arpa --devtest devtest.fr --devtest-ref devtest.en --test test.fr --test-ref test.en --max-length 2"
    )
    rates = "--float-rate 0.01 --rate 0.01 --passes 2 --nbest 20 -m bleu,tokenize=none -q"
    assert run(f"compare {BITEXT} {common} {rates} -o out -f json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads(Path("out/result.json").read_text())
    rows = found["tables"]["systems"]["rows"]
    assert [row["key"] for row in rows] == [str(number) for number in range(1, 10)]
    assert [row["paper_score"] for row in rows] == [32.3, 32.3, 33.9, 37.7, 37.2, 37.8, 38.2, 39.0, 39.3]
    assert rows[4]["paper_interval"] == 1.6
    # Rows 1 and 2 have one model; 7 keeps the floats of 6, and 9 those of 8.
    weights = [row["weights"] for row in rows]
    assert weights[0] == weights[1]
    for floats, both in ((5, 6), (7, 8)):
        assert {name: value for name, value in weights[both].items() if name != "block-bigram"} == weights[floats]
    assert Model.load(Path("out/models/bigrams-devtest")).artefacts.keys() == {"block-bigram"}
    # What a killed run lacks is made from the models that are there, with the same result.
    for name in ("row-7/done.json", "row-9/done.json", "models/bigrams-devtest-done.json", "result.json"):
        Path("out", name).unlink()
    assert run(f"compare {BITEXT} {common} {rates} -o out -f json --resume") == 0
    assert json.loads(capsys.readouterr().out) == found == json.loads(Path("out/result.json").read_text())
    # Fewer rows are the same rows, whatever the threads.
    assert run(f"compare {BITEXT} {common} {rates} --row 3 6 -j 2 -f tsv --no-paper -o fewer") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for line, number in zip(lines[1:], (3, 6), strict=True):
        assert f"{rows[number - 1]['score']:.2f}" in line


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("events -t table -s train.fr -r short -o events", "short:3: expected as many sentences as in train.fr"),
        (f"events {BITEXT} --min-count 0 -o events", "min_count: expected 1 or more, found 0"),
        (f"events {BITEXT} --min-count 1000 -o events", "table: expected phrase pairs, found none"),
        ("events -t table -s train.fr -r train.en -a short.align -o events", "short.align:2: expected as many lines"),
        ("train --events nowhere --lm lm.arpa -o model", "nowhere: expected a folder of events, found no events.json"),
    ],
)
def test_what_is_refused(command: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("short").write_text("a\nb\n")
    Path("short.align").write_text("0-0\n")
    assert run(command) != 0
    assert message in capsys.readouterr().err
    assert not Path("events").exists()


def test_a_comparison_that_fails_leaves_nothing(fails_without_trace: Callable[[list[str], Path], None]) -> None:
    sets = "--devtest devtest.fr --devtest-ref devtest.en --test test.fr --test-ref test.en"
    out = Path("new/out")
    fails_without_trace(f"localized compare {BITEXT} --lm lm.arpa {sets} -q -o {out}".split(), out)


def test_events_and_training_that_fail_leave_nothing(fails_without_trace: Callable[[list[str], Path], None]) -> None:
    out = Path("new/out")
    fails_without_trace(f"localized events {BITEXT} -o {out} -q".split(), out)
    assert run(f"events {BITEXT} -o events -q") == 0
    fails_without_trace(f"localized train --events events --lm lm.arpa -o {out} -q".split(), out)


def test_letters_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"events {BITEXT} -o events -q") == 0
    for letters in ("x", "aa"):
        assert run(f"train --events events --lm lm.arpa --features {letters} -o model") != 0
        assert f"features: expected letters from abcdef, each once, found {letters!r}" in capsys.readouterr().err
