"""``smt umt compare``: the tables of Gesmundo and Henderson (2014) for your own configuration and sentences.

``umt`` with ``drl`` beside cube pruning with K=1 and K=30, ``hiero`` with ``mert``, in one process: learning, decoding
and judging. Offers of other plugins are looked up by name.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from smtplugins.contracts.tools.running import add_number
from smtplugins.contracts.tools.study import add_loop, add_metric, add_renamed, add_study
from smtplugins.plugins.umt.study.sensitivity import VARIED
from smtplugins.plugins.umt.study.systems import OWN
from smtplugins.plugins.umt.study.tables import ROWS, TABLES


def add_case(parser: argparse.ArgumentParser, offers: Sequence[str]) -> None:
    """Add the fields of :class:`UmtCase` and options of decoders and learners: shared with ``sensitivity``."""
    add = parser.add_argument
    add("-c", "--config", required=True, metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config")
    several: dict[str, Any] = {"action": "append", "default": []}
    override = "override a key of the configuration (repeatable)"
    add("--set", dest="overrides", **several, metavar="KEY=VALUE", help=override)
    add("-s", "--source", metavar="FILE", help="sentences to learn from (default: the configuration's)")
    ref = "references of -s (repeatable; default: the configuration's)"
    add("-r", "--ref", dest="references", **several, metavar="FILE", help=ref)
    add("--test", metavar="FILE", help="source sentences of the test set")
    add("--test-ref", dest="test_references", **several, metavar="FILE", help="references of --test (repeatable)")
    add("-w", "--weights", metavar="FILE", help="initial weights, also of the bounds")
    add_metric(parser, None)
    add("--post", metavar="none|bpe|spm|detok:LANG|CMD", help="postprocess translations before scoring")
    add("--seed", type=int, metavar="N", help="seed of learning (default: that of the configuration, else 1)")
    for name in offers:
        kind = "decoder" if name in ("umt", "hiero") else "learner"
        shown = f"options of {name} (`smt {kind}s show {name}`)"
        add(f"--{name}", default="", metavar="KEY=VALUE,...", help=shown)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_case(parser, OWN)
    add_loop(parser, nbest=0, iterations=10)
    add_number(parser, "--rounds", 5, "decode N times and report the best time")
    add_study(parser, TABLES, ROWS)
    add_renamed(parser, {"--nbest": "--tune-nbest", "--iterations": "--tune-iterations"})


def configure_sensitivity(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``smt umt sensitivity``."""
    add_case(parser, ("umt", "drl"))
    shown = f"an option of umt, drl or metric and its values (repeatable; default: {' '.join(VARIED)})"
    parser.add_argument("--vary", action="append", default=[], metavar="PART.OPTION=VALUE,...", help=shown)
    add_number(parser, "--seeds", 3, "seeds per setting")
    add_study(parser, {}, {}, paper=False)
