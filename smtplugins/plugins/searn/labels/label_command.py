"""``smt searn label``: labels, items and a translation table from word-aligned text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.tools.files import add_output
from smtplugins.contracts.tools.running import add_quiet

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host

_SHOWN = 12


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add = parser.add_argument
    add("-s", "--source", required=True, metavar="FILE", help="source sentences, one per line")
    add("-t", "--target", required=True, metavar="FILE", help="target sentences, in the same order")
    add("-a", "--alignment", required=True, metavar="FILE", help="word alignments: points 0-0 1-2, GIZA++'s A3 or bal")
    add(
        "--from", dest="from_format", metavar="FORMAT", help="alignment format, NAME[,key=value...] (default: detected)"
    )
    add_output(parser)
    add("--max-length", type=int, metavar="N", help="maximum words per side of a table entry (default: 255)")
    add("--no-parts", action="store_true", help="no table entries for the parts inside an indecomposable item")
    add(
        "--skip-bad",
        action="store_true",
        help="skip sentence pairs with links outside the sentence (default: an error)",
    )
    add_quiet(parser, "no progress and no statistics")


def run(host: Host, args: argparse.Namespace) -> None:
    """Label the text and print statistics."""
    from smtplugins.contracts.tools.extraction import MAX_PHRASE
    from smtplugins.plugins.searn.labels.labelling import AlignedFiles, label_text

    if args.max_length is not None and not 1 <= args.max_length <= MAX_PHRASE:
        raise UsageError(f"--max-length: expected 1 to {MAX_PHRASE}, found {args.max_length}")
    if [args.source, args.target, args.alignment].count("-") > 1:
        raise UsageError("expected at most one of source, target and alignment to be standard input (-), found more")
    record = label_text(
        host,
        AlignedFiles(args.source, args.target, args.alignment, args.from_format),
        Path(args.output),
        max_length=args.max_length,
        parts=not args.no_parts,
        skip_bad=args.skip_bad,
        force=args.force,
        quiet=args.quiet,
    )
    if not args.quiet:
        sys.stdout.write(format_statistics(record))


def format_statistics(record: dict[str, Any]) -> str:
    """Format the statistics as text."""
    with_items, kinds, table = record["sentences_with"], record["items_of_kind"], record["table"]
    rows = [("sentence pairs", record["sentences"], "")]
    for name, what in (("skipped", "left out"), ("empty", "with an empty side"), ("unlinked", "without links")):
        if record[name]:
            rows.append((f"  {what}", record[name], ""))
    rows.append(("items", record["items"], ""))
    for kind, what in (
        ("unaligned", "without target words"),
        ("crossing", "crossing"),
        ("simple", "simple permutations"),
    ):
        in_pairs = f"in {with_items.get(kind, 0)} pairs" if kind != "unaligned" else ""
        rows.append((f"  {what}", kinds.get(kind, 0), in_pairs))
    rows.append(("pairs with indecomposable items", with_items.get("indecomposable", 0), ""))
    share = f"{100 * table['single_word_share']:.1f} % with one source word"
    rows.append(("table entries", table["entries"], share))
    rows.append(("labels", len(record["labels"]), ""))
    for place, (label, count) in enumerate(record["labels"].items()):
        if place == _SHOWN and len(record["labels"]) > _SHOWN + 1:
            rows.append(("  others", sum(list(record["labels"].values())[_SHOWN:]), ""))
            break
        rows.append((f"  {label}", count, f"{100 * count / record['items']:.2f} %"))
    width = max(len(name) for name, _, _ in rows)
    digits = max(len(str(count)) for _, count, _ in rows)
    return "".join(f"{name:<{width}}  {count:>{digits}}  {note}".rstrip() + "\n" for name, count, note in rows)
