"""A side of a text: from the line that a person writes to the words that a model has, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from smtformats.tokens import words
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.host.arguments import argument
from smtplugins.host.text.casing import Truecaser, capitalized
from smtplugins.host.text.characters import clean_words
from smtplugins.host.text.tokenizers import check_language, check_tokenizer, make_detokenizer, make_tokenizer

CASES = ("keep", "lower", "true")
TRUE = "true"
_PACKED = frozenset([".gz", ".bz2", ".xz", ".zst"])
_LANGUAGE = re.compile("[a-z]{2}", re.ASCII)


@dataclass(frozen=True)
class SideSettings:
    """The tokenizer and the case of a side, and its language, if known."""

    tokenize: str = "none"
    case: str = "keep"
    language: str | None = None

    def __post_init__(self) -> None:
        check_tokenizer(self.tokenize)
        if self.case not in CASES:
            raise UsageError(f"{argument('case')}: unknown case {self.case!r}{suggestion(self.case, CASES)}")
        if self.language is not None:
            check_language(self.language, argument("languages"))
        if self.tokenize == "moses" and self.language is None:
            raise UsageError(
                f"{argument('tokenize')} moses needs the languages of the text ({argument('languages')}), "
                "as its files have no suffix such as .de"
            )


def language_of(path: str) -> str | None:
    """The language that the name of a file ends with: ``de`` of ``train.de.gz``."""
    name = Path(path)
    suffix = (Path(name.stem) if name.suffix in _PACKED else name).suffix[1:]
    return suffix if _LANGUAGE.fullmatch(suffix) else None


class TextSide:
    """Makes words of lines: valid characters, tokens, case. A truecased side has its model when it is known."""

    def __init__(self, settings: SideSettings, truecaser: Truecaser | None = None) -> None:
        self.settings = settings
        self._tokenize = make_tokenizer(settings.tokenize, settings.language)
        self._truecaser = truecaser
        self._lower = settings.case == "lower"

    def words(self, line: str) -> list[str]:
        """The words of a line."""
        found = clean_words(line)
        if self._tokenize is not None:
            found = words(self._tokenize(" ".join(found)))
        if self._lower:
            return [word.lower() for word in found]
        return found if self._truecaser is None else self._truecaser.cased(found)

    def text(self, translation: str, *, detokenize: bool) -> str:
        """A translation as a person writes it: sentences of a truecased side begin with upper case."""
        found: Sequence[str] = words(translation)
        if self.settings.case == TRUE:
            found = capitalized(found)
        return self._detokenize(found) if detokenize else " ".join(found)

    @cached_property
    def _detokenize(self) -> Callable[[Sequence[str]], str]:
        if self.settings.language is None:
            raise UsageError(f"detokenizing needs the language of the target side ({argument('languages')})")
        return make_detokenizer(self.settings.language, "detokenizing", escaped=False)
