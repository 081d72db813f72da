"""The host, run.yaml, run folders, errors, progress, printed tables, and scores that are computed only once."""

from __future__ import annotations

from smtplugins.host import runs
from smtplugins.host.command_options import add_jobs, add_number, add_quiet, jobs_of, sayer
from smtplugins.host.config.run_yaml import ModelConfig, RunConfig, load_config
from smtplugins.host.errors import exit_error
from smtplugins.host.host import Host
from smtplugins.host.loading.manager import load_plugins
from smtplugins.host.progress import hushed, progress, say_beside
from smtplugins.host.runs import RunDirectory, prepared_folder
from smtplugins.host.scores.batch_scores import BatchScores, in_batches
from smtplugins.host.scores.command_files import command_files
from smtplugins.host.scores.score_cache import ScoreCache, ScoreFolder
from smtplugins.host.scores.scoring_program import split_command, start_command
from smtplugins.host.scores.segment_metric import SegmentMetric
from smtplugins.host.scores.worker_pool import WorkerPool
from smtplugins.host.spread.choice import default_runner, make_runner
from smtplugins.host.spread.keeping import Part, Share, in_order, keep
from smtplugins.host.spread.loading import Loading
from smtplugins.host.spread.shipping import Files, Shipment, digest, shipped_place, shipping
from smtplugins.host.spread.workers import cost_of, item_name, portable

__all__ = [
    "BatchScores",
    "Files",
    "Host",
    "Loading",
    "ModelConfig",
    "Part",
    "RunConfig",
    "RunDirectory",
    "ScoreCache",
    "ScoreFolder",
    "SegmentMetric",
    "Share",
    "Shipment",
    "WorkerPool",
    "add_jobs",
    "add_number",
    "add_quiet",
    "command_files",
    "cost_of",
    "default_runner",
    "digest",
    "exit_error",
    "hushed",
    "in_batches",
    "in_order",
    "item_name",
    "jobs_of",
    "keep",
    "load_config",
    "load_plugins",
    "make_runner",
    "portable",
    "prepared_folder",
    "progress",
    "runs",
    "say_beside",
    "sayer",
    "shipped_place",
    "shipping",
    "split_command",
    "start_command",
]
