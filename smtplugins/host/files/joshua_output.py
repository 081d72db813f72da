"""Print hypotheses by Joshua's ``output-format``: a text whose variables are replaced, one after the other.

``%k`` is the rank, ``%s`` the translation, ``%S`` the same detokenised and with its first letter in upper case, ``%i``
the sentence, ``%f`` the features, ``%c`` the score, ``%t`` the tree, ``%e`` the source side and ``%a`` the word
alignment. As in Joshua, numbers have three decimals, a variable inside a translation is replaced, too, an unknown one
stays as it is, and a sentence without a translation is printed once as it was given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from smtformats.escapes import escape
from smtplugins.contracts.errors import UsageError

if TYPE_CHECKING:
    from smtformats import Candidates

_FIELDS = {"%t": "tree", "%e": "input", "%a": "alignment"}
_JOINED_BEFORE, _JOINED_BEHIND = (",", ";", ":", ".", "!", "?", ")", "]", "}"), ("¡", "¿", "(", "[", "{")
_TITLES = ("dr", "miss", "mr", "mrs", "ms", "prof")
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_ENDINGS = ("'d", "'ll", "'m", "n't", "'re", "'s", "'ve")
_LETTER = re.compile(r"[^!-/:-@\[-`{-~ \t\n\x0b\f\r¡¿]")


def check_template(template: str) -> tuple[str, ...]:
    """The fields of lists that an output format needs; ``%d`` is not supported."""
    if "%d" in template:
        raise UsageError(
            f"template: expected an output format without %d (traces print derivations), found {template!r}"
        )
    return tuple(name for variable, name in _FIELDS.items() if variable in template)


def three_decimals(value: float) -> str:
    """A number as Joshua prints it."""
    return f"{value:.3f}"


def printed(
    nbest: Candidates, template: str, *, found: bool = True, number: Callable[[float], str] = three_decimals
) -> Iterator[str]:
    """The lines of a list; of a sentence without a translation (``found`` is false) one line with its text."""
    if not found:
        text = nbest.texts[0] if nbest.texts else ""
        values = (("%s", text), ("%e", ""), ("%S", ""), ("%t", "()"), ("%i", nbest.id), ("%f", ""))
        yield _replaced(template, [*values, ("%c", number(0.0))])
        return
    for i, text in enumerate(nbest.texts):
        pairs = zip(nbest.layouts[i], nbest.values[i], strict=True)
        features = " ".join(f"{name}={number(value)}" for name, value in pairs) if "%f" in template else ""
        total = nbest.totals[i] if nbest.totals is not None else None
        values = (
            ("%k", str(i + 1)),
            ("%s", text),
            ("%S", denormalised(text) if "%S" in template else ""),
            ("%i", nbest.id),
            ("%f", features),
            ("%c", number(0.0 if total is None else total)),
        )
        own = ((variable, nbest.extras[name][i]) for variable, name in _FIELDS.items() if name in nbest.extras)
        yield _replaced(template, [*values, *own])


def _replaced(template: str, values: Sequence[tuple[str, str]]) -> str:
    for variable, value in values:
        template = template.replace(variable, value)
    return template


def denormalised(text: str) -> str:
    """Join punctuation and English clitics with their words, spell brackets and titles, capitalise the first letter."""
    for title in _TITLES:
        text = re.sub(rf"\b{title}\b", title.capitalize(), text)
    text = re.sub(r"\bmphil\b", "MPhil", re.sub(r"\bphd\b", "PhD", text))
    for token, bracket in _BRACKETS.items():
        text = re.sub(token, bracket, text, flags=re.IGNORECASE)
    # In Joshua's order.
    for mark in (*_JOINED_BEFORE[:5], "¡", "?", "¿", *_JOINED_BEFORE[6:], *_JOINED_BEHIND[2:]):
        text = text.replace(f"{mark} ", mark) if mark in _JOINED_BEHIND else text.replace(f" {mark}", mark)
    text = text.replace(" - ", "-")
    for ending in _ENDINGS:
        text = text.replace(f" {ending}", ending)
    first = _LETTER.search(text)
    return text if first is None else text[: first.start()] + first[0].upper() + text[first.end() :]


def recased(nbest: Candidates, source: Sequence[str]) -> Candidates:
    """Project the case of aligned source words: of words in capitals, and of capitalised ones but the first.

    ``source`` are the words as given, before they were lowercased; the list needs the field ``alignment``.
    """
    cases = [_case(escape(word, "joshua")) for word in source]
    texts = [
        _recased(text, alignment, cases)
        for text, alignment in zip(nbest.texts, nbest.extras.get("alignment", ()), strict=True)
    ]
    return replace(nbest, texts=texts)


def _case(word: str) -> str:
    """``all`` for a word in capitals, ``first`` for one that begins with a capital, else ""."""
    if all(char.isupper() for char in word):
        return "all"
    return "first" if word[:1].isupper() else ""


def _recased(text: str, alignment: str, cases: Sequence[str]) -> str:
    words = text.split(" ")
    for link in alignment.split():
        place, target = map(int, link.split("-"))
        if target < len(words) and place < len(cases):
            if cases[place] == "first" and place > 0:
                words[target] = words[target][:1].upper() + words[target][1:]
            elif cases[place] == "all":
                words[target] = words[target].upper()
    return " ".join(words)
