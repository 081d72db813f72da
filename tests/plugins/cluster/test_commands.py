"""Commands on a cluster write the bytes that they write without one."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.systems.decode.systems import BAKER, phrases, toolkit
from tests.forked import client_environment
from tests.host.killing import tree
from tests.plugins.cluster.clusters import PATIENCE, cluster
from tests.plugins.cut_examples import EXAMPLES, cut

pytest.importorskip("distributed")

Smt = Callable[..., Any]
Same = Callable[..., None]
DASK = ("--runner", "dask,jobs=2")
TOYS = Path(__file__).resolve().parents[2] / "host/toy_learners.py"
POLICIES = Path(__file__).resolve().parents[2] / "host/toy_policies.py"
LENGTHS = """\
from dataclasses import dataclass
from smtplugins import Offer, feature, hookimpl

@dataclass(frozen=True)
class Length:
    words: int

def length(text):
    return Length(len(text.split()))

@feature("lengths")
def lengths(source, hyp):
    return float(length(hyp).words - length(source).words)
"""
TWICE = """\
from smtplugins import Offer, hookimpl
from smtplugins.contracts.adapters import SimpleStateful

class Twice(SimpleStateful):
    def combine_one(self, target, tails):
        count, ends = 0.0, None
        for symbol in target:
            new = tails[symbol] if isinstance(symbol, int) else (symbol, symbol)
            if ends is not None and new is not None:
                count += ends[1] == new[0]
                new = ends[0], new[1]
            ends = new or ends
        return count, ends

@hookimpl
def smt_features():
    yield Offer(name="twice", make=Twice, summary="words that follow themselves", needs=frozenset({"target"}))
"""


@pytest.fixture
def same(smt: Smt) -> Same:
    """``same(command)``: what it prints and what it writes to ``OUT..`` is as without a cluster, but for manifests."""

    def run(command: str, *more: str, stdin: str = "", runner: tuple[str, ...] = DASK) -> None:
        found = []
        for options in ((), runner):
            Path("made").mkdir()
            result = smt(*command.replace("OUT", "made/out").split(), *more, *options, "-q", stdin=stdin)
            assert result.err == ""
            assert result.code == 0
            files = {path: data for path, data in tree("made").items() if not path.endswith("manifest.json")}
            assert result.out or any(files.values())
            found.append((result.out, files))
            shutil.rmtree("made")
        assert found[0] == found[1]

    return run


class TestLists:
    @pytest.fixture(autouse=True)
    def _data(self, tmp_path: Path) -> None:
        shutil.copytree(EXAMPLES / "rescore-nbest", tmp_path, dirs_exist_ok=True)
        Path("lengths.py").write_text(LENGTHS)

    def test_score(self, same: Same) -> None:
        features = "--feature lm,path=en.arpa --feature copied --feature lengths --feature column,path=qe.tsv"
        same(f"score -i moses.nbest -s source.de --plugin copied.py --plugin lengths.py {features} -o OUT")
        same("score -i cdec.kbest --feature confidence,scale=2 --feature lm,path=en.arpa --to jsonl -o OUT.gz")

    def test_mbr(self, same: Same) -> None:
        same("mbr -i moses.nbest -m chrf --top 8 -o OUT --lists")
        same("mbr -i moses.nbest -m bleu --top 8 --utilities OUT.npz")
        same("mbr -i moses.nbest -m chrf --top 16 --prune 0.9 -o OUT")

    def test_evaluate(self, smt: Smt, same: Same) -> None:
        for name, column in (("a", "lm0"), ("b", "TranslationModel0[0]")):
            smt("best", "-i", "moses.nbest", "-o", name).ok()
            text = Path(name).read_text().splitlines()
            random.Random(column).shuffle(text[:4])
            Path(name).write_text("".join(f"{line} {name}\n" for line in text))
        tests = "--test bootstrap --test ar --samples 100"
        for metric in ("bleu", "chrf", "ter"):
            same(f"evaluate -r ref.en -m {metric} base=moses.nbest runs=a,b --sentences OUT.tsv {tests}")
        same("evaluate -r ref.en -m bleu -m chrf -m ter base=moses.nbest a b -f json --bootstrap 50 --all-pairs")

    def test_tune(self, same: Same) -> None:
        tune = "tune -i moses.nbest -r ref.en -m bleu,tokenize=none -o OUT --dir OUT.run"
        same(f"{tune} --learner minrisk,iterations=3 --runs 2")
        same(f"{tune} --learner mert,restarts=2 --runs 2 --folds 3 --resorted OUT.lists --combine best")
        same(f"{tune} --plugin {TOYS} --learner toy-perceptron --runs 2")

    def test_rerank(self, same: Same) -> None:
        same(
            "rerank --dev moses.nbest --dev-ref ref.en --test moses.nbest --test-ref ref.en -m bleu,tokenize=none"
            " --runs 2 --learner mert,restarts=1 --feature lm,path=en.arpa --bootstrap 50 -o OUT"
        )


class TestHiero:
    @pytest.fixture(autouse=True)
    def _data(self, tmp_path: Path) -> None:
        shutil.copytree(EXAMPLES / "decode-hiero", tmp_path, dirs_exist_ok=True)

    def test_decode(self, same: Same) -> None:
        Path("twice.py").write_text(TWICE)
        same("decode -c run.yaml -o OUT --forests OUT.forests --forests-format cdec-json-hypergraph")
        same("decode -c cdec.ini -i source.de -k 5 --unique -o OUT --forests OUT.forests")
        same("decode -c run.yaml --plugin twice.py --feature twice --set-weight twice=-1 -k 5 -o OUT")
        same("decode -c run.yaml --set decoder.search=full -o OUT")

    def test_moses_and_joshua(self, same: Same) -> None:
        same(f"decode -c {toolkit('moses')} -k 3 -o OUT", stdin=BAKER)
        same(f"decode -c {toolkit('joshua')} -k 3 -o OUT", stdin=BAKER)

    def test_phrases(self, same: Same) -> None:
        config = phrases()
        for search in ("stack", "cube"):
            decode = f"decode -c {config} --search {search} -k 5 --fields segmentation,alignment"
            same(f"{decode} -o OUT --forests OUT.forests", stdin=BAKER)

    def test_raw_text(self, smt: Smt, same: Same) -> None:
        pytest.importorskip("sacremoses")
        for name in ("source.de", "ref.en"):
            text = Path(name).read_text().splitlines()
            Path(f"raw.{name[-2:]}").write_text("".join(f"{line.capitalize()}\n" for line in text))
        smt("prepare", "-s", "raw.de", "-t", "raw.en", "--tokenize", "moses", "--case", "true", "-o", "text", "-q").ok()
        Path("raw.yaml").write_text(f"{Path('run.yaml').read_text()}text: text\n")
        same("decode -c raw.yaml -i raw.de -o OUT")
        Path("lower.yaml").write_text(f"{Path('run.yaml').read_text()}text: {{path: text, detokenize: false}}\n")
        same("decode -c lower.yaml -i raw.de -k 2 -o OUT")

    def test_passes(self, same: Same) -> None:
        Path("second").write_text("LM2 0.3\nWordPenalty -0.1\nEgivenF 0.5\n")
        text = Path("run.yaml").read_text()
        passes = "  passes:\n    - {features: ['lm,path=en.arpa,name=LM2'], weights: second}\n"
        assert text.count("  weights: weights\n") == 1
        Path("passes.yaml").write_text(text.replace("  weights: weights\n", f"  weights: weights\n{passes}"))
        same("decode -c passes.yaml -k 3 -o OUT")

    def test_tune(self, same: Same) -> None:
        tune = "tune -c run.yaml -r ref.en -m bleu,tokenize=none --dir OUT.run -o OUT --iterations 2 -k 10"
        same(f"{tune} --learner mert,restarts=1 --runs 2")
        same(f"{tune} --learner minrisk,iterations=2 --folds 2")
        same(f"{tune} --learner minrisk,iterations=2 --whole")


class TestPolicies:
    def test_tune(self, same: Same) -> None:
        Path("source").write_text("das haus geht nach haus\ngeht das nach das haus\ndas haus geht\nnach das haus\n")
        Path("ref").write_text(
            "the house walks after home\nwalks that after that house\nthe house walks\nto that home\n"
        )
        Path("run.yaml").write_text("decoder: by-word\nsource: source\nreferences: [ref]\n")
        same(
            f"tune --plugin {POLICIES} -c run.yaml --learner trying -m bleu,tokenize=none --runs 2 --dir OUT.run -o OUT"
        )


def test_align(tmp_path: Path, same: Same, aligners: Any) -> None:
    cut("from-text", tmp_path, {"train.de": 25, "train.en": 25})
    same("align -s train.de -t train.en -o OUT --keep-forward OUT.f --keep-backward OUT.b")


def test_train(tmp_path: Path, smt: Smt, server: str, aligners: Any) -> None:
    """The script, of which each step connects to the same cluster."""
    cut("from-text", tmp_path, {"train.de": 25, "train.en": 25, "dev.de": 4, "dev.en": 4})
    train = "train --model phrase,reordering=none --order 2 --iterations 1 -s train.de -t train.en --dev dev.de dev.en"
    (tmp_path / "client").mkdir()
    environment = client_environment(tmp_path / "client", server)
    found = []
    with cluster(tmp_path, 2) as made:
        for runner in ((), made.runner):
            script = smt(*train.split(), "-q", "-o", "out", *runner, "--dry-run").ok()
            assert (made.address in script) == bool(runner)
            subprocess.run(["sh"], input=script.encode(), env=environment, check=True, timeout=PATIENCE)
            found.append({name: data for name, data in tree("out").items() if not name.endswith("manifest.json")})
            shutil.rmtree("out")
    assert found[0] == found[1]
    assert found[0].keys() > {"run.yaml", "tables/phrase-table.gz"}
