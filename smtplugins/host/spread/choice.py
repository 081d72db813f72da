"""Which runner spreads a job's items: a number of processes, a runner by name, the environment's or the configured."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs, Runner
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.host import Host

RUNNER = "SMT_RUNNER"
SERIAL, PROCESSES = "serial", "processes"


def default_runner(jobs: Jobs, configured: Spec | None = None) -> Spec:
    """The runner that ``jobs`` names: itself, or for a number serial or that many processes.

    Without any, it is that of ``$SMT_RUNNER``, else the configured one, else serial.
    """
    if jobs is None:
        given = os.environ.get(RUNNER, "").strip()
        return Spec.of(given) if given else configured or Spec(SERIAL)
    if not isinstance(jobs, int):
        return Spec.of(jobs)
    if jobs < 1:
        raise UsageError(f"jobs: expected 1 or more, found {jobs}")
    return Spec(SERIAL) if jobs == 1 else Spec(PROCESSES, {"jobs": jobs})


def apart(runner: Spec) -> Spec:
    """The runner for a few long items, each of which is worth a process."""
    return Spec(runner.name, {**runner.options, "chunk": 1}) if runner.name == PROCESSES else runner


def parallel_runner(host: Host, jobs: Jobs) -> Runner | None:
    """The runner that ``jobs`` names, or None if it works on one item after another."""
    return None if default_runner(jobs).name == SERIAL else make_runner(host, jobs)


def named_runner(host: Host, jobs: Jobs) -> str | None:
    """The runner that ``jobs`` or the environment name, checked, as text; None for a number of processes."""
    if isinstance(jobs, int):
        default_runner(jobs)
        return None
    spec = default_runner(jobs)
    host.registry.check("runners", spec)
    return None if spec.name == SERIAL else str(spec)


def make_runner(host: Host, jobs: Jobs, config: RunConfig | None = None) -> Runner:
    """Make the runner that ``jobs`` names, by default the environment's or that of the configuration."""
    configured = None if config is None else config.runner
    spec = default_runner(jobs, configured)
    with config.at("runner") if config is not None and spec is configured else contextlib.nullcontext():
        runner: Runner = host.registry.make("runners", spec)
    return runner
