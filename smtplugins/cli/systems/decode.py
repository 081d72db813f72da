"""translate with any decoder: by a run.yaml, or a configuration of cdec, Moses or Joshua as it is"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys

from smtplugins.cli import options


def summary(name: str) -> str:
    """A line for the help page."""
    return "translate as a run.yaml, cdec.ini, moses.ini or joshua.config says, with any decoder"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options."""
    parser.add_argument(
        "-c", "--config", required=True, metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a key, as decoder.pop_limit=200"
    )
    options.add_ignore(parser)
    parser.add_argument(
        "--decoder", metavar="NAME[,key=value...]", help="another one, which parses sentences as it did"
    )
    parser.add_argument("-w", "--weights", metavar="FILE", help="weights in place of the configuration's")
    options.add_input(parser, "sentences or lattices, one on each line", configured=True)
    parser.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="where to write translations, or with -k lists"
    )
    parser.add_argument(
        "-k", "--nbest", type=int, metavar="N", help="write lists of the N best translations with features and scores"
    )
    parser.add_argument("--unique", action="store_true", help="each text once in a list")
    parser.add_argument(
        "--fields",
        metavar="NAME[,NAME...]",
        help="what else lists of phrase decoders have: segmentation, alignment (of words), input (a lattice's words)",
    )
    parser.add_argument(
        "--to",
        dest="to_format",
        metavar="FORMAT",
        help="format of lists (default: the configuration's toolkit's)",
    )
    options.add_precision(parser)
    parser.add_argument("--search", metavar="NAME", help="as decoder.search: how, by phrases cube or stack")
    parser.add_argument("--pop-limit", type=int, metavar="K", help="as decoder.pop_limit: effort at each node or stack")
    parser.add_argument(
        "--stack", type=int, metavar="N", help="as decoder.stack_size: hypotheses that a stack keeps, 0 for all"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        metavar="N",
        help="processes, same output for any N (default: as `runner` of the configuration says, else 1)",
    )
    parser.add_argument("--forests", metavar="DIR", help="write what the search kept of each sentence into DIR")
    parser.add_argument(
        "--forests-format",
        metavar="FORMAT",
        help="NAME[,key=value...] of any hypergraphs, as moses-search-graph,extended=true, moses-hypergraph or "
        "slf-lattice (default: cdec-json-hypergraph)",
    )
    parser.add_argument(
        "--built", metavar="FILE", help="write the steps in which trees were built, for `smt report --built`"
    )
    parser.add_argument("--trace", action="store_true", help="print the best derivations to standard error")
    parser.add_argument("--stats", metavar="FILE", help="write times and counts as JSON")
    options.add_cache(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Do it."""
    from smtformats.files import open_write
    from smtplugins.contracts.spec import parameters
    from smtplugins.host.config.override import with_decoder
    from smtplugins.host.config.run_yaml import load_config
    from smtplugins.host.config.weight_names import checked
    from smtplugins.host.decode import decoding
    from smtplugins.host.errors import UsageError
    from smtplugins.host.host import runner_of

    overrides = list(args.set)
    decoder = args.decoder
    effort = {
        option: (key, value)
        for option, key, value in (
            ("--search", "search", args.search),
            ("--pop-limit", "pop_limit", args.pop_limit),
            ("--stack", "stack_size", args.stack),
        )
        if value is not None
    }
    for key, value in effort.values():
        if decoder is not None:
            decoder += f",{key}={value}"
        else:
            overrides.append(f"decoder.{key}={value}")
    config = load_config(args.config, overrides, ignore=args.ignore)
    args.plugin = [*args.plugin, *config.plugins]
    host = options.load_host(args)
    if decoder is not None:
        config = with_decoder(host, config, decoder)
    if config.decoder is not None and config.decoder.name in host.registry.names("decoders"):
        known = parameters(host.registry.entry("decoders", config.decoder.name).record.make)
        for option, (key, _) in effort.items():
            if key not in known:
                raise UsageError(f"{option}: decoder {config.decoder.name!r} has no option {key!r}")
    # A wrong one is said before tables are loaded.
    runner_of(host, args.jobs, config)
    source = args.input or (str(config.source) if config.source is not None else "-")
    manifest = options.Manifest(args, [args.config, source, args.weights, *map(str, config.model.grammar)])
    weights = host.read_weights(args.weights) if args.weights is not None else None
    translator = decoding.make_translator(host, config, weights, args.cache)
    note = (lambda text: None) if args.quiet else options.note
    sentences = decoding.read_source(host, translator, source, args.from_format, note)
    wanted = args.nbest if args.nbest is not None else (config.output.nbest if config.output.nbest > 1 else None)
    for option, given in (("--to", args.to_format), ("--unique", args.unique), ("--fields", args.fields)):
        if given and wanted is None:
            raise UsageError(f"{option} is for lists: say how long they are with -k N")
    if args.forests_format is not None and args.forests is None:
        raise UsageError("--forests-format is for forests: say where they go with --forests DIR")
    if args.stats and not os.path.isdir(os.path.dirname(args.stats) or "."):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.path.dirname(args.stats))
    translator = translator.loaded()
    for text in (*config.notes, *translator.notes()):
        note(text)
    statistics = decoding.run(
        host,
        translator,
        checked(translator, sentences, note),
        args.output,
        k=wanted,
        to_format=args.to_format,
        unique=args.unique or config.output.unique,
        jobs=args.jobs,
        fields=config.output.fields if args.fields is None and wanted is not None else _names(args.fields),
        forests=args.forests,
        forests_format=args.forests_format,
        trace=(lambda line: print(line, file=sys.stderr)) if args.trace else None,
        built=args.built,
        precision=args.precision,
        note=note,
        quiet=args.quiet,
    )
    if args.stats:
        with open_write(args.stats) as out:
            json.dump(statistics.record(), out, indent=1)
            out.write("\n")
    manifest.write(host)


def _names(text: str | None) -> tuple[str, ...]:
    """Names with commas between."""
    return tuple(name.strip() for name in text.split(",")) if text is not None else ()
