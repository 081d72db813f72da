"""``smt cdlm confuse``: write the confusion set of each sentence of a text, a file each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import add_jobs, add_number, add_quiet, jobs_of, sayer

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host
    from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting


def add_setting(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Add the options of confusion sets, shared by several commands; ``required`` is for ``--grammar``."""
    group = parser.add_argument_group("confusion sets")
    add = group.add_argument
    add("-g", "--grammar", required=required, metavar="FILE", help="a confusion grammar (`smt cdlm grammar` makes one)")
    add("--lm", required=True, metavar="FILE", help="a language model: ARPA or KenLM file")
    add(
        "--classes", metavar="FILE", help="class map of rule bigrams (`smt cdlm classes`); without it, blm and wp alone"
    )
    add(
        "--unknown",
        choices=("oov", "copy"),
        default="oov",
        help="translation of words without a rule: the word oov, as in the paper, or a copy (default: oov)",
    )
    add_number(group, "--oov-cost", 100.0, "cost of each word without a rule", "C")
    add_number(group, "--pop-limit", 200, "cube pruning: pop limit of each node", "K")
    add_number(group, "--beam", 15.0, "pruning threshold of each node, as a score difference", "B")
    add_number(group, "--max-span", 10, "the longest span of a rule")
    add("--prune", type=float, metavar="B", help="keep edges whose best derivation is within B of the best of all")
    add("--density", type=float, metavar="N", help="keep the N best edges per word of the sentence")
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="another option of the decoder hiero, such as search=full (repeatable)",
    )


def add_text(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the options of a text and its paraphrases."""
    ref = "paraphrases of the sentences, line by line, as further references (repeatable)"
    parser.add_argument("-i", "--input", required=True, metavar="TEXT", help=f"{what}, one per line, tokenised")
    parser.add_argument("-r", "--ref", action="append", default=[], metavar="FILE", help=ref)


def add_work(parser: argparse.ArgumentParser) -> None:
    """Add the options of cache and verbosity."""
    parser.add_argument("--cache", metavar="DIR|off", help="cache of loaded grammars (default: $SMT_CACHE)")
    add_quiet(parser)


def setting_of(args: argparse.Namespace, made: Path | None = None) -> ConfusionSetting:
    """Build the setting from the command line; ``made`` is the grammar's future path if ``--grammar`` is not given.

    Raises an error at once for missing files.
    """
    from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting

    search: dict[str, Any] = {}
    for option in args.set:
        name, equals, value = option.partition("=")
        if not equals or not name:
            raise UsageError(f"--set: expected KEY=VALUE, such as search=full, found {option!r}")
        search[name] = value
    return ConfusionSetting(
        made if args.grammar is None and made is not None else there(args.grammar),
        there(args.lm),
        there(args.classes) if args.classes is not None else None,
        unknown=args.unknown,
        cost=args.oov_cost,
        pop_limit=args.pop_limit,
        beam=args.beam,
        max_span=args.max_span,
        prune=args.prune,
        density=args.density,
        search=search,
    )


def there(path: str) -> Path:
    """Return a file's absolute path; raises OSError if it does not exist."""
    import os

    os.stat(path)
    return Path(os.path.abspath(path))


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("-i", "--input", required=True, metavar="TEXT", help="sentences, one per line, tokenised")
    add(
        "-w",
        "--weights",
        metavar="FILE",
        help="weights, or a model of `smt cdlm train`, for pruning the sets (default: the language model alone)",
    )
    add("-o", "--output", required=True, metavar="DIR", help="folder of the sets, a file for each sentence")
    add("--forests-format", metavar="FORMAT", help="hypergraph format, NAME[,key=value...] (default: as `smt decode`)")
    add("--stats", metavar="FILE", help="write counts and CPU seconds as JSON")
    add_setting(parser)
    add_jobs(parser)
    add_work(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.contracts.tools.files import write_json
    from smtplugins.plugins.cdlm.sets.confusing import keep_sets, read_text, read_weights

    say = sayer(args.quiet, "smt cdlm confuse")
    setting = setting_of(args)
    weights = None if args.weights is None else read_weights(host, there(args.weights))
    totals = keep_sets(
        host,
        setting,
        read_text(host, there(args.input)),
        Path(args.output),
        weights,
        format=args.forests_format,
        jobs=jobs_of(args),
        cache=args.cache,
        quiet=args.quiet,
        note=say,
    ).record()
    if args.stats:
        write_json(Path(args.stats), totals)
    say(
        "{sentences:.0f} sentences ({empty:.0f} without a set), {edges_per_sentence:.0f} edges and "
        "{bytes_per_sentence:.0f} bytes each; {sentences_per_cpu_second:.3g} sentences per CPU second; {own:.1f}% of "
        "the sets contain their sentence".format(**totals, own=100 * totals["own_in_set"])
    )
