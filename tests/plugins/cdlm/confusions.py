"""Figure 1 of the paper, and a small language whose sentences are easily confused."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from smtformats.grammar.rules import NonTerminal
from smtplugins.core.graph.hypergraph import Hypergraph
from smtplugins.host.estimate.lm import estimate_files
from smtplugins.host.files.opening import open_known
from smtplugins.host.host import Host
from smtplugins.plugins.cdlm.sets.confusing import ConfusionSetting

FIGURE_1 = """\
[X] ||| a cat ||| the cat
[X] ||| the mat ||| the mat
[X] ||| [X,1] on [X,2] ||| [1] [2]
[X] ||| [X,1] on [X,2] ||| [1] 's [2]
[X] ||| [X,1] on [X,2] ||| [2] on [1]
[X] ||| [X,1] on [X,2] ||| [2] of [1]
"""
FOUR = {"the cat the mat", "the cat 's the mat", "the mat of the cat", "the mat on the cat"}
_NOUNS = ("dog", "cat", "man", "tree", "house", "bird")
_VERBS = ("sees", "hears", "likes")
_PLACES = ("on", "near", "behind")
# What each word is taken for, itself among it; "" for nothing.
_TAKEN = {
    "the": ("the", "of the", ""),
    "a": ("a", "of a", ""),
    "sees": ("sees", "see"),
    "hears": ("hears", "hear"),
    "likes": ("likes", "like"),
    "on": ("on", ""),
    "near": ("near", "of", ""),
    "behind": ("behind", "of behind", ""),
}


def sentences(count: int, seed: int) -> list[str]:
    """Sentences such as ``the dog near a tree sees a bird``."""
    rng = random.Random(seed)

    def noun() -> str:
        return f"{rng.choice(('the', 'a'))} {rng.choice(_NOUNS)}"

    made = []
    for _ in range(count):
        place = f" {rng.choice(_PLACES)} {noun()}" if rng.random() < 0.5 else ""
        made.append(f"{noun()}{place} {rng.choice(_VERBS)} {noun()}")
    return made


def grammar() -> str:
    """Words that are taken for others, phrases that lose a word, and phrases that change places."""
    rules = []
    for noun in _NOUNS:
        rules.append((noun, noun))
        for article in ("the", "a"):
            rules += [(f"{article} {noun}", f"{one} {noun}".strip()) for one in _TAKEN[article]]
    for verb in _VERBS:
        rules += [(verb, one) for one in _TAKEN[verb]]
        rules += [(f"[X,1] {verb} [X,2]", f"[1] {one} [2]") for one in _TAKEN[verb]]
        rules.append((f"[X,1] {verb} [X,2]", f"[2] {verb} [1]"))
        rules.append((f"[X,1] {verb} [X,2]", f"[1] [2] {verb}"))
    for place in _PLACES:
        rules += [(f"[X,1] {place} [X,2]", f"[1] {one} [2]".replace("  ", " ")) for one in _TAKEN[place]]
        rules.append((f"[X,1] {place} [X,2]", f"[2] [1] {place}"))
    return "".join(f"[X] ||| {source} ||| {target}\n" for source, target in rules)


def write(folder: Path, train: int = 15, test: int = 20) -> ConfusionSetting:
    """A setting of this language with ``train.txt`` and ``test.txt`` beside it."""
    (folder / "confusion.cdec").write_text(grammar(), encoding="utf-8")
    (folder / "train.txt").write_text("".join(f"{one}\n" for one in sentences(train, 1)), encoding="utf-8")
    (folder / "test.txt").write_text("".join(f"{one}\n" for one in sentences(test, 2)), encoding="utf-8")
    (folder / "old.txt").write_text("".join(f"{one}\n" for one in sentences(60, 3)), encoding="utf-8")
    estimate_files([folder / "old.txt"], 2, fallback=(0.5,)).write_arpa(folder / "lm.arpa")
    classes = [(one, "N") for one in _NOUNS] + [(one, "V") for one in (*_VERBS, "see", "hear", "like")]
    classes += [("the", "D"), ("a", "D")] + [(one, "P") for one in (*_PLACES, "of")]
    (folder / "classes.txt").write_text("".join(f"{word}\t{name}\n" for word, name in classes), encoding="utf-8")
    return ConfusionSetting(folder / "confusion.cdec", folder / "lm.arpa")


@dataclass(frozen=True)
class Written:
    """One derivation: its words, and its edges."""

    words: tuple[str, ...]
    edges: tuple[int, ...]


def read_sets(host: Host, folder: Path) -> Iterator[Hypergraph]:
    """Saved confusion sets in the order of their numbers."""
    with open_known(folder, "hypergraph", None, host.formats()) as opened:
        for columns in opened.records():
            yield Hypergraph.from_columns(columns)


def derivations(graph: Hypergraph) -> list[Written]:
    """All derivations of the goal, written out."""
    found: list[list[Written]] = []
    for node in range(graph.nodes):
        here = []
        for edge in range(int(graph.edge_offsets[node]), int(graph.edge_offsets[node + 1])):
            tails = graph.tails[graph.tail_offsets[edge] : graph.tail_offsets[edge + 1]].tolist()
            for below in itertools.product(*(found[tail] for tail in tails)):
                edges = (edge, *(one for part in below for one in part.edges))
                here.append(Written(_words(graph, edge, below), edges))
        found.append(here)
    return found[-1]


def _words(graph: Hypergraph, edge: int, below: Sequence[Written]) -> tuple[str, ...]:
    words: list[str] = []
    for symbol in graph.grammar.rule(int(graph.rules[edge])).target:
        words += below[symbol.index - 1].words if isinstance(symbol, NonTerminal) else [symbol]
    return tuple(words)


def linear_bleu(words: Sequence[str], references: Sequence[Sequence[str]]) -> float:
    """The gain of the paper's code, with its four published numbers, counted one by one."""
    gains = [-1.0, *(1 / (4 * 0.85 * 0.7**n) for n in range(4))]
    assert np.round(gains, 4).tolist() == [-1, 0.2941, 0.4202, 0.6002, 0.8575]
    total = gains[0] * len(words)
    for n in range(1, 5):
        known = {tuple(one[i : i + n]) for one in references for i in range(len(one) - n + 1)}
        total += gains[n] * sum(tuple(words[i : i + n]) in known for i in range(len(words) - n + 1))
    return total
