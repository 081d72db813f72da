"""Coverage-guided fuzzing of the readers: ``python tests/fuzz [--seconds 5] [FORMAT ...]``, by hand and shortly in CI.

Needs ``pip install atheris``. An input that breaks a promise is kept in ``tests/fuzz/corpus``, where the suite tries it
for ever after; with ``--keep N`` so are N of those that reached new code, half of them good data, the shortest first.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FunctionType

import atheris
from harness import FORMATS, check, keep, kept


def main() -> int:
    """Fuzz each format in a process of its own, forked when all readers are imported and instrumented."""
    parser = argparse.ArgumentParser(prog="tests/fuzz", description=__doc__)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help="default: all that are files")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each format (default: 5)")
    parser.add_argument("--keep", type=int, default=0, metavar="N", help="inputs to keep for each format (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="formats at once (default: 1)")
    args = parser.parse_args()
    unknown = set(args.formats) - FORMATS.keys()
    if unknown:
        parser.error(f"unknown format {min(unknown)}; known: {', '.join(sorted(FORMATS))}")
    instrument()
    names = args.formats or sorted(FORMATS)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        sound = [report(name, status, scratch / name, args.keep) for name, status in run(names, args, scratch)]
    return 0 if all(sound) else 1


def instrument() -> None:
    """Let atheris see which branches of the readers an input reaches."""
    # Not as they are imported: an editable install brings a loader of its own, which that does not see.
    for module in [one for key, one in sys.modules.items() if key.partition(".")[0] == "smtformats"]:
        for function in _functions(module):
            atheris.instrument_func(function)


def run(names: Sequence[str], args: argparse.Namespace, scratch: Path) -> Iterator[tuple[str, int]]:
    """Fuzz formats in children, some at once, because that ends the process; yields names with exit statuses."""
    waiting = list(reversed(names))
    running: dict[int, str] = {}
    while waiting or running:
        while waiting and len(running) < args.jobs:
            name = waiting.pop()
            running[start(name, args.seconds, scratch / name)] = name
        child, status = os.wait()
        yield running.pop(child), os.waitstatus_to_exitcode(status)


def start(name: str, seconds: float, into: Path) -> int:
    """Fork a process that fuzzes one format and writes what it prints to ``log``; its id."""
    into.mkdir()
    child = os.fork()
    if child:
        return child
    try:
        with (into / "log").open("wb") as stream:
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
        fuzz(name, seconds, into)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)


def report(name: str, status: int, scratch: Path, keeping: int) -> bool:
    """Print how many inputs of a format were tried, keep what is asked for; whether all promises held."""
    crashes = [path.read_bytes() for path in scratch.glob("broken/*")]
    inputs = sorted((path.read_bytes() for path in scratch.glob("found/*")), key=len)
    if keeping and not crashes:
        good = [data for data in inputs if check(FORMATS[name], data) == "read"][: keeping // 2]
        inputs = good + [data for data in inputs if data not in good][: keeping - len(good)]
    if crashes or keeping:
        keep(name, crashes or inputs)
    lines = (scratch / "log").read_text(errors="replace").strip().split("\n")
    runs = next((line for line in reversed(lines) if line.startswith("stat::number_of_executed_units")), "")
    sound = status == 0 and not crashes and bool(runs)
    print(f"{name:26}{runs.split(':')[-1].strip() or '?':>9} runs  {'sound' if sound else 'BROKEN'}", flush=True)
    if not sound:
        print("\n".join(lines[-40:]), file=sys.stderr)
    return sound


def fuzz(name: str, seconds: float, into: Path) -> None:
    """Fuzz one format until the time is over, or a promise is broken; ends the process."""
    record = FORMATS[name]
    folders = {part: into / part for part in ("found", "seeds", "broken")}
    for folder in folders.values():
        folder.mkdir()
    for i, data in enumerate([record.example.encode(), *kept(name)]):
        (folders["seeds"] / str(i)).write_bytes(data)
    options = [
        f"-max_total_time={max(1, round(seconds))}",
        "-timeout=20",
        "-rss_limit_mb=3000",
        "-max_len=4096",
        "-print_final_stats=1",
        f"-artifact_prefix={folders['broken']}{os.sep}",
        "-seed=1",
    ]

    def test(data: bytes) -> None:
        try:
            check(record, data)
        except BaseException:
            # libFuzzer keeps inputs that crash or hang; those that raise it would keep as the interpreter exits.
            (folders["broken"] / "raised").write_bytes(data)
            raise

    atheris.Setup([sys.argv[0], *options, str(folders["found"]), str(folders["seeds"])], test)
    atheris.Fuzz()


def _functions(owner: object) -> Iterator[FunctionType]:
    """The functions of a module or class, and of the classes in it."""
    for one in vars(owner).values():
        found = getattr(one, "fget", None) or getattr(one, "__func__", None) or one
        if isinstance(found, FunctionType) and found.__module__.partition(".")[0] == "smtformats":
            yield found
        elif isinstance(found, type) and found.__module__ == getattr(owner, "__name__", None):
            yield from _functions(found)


if __name__ == "__main__":
    raise SystemExit(main())
