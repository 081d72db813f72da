"""Texts checked before a system is built from them: files that match, and what makes scores misleading."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from smtformats.corpus.text import open_sentences, parse
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.recipes import MODEL, TABLES, RecipeStep
from smtplugins.host.arguments import argument
from smtplugins.host.estimate.prepare import read_blocks
from smtplugins.host.text.characters import needs_escapes
from smtplugins.host.text.preparation import SIDES, Preparation
from smtplugins.host.text.sides import language_of
from smtplugins.host.train.plan import TextPair, TrainPlan

# Eight letters in a row of scripts without blanks between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese.
_UNSEGMENTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{8}")


def check_texts(plan: TrainPlan, say: Callable[[str], None]) -> None:
    """Check that all files can be read and have as many lines as they should.

    Said of the texts to learn weights from and to judge by: lines with an empty side, and sentence pairs that are in
    the training text or in both of them. Said of the training text: if its words are not separated. Files whose names
    say that their languages are exchanged are an error, and so is text that is prepared already.
    """
    _check_raw(plan)
    held_out = {}
    languages = _languages(plan.train)
    for name, text in {"dev": plan.dev, "test": plan.test}.items():
        if text is None:
            continue
        if None not in languages and languages[0] != languages[1] and _languages(text) == languages[::-1]:
            source, target = languages
            raise UsageError(
                f"{name}: expected a source file in {source} and references in {target}, as the names of the training "
                f"text say, found {text.source.name} and {text.targets[0].name}"
            )
        lines = held_out[name] = list(_lines(text))
        if empty := [number for number, line in enumerate(lines, 1) if not all(map(str.strip, line))]:
            say(f"note: {name}: {len(empty)} of {len(lines)} lines have an empty side, the first is line {empty[0]}")
    pairs = {name: {pair for line in lines for pair in _pairs(line)} for name, lines in held_out.items()}
    known: set[tuple[str, ...]] = set()
    unsegmented, total = [0, 0], 0
    for line in _lines(plan.train):
        total += 1
        if any(line in some for some in pairs.values()):
            known.add(line)
        for i, sentence in enumerate(line):
            unsegmented[i] += _UNSEGMENTED.search(sentence) is not None
    for side, count in zip(SIDES, unsegmented, strict=True):
        if 2 * count > total:
            say(f"note: {side}: expected blanks between words, found none in most lines: no tokenizer here adds them")
    for name, lines in held_out.items():
        for other, those in ("training", known), ("dev", pairs["dev"] if name == "test" else set()):
            if count := sum(not those.isdisjoint(_pairs(line)) for line in lines):
                say(f"note: {name}: {count} of {len(lines)} sentence pairs are in the {other} text, too")


def check_words(folder: Path, step: RecipeStep, steps: Sequence[RecipeStep]) -> None:
    """Check the words of a training text once it is prepared: tables and models may have to escape some of them."""
    made = [one for one in steps if {TABLES, MODEL} & {*one.makes}]
    known = step.name == "prepare" or step.name.startswith("prepare-monolingual")
    if not known or all("--escape" in one.command for one in made):
        return
    for name in (f"{step.makes[0]}/{side}" for side in SIDES):
        if not (folder / name).exists():
            continue
        with open_sentences(folder / name) as lines:
            bad = [line for line in parse(lines) if needs_escapes(line)]
        if bad:
            word = next(word for word in bad[0].split() if needs_escapes(word))
            raise SmtError(
                f"{folder / name}: this model takes no words like {word!r}, which stand in {len(bad)} lines, first in "
                f"{bad[0]!r}: remove these lines or words from the text, and begin in another folder"
            )


def _check_raw(plan: TrainPlan) -> None:
    """Refuse text that `smt prepare` made: the same options are applied to all, and decoding takes raw text."""
    for path in plan.inputs:
        found = Preparation.holding(path)
        if found is None:
            continue
        settings = found[0].settings(found[1])
        held_out = path in plan.dev.paths or (plan.test is not None and path in plan.test.paths)
        if held_out or (settings.tokenize, settings.case) != ("none", "keep"):
            options = f"{argument('tokenize')} {settings.tokenize} {argument('case')} {settings.case}"
            raise UsageError(f"{path}: expected raw text, found text prepared with {options}: name the raw file")


def _pairs(line: Sequence[str]) -> list[tuple[str, ...]]:
    """The source sentence with each of its translations."""
    return [(line[0], reference) for reference in line[1:]]


def _languages(text: TextPair) -> list[str | None]:
    """The languages of the source and of the first target, if the names of the files say them."""
    return [language_of(str(path)) for path in text.paths[:2]]


def _lines(text: TextPair) -> Iterator[tuple[str, ...]]:
    """The lines of a text: source and references."""
    for block in read_blocks({str(path): path for path in text.paths}):
        yield from zip(*block, strict=True)
