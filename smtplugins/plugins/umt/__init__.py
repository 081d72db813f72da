"""Undirected machine translation with discriminative reinforcement learning (Gesmundo and Henderson, 2014)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Command, Offer

PAPER = "Gesmundo and Henderson (2014)"


@hookimpl
def smt_features() -> Iterator[Offer]:
    """Features that only an undirected decoder can use."""
    from smtplugins.plugins.umt.features.cff import Cff
    from smtplugins.plugins.umt.features.language_model import UndirectedLm
    from smtplugins.plugins.umt.features.shape import UndirectedShape

    yield Offer(
        name="cff",
        make=Cff,
        summary="bounds on the missing branches of a growing tree, for the decoder umt; not part of scores",
        needs=frozenset({"target", "grammar"}),
        reference=PAPER,
    )
    yield Offer(
        name="undirected-lm",
        make=UndirectedLm,
        summary="a language model (ARPA or KenLM file) that scores words as soon as their neighbours are known",
        needs=frozenset({"target"}),
        trial=_tiny_arpa,
        reference=PAPER,
    )
    yield Offer(
        name="undirected-shape",
        make=UndirectedShape,
        summary="attachment (above, below) and number of gaps of rules, for the decoder umt; not in the paper",
        needs=frozenset({"target", "grammar"}),
    )


@hookimpl
def smt_decoders() -> Iterator[Offer]:
    """The decoder `umt`."""
    from smtplugins.plugins.umt.growing.decoder import Umt

    yield Offer(
        name="umt",
        make=Umt,
        summary="hierarchical translation by greedily growing a tree in any order: fast, with any features",
        reference=PAPER,
    )


@hookimpl
def smt_learners() -> Iterator[Offer]:
    """The learner `drl`."""
    from smtplugins.plugins.umt.learning.drl import Drl

    yield Offer(
        name="drl",
        make=Drl,
        summary="discriminative reinforcement learning of a decoder's policy: tries other actions, compares rewards",
        reference=PAPER,
    )


def _tiny_arpa(folder: Path) -> dict[str, Any]:
    path = folder / "tiny.arpa"
    path.write_text(
        "\\data\\\nngram 1=5\nngram 2=4\nngram 3=2\n\n"
        "\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\ta\t-0.2\n-0.9\tb\t-0.1\n\n"
        "\\2-grams:\n-0.4\t<s> a\t-0.15\n-0.5\ta b\t-0.25\n-0.35\tb a\n-0.45\tb </s>\n\n"
        "\\3-grams:\n-0.2\t<s> a b\n-0.3\ta b </s>\n\n\\end\\\n",
        encoding="utf-8",
    )
    return {"path": path}


@hookimpl
def smt_commands() -> Iterator[Command]:
    """``smt umt compare`` and ``smt umt sensitivity``."""
    from smtplugins.plugins.umt.study.command import COMPARE, SENSITIVITY

    yield COMPARE
    yield SENSITIVITY
