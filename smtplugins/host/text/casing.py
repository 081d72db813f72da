"""Truecasing, as Moses' train-truecaser, truecase and detruecase do: sentences begin with a word in its usual case.

Koehn et al. (2008), "Towards better machine translation quality for the German-English language pairs". A model is a
text in Moses' format: the forms of each word with their counts, the most frequent first, as ``the (5/6) The (1)``.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from smtformats.errors import quote
from smtformats.files import open_lines
from smtformats.tokens import words

_ENDS = frozenset(".:?!")
"""A word behind one of these begins a sentence, as the first does."""
_OPENERS = frozenset(["(", "[", '"', "'", "&apos;", "&quot;", "&#91;", "&#93;"])
"""Before the first word of a sentence."""
_BEST, _OTHER = re.compile(r"\([0-9.]+/[0-9.]+\)", re.ASCII), re.compile(r"\([0-9.]+\)", re.ASCII)


class CaseCounts:
    """How often each form of a word is seen where it does not begin a sentence."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, sentence: Sequence[str]) -> None:
        """Count the words of a sentence."""
        start = next((i for i, word in enumerate(sentence) if word not in _OPENERS), len(sentence))
        before, rest = sentence[start:-1], sentence[start + 1 :]
        if _ENDS.isdisjoint(before):
            self.counts.update(rest)
        else:
            self.counts.update(word for last, word in zip(before, rest, strict=True) if last not in _ENDS)

    def forms(self) -> dict[str, dict[str, int]]:
        """The forms of each word in lower case, the most frequent first; of equals, that of more lower case."""
        forms: dict[str, dict[str, int]] = {}
        for form, count in sorted(self.counts.items(), key=lambda item: (item[1], item[0]), reverse=True):
            forms.setdefault(form.lower(), {})[form] = count
        return forms

    def write(self, out: TextIO) -> None:
        """Write the model."""
        for _, forms in sorted(self.forms().items()):
            (best, count), *others = forms.items()
            rest = "".join(f" {form} ({count})" for form, count in others)
            out.write(f"{best} ({count}/{sum(forms.values())}){rest}\n")


class Truecaser:
    """A model: the most frequent form of each word, and all its forms that were seen."""

    def __init__(self, forms: Mapping[str, Iterable[str]]) -> None:
        self._best = {word: next(iter(every)) for word, every in forms.items()}
        self._known = frozenset(form for every in forms.values() for form in every)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Truecaser:
        """Read a model, of Moses or of `smt prepare`."""
        forms: dict[str, list[str]] = {}
        with open_lines(path) as lines:
            for line in lines:
                best, *rest = words(line) or [""]
                if not _are_counted(rest):
                    expected = "a form of a word with its count and total, and other forms, as in `the (5/6) The (1)`"
                    raise lines.error(expected, quote(line.rstrip("\n")))
                forms[best.lower()] = [best, *rest[1::2]]
        return cls(forms)

    def cased(self, sentence: Sequence[str]) -> list[str]:
        """The words in their usual case where a sentence begins, and those that were not seen in this case."""
        cased, begins = [], True
        for word in sentence:
            cased.append(self._best.get(word.lower(), word) if begins or word not in self._known else word)
            begins = word in _ENDS or (begins and word in _OPENERS)
        return cased


def _are_counted(rest: Sequence[str]) -> bool:
    """Whether this can stand behind the best form of a word in a model."""
    return len(rest) % 2 == 1 and _BEST.fullmatch(rest[0]) is not None and all(map(_OTHER.fullmatch, rest[2::2]))


def capitalized(sentence: Sequence[str]) -> list[str]:
    """The words with an upper-case letter where a sentence begins."""
    result, begins = [], True
    for word in sentence:
        result.append(word[:1].upper() + word[1:] if begins else word)
        begins = word in _ENDS or (begins and word in _OPENERS)
    return result
