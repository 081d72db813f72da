"""The general plugin: formats, features of lists and rules, metrics, runners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer

if TYPE_CHECKING:
    from smtformats import Format


@hookimpl
def smt_formats() -> Iterator[Format]:
    """The HTML report. The registry itself loads the package's formats, by kind: they are this plugin's, too."""
    from smtplugins.plugins.standard.report import FORMAT

    yield FORMAT


@hookimpl
def smt_features() -> Iterator[Offer]:
    """Features of hypotheses, of rules, and of where phrases come from."""
    yield from _hypothesis_features()
    yield from _rule_features()
    yield from _position_features()


def _hypothesis_features() -> Iterator[Offer]:
    yield Offer(
        name="length",
        make="smtplugins.plugins.standard.features:Length",
        summary="number of words",
        needs=frozenset({"target"}),
    )
    yield Offer(
        name="word-penalty",
        make="smtplugins.plugins.standard.features:WordPenalty",
        summary="a constant for each target word, with the convention of each toolkit",
        needs=frozenset({"target"}),
    )
    yield Offer(
        name="lm",
        make="smtplugins.plugins.standard.features:LanguageModelScore",
        summary="log probability under an n-gram language model (ARPA text or KenLM binary)",
        reference="Heafield (2011), for the file format and the state of the art in querying it",
        needs=frozenset({"target"}),
        trial="smtplugins.plugins.standard.trial:tiny_arpa",
        files="smtplugins.plugins.standard.model_files:language_model",
    )
    yield Offer(
        name="column",
        make="smtplugins.plugins.standard.features:FileColumn",
        summary="scores from a file, a row for each hypothesis of the list",
        trial="smtplugins.plugins.standard.trial:tiny_column",
    )
    yield Offer(
        name="confidence",
        make="smtplugins.plugins.standard.confidence:Confidence",
        summary="posterior probabilities of a text and of its words in the list, and the list's entropy",
        reference="Ueffing and Ney (2007)",
        needs=frozenset({"target", "list"}),
    )
    yield Offer(
        name="external",
        make="smtplugins.plugins.standard.external:external_feature",
        summary="scores from a command that reads JSON lines and answers with numbers, one by one or in batches",
        needs=frozenset({"target"}),
        trial="smtplugins.plugins.standard.trial:tiny_command",
    )


def _rule_features() -> Iterator[Offer]:
    yield Offer(
        name="source-word-penalty",
        make="smtplugins.plugins.standard.features:SourceWordPenalty",
        summary="a constant for each word on the source side of rules",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="phrase-penalty",
        make="smtplugins.plugins.standard.features:PhrasePenalty",
        summary="a constant for each rule or phrase",
        needs=frozenset({"target", "segmentation"}),
    )
    yield Offer(
        name="oov",
        make="smtplugins.plugins.standard.features:UnknownWords",
        summary="a constant for each word that a decoder passes through, because it is unknown or as an extra option",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="pass-through",
        make="smtplugins.plugins.standard.features:Minted",
        summary="like oov, under cdec's name and with its length classes",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="glue",
        make="smtplugins.plugins.standard.features:Glue",
        summary="a constant for each use of a decoder's own glue rule",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="source-path",
        make="smtplugins.plugins.standard.arcs:SourcePath",
        summary="the scores of lattice arcs",
        needs=frozenset({"grammar"}),
    )


def _position_features() -> Iterator[Offer]:
    yield Offer(
        name="distortion",
        make="smtplugins.plugins.standard.reordering:Distortion",
        summary="minus the number of source words between the end of a phrase and the start of the next",
        reference="Koehn, Och and Marcu (2003)",
        needs=frozenset({"target", "segmentation"}),
    )
    yield Offer(
        name="lexical-reordering",
        make="smtplugins.plugins.standard.reordering:LexicalReordering",
        summary="log probability of phrase orientations, from a lexicalised reordering table as trained by Moses",
        reference="Koehn et al. (2005); Galley and Manning (2008) for models of the kind hier",
        needs=frozenset({"target", "source", "segmentation"}),
        trial="smtplugins.plugins.standard.trial:tiny_orientations",
        files="smtplugins.plugins.standard.model_files:reordering_table",
    )


@hookimpl
def smt_metrics() -> Iterator[Offer]:
    """BLEU, chrF, TER, error rates, GTM, and external commands."""

    yield Offer(
        name="bleu",
        make="smtplugins.plugins.standard.metrics:Bleu",
        summary="BLEU, as sacrebleu",
        reference="Papineni et al. (2002)",
    )
    yield Offer(
        name="chrf",
        make="smtplugins.plugins.standard.metrics:Chrf",
        summary="chrF and chrF++, as sacrebleu",
        reference="Popovic (2015)",
    )
    yield Offer(
        name="ter",
        make="smtplugins.plugins.standard.metrics:Ter",
        summary="translation edit rate, as sacrebleu",
        reference="Snover (2006)",
    )
    yield Offer(
        name="wer",
        make="smtplugins.plugins.standard.word_metrics:Wer",
        summary="word error rate; character error rate with unit=char",
    )
    yield Offer(
        name="gtm",
        make="smtplugins.plugins.standard.word_metrics:Gtm",
        summary="precision, recall or F of the maximum match, with an exponent that rewards long runs",
        reference="Melamed, Green and Turian (2003)",
    )
    yield Offer(
        name="external",
        make="smtplugins.plugins.standard.external:ExternalMetric",
        summary="scores from a command that reads JSON lines and answers with numbers, one by one or in batches",
        trial="smtplugins.plugins.standard.trial:tiny_judge",
    )


@hookimpl
def smt_runners() -> Iterator[Offer]:
    """Serial and parallel runners."""

    yield Offer(
        name="serial",
        make="smtplugins.plugins.standard.runners:Serial",
        summary="one item after another, in this process",
    )
    yield Offer(
        name="processes",
        make="smtplugins.plugins.standard.runners:Processes",
        summary="several processes on this machine",
    )
