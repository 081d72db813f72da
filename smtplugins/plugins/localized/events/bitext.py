"""The event list of a table and a bitext: what the commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from smtplugins.host.errors import SmtError, UsageError
from smtplugins.plugins.localized.events.blocks import BlockSet
from smtplugins.plugins.localized.events.collecting import collect, frequent

if TYPE_CHECKING:
    import argparse

    from smtplugins.host.host import Host
    from smtplugins.plugins.localized.events.collecting import Pair
    from smtplugins.plugins.localized.events.event_lists import EventList


def add_bitext(parser: argparse.ArgumentParser) -> None:
    """What events are made of."""
    parser.add_argument("-t", "--table", required=True, metavar="FILE", help="a table of phrase pairs: the blocks")
    parser.add_argument("-s", "--source", required=True, metavar="FILE", help="source sentences of the bitext")
    parser.add_argument("-r", "--target", required=True, metavar="FILE", help="their translations")
    parser.add_argument(
        "-a", "--alignment", metavar="FILE", help="word alignment: blocks that it contradicts are not taken there"
    )
    parser.add_argument(
        "--min-count", type=int, default=1, metavar="N", help="leave out blocks found at fewer places (default: 1)"
    )
    parser.add_argument("--max-length", type=int, metavar="N", help="leave out blocks with more words on a side")
    parser.add_argument("--cache", metavar="DIR|off", help="where columns of tables are kept between runs")


def listed_of(
    host: Host, args: argparse.Namespace, folder: Path, say: Callable[[str], None], quiet: bool, *, force: bool = False
) -> EventList:
    """The event list that the options of :func:`add_bitext` ask for."""
    from smtplugins.host.files.aligned_text import read_pairs
    from smtplugins.host.files.opening import load_grammar
    from smtplugins.host.progress import progress

    for name, least in (("min_count", 1), ("max_length", 1)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise UsageError(f"{name}: expected {least} or more, found {value}")
    grammar = load_grammar(Path(args.table), cache=args.cache, formats=host.formats())
    blocks = BlockSet.from_grammar(grammar, args.max_length)

    def pairs(label: str) -> Iterator[Pair]:
        found = read_pairs(args.source, args.target, args.alignment, formats=host.formats())
        return progress(found, label, quiet=quiet)

    if args.min_count > 1:
        blocks = frequent(blocks, pairs("counting blocks"), args.min_count)
    if not len(blocks):
        raise SmtError(f"{args.table}: expected pairs of phrases, found none that are kept")
    names = ("table", "source", "target", "alignment", "min_count", "max_length")
    settings = {name: getattr(args, name) for name in names}
    listed = collect(blocks, pairs("events"), folder, settings, force=force)
    found = listed.record
    counts = listed.counts
    say(
        f"{found['blocks']} blocks at {found['occurrences']} places of {found['sentences']} sentence pairs: "
        f"{found['bigrams']} events ({int(counts.left.sum())} left, {int(counts.right.sum())} right), "
        f"{found['neutral']} neutral"
    )
    return listed
