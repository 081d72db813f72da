"""A sentence with dependencies, as CoNLL-U has them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Word:
    """A line of ten columns as it stands: a word, a token of several words (``1-2``) or an empty node (``8.1``)."""

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
    """A sentence. ``rows`` are all its lines; ``raw`` is the text as read by the format ``origin``, blank lines too."""

    rows: tuple[Word, ...]
    comments: tuple[str, ...] = ()
    raw: str | None = None
    origin: str = ""
    file: str = ""
    line: int = 1

    def nodes(self) -> list[Word]:
        """The words that the dependencies are between: those numbered 1, 2, 3 and so on."""
        return [row for row in self.rows if row.id.isdecimal()]

    def words(self) -> list[str]:
        """Their forms."""
        return [row.form for row in self.nodes()]

    def heads(self) -> list[int]:
        """The number of each word's head, 0 for the root's and -1 where there is none."""
        return [int(row.head) if row.head != "_" else -1 for row in self.nodes()]

    def tokens(self) -> list[str]:
        """The forms as the text had them: a token of several words in place of these."""
        forms: list[str] = []
        last = 0
        for row in self.rows:
            first, dash, end = row.id.partition("-")
            if "." in first or (not dash and int(first) <= last):
                continue
            forms.append(row.form)
            last = int(end) if dash else last
        return forms

    def with_rows(self, rows: tuple[Word, ...]) -> Dependencies:
        """The sentence with other lines."""
        return replace(self, rows=rows, raw=None)
