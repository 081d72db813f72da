"""The folder in which the steps of a plan are run, each once and to its end.

A step is a process of its own in the folder. When it has ended, and everything that it makes is there, its record
``steps/NAME.json`` is written: the command and the hashes of what it made. A step without a record is run again, after
what it left is removed; what has changed since its record was written is an error. Records hold no times, so a killed
run ends in the same bytes.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.recipes import RecipeStep
from smtplugins.host.arguments import argument
from smtplugins.host.loading.manager import names_in
from smtplugins.host.runs import file_hash, sweep
from smtplugins.host.spread.choice import RUNNER

PLUGINS = "SMT_PLUGINS"
_CACHES = ("SMT_CACHE", "SMT_SCORE_CACHE")
_STEPS = "steps"
# Modules are not looked for in the folder.
_COMMAND = "import sys; sys.path[:] = filter(None, sys.path); from smtplugins.cli.main import main; sys.exit(main())"


class StepFailed(SmtError):
    """A step's command has failed; what it printed says why."""


@dataclass(frozen=True)
class StepCost:
    """What a step took: seconds of the clock and of the processor, and the peak of memory in bytes."""

    name: str
    seconds: float
    cpu: float
    memory: int


def all_plugins(plugins: Iterable[str]) -> list[str]:
    """Plugins of the environment and further ones, by names that hold in any folder."""
    names = dict.fromkeys((*names_in(PLUGINS), *plugins))
    return [os.path.abspath(name) if os.path.exists(name) else name for name in names]


def total_cost(costs: Sequence[StepCost]) -> StepCost:
    """What all steps took together."""
    seconds, cpu = sum(cost.seconds for cost in costs), sum(cost.cpu for cost in costs)
    return StepCost("total", seconds, cpu, max(cost.memory for cost in costs))


def shell_line(step: RecipeStep) -> str:
    """A step as a line for a shell."""
    line = shlex.join(("smt", *step.command, *(["--resume"] if step.resumes else [])))
    return line if step.output is None else f"{line} > {shlex.quote(step.output)}"


class BuildFolder:
    """Runs steps in a folder; ``say`` is told where the work stands.

    ``plugins`` are loaded by the commands, ``runner`` spreads the work of those without a number of jobs.
    """

    def __init__(
        self,
        path: Path,
        say: Callable[[str], None],
        *,
        plugins: Sequence[str] = (),
        runner: str | None = None,
        quiet: bool = False,
    ) -> None:
        self.path = path
        self._say, self._quiet = say, quiet
        names = all_plugins(plugins)
        self._shown_plugins = f"{PLUGINS}={shlex.quote(','.join(names))} " if names else ""
        caches = {name: os.environ.get(name, "") for name in _CACHES}
        places = {name: os.path.abspath(place) for name, place in caches.items() if place not in ("", "off")}
        spread = {} if runner is None else {RUNNER: runner}
        self._environment = {**os.environ, PLUGINS: ",".join(names), **places, **spread}

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes out of the folder, until the last command that was started here has ended."""
        import fcntl

        # Children inherit the descriptor and with it the lock.
        self._lock = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"{self.path}: another process is building a system in this folder") from None
            yield
        finally:
            os.close(self._lock)

    def run(
        self, steps: Sequence[RecipeStep], check: Callable[[RecipeStep], None] = lambda step: None
    ) -> list[StepCost]:
        """Run the steps that have no record, ``check`` each complete one; return what each took."""
        sweep(self.path)
        (self.path / _STEPS).mkdir(exist_ok=True)
        costs: list[StepCost] = []
        left = sum(step.share for step in steps)
        done = 0.0
        for number, step in enumerate(steps, 1):
            place = f"[{number}/{len(steps)}] {step.name}"
            if self._record(step) is not None:
                self._say(f"{place}: complete, not repeated")
            else:
                remaining = _duration(sum(cost.seconds for cost in costs) * left / done) if done else ""
                self._say(f"{place}: {step.summary}{f' (about {remaining} left)' if remaining else ''}")
                for later in steps[number:]:
                    self._record_of(later).unlink(missing_ok=True)
                try:
                    costs.append(self._make(step))
                except StepFailed as error:
                    if number == 1:
                        raise
                    how = f"{argument('resume=True')} goes on from here, with the same texts and options"
                    raise StepFailed(f"{error}\nthe steps before it are complete: {how}") from None
                done += step.share
            check(step)
            left -= step.share
        return costs

    def _record_of(self, step: RecipeStep) -> Path:
        return self.path / _STEPS / f"{step.name}.json"

    def _record(self, step: RecipeStep) -> Any:
        """The record of a step that is complete, else None."""
        import json

        path = self._record_of(step)
        if not path.exists():
            return None
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
            made, before = dict(record["made"]), _without_jobs(record["command"])
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{path}: expected the record of a step, found something else: remove it") from None
        if before != _without_jobs(step.command):
            raise UsageError(
                f"{path}: the step was run as `{shlex.join(('smt', *record['command']))}`, and would now be "
                f"`{shlex.join(('smt', *step.command))}`: remove {path} to repeat it and all steps after it, or name "
                "another folder"
            )
        for name in step.makes:
            if not (self.path / name).exists():
                raise UsageError(f"{self.path / name}: missing, though step {step.name} is complete: remove {path}")
            if _hashes(self.path / name) != made.get(name):
                raise UsageError(
                    f"{self.path / name}: changed since step {step.name} made it: remove {path} to repeat the step and "
                    "all after it"
                )
        return record

    def _make(self, step: RecipeStep) -> StepCost:
        """Run a step and record it."""
        from smtplugins.host.learn.pools import write_json

        for name in step.makes:
            target = self.path / name
            if not step.resumes:
                _remove(target)
            target.parent.mkdir(parents=True, exist_ok=True)
        cost = self._process(step)
        made = {name: _hashes(self.path / name) for name in step.makes}
        write_json(self._record_of(step), {"command": _without_jobs(step.command), "made": made})
        return cost

    def _process(self, step: RecipeStep) -> StepCost:
        """Run the command to its end."""
        command = [sys.executable, "-c", _COMMAND, *step.command, *(["-q"] if self._quiet else [])]
        if step.resumes and any((self.path / name).exists() for name in step.makes):
            command.append("--resume")
        aside = None if step.output is None else (self.path / step.output).with_name(f".{Path(step.output).name}.part")
        begun = time.perf_counter()
        with contextlib.ExitStack() as stack:
            shown = subprocess.DEVNULL if self._quiet else sys.stderr
            out = shown if aside is None else stack.enter_context(open(aside, "wb"))
            child = subprocess.Popen(command, stdout=out, cwd=self.path, env=self._environment, pass_fds=[self._lock])
            with child:
                try:
                    _, status, usage = os.wait4(child.pid, 0)
                    child.returncode = os.waitstatus_to_exitcode(status)
                except BaseException:
                    # Ctrl-C reaches the command, too; other ends of this process do not.
                    child.terminate()
                    child.wait()
                    raise
        seconds = time.perf_counter() - begun
        missing = [name for name in step.makes if name != step.output and not (self.path / name).exists()]
        if child.returncode or missing:
            if aside is not None:
                aside.unlink(missing_ok=True)
            raise StepFailed(
                f"step {step.name} failed ({_end(child.returncode) or f'it made no {missing[0]}'}): "
                f"cd {shlex.quote(str(self.path))} && {self._shown_plugins}{shell_line(step)}"
            )
        if aside is not None and step.output is not None:
            os.replace(aside, self.path / step.output)
        return StepCost(step.name, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def without_jobs(step: RecipeStep) -> RecipeStep:
    """A step without its number of jobs, for a runner."""
    return replace(step, command=tuple(_without_jobs(step.command)))


def _without_jobs(command: Sequence[str]) -> list[str]:
    """A command without the number of jobs, which changes no result."""
    return [word for i, word in enumerate(command) if "-j" not in (word, *command[max(i - 1, 0) : i])]


def _remove(path: Path) -> None:
    """Remove a file or folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _hashes(path: Path) -> str | dict[str, str]:
    """The hash of a file, or of each file of a folder."""
    if path.is_file():
        return file_hash(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {str(file.relative_to(path)): file_hash(file) for file in files}


def _end(code: int) -> str:
    """How a command failed, or an empty text."""
    if code < 0:
        return f"killed by {signal.Signals(-code).name}{', as when memory runs out' * (code == -signal.SIGKILL)}"
    return f"exit code {code}" if code else ""


def _duration(seconds: float) -> str:
    """Roughly how long: ``40 s``, ``3 min``."""
    return f"{max(round(seconds, -1), 10):.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
