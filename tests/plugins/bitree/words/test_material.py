"""Material of word transduction: links one to one, rows by source word, against a counter that goes another way."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np

from smtplugins.plugins.bitree.words.atoms import sentence_atoms
from smtplugins.plugins.bitree.words.links import LinkCounts, one_to_one
from smtplugins.plugins.bitree.words.material import NULL, Pair, TokenRows, count_links, rows_like, training_rows


def made(seed: int, count: int = 40) -> list[Pair]:
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        source = tuple(draw.choice("abcdef") for _ in range(draw.randint(1, 6)))
        target = tuple(draw.choice("uvwxyz") for _ in range(draw.randint(1, 6)))
        links = {(draw.randrange(len(source)), draw.randrange(len(target))) for _ in range(draw.randint(0, 7))}
        pairs.append(Pair(source, target, tuple(sorted(links))))
    return pairs


def test_the_strongest_links_win_and_each_word_has_one() -> None:
    text = [(("a", "b"), ("x", "y"), [(0, 0), (1, 1)])] * 3 + [(("a", "b"), ("x",), [(0, 0), (1, 0)])]
    counts = LinkCounts.of(text)
    # c(a, x) = 4, c(b, x) = 1, c(b, y) = 3.
    assert counts.strength("a", "x") == 16 / (4 * 5)
    assert counts.strength("b", "x") == 1 / (4 * 5)
    assert counts.strength("a", "z") == 0
    assert one_to_one(["b", "a"], ["x"], [(0, 0), (1, 0)], counts) == {1: 0}
    assert one_to_one(["b", "a"], ["x", "y"], [(0, 0), (1, 0), (0, 1)], counts) == {1: 0, 0: 1}
    # Equal ones from left to right.
    assert one_to_one(["b", "b"], ["y"], [(0, 0), (1, 0)], counts) == {0: 0}
    assert one_to_one(["b"], ["y", "y"], [(0, 1), (0, 0)], counts) == {0: 0}


def test_no_link_that_was_left_out_could_still_be_taken() -> None:
    pairs = made(3)
    counts = count_links(pairs)
    for pair in pairs:
        found = one_to_one(pair.source, pair.target, pair.links, counts)
        assert set(found.items()) <= set(pair.links)
        assert len(set(found.values())) == len(found)
        for i, j in set(pair.links) - set(found.items()):
            rivals = [(i, found[i])] if i in found else []
            rivals += [(k, j) for k, other in found.items() if other == j]
            own = counts.strength(pair.source[i], pair.target[j])
            assert any((-counts.strength(pair.source[k], pair.target[m]), (k, m)) < (-own, (i, j)) for k, m in rivals)


def _tokens(rows: TokenRows) -> dict[tuple[int, int], tuple[str, str | None, bool, frozenset[str]]]:
    """What rows say of each token: by sentence and place, the word, its translation, the link and the atoms."""
    found = {}
    for word, name in enumerate(rows.words):
        own = rows.of(word)
        examples = rows.examples(word)
        for k, row in enumerate(range(own.start, own.stop)):
            number = int(rows.classes[row])
            translation = rows.translations[word][number] if number >= 0 else None
            at = (int(rows.sentence[row]), int(rows.place[row]))
            assert at not in found
            found[at] = (name, translation, bool(rows.linked[row]), frozenset(examples.row(k)))
    return found


def _wanted(pairs: list[Pair], counts: LinkCounts) -> dict[tuple[int, int], tuple[str, str, bool, frozenset[str]]]:
    found = {}
    for number, pair in enumerate(pairs):
        chosen = one_to_one(pair.source, pair.target, pair.links, counts)
        own, shared = sentence_atoms(pair.source)
        for at, word in enumerate(pair.source):
            translation = pair.target[chosen[at]] if at in chosen else NULL
            linked = any(i == at for i, _ in pair.links)
            found[number, at] = (word, translation, linked, frozenset([*own[at], *shared]))
    return found


def test_training_rows_are_the_tokens_of_the_text() -> None:
    pairs = made(1)
    counts = count_links(pairs)
    rows = training_rows(pairs, counts)
    wanted = _wanted(pairs, counts)
    assert _tokens(rows) == wanted
    assert rows.words == tuple(sorted({word for pair in pairs for word in pair.source}))
    for word, name in enumerate(rows.words):
        seen = Counter(translation for other, translation, _, _ in wanted.values() if other == name)
        assert set(rows.translations[word]) == set(seen)
        frequencies = [seen[one] for one in rows.translations[word]]
        assert frequencies == sorted(frequencies, reverse=True)
        for one, other in combinations(rows.translations[word], 2):
            assert seen[one] > seen[other] or one < other
        # Rows of a word stand in the text's order.
        own = rows.of(word)
        places = list(zip(rows.sentence[own].tolist(), rows.place[own].tolist(), strict=True))
        assert places == sorted(places)
        problem = rows.problem(word)
        assert (problem.name, problem.names) == (name, rows.translations[word])
        assert np.array_equal(problem.classes, rows.classes[own])


def test_rows_of_another_text_have_what_training_knows() -> None:
    training_pairs, pairs = made(1), made(2, 10)
    pairs.append(Pair(("new", "a"), ("u", "new"), ((0, 0), (1, 1))))
    counts = count_links(training_pairs)
    training = training_rows(training_pairs, counts)
    rows = rows_like(pairs, counts, training)
    assert rows.words == (*training.words, "new")
    assert rows.translations == (*training.translations, (NULL,))
    assert rows.atoms is training.atoms
    known = set(training.atoms)
    found = _tokens(rows)
    for at, (word, translation, linked, atoms) in _wanted(pairs, counts).items():
        names = rows.translations[rows.words.index(word)]
        assert found[at] == (word, translation if translation in names else None, linked, atoms & known)


def test_only_some_kinds_of_atoms() -> None:
    pairs = made(4)
    rows = training_rows(pairs, count_links(pairs))
    window = rows.only("W")
    assert len(window) == len(rows)
    assert window.atoms is rows.atoms
    for at, (_, _, _, atoms) in _tokens(window).items():
        assert atoms == {one for one in _tokens(rows)[at][3] if one[1] in "+-"}
        break
    for word in range(len(rows.words)):
        for k in range(len(rows.examples(word))):
            kept = [one for one in rows.examples(word).row(k) if one[1] in "+-"]
            assert list(window.examples(word).row(k)) == kept
    assert np.array_equal(rows.only("WDC").ids, rows.ids)


def test_no_text_at_all() -> None:
    rows = training_rows([], count_links([]))
    assert len(rows) == 0
    assert rows.words == ()
