"""The general plugin: formats, features of lists and rules, metrics, runners."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.hookspecs import hookimpl
from smtplugins.contracts.offers import Offer

if TYPE_CHECKING:
    from smtformats import Format


@hookimpl
def smt_formats() -> Iterator[Format]:
    """All formats of the package smtformats, and the HTML report."""
    from smtformats import all_formats
    from smtplugins.plugins.standard.report import FORMAT

    yield from all_formats()
    yield FORMAT


@hookimpl
def smt_features() -> Iterator[Offer]:
    """Features of whole hypotheses and of rules."""
    from smtplugins.plugins.standard import arcs, external, features, reordering

    yield Offer(name="length", make=features.Length, summary="number of words", needs=frozenset({"target"}))
    yield Offer(
        name="word-penalty",
        make=features.WordPenalty,
        summary="a constant for each target word, with the convention of each toolkit",
        needs=frozenset({"target"}),
    )
    yield Offer(
        name="lm",
        make=features.LanguageModelScore,
        summary="log probability under an n-gram language model (ARPA text or KenLM binary)",
        reference="Heafield (2011), for the file format and the state of the art in querying it",
        needs=frozenset({"target"}),
        trial=_tiny_arpa,
    )
    yield Offer(
        name="source-word-penalty",
        make=features.SourceWordPenalty,
        summary="a constant for each word on the source side of rules",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="phrase-penalty",
        make=features.PhrasePenalty,
        summary="a constant for each rule or phrase",
        needs=frozenset({"target", "segmentation"}),
    )
    yield Offer(
        name="oov",
        make=features.Minted,
        summary="a constant for each word that a decoder passes through, because it is unknown or as an extra option",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="pass-through",
        make=features.Minted,
        summary="like oov, under cdec's name and with its length classes",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="glue",
        make=features.Glue,
        summary="a constant for each use of a decoder's own glue rule",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="source-path",
        make=arcs.SourcePath,
        summary="the scores of lattice arcs",
        needs=frozenset({"grammar"}),
    )
    yield Offer(
        name="distortion",
        make=reordering.Distortion,
        summary="minus the number of source words between the end of a phrase and the start of the next",
        reference="Koehn, Och and Marcu (2003)",
        needs=frozenset({"target", "segmentation"}),
    )
    yield Offer(
        name="lexical-reordering",
        make=reordering.LexicalReordering,
        summary="log probability of phrase orientations, from a lexicalised reordering table as trained by Moses",
        reference="Koehn et al. (2005); Galley and Manning (2008) for models of the kind hier",
        needs=frozenset({"target", "source", "segmentation"}),
        trial=_tiny_orientations,
    )
    yield Offer(
        name="translation-model",
        make=features.TranslationModel,
        summary="a rule or phrase table: its column names and how a decoder uses it",
        needs=frozenset({"grammar"}),
        trial=_tiny_table,
    )
    yield Offer(
        name="column",
        make=features.FileColumn,
        summary="scores from a file, a row for each hypothesis of the list",
        trial=_tiny_column,
    )
    yield Offer(
        name="external",
        make=external.External,
        summary="scores from a command that reads JSON lines and answers each with a number",
        needs=frozenset({"target"}),
        trial=_tiny_command,
    )


@hookimpl
def smt_metrics() -> Iterator[Offer]:
    """BLEU, chrF, TER, error rates, GTM, and external commands."""
    from smtplugins.plugins.standard import external, metrics, word_metrics

    yield Offer(name="bleu", make=metrics.Bleu, summary="BLEU, as sacrebleu", reference="Papineni et al. (2002)")
    yield Offer(name="chrf", make=metrics.Chrf, summary="chrF and chrF++, as sacrebleu", reference="Popovic (2015)")
    yield Offer(name="ter", make=metrics.Ter, summary="translation edit rate, by sacrebleu", reference="Snover (2006)")
    yield Offer(name="wer", make=word_metrics.Wer, summary="word error rate; character error rate with unit=char")
    yield Offer(
        name="gtm",
        make=word_metrics.Gtm,
        summary="precision, recall or F of the maximum match, with an exponent that rewards long runs",
        reference="Melamed, Green and Turian (2003)",
    )
    yield Offer(
        name="external",
        make=external.ExternalMetric,
        summary="scores from a command that reads JSON lines and answers each with a number",
        trial=_tiny_judge,
    )


@hookimpl
def smt_runners() -> Iterator[Offer]:
    """Serial and parallel runners."""
    from smtplugins.plugins.standard import runners

    yield Offer(name="serial", make=runners.Serial, summary="one item after another, in this process")
    yield Offer(name="processes", make=runners.Processes, summary="several processes on this machine")


def _tiny_table(folder: Path) -> dict[str, Any]:
    path = folder / "rules.txt"
    path.write_text("[X] ||| haus ||| house ||| p=1\n", encoding="utf-8")
    return {"path": path}


def _tiny_orientations(folder: Path) -> dict[str, Any]:
    path = folder / "orientations.txt"
    sides = [
        ("das", "a"),
        ("das haus", "b"),
        ("haus ist", "a"),
        ("gut", "c"),
        ("gut ja", "a b"),
        ("wo ist", "where is"),
    ]
    rows = [
        f"{source} ||| {target} ||| 0.{k} 0.2 0.1 0.3 0.{9 - k} 0.4\n" for k, (source, target) in enumerate(sides, 1)
    ]
    path.write_text("".join(rows), encoding="utf-8")
    return {"path": path, "model": "wbe-msd-bidirectional-fe", "default_scores": "0.4,0.3,0.3,0.2,0.2,0.6"}


def _tiny_arpa(folder: Path) -> dict[str, Any]:
    path = folder / "tiny.arpa"
    path.write_text(
        "\\data\\\nngram 1=5\nngram 2=2\n\n"
        "\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\ta\t-0.2\n-0.9\tb\t-0.1\n\n"
        "\\2-grams:\n-0.4\t<s> a\n-0.5\ta b\n\n\\end\\\n",
        encoding="utf-8",
    )
    return {"path": path}


def _tiny_column(folder: Path) -> dict[str, Any]:
    path = folder / "column.txt"
    path.write_text("".join(f"{i / 8}\n" for i in range(64)), encoding="utf-8")
    return {"path": path}


def _tiny_command(folder: Path) -> dict[str, Any]:
    path = folder / "scorer.py"
    path.write_text(
        "import json, sys\nfor line in sys.stdin:\n    print(len(json.loads(line)['hyp']), flush=True)\n",
        encoding="utf-8",
    )
    return {"command": f"python3 {path}"}


def _tiny_judge(folder: Path) -> dict[str, Any]:
    path = folder / "judge.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    one = json.loads(line)\n"
        "    print(float(max(one['hyp'] == ref for ref in one['refs'])), flush=True)\n",
        encoding="utf-8",
    )
    return {"command": f"python3 {path}"}
