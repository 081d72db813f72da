"""Event lists from a phrase table and a bitext: options and steps shared by commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.tools.files import load_grammar
from smtplugins.contracts.tools.running import add_number, progress
from smtplugins.plugins.localized.events.blocks import BlockSet
from smtplugins.plugins.localized.events.collecting import collect, frequent

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host
    from smtplugins.plugins.localized.events.collecting import Pair
    from smtplugins.plugins.localized.events.event_lists import EventList


def add_bitext(parser: argparse.ArgumentParser) -> None:
    """Add the options of bitext and phrase table."""
    add = parser.add_argument
    add("-t", "--phrase-table", required=True, metavar="FILE", help="a phrase table: its phrase pairs are the blocks")
    add("-s", "--source", required=True, metavar="FILE", help="source sentences of the bitext")
    add("-r", "--target", required=True, metavar="FILE", help="target sentences of the bitext")
    add(
        "-a",
        "--alignment",
        metavar="FILE",
        help="word alignment: leave out places where a block is inconsistent with it",
    )
    add_number(parser, "--min-count", 1, "leave out blocks with fewer occurrences")
    add("--max-length", type=int, metavar="N", help="leave out blocks with more than N words on a side")


def listed_of(
    host: Host, args: argparse.Namespace, folder: Path, say: Callable[[str], None], quiet: bool, *, force: bool = False
) -> EventList:
    """Make the event list from the options of :func:`add_bitext`."""
    from smtplugins.contracts.tools.extraction import read_pairs

    for name, least in (("min_count", 1), ("max_length", 1)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise UsageError(f"{name}: expected {least} or more, found {value}")
    grammar = load_grammar(Path(args.phrase_table), cache=args.cache, formats=host.formats())
    blocks = BlockSet.from_grammar(grammar, args.max_length)

    def pairs(label: str) -> Iterator[Pair]:
        sentence_pairs = read_pairs(args.source, args.target, args.alignment, formats=host.formats())
        return progress(sentence_pairs, label, quiet=quiet)

    if args.min_count > 1:
        blocks = frequent(blocks, pairs("counting blocks"), args.min_count)
    if not len(blocks):
        raise SmtError(f"{args.phrase_table}: expected phrase pairs, found none within --min-count and --max-length")
    names = ("source", "target", "alignment", "min_count", "max_length")
    settings = {"table": args.phrase_table} | {name: getattr(args, name) for name in names}
    listed = collect(blocks, pairs("events"), folder, settings, force=force)
    record = listed.record
    counts = listed.counts
    say(
        f"{record['blocks']} blocks at {record['occurrences']} places of {record['sentences']} sentence pairs: "
        f"{record['bigrams']} events ({int(counts.left.sum())} left, {int(counts.right.sum())} right), "
        f"{record['neutral']} neutral"
    )
    return listed
