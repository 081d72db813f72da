"""The ready-made workers, run in a Python of their own beside modules that stand for the large libraries."""

from __future__ import annotations

import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import smtplugins.plugins.neural.workers as workers

FOLDER = Path(workers.__file__).parent
ITEMS = [
    {"key": "7", "source": "ein haus", "hyp": "a house", "refs": ["the house"]},
    {"key": "x", "source": "ja", "hyp": "yes", "refs": ["yes"]},
]
BATCHES = [{"batch": 0, "items": ITEMS}, {"batch": 1, "items": ITEMS[:1]}]

# What the real libraries have, as their documentation says; scores tell what they were given.
COMET = """
class Output:
    def __init__(self, scores): self.scores = scores

class Model:
    def __init__(self, name): self.name = name
    def requires_references(self): return "kiwi" not in self.name
    def predict(self, samples, batch_size=16, gpus=1, progress_bar=True):
        assert (batch_size, gpus, progress_bar) == (3, 0, False)
        print("predicting")
        keys = {"src", "mt", "ref"} if self.requires_references() else {"src", "mt"}
        assert all(set(one) == keys for one in samples)
        return Output([len(one["src"]) + 10 * len(one["mt"]) + 100 * len(one.get("ref", "")) for one in samples])

def download_model(name): return "downloaded/" + name
def load_from_checkpoint(path):
    assert path.startswith("downloaded/"), path
    return Model(path)
"""
METRICX = """
class Network:
    @classmethod
    def from_pretrained(cls, name): return cls()
    def to(self, device): return self
    def eval(self): return self

AutoTokenizer = MT5ForRegression = Network
"""
BLEURT = """
class BleurtScorer:
    def __init__(self, checkpoint=None): assert checkpoint == "BLEURT-20"
    def score(self, *args, references=(), candidates=(), batch_size=None):
        assert not args and batch_size == 32
        return [len(a) - len(b) for a, b in zip(references, candidates)]
"""
BERTSCORE = """
class Tensor(list):
    def tolist(self): return list(self)

class BERTScorer:
    def __init__(self, model_type=None, batch_size=64, device=None, lang=None, rescale_with_baseline=False):
        assert (model_type, batch_size, device, lang, rescale_with_baseline) == ("big", 64, None, "de", True)
    def score(self, cands, refs, verbose=False, batch_size=64):
        best = Tensor(max(float(cand == ref) for ref in group) for cand, group in zip(cands, refs))
        return None, None, best
"""


def run(
    worker: str, arguments: Sequence[str], folder: Path, batches: Any = BATCHES, python: str = sys.executable
) -> list[Any]:
    """The answers to batches, by a Python that sees the modules of a folder and not the package."""
    done = subprocess.run(
        [python, str(FOLDER / "serve.py"), str(FOLDER / f"{worker}.py"), *arguments],
        input="".join(json.dumps(batch) + "\n" for batch in batches),
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(folder), "PATH": ""},
        timeout=60,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode == 0) == all("error" not in one for one in answers), done.stderr
    return answers


def module(folder: Path, name: str, text: str) -> None:
    path = folder.joinpath(*name.split("."))
    path.parent.mkdir(exist_ok=True)
    path.with_suffix(".py").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("worker", "arguments", "needs"),
    [
        ("metricx", [], "it needs a clone of github.com/google-research/metricx on PYTHONPATH, with its requirements"),
        ("bleurt", ["--checkpoint", "x"], "it needs `pip install git+https://github.com/google-research/bleurt`"),
        ("bertscore", [], "it needs `pip install bert-score`"),
        ("causal", ["--model", "x"], "it needs `pip install torch transformers`"),
        ("seq2seq", ["--model", "x"], "it needs `pip install torch transformers`"),
    ],
)
def test_a_library_that_is_missing(worker: str, arguments: list[str], needs: str, tmp_path: Path) -> None:
    for name in ("torch", "transformers", "bert_score", "bleurt", "metricx24"):
        module(tmp_path, name, f"raise ModuleNotFoundError('No module named {name}')\n")
    (error,) = run(worker, arguments, tmp_path)
    assert error["error"].startswith("ModuleNotFoundError: No module named ")
    assert error["error"].endswith(f" (in {sys.executable}); {needs}; python=PATH names a Python that has it")


class TestComet:
    def test_with_references(self, tmp_path: Path) -> None:
        module(tmp_path, "comet", COMET)
        answers = run("comet", ["--batch", "3", "--model", "da"], tmp_path)
        assert answers == [{"scores": {"7": 978.0, "x": 332.0}}, {"scores": {"7": 978.0}}]

    def test_without(self, tmp_path: Path) -> None:
        module(tmp_path, "comet", COMET)
        items = [{key: value for key, value in item.items() if key != "refs"} for item in ITEMS]
        assert run("comet", ["--batch=3"], tmp_path, [{"items": items}]) == [{"scores": {"7": 78.0, "x": 32.0}}]
        (error,) = run("comet", ["--batch", "3", "--model", "da"], tmp_path, [{"items": items}])
        assert error == {
            "error": "ValueError: da needs references: use it as a metric, or a model without, such as CometKiwi"
        }

    @pytest.mark.parametrize(("worker", "title"), [("comet", "COMET"), ("metricx", "MetricX")])
    def test_without_sources(self, worker: str, title: str, tmp_path: Path) -> None:
        module(tmp_path, "comet", COMET)
        module(tmp_path, "torch", "")
        module(tmp_path, "transformers", METRICX)
        module(tmp_path, "metricx24.models", METRICX)
        (error,) = run(worker, ["--batch", "3"], tmp_path, [{"items": [{**ITEMS[0], "source": None}]}])
        assert error == {"error": f"ValueError: {title} needs the sources"}

    def test_a_library_that_is_missing(self, tmp_path: Path) -> None:
        (error,) = run("comet", [], tmp_path)
        needs = "it needs `pip install unbabel-comet`; python=PATH names a Python that has it"
        assert error == {"error": f"ModuleNotFoundError: No module named 'comet' (in {sys.executable}); {needs}"}

    def test_several_references(self, tmp_path: Path) -> None:
        module(tmp_path, "comet", COMET)
        items = [{**ITEMS[0], "refs": ["a", "b"]}]
        (error,) = run("comet", ["--model", "da"], tmp_path, [{"items": items}])
        assert error == {"error": "ValueError: COMET takes one reference, found 2"}


def test_bleurt(tmp_path: Path) -> None:
    module(tmp_path, "bleurt.score", BLEURT)
    answers = run("bleurt", ["--checkpoint", "BLEURT-20"], tmp_path)
    assert answers == [{"scores": {"7": 2.0, "x": 0.0}}, {"scores": {"7": 2.0}}]
    (error,) = run("bleurt", ["--checkpoint", "BLEURT-20"], tmp_path, [{"items": [{"key": "0", "hyp": "a"}]}])
    assert error == {"error": "ValueError: BLEURT takes one reference, found 0: use it as a metric"}
    (error,) = run("bleurt", [], tmp_path)
    assert error == {"error": "wrong options: ; see standard error"}


def test_bertscore(tmp_path: Path) -> None:
    module(tmp_path, "bert_score", BERTSCORE)
    answers = run("bertscore", ["--lang", "de", "--rescale", "true", "--model", "big"], tmp_path)
    assert answers == [{"scores": {"7": 0.0, "x": 1.0}}, {"scores": {"7": 0.0}}]


class Endpoint(http.server.BaseHTTPRequestHandler):
    """A completions endpoint whose tokens are characters: the log probability of one is minus its place."""

    busy = 0
    asked: list[Any] = []  # noqa: RUF012

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Endpoint.asked.append((self.path, self.headers["Authorization"], request))
        if Endpoint.busy:
            Endpoint.busy -= 1
            self.send_response(503)
            self.end_headers()
            return
        if request["model"] == "unknown":
            self.send_response(404)
            self.end_headers()
            self.wfile.write(b"no such model")
            return
        choices: list[Any] = []
        for index, text in enumerate(request["prompt"]):
            # A token for the start, which has no log probability, and one that is generated.
            scores = [None, *(-float(i) for i in range(1, len(text) + 1))]
            choice: dict[str, Any] = {"index": index, "text": ""}
            if request.get("echo"):
                names = ["<s>", *text.replace(" a", "_"), *["a"] * text.count(" a"), "."]
                choice["logprobs"] = {"tokens": names, "token_logprobs": [*scores, -99.0]}
            if request.get("prompt_logprobs") == 0:
                names = ["", *text.replace(" a", "_"), *["a"] * text.count(" a")]
                rows = zip(names, scores, strict=True)
                choice["prompt_logprobs"] = [one and {name: {"logprob": one, "rank": 9}} for name, one in rows]
            choices.insert(0, choice)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"choices": choices}).encode())

    def log_message(self, *given: Any) -> None:
        """Print nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    Endpoint.busy, Endpoint.asked = 0, []
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


class TestOpenai:
    @pytest.mark.parametrize("api", ["echo", "prompt_logprobs"])
    def test_the_hypothesis_alone_is_scored(self, tmp_path: Path, endpoint: str, api: str) -> None:
        arguments = ["--url", endpoint, "--model", "m", "--prompt", "{source}:\n", "--api", api, "--batch", "1"]
        first, second = run("openai", arguments, tmp_path)
        # "ein haus:\n" has 10 tokens beside that of the start, "ja:\n" 4.
        house, yes = sum(-float(i) for i in range(11, 18)), -(5.0 + 6 + 7)
        assert first == {"scores": {"7": [house, house / 7], "x": [yes, yes / 3]}}
        assert second == {"scores": {"7": [house, house / 7]}}
        # The prompts' lengths are asked for once.
        assert [request["prompt"] for _, _, request in Endpoint.asked] == [
            ["ein haus:\n"], ["ein haus:\na house"], ["ja:\n"], ["ja:\nyes"], ["ein haus:\na house"]
        ]  # fmt: skip
        assert {path for path, _, _ in Endpoint.asked} == {"/v1/completions"}

    @pytest.mark.parametrize("api", ["echo", "prompt_logprobs"])
    def test_a_token_that_spans_the_end_of_the_prompt(self, tmp_path: Path, endpoint: str, api: str) -> None:
        arguments = ["--url", endpoint, "--model", "m", "--prompt", "{source}: ", "--api", api]
        (error,) = run("openai", arguments, tmp_path)
        spans = "a token spans the end of the prompt 'ein haus: ': end it with a line end"
        assert error == {"error": f"ValueError: {spans}"}

    def test_without_a_prompt(self, tmp_path: Path, endpoint: str) -> None:
        (answer,) = run("openai", ["--url", endpoint, "--model", "m"], tmp_path, BATCHES[:1])
        assert answer == {"scores": {"7": [-28.0, -4.0], "x": [-6.0, -2.0]}}

    def test_a_busy_server_is_asked_again(self, tmp_path: Path, endpoint: str) -> None:
        Endpoint.busy = 2
        (answer,) = run("openai", ["--url", endpoint, "--model", "m", "--wait", "0.01"], tmp_path, BATCHES[:1])
        assert answer["scores"]["x"] == [-6.0, -2.0] and len(Endpoint.asked) == 3
        Endpoint.busy = 2
        arguments = ["--url", endpoint, "--model", "m", "--wait", "0.01", "--tries", "2"]
        (error,) = run("openai", arguments, tmp_path, BATCHES[:1])
        assert error["error"].startswith(f"RuntimeError: {endpoint}: HTTP 503")

    def test_errors_of_the_server(self, tmp_path: Path, endpoint: str) -> None:
        (error,) = run("openai", ["--url", endpoint, "--model", "unknown"], tmp_path, BATCHES[:1])
        assert error == {"error": f"RuntimeError: {endpoint}: HTTP 404: no such model"}
        (error,) = run("openai", ["--url", "http://127.0.0.1:1/v1", "--model", "m", "--tries", "1"], tmp_path)
        assert "Connection refused" in error["error"]
        (error,) = run("openai", ["--url", endpoint, "--model", "m", "--api", "other"], tmp_path)
        assert error == {"error": "ValueError: api: expected echo or prompt_logprobs, found 'other'"}


def test_what_a_worker_prints_is_no_answer_and_wrong_numbers_of_scores_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def load(n: int):\n    print('hello')\n    return lambda items: [1.5] * n\n", encoding="utf-8")
    assert run(str(path)[:-3], ["--n", "1"], tmp_path, BATCHES[1:]) == [{"scores": {"7": 1.5}}]
    (error,) = run(str(path)[:-3], ["--n", "1"], tmp_path)
    assert error == {"error": "ValueError: expected 2 scores of the worker, found 1"}
    (error,) = run(str(path)[:-3], ["--n", "x"], tmp_path)
    assert error == {"error": "wrong options: --n x; see standard error"}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_workers_import_nothing_of_ours(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "import smt" not in text and "from smt" not in text
