"""``smt cdlm compare``: the tables of Li, Wang, Khudanpur and Eisner (2010) for your own system and texts.

A system's grammar or searches give a confusion grammar; this gives the confusion sets of a text from which neither the
system nor the language model was made; two models learn from the sets. Table 2 judges the models on the confusion sets
of another text, table 3 in the system; table 4 compares n-grams of confusion sets with those of the system's lists.
"""

from __future__ import annotations

import argparse

from smtplugins.contracts.tools.running import add_number
from smtplugins.contracts.tools.study import add_study, add_tuning, file
from smtplugins.plugins.cdlm.picking.pick_command import add_judging
from smtplugins.plugins.cdlm.sets.confuse_command import add_setting
from smtplugins.plugins.cdlm.study.tables import PICKERS, SYSTEMS, TABLES
from smtplugins.plugins.cdlm.training.rounds import LEARNER


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("-i", "--input", required=True, type=file, metavar="TEXT", help="target-language sentences to learn from")
    add("-r", "--ref", action="append", default=[], type=file, metavar="FILE", help="paraphrases of -i (repeatable)")
    add("--test", required=True, type=file, metavar="TEXT", help="target-language sentences of the test set")
    test_ref = "paraphrases of --test (repeatable)"
    add("--test-ref", action="append", default=[], type=file, metavar="FILE", help=test_ref)
    _add_grammar(parser)
    group = parser.add_argument_group("the system (tables 3 and 4)")
    add = group.add_argument
    add("-c", "--config", metavar="FILE", help="run.yaml, cdec.ini, moses.ini or joshua.config, with a text to tune on")
    override = "override a key of the configuration (repeatable)"
    add("--config-set", action="append", default=[], metavar="KEY=VALUE", help=override)
    add("-w", "--weights", type=file, metavar="FILE", help="weights of the system (default: the configuration's)")
    add("--source", type=file, metavar="FILE", help="source sentences of the test set")
    add_tuning(group, seeds=3)
    group = parser.add_argument_group("learning")
    add = group.add_argument
    add("--learner", default=LEARNER, metavar="NAME[,key=value...]", help=f"learner of the models (default: {LEARNER})")
    gains = "precision and decay of the linear gains: measured on the baseline LM's picks, published (0.85,0.7), or P,R"
    add("--gains", default="measured", metavar="measured|published|P,R", help=gains)
    add_number(group, "--iterations", 5, "rounds of making sets and learning")
    add_number(group, "--rounds", 0, "learn from sets of the last N rounds, 0: all")
    add_number(group, "--frequent", 250, "without --classes: number of most frequent words with their own class")
    add_judging(parser)
    add_setting(parser, required=False)
    add_study(parser, TABLES, {**PICKERS, **SYSTEMS})


def _add_grammar(parser: argparse.ArgumentParser) -> None:
    """Add the options of the confusion grammar."""
    group = parser.add_argument_group("the confusion grammar, unless -g names one")
    add = group.add_argument
    system = "the system's grammars: confuse all target sides of a source side"
    add("--system", nargs="+", default=[], type=file, metavar="GRAMMAR", help=system)
    add("--cap", type=int, default=0, metavar="N", help="use at most N target sides of a source side")
    which = "target sides that --cap keeps, as in `smt cdlm grammar` (default: order)"
    add("--best", default="order", metavar="order|count|[-]FEATURE", help=which)
    add("--no-identity", dest="identity", action="store_false", help="leave out rules with equal sides")
    scope = "without --system: confuse rules that compete in searches of -c at a node (item) or span (cell)"
    add("--scope", choices=("item", "cell"), default="item", help=scope)
