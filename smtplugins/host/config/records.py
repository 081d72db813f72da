"""The records of the keys ``text``, ``model`` and ``output`` of a run.yaml."""

from __future__ import annotations

import os
from pathlib import Path

from smtformats.records import dataclass
from smtplugins.contracts.options import option
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.passes import ForestPass
from smtplugins.host.config.rule_tables import RuleTable


@dataclass(frozen=True)
class TextConfig:
    """Raw text: input is prepared as the text in the folder ``path`` was, and translations are written as raw text.

    Sentences begin with upper case if the target side was truecased. Translations are detokenized if it was tokenized
    by moses, unless ``detokenize`` says otherwise. Text that `smt prepare` made is taken as it is.
    """

    path: Path = option(doc="the folder that `smt prepare` wrote")
    detokenize: bool | None = option(None, "translations are detokenized; default: those that moses tokenized")

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that decide what becomes of text."""
        return tuple(
            file for name in ("prepared.json", "case.source", "case.target") if (file := self.path / name).exists()
        )


@dataclass(frozen=True)
class ModelConfig:
    """Tables, features and weights. ``grammar_format`` applies to all tables, per-sentence grammars too, but
    not to folders of the format smt-table.

    ``missing`` is the weight of features that ``weights`` does not have, 0 by default. ``passes`` come after the first.
    """

    tables: tuple[RuleTable, ...] = option((), "phrase or rule tables, each a path or keys")
    grammar_format: str | None = option(None, "the format of all tables; default: detected")
    features: tuple[Spec, ...] = option((), "features and their options; `smt features` lists them")
    weights: Path | None = option(None, "the file of weights; default: those that tuning starts from")
    missing: int | None = option(None, "the weight of features that the file does not have; default: 0")
    passes: tuple[ForestPass, ...] = option((), "further passes over the forests of hiero")

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files of tables and weights, and those that options of features name."""
        features = [*self.features, *(feature for one in self.passes for feature in one.features)]
        named = [str(value) for feature in features for value in feature.options.values()]
        weights = [path for path in (self.weights, *(one.weights for one in self.passes)) if path is not None]
        return (
            *(table.path for table in self.tables),
            *weights,
            *(Path(name) for name in named if os.path.isfile(name)),
        )


@dataclass(frozen=True)
class OutputConfig:
    """Results: ``dir`` is the folder of a tuning run, ``nbest`` the length of n-best lists; without it there are none.

    ``unique``, ``format`` and ``fields`` (``host/files/list_fields.py``) apply to lists that are written, into the file
    ``lists`` if it is set, beside the translations. ``template`` is Joshua's output-format for each hypothesis
    (``host/files/joshua_output.py``), listed again by scores with references if it is ``rescored``; ``project_case``
    gives translations the case of aligned source words. ``choice`` says which translation is printed
    (``host/decode/printing``), ``show`` which parts its line has. ``alignments``,
    ``unknowns`` and ``graphs`` are files of word alignments, unknown words and search graphs, by default in
    moses-search-graph, ``gains`` is a file of the texts that ``choice: lattice-mbr`` chose from, ``details`` of the
    phrases and features of the best derivations (``host/decode/printing/details.py``). ``forests`` is the folder of
    each sentence's forest, in ``forests_format``. Ids of sentences that are lines begin at ``first_id``, 0 by default.
    Tuning uses none of these.
    """

    dir: Path | None = option(None, "the folder of a tuning run")
    nbest: int | None = option(None, "the length of n-best lists; default: translations only, 100 to tune", least=1)
    unique: bool = option(False, "lists have each text once")
    format: str = option("moses-nbest", "the format of lists")
    fields: tuple[str, ...] = option((), "further fields of lists: segmentation, alignment, input")
    template: str | None = option(None, "Joshua's output-format of a hypothesis")
    rescored: Spec | None = option(None, "lists have their order by Joshua's scores with references")
    project_case: bool | None = option(None, "translations get the case of the source words they are aligned to")
    lists: Path | None = option(None, "a file for lists beside the translations")
    choice: Spec | None = option(None, "the translation to print: mbr, consensus, lattice-mbr; default: the best")
    show: tuple[str, ...] = option((), "parts of the line of a translation, as Moses prints them")
    alignments: Path | None = option(None, "a file for word alignments")
    unknowns: Path | None = option(None, "a file for unknown words")
    graphs: Path | None = option(None, "a file for search graphs")
    graphs_format: str | None = option(None, "the format of search graphs; default: moses-search-graph")
    gains: Path | None = option(None, "a file for the texts that `choice: lattice-mbr` chose from")
    details: Path | None = option(None, "a file for the phrases and features of translations")
    first_id: int | None = option(None, "the id of the first line; default: 0", least=0)
    forests: Path | None = option(None, "a folder for the forest of each sentence")
    forests_format: str | None = option(None, "the format of forests; default: cdec-json-hypergraph")
