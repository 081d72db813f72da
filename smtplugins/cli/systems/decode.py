"""translate with any decoder, from a run.yaml or a configuration of cdec, Moses or Joshua"""

from __future__ import annotations

import argparse
import sys

from smtplugins.cli import options
from smtplugins.contracts.errors import UsageError
from smtplugins.host.command_options import add_jobs


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    options.add_config(parser, required=True)
    parser.add_argument(
        "--decoder", metavar="NAME[,key=value...]", help="use this decoder instead; parsing options are kept"
    )
    options.add_features(parser, "its weight comes from -w or --set-weight")
    parser.add_argument("-w", "--weights", metavar="FILE", help="weights instead of the configuration's")
    options.add_set_weight(parser)
    options.add_escape(parser, "escape input words and unescape translations, for tables made with it (sets escape)")
    options.add_input(parser, "sentences or lattices, one per line", configured=True)
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="file for translations, or with -k for n-best lists"
    )
    parser.add_argument("-k", "--nbest", type=int, metavar="N", help="write N-best lists with features and scores")
    parser.add_argument("--unique", action="store_true", help="keep each text once per list")
    parser.add_argument(
        "--fields",
        metavar="NAME[,NAME...]",
        help="additional fields of lists, for phrase decoders: segmentation, alignment (of words), input (words of the "
        "lattice path)",
    )
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="format of lists (default: that of the file's suffix, else of the configuration's toolkit)",
    )
    options.add_precision(parser)
    parser.add_argument(
        "--search", metavar="NAME", help="search algorithm (sets decoder.search), such as cube or stack for phrases"
    )
    parser.add_argument(
        "--pop-limit", type=int, metavar="K", help="hypotheses popped per node or stack (sets decoder.pop_limit)"
    )
    parser.add_argument(
        "--stack", type=int, metavar="N", help="hypotheses kept per stack, 0 for all (sets decoder.stack_size)"
    )
    add_jobs(parser, default="else `runner` of the configuration, ")
    _add_records(parser)
    options.add_cache(parser)
    options.add_manifest(parser)


def _add_records(parser: argparse.ArgumentParser) -> None:
    """Add the options for what is written beside translations."""
    parser.add_argument("--forests", metavar="DIR", help="write the forest of each sentence into this folder")
    parser.add_argument(
        "--forests-format",
        metavar="FORMAT",
        help="format of forests, NAME[,key=value...], such as moses-search-graph,extended=true, moses-hypergraph or "
        "slf-lattice (default: cdec-json-hypergraph)",
    )
    parser.add_argument("--built", metavar="FILE", help="write the building steps of trees, for `smt report --built`")
    parser.add_argument("--trace", action="store_true", help="print the best derivations to standard error")
    parser.add_argument("--stats", metavar="FILE", help="write times and counts as JSON")


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.contracts.spec import Spec, parameters
    from smtplugins.host.config.override import with_decoder, with_own

    decoder = Spec.parse(args.decoder) if args.decoder is not None else None
    effort = {
        option: (key, value)
        for option, key, value in (
            ("--search", "search", args.search),
            ("--pop-limit", "pop_limit", args.pop_limit),
            ("--stack", "stack_size", args.stack),
        )
        if value is not None
    }
    overrides = [*args.set, *((f"decoder.{key}", value) for key, value in effort.values())]
    if decoder is not None:
        decoder, overrides = with_own(decoder, overrides)
    if args.escape is not None:
        overrides.append(("escape", args.escape))
    host, config = options.load_configured(args, overrides)
    if decoder is not None:
        config = with_decoder(host, config, decoder)
    if config.decoder is not None and config.decoder.name in host.registry.names("decoders"):
        known = parameters(host.registry.factory("decoders", config.decoder.name))
        for option, (key, _) in effort.items():
            if key not in known:
                raise UsageError(f"{option}: decoder {config.decoder.name!r} has no option {key!r}")
    source = args.input or (str(config.source) if config.source is not None else "-")
    manifest = options.Manifest(
        args, [args.config, source, args.weights, *map(str, config.paths), *options.feature_files(args)]
    )
    fields = [] if args.fields is None else [name.strip() for name in args.fields.split(",")]
    trace = (lambda line: print(line, file=sys.stderr)) if args.trace else None
    # What ``--set`` and ``--ignore`` change is in the configuration already.
    given = {"features": args.feature, "set_weights": options.set_weights(args), "ignore": ()}
    options.call(host.decode, args, config=config, sentences=source, fields=fields, trace=trace, **given)
    manifest.write(host)
