"""Learning by methods of the host: single values, results as they are shown, runs in folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import UsageError
from smtplugins.host.host import Host

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
BLEU = "bleu,tokenize=none"
LEARNER = "mert,restarts=2"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_single_values_are_lists_of_one(host: Host) -> None:
    dev = EXAMPLES / "rerank-marian/dev"
    arguments = {"learner": LEARNER, "metric": BLEU}
    short = host.tune(f"{dev}.nbest", f"{dev}.en", keep="F0", **arguments)
    assert short == host.tune([f"{dev}.nbest"], [f"{dev}.en"], keep=["F0"], **arguments)
    assert repr(short).startswith(f"<Tuned: {len(short)} weights, BLEU ") and repr(short).endswith(" in-sample, 1 run>")
    assert '<td style="text-align: left">F0</td>' in short._repr_html_()


def test_reranked_lists_are_shown_with_their_verdicts(host: Host) -> None:
    dev, test = (str(EXAMPLES / "rerank-marian" / name) for name in ("dev", "test"))
    done = host.rerank(
        f"{dev}.nbest", f"{dev}.en", f"{test}.nbest", f"{test}.en",
        features="length", learner=LEARNER, metric=BLEU, samples=20, output="out",
    )  # fmt: skip
    assert repr(done).startswith("<Reranked out/rescored.nbest: dev BLEU ") and "; test BLEU " in repr(done)
    assert "<th>verdict</th>" in done._repr_html_()
    assert "length" in done.weights


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("joshua.config", "tm = thrax -owner pt -maxspan 12 -path none\noutput-format = %s\n", []),
        ("cdec.ini", "formalism=scfg\nshow_joshua_visualization=1\n", ["template"]),
    ],
)
def test_outputs_that_tuning_does_not_write(file: str, text: str, told: list[str], host: Host) -> None:
    """Every joshua.config has a format of lines, which no list is written in."""
    Path(file).write_text(text)
    notes: list[str] = []
    with pytest.raises(UsageError, match="needs a source"):
        host.tune_decoder(file, folder="run", learner=LEARNER, note=notes.append)
    assert notes == [f"not used, as tuning has outputs of its own: output.{key}" for key in told]


def test_a_loop_around_a_decoder(host: Host) -> None:
    shutil.copytree(EXAMPLES / "decode-hiero", ".", dirs_exist_ok=True)
    overrides = {"references": ["ref.en"], "metric": {"name": "bleu", "tokenize": "none"}}
    overrides |= {"output.choice": "mbr", "output.rescored": "bleu", "output.unknowns": "words"}
    notes: list[str] = []
    done = host.tune_decoder(
        "run.yaml", overrides, folder="run", learner=LEARNER, nbest=10, iterations=1, cache="off", note=notes.append
    )
    assert "not used, as tuning has outputs of its own: output.choice, output.rescored, output.unknowns" in notes
    assert repr(done).startswith(f"<Ended: {len(done)} weights, BLEU ")
    assert done.reason.replace("<", "&lt;") in done._repr_html_()
    assert host.read_weights("run/weights") == dict(done)
    with pytest.raises(UsageError, match=r"run: already contains a run; resume it \(resume=True\)"):
        host.tune_decoder("run.yaml", overrides, folder="run", learner=LEARNER, cache="off")
    with pytest.raises(UsageError, match=r"tune_decoder: name a folder for the run: folder, or output.dir"):
        host.tune_decoder("run.yaml", ["output.dir=null"], learner=LEARNER)


def test_messages_name_arguments(host: Host) -> None:
    lists = [smt.candidates(["a", "b"])]
    with pytest.raises(UsageError, match=r"expected references to learn with \(refs=FILE\)"):
        host.tune(lists)
    with pytest.raises(UsageError, match="scores cannot be used with refs or forests"):
        host.tune("f.dat", "ref", scores="s.dat")
