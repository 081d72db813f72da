"""``smt cdlm grammar``: make a confusion grammar from a system's grammar or its hypergraphs."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from smtformats.files import open_binary_write
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.running import add_quiet, hushed, progress

if TYPE_CHECKING:
    from smtplugins.contracts.tools.running import Host
    from smtplugins.plugins.cdlm.grammar.choices import Choices, GrammarCounts
    from smtplugins.plugins.cdlm.grammar.confusion_grammar import Confusions

DEFAULT = "cdec-grammar"
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "-i",
        "--input",
        nargs="+",
        metavar="GRAMMAR",
        help="the system's grammars: confuse all target sides of a source side",
    )
    what.add_argument(
        "--forests",
        nargs="+",
        metavar="DIR|FILE",
        help="the system's hypergraphs, as `smt decode --forests` writes them: confuse competing rules",
    )
    parser.add_argument(
        "--from", dest="from_format", metavar="FORMAT", help="input format, NAME[,key=value...] (default: detected)"
    )
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="output file (default: standard output)")
    parser.add_argument("--to", dest="to_format", metavar="FORMAT", help=f"grammar format (default: {DEFAULT})")
    parser.add_argument(
        "--weights",
        choices=("none", "relfreq"),
        default="none",
        help="no features, as in the paper, or a feature Confusion, minus the logarithm of the output's relative "
        "frequency given the input side; in Moses' formats a probability (default: none)",
    )
    parser.add_argument("--label", default="X", metavar="LABEL", help="label of left-hand sides and gaps (default: X)")
    _add_choices(parser)
    parser.add_argument(
        "--memory",
        metavar="SIZE",
        help="memory besides the sides of rules: 500M, 8G (default: 50%% of the machine's; same output for any)",
    )
    parser.add_argument("--report", metavar="FILE", help="write counts as JSON")
    parser.add_argument(
        "--cache", metavar="DIR|off", help="cache of grammar columns, shared between runs (default: $SMT_CACHE)"
    )
    add_quiet(parser)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("which rules").add_argument
    add("--no-identity", dest="identity", action="store_false", help="leave out rules with equal sides")
    add("--max-gaps", type=int, metavar="N", help="maximum number of gaps in a rule (default: any)")
    add("--same-lhs", action="store_true", help="confuse only rules with the same left-hand side")
    add("--keep-glue", dest="glue", action="store_true", help="include rules without words on the source side")
    add(
        "--need-words",
        dest="wordless",
        action="store_false",
        help="leave out rules whose input side has only gaps, which apply everywhere",
    )
    add = parser.add_argument_group("which rules of grammars").add_argument
    add("--cap", type=int, default=0, metavar="N", help="use at most N target sides of a source side")
    add(
        "--best",
        metavar="order|count|[-]FEATURE",
        help="target sides that --cap keeps: the first, the most frequent in all grammars, or those with the highest "
        "value of a feature (with -: lowest; write --best=-NAME) (default: order)",
    )
    add("--best-weights", metavar="FILE", help="target sides that --cap keeps: the best by a weighted sum of features")
    add = parser.add_argument_group("which rules of hypergraphs").add_argument
    add(
        "--scope",
        choices=("item", "cell"),
        help="competing rules: on edges into the same node (item), or over the same source span (cell) (default: item)",
    )
    add("--no-same-rule", dest="same_rule", action="store_false", help="do not confuse a rule with itself")
    add("--keep-oov", dest="oov", action="store_true", help="include unknown-word rules")


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    from dataclasses import asdict

    from smtplugins.contracts.tools.files import write_json
    from smtplugins.plugins.cdlm.grammar.confusion_grammar import Confusions

    choices = choices_of(host, args)
    memory = memory_of(args.memory)
    folder = os.path.dirname(os.path.abspath(args.output)) if args.output != "-" else None
    if folder is not None and not os.path.isdir(folder):
        raise UsageError(f"--output: expected an existing folder, found {folder!r}")
    with hushed(args.quiet), Confusions(choices, memory=memory, folder=folder) as confusions:
        _read(host, args, confusions)
        _write(host, args, confusions)
        report = confusions.report
    if not args.quiet:
        for text in summary(report, choices, args.forests is not None):
            sys.stderr.write(f"smt: {text}\n")
    if args.report:
        write_json(args.report, asdict(report))


def choices_of(host: Host, args: argparse.Namespace) -> Choices:
    """Build the choices from the command line; raises UsageError for options that do not apply to the input."""
    from smtplugins.plugins.cdlm.grammar.choices import Choices, read_best

    of_grammars = {"--cap": args.cap, "--best": args.best, "--best-weights": args.best_weights}
    of_graphs = {"--scope": args.scope, "--no-same-rule": not args.same_rule, "--keep-oov": args.oov}
    others, own = (of_grammars, "grammars") if args.forests is not None else (of_graphs, "hypergraphs")
    for option, value in others.items():
        if value:
            raise UsageError(f"{option} is an option for {own}")
    if args.cap < 0:
        raise UsageError(f"--cap: expected 1 or more, found {args.cap}")
    if args.best is not None and args.best_weights is not None:
        raise UsageError("expected --best or --best-weights, found both")
    if (args.best is not None or args.best_weights is not None) and not args.cap:
        raise UsageError("--best selects the target sides that --cap keeps: add --cap N")
    if args.max_gaps is not None and args.max_gaps < 0:
        raise UsageError(f"--max-gaps: expected 0 or more, found {args.max_gaps}")
    best = read_best(args.best or "order") if args.best_weights is None else host.read_weights(args.best_weights)
    names = ("cap", "identity", "same_lhs", "glue", "wordless", "same_rule", "oov")
    return Choices(best=best, gaps=args.max_gaps, **{name: getattr(args, name) for name in names})


def memory_of(text: str | None) -> int | None:
    """Parse a size such as 500M into bytes."""
    if text is None:
        return None
    parts = re.fullmatch(r"(\d{1,9})([KMGT]?)B?", text, re.ASCII | re.IGNORECASE)
    if parts is None:
        raise UsageError(f"--memory: expected a size like 500M or 8G, found {text!r}")
    size = int(parts[1]) << _UNITS[parts[2].upper()]
    if size < 1 << 20:
        raise UsageError(f"--memory: expected at least 1M, found {text}")
    return size


def _read(host: Host, args: argparse.Namespace, confusions: Confusions) -> None:
    from smtplugins.contracts.tools.files import load_grammar, naming, open_known

    formats = host.formats()
    if args.forests is None:
        for path in progress(args.input, "grammars", total=len(args.input)):
            confusions.add(load_grammar(path, format=args.from_format, cache=args.cache, formats=formats))
        return

    def graphs() -> Iterator[Any]:
        for path in args.forests:
            with open_known(path, "hypergraph", args.from_format, formats) as opened, naming(path):
                yield from opened.records()

    for graph in progress(graphs(), "hypergraphs"):
        confusions.add_graph(graph, args.scope or "item")


def _write(host: Host, args: argparse.Namespace, confusions: Confusions) -> None:
    from smtplugins.contracts.tools.files import find_format, write_all
    from smtplugins.plugins.cdlm.grammar.confusion_grammar import NATIVE, PROBABILITIES

    name = args.to_format or DEFAULT
    record = find_format(name, "grammar", host.formats())
    if record.write is None:
        raise UsageError(f"--to: expected a format that can be written, found {record.name}, which can only be read")
    if name in NATIVE:
        with open_binary_write(args.output) as out:
            for piece in progress(confusions.lines(name, args.weights, args.label), "writing, pieces"):
                out.write(piece)
        return
    rules = confusions.rules(args.weights, args.label, probabilities=record.name in PROBABILITIES)
    write_all(record, progress(rules, "rules"), args.output)


def summary(report: GrammarCounts, choices: Choices, graphs: bool) -> Iterator[str]:
    """Describe what was read and written."""
    what, places = ("edges", "sets of competing edges") if graphs else ("rules", "source sides")
    left_out = f", {report.left_out} left out" if report.left_out else ""
    yield f"{report.rules} {what}{left_out}, {report.sources} {places}"
    capped = f", {report.capped} with at most {choices.cap} for each source side" if choices.cap else ""
    yield f"{report.uncapped} pairs of target sides{capped}: {report.pairs} confusion rules"
    if report.no_input:
        yield f"{report.no_input} pairs left out: their input side is empty or has only gaps"
