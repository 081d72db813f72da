"""translate with any decoder, from a run.yaml or a configuration of cdec, Moses or Joshua"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys

from smtplugins.cli import options


def summary(name: str) -> str:
    """The summary on the help page."""
    return "translate with the system of a run.yaml, cdec.ini, moses.ini or joshua.config"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "-c", "--config", required=True, metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config"
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a key, such as decoder.pop_limit=200"
    )
    options.add_ignore(parser)
    parser.add_argument(
        "--decoder", metavar="NAME[,key=value...]", help="use this decoder instead; parsing options are kept"
    )
    parser.add_argument("-w", "--weights", metavar="FILE", help="weights instead of the configuration's")
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
        help="format of lists (default: that of the configuration's toolkit)",
    )
    options.add_precision(parser)
    parser.add_argument(
        "--search", metavar="NAME", help="sets decoder.search: the search algorithm, cube or stack for phrases"
    )
    parser.add_argument(
        "--pop-limit", type=int, metavar="K", help="sets decoder.pop_limit: hypotheses popped per node or stack"
    )
    parser.add_argument(
        "--stack", type=int, metavar="N", help="sets decoder.stack_size: hypotheses kept per stack, 0 for all"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        metavar="N",
        help="processes, same output for any N (default: `runner` of the configuration, else 1)",
    )
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
    options.add_cache(parser)
    options.add_manifest(parser)
    options.add_common(parser)
    parser.set_defaults(command=run)


def run(args: argparse.Namespace) -> None:
    """Run the command."""
    from smtformats.files import open_write
    from smtplugins.contracts.errors import UsageError
    from smtplugins.contracts.spec import Spec, parameters
    from smtplugins.host.config.override import with_decoder
    from smtplugins.host.config.run_yaml import Override, load_config
    from smtplugins.host.config.weight_names import checked
    from smtplugins.host.decode import job
    from smtplugins.host.decode.sentences import read_source
    from smtplugins.host.decode.translator import make_translator
    from smtplugins.host.host import runner_of

    overrides: list[Override] = list(args.set)
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
    if decoder is not None:
        for key, _ in effort.values():
            if key in decoder.options:
                raise UsageError(f"option {key!r} of {decoder.name!r} is given twice")
        decoder = Spec(decoder.name, {**decoder.options, **dict(effort.values())})
    else:
        overrides += [(f"decoder.{key}", value) for key, value in effort.values()]
    config = load_config(args.config, overrides, ignore=args.ignore)
    args.plugin = [*args.plugin, *config.plugins]
    host = options.load_host(args)
    if decoder is not None:
        config = with_decoder(host, config, decoder)
    if config.decoder is not None and config.decoder.name in host.registry.names("decoders"):
        known = parameters(host.registry.factory("decoders", config.decoder.name))
        for option, (key, _) in effort.items():
            if key not in known:
                raise UsageError(f"{option}: decoder {config.decoder.name!r} has no option {key!r}")
    # Check the runner before loading tables.
    runner_of(host, args.jobs, config)
    source = args.input or (str(config.source) if config.source is not None else "-")
    manifest = options.Manifest(args, [args.config, source, args.weights, *map(str, config.model.grammar)])
    weights = host.read_weights(args.weights) if args.weights is not None else None
    translator = make_translator(host, config, weights, args.cache)
    note = (lambda text: None) if args.quiet else options.note
    sentences = read_source(host, translator, source, args.from_format, note)
    wanted = args.nbest if args.nbest is not None else (config.output.nbest if config.output.nbest > 1 else None)
    for option, value in (("--to", args.to_format), ("--unique", args.unique), ("--fields", args.fields)):
        if value and wanted is None:
            raise UsageError(f"{option} needs n-best lists (-k N)")
    if args.forests_format is not None and args.forests is None:
        raise UsageError("--forests-format needs --forests DIR")
    if args.stats and not os.path.isdir(os.path.dirname(args.stats) or "."):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.path.dirname(args.stats))
    translator = translator.loaded()
    for text in (*config.notes, *translator.notes()):
        note(text)
    statistics = job.run(
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
    """Split names at commas."""
    return tuple(name.strip() for name in text.split(",")) if text is not None else ()
