"""Every hook's example is a plugin that loads and does what it says; HOOKS.md has every hook as it is."""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts import hookspecs
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.learners import ListProblem
from smtplugins.contracts.models import Model
from smtplugins.contracts.offers import KINDS
from smtplugins.host.host import Host

PAGE = Path(hookspecs.__file__).with_name("HOOKS.md")


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Host]:
    """The host with the example of a hook loaded from a file, as a user would."""

    def load(hook: str) -> Host:
        (code,) = re.findall(r"```python\n(.*?)```", inspect.getdoc(getattr(hookspecs, hook)) or "", re.DOTALL)
        path = tmp_path / "example_of_hook.py"
        path.write_text(code, encoding="utf-8")
        host = smt.load_plugins([path])
        assert host.plugins[-1].hooks == (hook,)
        return host

    return load


def test_format(example: Callable[[str], Host], tmp_path: Path) -> None:
    host = example("smt_formats")
    path = tmp_path / "w.txt"
    path.write_text("LM:0.5\nlength:-1\n")
    assert host.read_weights(path) == {"LM": 0.5, "length": -1.0}
    path.write_text("LM:x\n")
    with pytest.raises(ValueError, match=r"w\.txt:1: field 2: expected NAME:NUMBER, found 'LM:x\\n'"):
        host.read_weights(path, "colon-weights")


def test_feature(example: Callable[[str], Host]) -> None:
    (scored,) = example("smt_features").score([smt.candidates(["a , b ,", "a"])], ["commas,weight=0.5"])
    assert scored.values == [[1.0], [0.0]]


def test_learner(example: Callable[[str], Host]) -> None:
    host = example("smt_learners")
    start = Model({"LM": 1.0})
    (step,) = host.registry.make("learners", "keep").learn(ListProblem([], [], host.metric("bleu")), start)
    assert step.model is start


def test_decoder(example: Callable[[str], Host]) -> None:
    decoder = example("smt_decoders").registry.make("decoders", "copy")
    (one,) = decoder.decode([Sentence("7", ("ein", "haus"))], Model())
    assert (one.id, one.best) == ("7", "ein haus")


def test_metric(example: Callable[[str], Host]) -> None:
    host = example("smt_metrics")
    (score,) = host.evaluate([["a", "b"]], {"system": ["a", "c"]}, ["exact"]).scores
    assert (score.score, score.signature) == (50.0, "exact")


def test_runner(example: Callable[[str], Host]) -> None:
    host = example("smt_runners")
    (scored,) = host.score([smt.candidates(["a b"])], ["length"], jobs="one-by-one")
    assert scored.values == [[2.0]]
    runner = host.registry.make("runners", "one-by-one")
    assert list(runner.map(lambda state, item: state * item, [1, 2], setup=lambda: 10)) == [10, 20]


def test_command(example: Callable[[str], Host], capsys: pytest.CaptureFixture[str]) -> None:
    host = example("smt_commands")
    (command,) = [one.record for one in host.registry.entries("commands") if one.record.name == "hello"]
    parser = argparse.ArgumentParser()
    command.configure(parser)
    command.run(host, parser.parse_args(["Anna"]))
    assert capsys.readouterr().out == f"hello Anna, {len(host.plugins)} plugins are loaded\n"


def test_there_is_a_hook_for_every_kind() -> None:
    assert {hook.__name__ for hook in hookspecs.HOOKS} == {f"smt_{kind}" for kind in KINDS}
    own = {name for name, value in vars(hookspecs).items() if name.startswith("smt_") and callable(value)}
    assert own == {hook.__name__ for hook in hookspecs.HOOKS}


@pytest.mark.parametrize("hook", hookspecs.HOOKS, ids=lambda hook: hook.__name__)
def test_page_has_each_hook_with_signature_and_text(hook: Callable[..., object]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    signature = str(inspect.signature(hook)).replace("'", "")
    assert f"\n## `{hook.__name__}{signature}`\n\n{inspect.getdoc(hook)}\n" in page
    assert "Fires once, when plugins are loaded." in page


def test_hooks_fire_once_per_host(tmp_path: Path) -> None:
    path = tmp_path / "counting.py"
    path.write_text(
        "from smtplugins import hookimpl\nfired = []\n"
        "@hookimpl\ndef smt_features():\n    fired.append(1)\n    return []\n"
    )
    host = smt.load_plugins([path])
    host.score([smt.candidates(["a"])], ["length"]).load()
    assert host.hooks.get_plugin("counting").fired == [1]
