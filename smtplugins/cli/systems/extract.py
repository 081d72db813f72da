"""extract phrase and reordering tables, or hierarchical rules, from word-aligned text"""

from __future__ import annotations

import argparse
import os

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError
from smtplugins.host.command_options import add_jobs, jobs_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--phrases", action="store_true", help="extract phrase pairs, as Moses' train-model does")
    what.add_argument(
        "--rules", action="store_true", help="extract hierarchical rules, as Moses, cdec or Joshua's Thrax do"
    )
    parser.add_argument(
        "-s", "--source", required=True, metavar="FILE", help="source sentences, tokenised, one per line"
    )
    parser.add_argument("-t", "--target", required=True, metavar="FILE", help="target sentences, in the same order")
    parser.add_argument(
        "-a", "--alignment", required=True, metavar="FILE", help="word alignments, 0-0 1-2, source first, from 0"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder for the tables")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="table format (default: Moses'): any grammar format for phrases; moses, cdec or joshua for rules, with "
        "that toolkit's scores",
    )
    parser.add_argument(
        "--lexical",
        nargs=2,
        metavar=("LEX.F2E", "LEX.E2F"),
        help="tables for lexical weights (default: estimated from this text, and written)",
    )
    options.add_escape(parser, "escape the words of the text in the tables, which cannot hold all")
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="skip sentence pairs with links outside the sentences, as Moses does (default: an error)",
    )
    parser.add_argument(
        "--memory", metavar="SIZE", help="sort on disk beyond this size: 500M, 8G (default: 50%% of the machine's)"
    )
    add_jobs(parser, "threads for rules, without --runner (same tables for any N)")
    _add_phrases(parser)
    _add_rules(parser)
    parser.set_defaults(parser=parser)


def _add_phrases(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("phrases")
    group.add_argument("--max-length", type=int, default=7, metavar="N", help="maximum words of a phrase (default: 7)")
    group.add_argument(
        "--smoothing",
        default="none",
        metavar="none|good-turing|kneser-ney",
        help="discounting of relative frequencies (default: none)",
    )
    group.add_argument(
        "--reordering",
        action="append",
        default=[],
        metavar="MODEL",
        help="also write a reordering table, named as in Moses: wbe-msd-bidirectional-fe (repeatable)",
    )
    group.add_argument(
        "--reordering-smoothing",
        type=float,
        default=0.5,
        metavar="X",
        help="added to the count of each orientation (default: 0.5)",
    )
    group.add_argument(
        "--occurrences",
        action="store_true",
        help="also write Moses' files extract, extract.inv and extract.o, with a line per occurrence of a pair",
    )


def _add_rules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules", "Defaults depend on --limits; those of moses are shown.")
    group.add_argument(
        "--limits",
        metavar="moses|chiang|cdec|thrax",
        help="extraction limits and counts of Moses' train-model, Chiang (2007), cdec's extractor or Joshua's Thrax "
        "(default: those of the toolkit of --to)",
    )
    numbers = {
        "--max-span": "words of the phrase pair that a rule is extracted from, on each side (moses: 15)",
        "--max-source-symbols": "words and non-terminals on the source side (moses: 5)",
        "--max-target-symbols": "words and non-terminals on the target side (moses: 999)",
        "--max-source-words": "source words of a rule without non-terminals (moses: as many as symbols)",
        "--max-target-words": "target words of a rule without non-terminals (moses: as many as symbols)",
        "--max-nonterminals": "non-terminals of a rule (moses: 2)",
        "--min-hole": "source words covered by a non-terminal (moses: 2)",
        "--min-target-hole": "target words covered by a non-terminal (moses: 1)",
        "--min-words": "words of a rule with non-terminals, on each side (moses: 1)",
    }
    for name, text in numbers.items():
        group.add_argument(name, type=int, metavar="N", help=text)
    switches = {
        ("adjacent", "--allow-adjacent", "--no-adjacent"): (
            "allow adjacent non-terminals on the source side",
            "require a word between non-terminals on the source side (moses)",
        ),
        ("adjacent_target", "--allow-adjacent-target", "--no-adjacent-target"): (
            "allow adjacent non-terminals on the target side (moses)",
            "require a word between non-terminals on the target side",
        ),
        ("aligned", "--only-aligned", "--allow-unaligned"): (
            "require an aligned word pair in rules with non-terminals (moses)",
            "allow rules with non-terminals and no aligned word pair",
        ),
        ("tight", "--only-tight", "--loose"): (
            "exclude phrases that begin or end with unaligned words",
            "allow phrases that begin or end with unaligned words (moses)",
        ),
    }
    for (dest, yes, no), (yes_text, no_text) in switches.items():
        either = group.add_mutually_exclusive_group()
        either.add_argument(yes, dest=dest, action="store_const", const=True, help=yes_text)
        either.add_argument(no, dest=dest, action="store_const", const=False, help=no_text)
    group.add_argument(
        "--counts",
        metavar="fractional|unit|places",
        help="fractional: the rules of a phrase pair share a count of one (moses); unit: each gets one; places: "
        "one for each place where its source words occur, however many spans its outer non-terminals can take",
    )


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    _refuse_others(args)
    from smtplugins.host.estimate.phrase_tables import phrase_tables
    from smtplugins.host.estimate.rule_tables import rule_table
    from smtplugins.host.estimate.spread_counts import in_threads
    from smtplugins.host.methods.estimation import Estimation

    # Installed plugins have no part in rules but as runners; loading them takes 0.1 s.
    alone = args.rules and not args.plugin and in_threads(jobs_of(args))
    host = Estimation() if alone else options.load_host(args)
    extract, what = (host.extract_rules, "rule") if args.rules else (host.extract_phrases, "phrase pair")
    lexical = None if args.lexical is None else tuple(args.lexical)
    count = options.call(extract, args, folder=args.output, lexical=lexical, memory=options.memory_limit(args))
    options.notes(args)(f"{count} {what}{'' if count == 1 else 's'}")
    names = [rule_table(args.to_format)] if args.rules else phrase_tables(args.to_format, args.reordering)
    options.note_uses(args, [os.path.join(args.output, name) for name in names])


def _refuse_others(args: argparse.Namespace) -> None:
    """Raise UsageError if options of phrases are used for rules, or vice versa."""
    groups = {"phrases": "--phrases", "rules": "--rules"}
    for group in args.parser._action_groups:
        if group.title not in groups or getattr(args, group.title):
            continue
        for action in group._group_actions:
            value = getattr(args, action.dest)
            if value != action.default and action.const in (None, value):
                raise UsageError(f"{action.option_strings[-1]} needs {groups[group.title]}")
