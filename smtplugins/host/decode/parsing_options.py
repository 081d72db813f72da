"""The options of parsing: how a sentence becomes a forest. Decoders that parse inherit them.

``joshua`` covers what Joshua alone does: rules of words have spans of 20 words, ``<eps>`` is a word of lattices,
annotations are removed from input words (``house[NN;class=building]``), brackets and bars are escaped, and a sentence
without a parse is its own translation.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Literal

from smtformats.files import open_lines
from smtformats.grammar.rules import NonTerminal, Rule
from smtformats.records import dataclass
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.options import CheckedOptions, option

MARKS = ("<s>", "</s>")
NO_LIMIT = -1  # of a span: Joshua's mark of rules that apply from the start of the sentence


@dataclass(frozen=True, kw_only=True)
class SentenceOptions(CheckedOptions):
    """Options of sentences, for decoders of grammars and of phrases."""

    mark_oovs: bool = option(False, "append `_OOV` to words that are copied")
    max_length: int | None = option(None, "words after which a sentence is cut")
    lowercase: bool = option(False, "lowercase the input; `output.project_case` gives translations its case")
    joshua: bool = option(
        False, "follow Joshua in escapes, annotations, spans of copied words, and sentences without a parse"
    )


@dataclass(frozen=True, kw_only=True)
class GrammarOptions(CheckedOptions):
    """Options of grammars: labels, spans, glue and copied words."""

    goal: str = option("S", "label of the goal")
    nonterminal: str = option("X", "label of copied words, and of gaps in glue rules")
    max_span: int | None = option(None, "longest span of a rule, in words; a table may have its own")
    glue: bool = option(True, "add rules that join the translations of neighbouring spans")
    markers: bool = option(False, "put `<s>` and `</s>` around each sentence and into glue rules")
    pass_through: Literal["all", "unknown", "none"] = option("all", "input words that a rule copies")


@dataclass(frozen=True, kw_only=True)
class ParsingOptions(GrammarOptions, SentenceOptions):
    """How sentences become forests: what toolkits do differently when they parse."""

    glue_path: Path | None = option(None, "a file of further glue rules")
    oov_list: str | None = option(None, "labels of copied words with their probabilities: `CD 0.1 NN 0.9`")
    oov_path: Path | None = option(None, "a file with the list of `oov_list`")
    drop_unknown: bool = option(False, "leave out unknown words that have no digit, as Moses can")
    max_options: int = option(0, "target sides kept for a source side, 0 for all; a table's own limit takes precedence")
    input: Literal["text", "lattice"] = option("text", "what the input holds")

    @property
    def lattice(self) -> bool:
        """Whether the input holds lattices."""
        return self.input != "text"

    @cached_property
    def oov_labels(self) -> dict[str, float]:
        """The labels of copied words, with their probabilities."""
        return _labels(self.oov_list, self.oov_path)

    def glue_rules(self, root: str) -> list[Rule]:
        """The rules that join the translations of neighbouring spans under ``root``."""
        goal, first, second = NonTerminal(root, 1), *(NonTerminal(self.nonterminal, k) for k in (1, 2))
        rules = [Rule(root, (goal, second), (goal, second))]
        if self.markers:
            rules.insert(0, Rule(root, MARKS[:1], MARKS[:1]))
            rules.append(Rule(root, (goal, MARKS[1]), (goal, MARKS[1])))
        else:
            rules.insert(0, Rule(root, (first,), (first,)))
        if self.joshua and self.lattice:
            rules.append(Rule(root, (goal, "<eps>"), (goal,)))
        return rules

    def shown(self, text: str) -> str:
        """Output words: without the marks of sentences, and with Joshua's escapes undone."""
        from smtformats.escapes import unescape

        if self.markers:
            text = " ".join(word for word in text.split(" ") if word not in MARKS)
        return unescape(text, "joshua") if self.joshua else text


def _labels(text: str | None, path: Path | None) -> dict[str, float]:
    """Read Joshua's list of labels for unknown words, each with its probability."""
    if path is not None:
        with open_lines(path) as lines:
            text = " ".join(line.strip() for line in lines)
    cells = (text or "").split()
    if len(cells) % 2:
        raise UsageError(f"oov_list: expected labels with a number each, found {len(cells)} items")
    labels = {}
    for label, number in zip(cells[::2], cells[1::2], strict=True):
        try:
            labels[label.removeprefix("[").removesuffix("]")] = float(number)
        except ValueError:
            raise UsageError(f"oov_list: expected a number after {label!r}, found {number!r}") from None
    return labels
