"""The line of a translation with its id, score, segments and word alignment, and what goes to files of its own.

The parts are spelt as Moses spells them: ``SCORE INPUT ||| ID WORDS |FIRST-LAST| .. ||| ALIGNMENT``.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from smtformats.escapes import unescape
from smtformats.files import open_write
from smtformats.format import rounded
from smtformats.records import dataclass
from smtformats.tokens import words
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import suggestion
from smtplugins.host.files.opening import Path

if TYPE_CHECKING:
    from typing import TextIO

    from smtplugins.contracts.decoders import Decoding
    from smtplugins.core.graph.derivations import Derivations
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.config.run_yaml import RunConfig
    from smtplugins.host.decode.printing.choice import TextChoice
    from smtplugins.host.decode.printing.rescored import ReferenceRescoring
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.forests.forest_files import ForestFiles
    from smtplugins.host.host import Host

PARTS = ("score", "input", "id", "segmentation", "alignment")
"""Parts of a line, in their order."""
_WITH_GAINS = "lattice-mbr"
_FROM_GRAPHS = {"alignments", "graphs", "details"}


@dataclass(frozen=True)
class PrintedLine:
    """The line of a sentence, and its lines in other files by the key of the configuration."""

    text: str
    beside: Mapping[str, str]


@dataclass(frozen=True)
class Printing:
    """What the configuration's output asks for; ``graphs`` writes a graph into a file of all sentences."""

    choice: TextChoice | None = None
    rescored: ReferenceRescoring | None = None
    parts: tuple[str, ...] = ()
    files: Mapping[str, Path] | None = None
    graphs: ForestFiles | None = None
    escape: str | None = None
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: RunConfig) -> Printing:
        """Check the keys of ``output``."""
        output = config.output
        choice = None
        if output.choice is not None:
            from smtplugins.host.decode.printing.choice import choice_of

            with config.at("output", "choice"):
                choice = choice_of(output.choice)
        rescored = None
        if output.rescored is not None:
            from smtplugins.host.decode.printing.rescored import rescoring_of

            with config.at("output", "rescored"):
                rescored = rescoring_of(output.rescored)
        with config.at("output", "show"):
            for part in output.show:
                if part not in PARTS:
                    raise UsageError(f"unknown part {part!r} of a line{suggestion(part, PARTS)}")
        with config.at("output", "gains"):
            if output.gains is not None and (output.choice is None or output.choice.name != _WITH_GAINS):
                raise UsageError(f"needs output.choice: {_WITH_GAINS}")
        named = {"alignments": output.alignments, "unknowns": output.unknowns, "graphs": output.graphs}
        named |= {"gains": output.gains, "details": output.details}
        files = {key: path for key, path in named.items() if path is not None}
        return cls(choice, rescored, output.show, files, None, config.escape)

    def with_features(self, host: Host, translator: Translator, precision: int | None) -> Printing:
        """Know the features of graphs and details, which the tables decide."""
        names = translator.features() if "details" in self._files else ()
        return replace(self, names=names)._with_graphs(host, translator, precision)

    def _with_graphs(self, host: Host, translator: Translator, precision: int | None) -> Printing:
        shape = translator.config.output.graphs_format
        if "graphs" not in self._files and shape is None:
            return self
        from smtplugins.host.forests.forest_files import ForestFiles

        names, weights = translator.features(), translator.model.weights
        with translator.config.at("output", "graphs_format"):
            files = ForestFiles.of(host, "", shape or "moses-search-graph", names, weights, precision)
        return replace(self, graphs=files)

    @property
    def of_lines(self) -> list[str]:
        """The keys of ``output`` that change nothing but the lines of translations."""
        elsewhere = self.choice is None or bool({"alignments", "gains"} & {*self._files})
        return ["output.choice"] * (not elsewhere) + ["output.show"] * bool(self.parts)

    @property
    def needs_graph(self) -> bool:
        """Whether lines are made from derivations."""
        parts = {"input", "segmentation", "alignment"} & {*self.parts}
        derived = self.choice is not None or self.rescored is not None or bool(parts)
        return derived or bool(_FROM_GRAPHS & {*(self.files or ())})

    @contextlib.contextmanager
    def opened(self) -> Iterator[Mapping[str, TextIO]]:
        """Open the files."""
        with contextlib.ExitStack() as stack:
            yield {key: stack.enter_context(open_write(path)) for key, path in (self.files or {}).items()}

    def line(self, decoding: Decoding, graph: Hypergraph | None) -> PrintedLine:
        """The line of a decoding."""
        best: Derivations | None = None
        listed: tuple[str, ...] = ()
        if self.needs_graph and decoding.found:
            if graph is None:
                raise UsageError("output.choice, .show, .alignments and .details need a decoder that returns graphs")
            if self.choice is None:
                best = _best(graph)
            else:
                best, listed = self._chosen(self.choice, decoding, graph)
        text, score = decoding.best, decoding.score
        if best is not None and self.choice is not None and len(best):
            shown = decoding.shown or (lambda text: text)
            text, score = shown(best.texts()[0]), float(best.scores[0])
        trees = decoding.built is not None
        alignment = (
            _field(best, "alignment", trees) if {"alignment"} & {*self.parts} or "alignments" in self._files else ""
        )
        before = []
        if "score" in self.parts:
            before.append("" if score is None else f"{rounded([score])[0]:.6g}")
        if "input" in self.parts:
            given = _field(best, "input", trees)
            before.append(f"{given if self.escape is None else unescape(given, self.escape)} |||")
        if "id" in self.parts:
            before.append(decoding.id)
        if "segmentation" in self.parts:
            text = _segmented(text, best)
        after = ["|||", *alignment.split()] if "alignment" in self.parts else []
        beside = dict(self._beside(decoding, alignment, graph))
        if "gains" in self._files:
            beside["gains"] = "".join(f"{decoding.id} |||{line}\n" for line in listed)
        return PrintedLine(" ".join([*before, *words(text), *after]), beside)

    def _chosen(self, choice: TextChoice, decoding: Decoding, graph: Hypergraph) -> tuple[Derivations, tuple[str, ...]]:
        try:
            chosen = choice.choose(graph, decoding.endings)
        except UsageError as error:
            raise UsageError(f"output.choice: {error}") from None
        return chosen.derivations, chosen.listed

    @property
    def _files(self) -> Mapping[str, Path]:
        return self.files or {}

    def _beside(self, decoding: Decoding, alignment: str, graph: Hypergraph | None) -> Iterator[tuple[str, str]]:
        if "alignments" in self._files:
            yield "alignments", alignment + "\n"
        if "unknowns" in self._files:
            if decoding.unknown is None and decoding.found:
                raise UsageError("output.unknowns: the decoder does not say which words are unknown")
            yield "unknowns", " ".join(decoding.unknown() if decoding.unknown is not None else ()) + "\n"
        if "details" in self._files and graph is not None and len(best := _best(graph)):
            from smtplugins.host.decode.printing.details import details_of

            known = decoding.unknown() if decoding.unknown is not None else ()
            text = details_of(best, self.names, frozenset(known))
            yield "details", text if self.escape is None else unescape(text, self.escape)
        if "graphs" in self._files and self.graphs is not None and graph is not None:
            out = io.StringIO()
            self.graphs.write_into(graph, decoding.id, out)
            yield "graphs", out.getvalue()


def _best(graph: Hypergraph) -> Derivations:
    from smtplugins.core.graph.inference import kbest

    return kbest(graph, k=1)


def _field(best: Derivations | None, name: str, trees: bool) -> str:
    """A field of a derivation of phrases, or of rules of a grammar."""
    if best is None or not len(best):
        return ""
    from smtplugins.host.files.list_fields import fields_of
    from smtplugins.host.files.tree_fields import tree_fields

    return (tree_fields(best, [name], moses=True) if trees else fields_of(best, [name]))[name][0]


def _segmented(text: str, best: Derivations | None) -> str:
    """The words with the source span of each phrase behind its words, as in ``a man |0-1| with |2-2|``."""
    if best is None or not len(best):
        return text
    from smtplugins.host.files.list_fields import phrases_of

    given, parts, at = words(text), [], 0
    for phrase in phrases_of(best)[0]:
        parts += [*given[at : at + phrase.size], f"|{phrase.first}-{phrase.last - 1}|"]
        at += phrase.size
    return " ".join([*parts, *given[at:]])
