"""Raw text in and out of a decoder: input prepared as the training text was, translations as people write them.

A sentence that is ``raw`` has the words of raw text. Files that `smt prepare` made hold words already: they are taken
as they are, and so are their translations.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.host.arguments import argument
from smtplugins.host.text.preparation import SIDES, Preparation
from smtplugins.host.text.sides import TextSide

if TYPE_CHECKING:
    from smtplugins.host.config.records import TextConfig

_SOURCE, _TARGET = SIDES


@dataclass(frozen=True)
class DecoderText:
    """What makes sentences of raw text, and raw text of translations; see :class:`TextConfig`."""

    made: Preparation
    source: TextSide
    target: TextSide
    detokenize: bool

    @classmethod
    def of(cls, config: TextConfig, note: Callable[[str], None]) -> DecoderText:
        """Load the settings and models of a folder of prepared text."""
        made = Preparation.read(config.path)
        target = made.settings(_TARGET)
        detokenize = target.tokenize == "moses" if config.detokenize is None else config.detokenize
        text = cls(made, made.side(_SOURCE, note), made.side(_TARGET), detokenize)
        # A detokenizer that is missing is known before decoding.
        text.translation("")
        return text

    def is_raw(self, file: str | os.PathLike[str]) -> bool:
        """Whether a file is raw; one that was prepared in another way raises UsageError."""
        return not self._holds(file, _SOURCE)

    def check_references(self, files: Iterable[str | os.PathLike[str]]) -> None:
        """Raise UsageError for references that were not prepared as translations are."""
        for file in files:
            if not self._holds(file, _TARGET):
                raise UsageError(
                    f"{os.fspath(file)}: expected references as translations are, found raw ones: `smt prepare -s "
                    f"SOURCE -t {os.fspath(file)} --like {self.made.folder} -o DIR` makes DIR/target"
                )

    def _holds(self, file: str | os.PathLike[str], side: str) -> bool:
        found = None if os.fspath(file) == "-" else Preparation.holding(file)
        if found is not None and not found[0].same_side(found[1], self.made, side):
            raise UsageError(
                f"{os.fspath(file)}: expected raw text, or text prepared as the {side} in {self.made.folder}, found "
                f"text prepared in another way"
            )
        return found is not None

    def words(self, text: str) -> tuple[str, ...]:
        """The words of a raw sentence."""
        return tuple(self.source.words(text))

    def sentences(self, sentences: Iterable[Sentence], file: str) -> Iterator[Sentence]:
        """Sentences with the words of raw text; tags, lattices and targets raise UsageError, as they need words."""
        for sentence in sentences:
            for found, what in (
                (sentence.lattice is not None, "a lattice"),
                (sentence.marks, "tags"),
                (sentence.references or "target" in sentence.annotations, "a target beside the source"),
            ):
                if found:
                    raise UsageError(
                        f"{file}: sentence {sentence.id}: expected raw text for the key `text` to prepare, found "
                        f"{what} ({argument('overrides', '--set')} text=null decodes prepared input)"
                    )
            yield replace(sentence, tokens=self.words(" ".join(sentence.tokens)), raw=True)

    def translation(self, text: str) -> str:
        """The translation of a raw sentence, as a person writes it."""
        return self.target.text(text, detokenize=self.detokenize)
