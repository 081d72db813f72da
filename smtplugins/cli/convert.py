"""any format to any other of its kind; or new weights into an existing file"""

from __future__ import annotations

import argparse

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "a file in another format of its kind; weights into an existing file"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument("input", nargs="?", default="-", metavar="IN", help="what to convert (default: standard input)")
    parser.add_argument(
        "out",
        nargs="?",
        metavar="OUT",
        help="where to write (default: standard output); any configuration goes into a .yaml",
    )
    parser.add_argument("-i", "--input", dest="named_input", metavar="FILE", help="the same as IN")
    parser.add_argument("-o", "--output", metavar="FILE", help="the same as OUT")
    parser.add_argument("--from", dest="from_format", metavar="FORMAT", help="format of the input (default: by shape)")
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="format of the output (default: the input's); run-yaml for configurations",
    )
    from smtformats.escapes import SCHEMES

    parser.add_argument(
        "--into", metavar="FILE", help="put weights into this file (moses.ini, weights): only weight lines change"
    )
    spellings = ", ".join(SCHEMES)
    parser.add_argument(
        "--unescape", metavar="NAME", help=f"undo this spelling of special characters in the words: {spellings}"
    )
    parser.add_argument("--escape", metavar="NAME", help="spell special characters so")
    options.add_ignore(parser)
    options.add_precision(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtplugins.host.errors import UsageError
    from smtplugins.host.files.conversion import convert, update

    host = options.load_host(args)
    if args.out is not None and args.output is not None:
        raise UsageError("the output is named twice")
    if args.named_input is not None and args.input != "-":
        raise UsageError("the input is named twice")
    source = args.named_input or args.input
    target = args.output or args.out or "-"
    note = (lambda text: None) if args.quiet else options.note
    if args.into is not None:
        if args.to_format is not None:
            raise UsageError("--into keeps the format of the file; --to does not go with it")
        if args.ignore:
            raise UsageError("--ignore is for a configuration that becomes a run.yaml: --to run-yaml")
        if args.escape is not None or args.unescape is not None:
            raise UsageError("--into changes weights; --escape and --unescape do not go with it")
        update(host, source, args.into, target, args.from_format, precision=args.precision, note=note)
    else:
        convert(
            host,
            source,
            target,
            args.from_format,
            args.to_format,
            unescape=args.unescape,
            escape=args.escape,
            precision=args.precision,
            ignore=args.ignore,
            note=note,
            quiet=args.quiet,
        )
