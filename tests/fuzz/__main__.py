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
from collections.abc import Iterator
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
    args = parser.parse_args()
    unknown = set(args.formats) - FORMATS.keys()
    if unknown:
        parser.error(f"unknown format {min(unknown)}; known: {', '.join(sorted(FORMATS))}")
    instrument()
    broken = 0
    for name in args.formats or sorted(FORMATS):
        with tempfile.TemporaryDirectory() as scratch:
            status, log = run(name, args.seconds, Path(scratch))
            crashes = [path.read_bytes() for path in Path(scratch).glob("broken/*")]
            found = sorted((path.read_bytes() for path in Path(scratch).glob("found/*")), key=len)
        if args.keep and not crashes:
            good = [data for data in found if check(FORMATS[name], data) == "read"][: args.keep // 2]
            found = good + [data for data in found if data not in good][: args.keep - len(good)]
        if crashes or args.keep:
            keep(name, crashes or found)
        lines = log.strip().split("\n")
        report = next((line for line in reversed(lines) if line.startswith("stat::number_of_executed_units")), "")
        sound = status == 0 and not crashes and report
        print(f"{name:26}{report.split(':')[-1].strip() or '?':>9} runs  {'sound' if sound else 'BROKEN'}", flush=True)
        if not sound:
            broken += 1
            print("\n".join(lines[-40:]), file=sys.stderr)
    return 1 if broken else 0


def instrument() -> None:
    """Let atheris see which branches of the readers an input reaches."""
    # Not as they are imported: an editable install brings a loader of its own, which that does not see.
    for module in [one for key, one in sys.modules.items() if key.partition(".")[0] == "smtformats"]:
        for function in _functions(module):
            atheris.instrument_func(function)


def run(name: str, seconds: float, into: Path) -> tuple[int, str]:
    """Fuzz one format in a child, because that ends the process: its exit status and what it printed."""
    log = into / "log"
    child = os.fork()
    if not child:
        try:
            with log.open("wb") as stream:
                os.dup2(stream.fileno(), 1)
                os.dup2(stream.fileno(), 2)
            fuzz(name, seconds, into)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(70)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), log.read_text(errors="replace")


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
