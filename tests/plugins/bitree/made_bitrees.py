"""Bitrees for tests: random trees, and a text in which adjectives and what is left of verbs change places."""

from __future__ import annotations

import random

from smtformats.tree.trees import tree_of
from smtplugins.plugins.bitree.boosting.boosting import boost
from smtplugins.plugins.bitree.trees.bitrees import Bitree
from smtplugins.plugins.bitree.trees.cohesion import cohesive
from smtplugins.plugins.bitree.trees.source_trees import SourceTree, TreeMaker
from smtplugins.plugins.bitree.trees.tree_making import from_brackets
from smtplugins.plugins.bitree.words.material import Pair, count_links, training_rows
from smtplugins.plugins.bitree.words.predicting import Mixture
from smtplugins.plugins.bitree.words.word_model import WordModel

_WORDS = {"the": "le", "house": "maison", "cat": "chat", "dog": "chien", "red": "rouge", "old": "vieux", "sees": "voit"}


def random_tree(draw: random.Random, size: int, unary: float = 0.2) -> SourceTree:
    """Any shape, any heads."""
    maker = TreeMaker(tuple(draw.choice("abc") for _ in range(size)), ("T",) * size)
    row = list(range(size))
    while len(row) > 1:
        first = draw.randrange(len(row) - 1)
        last = draw.randrange(first + 2, min(first + 4, len(row)) + 1)
        row[first:last] = [maker.add(draw.choice("XY"), tuple(row[first:last]), draw.randrange(last - first))]
        if draw.random() < unary:
            row[first] = maker.add("U", (row[first],), 0)
    return maker.tree("constituents")


def random_bitree(draw: random.Random, size: int) -> Bitree:
    """Any bitree of so many words, some of them NULL."""
    tree = random_tree(draw, size)
    places = draw.sample(range(size + 2), size)
    kept = dict(cohesive(tree, ((i, j) for i, j in enumerate(places) if draw.random() < 0.8)))
    return Bitree.of(tree, tuple(draw.choice("xyz") for _ in range(size + 2)), kept)


def sentence(draw: random.Random) -> tuple[str, str, str]:
    """A source tree in brackets, its translation, and links: ``red`` goes behind its noun, ``old`` does not."""

    def phrase() -> tuple[str, list[tuple[str, str]]]:
        noun, adjective = draw.choice(["house", "cat", "dog"]), draw.choice(["red", "old", ""])
        source = f"(NP (DT the) {f'(JJ {adjective}) ' if adjective else ''}(NN {noun}))"
        words = ["the", noun, adjective] if adjective == "red" else ["the", adjective, noun]
        return source, [(word, _WORDS[word]) for word in words if word]

    (subject, first), (thing, second) = phrase(), phrase()
    tree = f"(S {subject} (VP (VBZ sees) {thing}))"
    target = [*first, ("sees", "voit"), *second]
    source = [word for word in tree.replace("(", " ").replace(")", " ").split() if word.islower()]
    half = len(first)
    places: list[int] = []
    for at, word in enumerate(source):
        options = [k for k, (name, _) in enumerate(target) if name == word and k not in places]
        places.append(min(options) if at < half else max(options))
    return tree, " ".join(name for _, name in target), " ".join(f"{i}-{j}" for i, j in enumerate(places))


def text(seed: int, count: int) -> list[tuple[str, str, str]]:
    """So many sentences."""
    draw = random.Random(seed)
    return [sentence(draw) for _ in range(count)]


def bitrees(seed: int, count: int) -> list[Bitree]:
    """The same as bitrees."""
    made = []
    for tree, target, links in text(seed, count):
        chosen = {int(i): int(j) for i, j in (link.split("-") for link in links.split())}
        made.append(Bitree.of(from_brackets(tree_of(tree, 100)), target.split(), chosen))
    return made


def word_model(seed: int, count: int) -> WordModel:
    """Words of the same text, learnt from window and dependency."""
    pairs = []
    for tree, target, links in text(seed, count):
        grown = from_brackets(tree_of(tree, 100))
        points = tuple((int(i), int(j)) for i, j in (link.split("-") for link in links.split()))
        pairs.append(Pair(grown.words, tuple(target.split()), points, grown))
    rows = training_rows(pairs, count_links(pairs)).only("WD")
    model = boost([rows.problem(word) for word in range(len(rows.words))], least=0.5)
    return WordModel({"WD": model}, Mixture("WD", {}), "constituents")
