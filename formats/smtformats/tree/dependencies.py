"""A sentence with dependencies as in CoNLL-U."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A line of ten columns: a word, a multiword token (``1-2``) or an empty node (``8.1``)."""

    id: str
    form: str
    lemma: str = "_"
    upos: str = "_"
    xpos: str = "_"
    feats: str = "_"
    head: str = "_"
    deprel: str = "_"
    deps: str = "_"
    misc: str = "_"


@dataclass(frozen=True, slots=True)
class Dependencies:
    """A sentence: ``rows`` are its lines; ``raw`` is the text as read by the format ``origin``, with blank lines."""

    rows: tuple[Word, ...]
    comments: tuple[str, ...] = ()
    raw: str | None = None
    origin: str = ""
    file: str = ""
    line: int = 1

    def nodes(self) -> list[Word]:
        """The words, numbered 1, 2, 3 and so on: the nodes of the dependency tree."""
        return [row for row in self.rows if row.id.isdecimal()]

    def words(self) -> list[str]:
        """The forms of the words."""
        return [row.form for row in self.nodes()]

    def heads(self) -> list[int]:
        """The number of each word's head: 0 for the root, -1 if the word has none."""
        return [int(row.head) if row.head != "_" else -1 for row in self.nodes()]

    def tokens(self) -> list[str]:
        """The forms as in the text: multiword tokens instead of their words."""
        forms: list[str] = []
        last = 0
        for row in self.rows:
            first, dash, end = row.id.partition("-")
            if "." in first or (not dash and int(first) <= last):
                continue
            forms.append(row.form)
            last = int(end) if dash else last
        return forms
