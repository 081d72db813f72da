"""The hooks. They only register: each fires once per process and yields frozen records; nothing in a loop is a hook.

HOOKS.md beside this file is made from these docstrings (``python -m smtplugins.contracts.hookspecs``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from smtformats import Format
    from smtplugins.contracts.offers import Command, Offer

PROJECT = "smtplugins"
_Function = TypeVar("_Function", bound=Callable[..., Any])


def hookimpl(function: _Function) -> _Function:
    """Mark a function of a plugin module as an implementation of the hook it is named after."""
    import pluggy

    marked: _Function = pluggy.HookimplMarker(PROJECT)(function)
    return marked


def smt_formats() -> Iterable[Format]:  # type: ignore[empty-body]
    r"""File formats: how a kind of file is recognised, read and written.

    Fires once, when plugins are loaded. Yield a ``smtformats.Format`` for each format.

    ```python
    from smtformats import Format
    from smtplugins import hookimpl

    def parse(lines):
        weights = {}
        for line in lines:
            name, _, value = line.rstrip("\n").partition(":")
            try:
                weights[name] = float(value)
            except ValueError:
                raise lines.error("NAME:NUMBER", repr(line), field=2) from None
        if not weights:
            raise lines.error("NAME:NUMBER", "an empty file", field=1)
        yield weights

    @hookimpl
    def smt_formats():
        yield Format(
            name="colon-weights",
            kind="weights",
            summary="NAME:NUMBER on each line",
            matches=lambda head: b":" in head.split(b"\n")[0],
            parse=parse,
        )
    ```
    """


def smt_features() -> Iterable[Offer]:  # type: ignore[empty-body]
    """Feature functions: scores of hypotheses, rules, or partial derivations, as ``contracts/features.py`` says.

    Fires once, when plugins are loaded. Yield an ``Offer`` for each; ``make(**options)`` builds the feature. With
    ``make="package.module:Commas"`` that module is imported only if the feature is used.

    ```python
    from smtplugins import Offer, hookimpl

    class Commas:
        def __init__(self, weight: float = 1.0):
            self.weight = weight

        def score_candidates(self, source, candidates):
            return [self.weight * text.split().count(",") for text in candidates.texts]

    @hookimpl
    def smt_features():
        yield Offer(name="commas", make=Commas, summary="number of commas", needs={"target"})
    ```
    """


def smt_learners() -> Iterable[Offer]:  # type: ignore[empty-body]
    """Learners: from a problem (lists, rows, ...) to a model, step by step.

    Fires once, when plugins are loaded. Yield an ``Offer`` for each.

    ```python
    from smtplugins import Offer, hookimpl
    from smtplugins.contracts.learners import LearnerState, LearnerStep, ListProblem

    class Keep:
        accepts = frozenset({ListProblem})

        def learn(self, problem, start, *, resume=None, seed=1, runner=None):
            if resume is None:
                yield LearnerStep(start, 0.0, {}, LearnerState())

    @hookimpl
    def smt_learners():
        yield Offer(name="keep", make=Keep, summary="learn nothing: return the start model")
    ```
    """


def smt_decoders() -> Iterable[Offer]:  # type: ignore[empty-body]
    """Decoders: from sentences and a model to translations.

    Fires once, when plugins are loaded. Yield an ``Offer`` for each.

    ```python
    from smtplugins import Offer, hookimpl
    from smtplugins.contracts.decoders import Decoding

    class Copy:
        def decode(self, sentences, model, *, threads=1):
            for sentence in sentences:
                yield Decoding(id=sentence.id, best=" ".join(sentence.tokens))

    @hookimpl
    def smt_decoders():
        yield Offer(name="copy", make=Copy, summary="the source as it is")
    ```
    """


def smt_metrics() -> Iterable[Offer]:  # type: ignore[empty-body]
    """Metrics: statistics of segments that add up to a corpus score.

    Fires once, when plugins are loaded. Yield an ``Offer`` for each.

    ```python
    import numpy as np
    from smtplugins import Offer, hookimpl

    class Exact:
        name = "exact"
        higher_is_better = True

        def stats(self, hypotheses, references, sources=None):
            rows = zip(hypotheses, *references)
            return np.array([[float(hyp in refs), 1.0] for hyp, *refs in rows])

        def score(self, stats):
            return 100 * stats[..., 0] / np.maximum(stats[..., 1], 1)

        sentence = score

        def signature(self):
            return "exact"

    @hookimpl
    def smt_metrics():
        yield Offer(name="exact", make=Exact, summary="share of hypotheses equal to a reference")
    ```
    """


def smt_runners() -> Iterable[Offer]:  # type: ignore[empty-body]
    """Runners: how the items of a long job are spread; results come back in order.

    Fires once, when plugins are loaded. Yield an ``Offer`` for each. A runner whose workers can keep things between
    calls has ``keep``, too (``KeepingRunner``); without it, they are kept in the host's process.

    ```python
    from smtplugins import Offer, hookimpl

    class OneByOne:
        def map(self, function, items, *, setup=None):
            state = setup() if setup else None
            for item in items:
                yield function(state, item) if setup else function(item)

    @hookimpl
    def smt_runners():
        yield Offer(name="one-by-one", make=OneByOne, summary="no parallelism at all")
    ```
    """


def smt_recipes() -> Iterable[Offer]:  # type: ignore[empty-body]
    """Recipes: how ``smt train --model NAME`` builds a system from prepared text, as a list of commands.

    Fires once, when plugins are loaded. Yield an ``Offer`` for each.

    ```python
    from smtplugins import Offer, hookimpl
    from smtplugins.contracts.recipes import CONFIG

    class ShortPhrases:
        config = CONFIG
        tuning = ()

        def __init__(self, words: int = 3):
            self.words = words

        def steps(self, text):
            yield text.align()
            yield text.extract("--phrases", "--max-length", str(self.words))
            yield text.language_model()
            yield text.configure("phrase")

    @hookimpl
    def smt_recipes():
        yield Offer(name="short", make=ShortPhrases, summary="phrases of a few words, without a reordering model")
    ```
    """


def smt_commands() -> Iterable[Command]:  # type: ignore[empty-body]
    """Commands of a plugin, run as ``smt PLUGIN NAME``.

    Fires once, when plugins are loaded. Yield a ``Command`` for each.

    ```python
    from smtplugins import Command, hookimpl

    def configure(parser):
        parser.add_argument("name")

    def run(host, args):
        print(f"hello {args.name}, {len(host.plugins)} plugins are loaded")

    @hookimpl
    def smt_commands():
        yield Command(name="hello", summary="greets", configure=configure, run=run)
    ```
    """


HOOKS = (smt_formats, smt_features, smt_learners, smt_decoders, smt_metrics, smt_runners, smt_recipes, smt_commands)


def documentation() -> str:
    """The text of HOOKS.md."""
    import inspect

    parts = [
        "# Hooks",
        "",
        "A plugin is a module with any of these functions, each marked with `@hookimpl`. An installed distribution",
        "names its module in the entry-point group `smtplugins`; a single file is given with `--plugin FILE.py`. Hooks",
        "only register: each fires once per process, yields frozen records, and never runs in a loop. Order never",
        "matters: what a run uses is named in it. This page is made from `hookspecs.py`; the tests run every example.",
    ]
    for hook in HOOKS:
        text = inspect.cleandoc(hook.__doc__ or "")
        signature = str(inspect.signature(hook)).replace("'", "")
        parts += ["", f"## `{hook.__name__}{signature}`", "", text]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(documentation())
