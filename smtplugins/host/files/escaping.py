"""Escape the words of sentences for a model whose tables have escapes, and unescape its translations.

The tables of ``smt extract --escape moses`` have ``&#91;`` where the text has ``[``. Between these two steps all words
are the model's: traces, building steps, graphs and files of forests have them, as tables, and features that take part
in the search see them. Translations and lists have the words of the text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from smtformats.columns import string_table
from smtformats.escapes import SCHEMES, escape, unescape
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion

if TYPE_CHECKING:
    from smtformats import Candidates, GrammarColumns
    from smtformats.corpus.segments import Mark
    from smtplugins.contracts.decoders import Decoding
    from smtplugins.core.graph.hypergraph import Hypergraph

_TRANSLATIONS = ("translation", "english")
_BETWEEN = "||"


def check_scheme(scheme: str | None) -> None:
    """Refuse the name of an unknown scheme."""
    if scheme is not None and scheme not in SCHEMES:
        raise UsageError(f"unknown escaping {scheme!r}{suggestion(scheme, SCHEMES)}")


def escaped(sentence: Sentence, scheme: str) -> Sentence:
    """The sentence in the words of the model: its words, references, lattice, and translations in tags."""
    lattice = sentence.lattice
    return replace(
        sentence,
        tokens=tuple(escape(word, scheme) for word in sentence.tokens),
        references=tuple(escape(text, scheme) for text in sentence.references),
        lattice=lattice and replace(lattice, grammar=_respelt(lattice.grammar, lambda word: escape(word, scheme))),
        marks=tuple(_mark(mark, scheme) for mark in sentence.marks),
    )


def _mark(mark: Mark, scheme: str) -> Mark:
    attributes = {
        name: _BETWEEN.join(escape(part, scheme) for part in text.split(_BETWEEN)) if name in _TRANSLATIONS else text
        for name, text in mark.attributes.items()
    }
    return replace(mark, attributes=attributes)


def unescaped(decoding: Decoding, scheme: str) -> Decoding:
    """The decoding with its translations in the words of the text; its graph keeps the model's."""
    shown = decoding.shown

    def show(text: str) -> str:
        return unescape(text if shown is None else shown(text), scheme)

    unknown = decoding.unknown
    listed = None if unknown is None else lambda: [unescape(word, scheme) for word in unknown()]
    return replace(decoding, best=unescape(decoding.best, scheme), shown=show, unknown=listed)


def unescaped_graph(graph: Hypergraph, scheme: str) -> Hypergraph:
    """The graph in the words of the text."""
    return replace(graph, grammar=_respelt(graph.grammar, lambda word: unescape(word, scheme)))


def unescaped_input(candidates: Candidates, scheme: str) -> Candidates:
    """The list with its field ``input``, the words of paths of lattices, in the words of the text."""
    if "input" not in candidates.extras:
        return candidates
    texts = [unescape(text, scheme) for text in candidates.extras["input"]]
    return replace(candidates, extras={**candidates.extras, "input": texts})


def _respelt(grammar: GrammarColumns, spell: Callable[[str], str]) -> GrammarColumns:
    """The rules with other spellings of their words; the numbers of the words stay."""
    return replace(grammar, words=string_table(map(spell, grammar.words)))
