"""``smt umt compare``: the tables of Gesmundo and Henderson (2014) for your own configuration and sentences.

``umt`` with ``drl`` beside cube pruning with K=1 and K=30, ``hiero`` with ``mert``, in one process: learning, decoding
and judging. Offers of other plugins are looked up by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from smtplugins.contracts.tools.running import Host


def add_case(parser: argparse.ArgumentParser, offers: Sequence[str]) -> None:
    """Add the fields of :class:`UmtCase` and options of decoders and learners: shared with ``sensitivity``."""
    from smtplugins.contracts.tools.study import add_metric

    add = parser.add_argument
    add("-c", "--config", required=True, metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config")
    add(
        "--set",
        dest="overrides",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key of the configuration (repeatable)",
    )
    add("-s", "--source", metavar="FILE", help="sentences to learn from (default: the configuration's)")
    ref: dict[str, Any] = {"action": "append", "default": [], "metavar": "FILE"}
    add("-r", "--ref", dest="references", **ref, help="references of -s (repeatable; default: the configuration's)")
    add("--test", metavar="FILE", help="source sentences of the test set")
    add("--test-ref", dest="test_references", **ref, help="references of --test (repeatable)")
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
    from smtplugins.contracts.tools.study import add_loop, add_renamed, add_study
    from smtplugins.plugins.umt.study.systems import OWN
    from smtplugins.plugins.umt.study.tables import ROWS, TABLES

    add_case(parser, OWN)
    add_loop(parser, nbest=0, iterations=10)
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="decode N times and report the best time (default: 5)"
    )
    add_study(parser, TABLES, ROWS)
    add_renamed(parser, {"--nbest": "--tune-nbest", "--iterations": "--tune-iterations"})


def run(host: Host, args: argparse.Namespace) -> None:
    """Make the tables."""
    from smtplugins.plugins.umt.study.runs import UmtStudy

    UmtStudy(host, args).make()


def configure_sensitivity(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``smt umt sensitivity``."""
    from smtplugins.contracts.tools.study import add_study
    from smtplugins.plugins.umt.study.sensitivity import VARIED

    add_case(parser, ("umt", "drl"))
    shown = f"an option of umt, drl or metric and its values (repeatable; default: {' '.join(VARIED)})"
    parser.add_argument("--vary", action="append", default=[], metavar="PART.OPTION=VALUE,...", help=shown)
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="seeds per setting (default: 3)")
    add_study(parser, {}, {}, paper=False)


def run_sensitivity(host: Host, args: argparse.Namespace) -> None:
    """Make the table of ``smt umt sensitivity``."""
    from smtplugins.plugins.umt.study.sensitivity import SensitivityStudy

    SensitivityStudy(host, args).make()
