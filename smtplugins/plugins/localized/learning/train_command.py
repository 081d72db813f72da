"""``smt localized train``: train a model on an event list and write a configuration that decodes with it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.tools.files import add_output, check_folder, new_folder
from smtplugins.contracts.tools.running import add_quiet, hushed, sayer
from smtplugins.plugins.localized.events.event_lists import EventList
from smtplugins.plugins.localized.learning import options as learning
from smtplugins.plugins.localized.learning.material import check_letters, learn_bigrams, learn_floats
from smtplugins.plugins.localized.learning.options import add_learning

if TYPE_CHECKING:
    import argparse

    from smtplugins.contracts.tools.running import Host

RECORD = "run.yaml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--events", required=True, metavar="DIR", help="event list made by `smt localized events`")
    add_learning(parser)
    add(
        "--features",
        default="abcdef",
        metavar="LETTERS",
        help="a unigram, b orientation, c and d language model (first word, other words), e lexical weight, f block "
        "bigrams (default: abcdef)",
    )
    add("--fix-floats", action="store_true", help="keep the float weights fixed while block bigrams are learnt")
    add_output(parser)
    add_quiet(parser)


def run(host: Host, args: argparse.Namespace) -> None:
    """Run the command."""
    from smtplugins.plugins.localized.decoding.block_system import write_table

    letters = check_letters(args.features)
    check_folder(Path(args.output), RECORD, force=args.force)
    material = learning.material_of(args, EventList.open(Path(args.events)))
    say = sayer(args.quiet)
    tell = learning.teller(say, "train")
    with hushed(args.quiet):
        model = learn_floats(
            material, letters.replace("f", ""), learning.float_settings(args), seed=args.seed, tell=tell
        )
        if "f" in letters:
            recipe = learning.bigram_settings(args)
            model = learn_bigrams(material, model, recipe, fixed=args.fix_floats, seed=args.seed, tell=tell)
    with new_folder(Path(args.output), RECORD, force=args.force) as aside:
        model.save(aside / "model")
        shutil.move(aside / "model" / "weights.txt", aside / "weights")
        counts = material.events.counts.total
        write_table(material.events.blocks, counts, aside / "blocks.gz", args.keep)
        has_bigrams = bool(model.artefacts)
        if has_bigrams:
            shutil.move(aside / "model" / "block-bigram", aside / "block-bigram")
        shutil.rmtree(aside / "model")
        configuration = _configuration(args, material.events.digest(), has_bigrams)
        (aside / RECORD).write_text(configuration, encoding="utf-8")


def _configuration(args: argparse.Namespace, digest: str, bigrams: bool) -> str:
    """Return a run.yaml, with paths relative to its folder."""
    here = Path(args.output).resolve()

    def relative(path: str) -> str:
        return os.path.relpath(Path(path).resolve(), here)

    options: dict[str, Any] = {"events_path": relative(args.events), "events_digest": digest}
    options["lm_path"] = relative(args.lm)
    if bigrams:
        options["bigrams_path"] = "block-bigram"
    options |= {"smoothing": args.smoothing, "floor": args.floor, "lex_norm": args.lex_norm}
    feature = {"name": "block-model", **options}
    return (
        "decoder: {name: swap, max_options: 0}\n"
        f"model:\n  tables: blocks.gz\n  features:\n    - {json.dumps(feature, ensure_ascii=False)}\n"
        "  weights: weights\n"
    )
