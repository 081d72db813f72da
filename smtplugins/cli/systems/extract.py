"""phrase pairs and reordering tables, or hierarchical rules, from word-aligned text"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from smtplugins.cli import options

if TYPE_CHECKING:
    from smtplugins.host.estimate.phrase_tables import Bitext


def summary(name: str) -> str:
    """A line for the help page."""
    return "phrase tables, reordering tables and rule tables from word-aligned text"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--phrases", action="store_true", help="pairs of phrases, as Moses' train-model makes them")
    what.add_argument(
        "--rules", action="store_true", help="hierarchical rules, as Moses, cdec or Joshua's Thrax find them"
    )
    parser.add_argument("-s", "--source", required=True, metavar="FILE", help="source sentences, tokenised, one a line")
    parser.add_argument("-t", "--target", required=True, metavar="FILE", help="their translations")
    parser.add_argument(
        "-a", "--alignment", required=True, metavar="FILE", help="their links, 0-0 1-2, source first, from 0"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FOLDER", help="where the tables go")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="format of the table, cdec-grammar .. (default: Moses'); of rules moses, cdec or joshua, with the scores "
        "that its users know",
    )
    parser.add_argument(
        "--lexical",
        nargs=2,
        metavar=("LEX.F2E", "LEX.E2F"),
        help="lexical tables to weigh with (default: counted here, and written)",
    )
    parser.add_argument(
        "--skip-bad",
        action="store_true",
        help="leave out sentence pairs with links outside of them, as Moses does (default: an error)",
    )
    parser.add_argument(
        "--memory", metavar="SIZE", help="go to the disk beyond that: 500M, 8G (default: 50%% of the machine's)"
    )
    _add_phrases(parser)
    _add_rules(parser)
    options.add_common(parser)
    parser.set_defaults(command=run, parser=parser)


def _add_phrases(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("phrases")
    group.add_argument("--max-length", type=int, default=7, metavar="N", help="words of a phrase (default: 7)")
    group.add_argument(
        "--smoothing",
        default="none",
        metavar="none|good-turing|kneser-ney",
        help="how relative frequencies are discounted (default: none)",
    )
    group.add_argument(
        "--reordering",
        action="append",
        default=[],
        metavar="MODEL",
        help="also a table of orientations, as Moses names it: wbe-msd-bidirectional-fe (repeatable)",
    )
    group.add_argument(
        "--reordering-smoothing",
        type=float,
        default=0.5,
        metavar="X",
        help="what is added to the count of each orientation (default: 0.5)",
    )
    group.add_argument(
        "--occurrences",
        action="store_true",
        help="also Moses' files extract, extract.inv and extract.o, a line for each pair as often as it is there",
    )


def _add_rules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules", "What is not given is as --limits has it.")
    group.add_argument(
        "--limits",
        metavar="moses|chiang|cdec|thrax",
        help="whose rules and counts: Moses' train-model, Chiang (2007), cdec's extractor, Joshua's Thrax "
        "(default: those of the toolkit that --to is for)",
    )
    numbers = {
        "--max-span": "words of a phrase that a rule comes from, on each side (moses: 15)",
        "--max-source-symbols": "words and gaps of a rule's source side (moses: 5)",
        "--max-target-symbols": "words and gaps of its target side (moses: 999)",
        "--max-source-words": "source words of a rule without gaps (moses: as many as symbols)",
        "--max-target-words": "its target words (moses: as many as symbols)",
        "--max-nonterminals": "gaps of a rule (moses: 2)",
        "--min-hole": "source words that a gap stands for (moses: 2)",
        "--min-target-hole": "target words that a gap stands for (moses: 1)",
        "--min-words": "words of a rule with gaps, on each side (moses: 1)",
    }
    for name, text in numbers.items():
        group.add_argument(name, type=int, metavar="N", help=text)
    switches = {
        ("adjacent", "--allow-adjacent", "--no-adjacent"): (
            "gaps may be neighbours on the source side",
            "there is a word between gaps on the source side (moses)",
        ),
        ("adjacent_target", "--allow-adjacent-target", "--no-adjacent-target"): (
            "gaps may be neighbours on the target side (moses)",
            "there is a word between gaps on the target side",
        ),
        ("aligned", "--only-aligned", "--allow-unaligned"): (
            "a rule with gaps has a pair of aligned words (moses)",
            "it may have none",
        ),
        ("tight", "--only-tight", "--loose"): (
            "phrases neither begin nor end with unaligned words",
            "they may (moses)",
        ),
    }
    for (dest, yes, no), (yes_text, no_text) in switches.items():
        either = group.add_mutually_exclusive_group()
        either.add_argument(yes, dest=dest, action="store_const", const=True, help=yes_text)
        either.add_argument(no, dest=dest, action="store_const", const=False, help=no_text)
    group.add_argument(
        "--counts",
        metavar="fractional|unit|places",
        help="a phrase pair shares one count among its rules (moses), or gives one to each; or one goes to each place "
        "of a rule's source words, however far gaps at its ends reach",
    )
    group.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="threads (same table for any N)")


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.estimate.phrase_tables import Bitext

    _refuse_others(args)
    bitext = Bitext(args.source, args.target, args.alignment)
    if args.rules:
        _extract_rules(args, bitext)
    else:
        _extract_phrases(args, bitext)


def _refuse_others(args: argparse.Namespace) -> None:
    """Options of phrases say nothing about rules, and the other way round."""
    from smtplugins.host.errors import UsageError

    groups = {"phrases": "--phrases", "rules": "--rules"}
    for group in args.parser._action_groups:
        if group.title not in groups or getattr(args, group.title):
            continue
        for action in group._group_actions:
            value = getattr(args, action.dest)
            if value != action.default and action.const in (None, value):
                raise UsageError(f"{action.option_strings[-1]} is an option of {groups[group.title]}")


def _extract_rules(args: argparse.Namespace, bitext: Bitext) -> None:
    from smtplugins.host.estimate.rule_tables import extract_rules, rule_format, rule_settings

    note = (lambda text: None) if args.quiet else options.note
    rules = extract_rules(
        bitext,
        args.output,
        rule_settings(args.limits, rule_format(args.to_format), vars(args)),
        to_format=args.to_format,
        lexical=None if args.lexical is None else tuple(args.lexical),
        skip_bad=args.skip_bad,
        jobs=args.jobs,
        memory=options.memory_limit(args),
        note=note,
        quiet=args.quiet,
    )
    note(f"{rules} rule{'' if rules == 1 else 's'}")


def _extract_phrases(args: argparse.Namespace, bitext: Bitext) -> None:
    from smtplugins.host.estimate.phrase_tables import PhraseSettings, extract_phrases

    note = (lambda text: None) if args.quiet else options.note
    settings = PhraseSettings(
        max_length=args.max_length,
        smoothing=args.smoothing,
        reordering=args.reordering,
        reordering_smoothing=args.reordering_smoothing,
        lexical=None if args.lexical is None else tuple(args.lexical),
        occurrences=args.occurrences,
    )
    pairs = extract_phrases(
        options.load_host(args),
        bitext,
        args.output,
        settings,
        to_format=args.to_format,
        skip_bad=args.skip_bad,
        memory=options.memory_limit(args),
        note=note,
        quiet=args.quiet,
    )
    note(f"{pairs} phrase pairs")
