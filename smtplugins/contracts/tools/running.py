"""The host, run.yaml, run folders, errors, progress, printed tables, and scores that are computed only once."""

from __future__ import annotations

from smtplugins.host import runs
from smtplugins.host.command_options import add_number, add_quiet, sayer
from smtplugins.host.config.run_yaml import ModelConfig, RunConfig, load_config
from smtplugins.host.errors import exit_error
from smtplugins.host.host import Host, default_runner
from smtplugins.host.loading.manager import load_plugins
from smtplugins.host.progress import hushed, progress
from smtplugins.host.runs import RunDirectory, prepared_folder
from smtplugins.host.score_cache import ScoreCache, ScoreFolder

__all__ = [
    "Host",
    "ModelConfig",
    "RunConfig",
    "RunDirectory",
    "ScoreCache",
    "ScoreFolder",
    "add_number",
    "add_quiet",
    "default_runner",
    "exit_error",
    "hushed",
    "load_config",
    "load_plugins",
    "prepared_folder",
    "progress",
    "runs",
    "sayer",
]
