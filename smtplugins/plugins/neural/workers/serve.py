"""Run a worker: ``python serve.py WORKER [--option value ...]``, WORKER a file or a module that defines ``load``.

Reads batches as JSON lines and answers each, by the batch protocol. What the worker prints goes to standard error.

    {"batch": 0, "items": [{"key": "0", "source": "ein haus", "hyp": "a house"}]}
    {"scores": {"0": -1.25}}
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
from typing import Any

_TYPES = {"int": int, "float": float, "str": str}


def imported(name: str) -> Any:
    """The module of a worker."""
    if not name.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location("worker", name)
    if spec is None or spec.loader is None or not os.path.isfile(name):
        raise FileNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules["worker"] = module
    spec.loader.exec_module(module)
    return module


def true_or_false(text: str) -> bool:
    """Parse an option that is true or false."""
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"expected true or false, found {text!r}")
    return text.lower() == "true"


def parsed(load: Any, words: list[str]) -> dict[str, Any]:
    """The options of ``load``, from words as ``--name value``."""
    parser = argparse.ArgumentParser(prog="worker", description=inspect.getdoc(load))
    for name, one in inspect.signature(load).parameters.items():
        kind = one.annotation if isinstance(one.annotation, str) else getattr(one.annotation, "__name__", "str")
        needed = one.default is inspect.Parameter.empty
        help_text = "(required)" if needed else f"(default: {one.default!r})"
        convert = true_or_false if kind == "bool" else _TYPES.get(kind, str)
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            required=needed,
            default=None if needed else one.default,
            type=convert,
            help=help_text,
        )
    return vars(parser.parse_args(words))


def what_it_needs(load: Any) -> str:
    """What a worker needs, by the first line of its file: ``NAME: what to install. ..``."""
    about = (getattr(sys.modules.get(getattr(load, "__module__", "")), "__doc__", None) or "").partition("\n")[0]
    needs = about.partition(": ")[2].partition(". ")[0].rstrip(".").replace("``", "`")
    return f"it needs {needs}; " if needs else ""


def main(find: Any, words: list[str]) -> int:
    """Answer batches until the input ends; ``find`` returns the function ``load``."""
    if {"-h", "--help"} & set(words):
        parsed(find(), words)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    load = None
    try:
        load = find()
        score = load(**parsed(load, words))
        for line in sys.stdin.buffer:
            items = json.loads(line)["items"]
            scores = list(score(items))
            if len(scores) != len(items):
                raise ValueError(f"expected {len(items)} scores of the worker, found {len(scores)}")
            named = {item["key"]: one for item, one in zip(items, scores, strict=True)}
            answers.write(json.dumps({"scores": named}) + "\n")
            answers.flush()
    except (Exception, SystemExit) as error:
        if not isinstance(error, (ImportError, SystemExit)):
            traceback.print_exc()
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, ImportError):
            text += f" (in {sys.executable}); {what_it_needs(load)}python=PATH names a Python that has it"
        if isinstance(error, SystemExit):
            text = f"wrong options: {' '.join(words)}; see standard error"
        answers.write(json.dumps({"error": text}) + "\n")
        answers.flush()
        return 1
    return 0


if __name__ == "__main__":
    # The folder of this file has other workers, whose names are those of libraries.
    here = os.path.dirname(os.path.realpath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.realpath(path or ".") != here]
    sys.exit(main(lambda: imported(sys.argv[1]).load, sys.argv[2:]))
