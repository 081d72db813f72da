"""Pieces of comparisons of systems: steps that are complete are not made again, a decoder is tuned and then tested."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.host.errors import UsageError

if TYPE_CHECKING:
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host
    from smtplugins.host.learn.loop import Ended, LoopPlan

Say = Callable[[str], None]
TRANSLATIONS = "test.txt"


def once(
    folder: Path, name: str, make: Callable[[], Mapping[str, Any]], say: Say = lambda text: None
) -> dict[str, Any]:
    """The record in the file ``name.json`` of a folder, or one that is made now; the file is there when it is done."""
    from smtplugins.host.learn.pools import write_json

    path = folder / f"{name}.json"
    if path.exists():
        say(f"{name}: is there already")
    else:
        write_json(path, dict(make()))
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def refuse_runner(config: RunConfig) -> None:
    """Comparisons measure time and decode in threads, too: their ``-j`` says how work is spread, and no runner."""
    if config.runner is not None:
        with config.at("runner"):
            raise UsageError("expected none for a comparison, where -j N spreads the work (runner=null leaves it out)")


def tune_and_test(
    host: Host,
    config: RunConfig,
    options: LoopPlan,
    folder: Path,
    test: Path,
    *,
    start: Mapping[str, float],
    cache: str | None = None,
    quiet: bool = True,
    told: Say = lambda text: None,
) -> Ended:
    """Tune a decoder in ``folder/run``, begun or gone on with, and translate the test sentences to ``test.txt``."""
    from smtplugins.host.decode.decoding import make_translator, read_source
    from smtplugins.host.files.opening import find_format, write_all
    from smtplugins.host.learn.loop import tune_decoder

    ended = tune_decoder(
        host, config, options, folder / "run", start=start, resume=True, cache=cache, quiet=quiet, told=told
    )
    translator = make_translator(host, config, ended.weights, cache)
    sentences = list(read_source(host, translator, test))
    texts = [one.best if one.found else "" for one in translator.decode(sentences, threads=options.plan.jobs or 1)]
    write_all(find_format("text", "corpus", host.formats()), texts, folder / TRANSLATIONS)
    return ended
