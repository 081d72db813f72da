"""Decode a whole input: translations or n-best lists into a file, forests into a folder, statistics returned.

Search algorithms are in ``smtplugins.core.search``, decoders are plugins.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from smtformats import Candidates, Format, FormatError
from smtformats.escapes import escape
from smtformats.files import open_write
from smtformats.format import rounded
from smtformats.records import dataclass
from smtformats.tokens import BadField
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SentenceError, SmtError, UsageError
from smtplugins.contracts.models import Model
from smtplugins.host.arguments import argument
from smtplugins.host.decode.printing.lines import Printing
from smtplugins.host.decode.statistics import DecodingStatistics, Times, added
from smtplugins.host.decode.translator import Translator
from smtplugins.host.files.escaping import unescaped_input
from smtplugins.host.files.opening import Path, find_format, number, write_all
from smtplugins.host.host import Host
from smtplugins.host.progress import progress
from smtplugins.host.spread.choice import make_runner

if TYPE_CHECKING:
    from smtplugins.contracts.runners import Jobs
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.decode.built_steps import BuiltTree
    from smtplugins.host.decode.decoded_lists import Ranked
    from smtplugins.host.forests.forest_files import ForestFiles


@dataclass(frozen=True)
class Outputs:
    """The files to write and what they hold; see :meth:`smtplugins.host.host.Host.decode`.

    ``template`` and ``project_case`` are those of the configuration (:class:`OutputConfig`). With ``lists``, n-best
    lists go there, and ``output`` gets translations.
    """

    output: Path
    nbest: int | None = None
    unique: bool = False
    fields: tuple[str, ...] = ()
    to_format: str | None = None
    precision: int | None = None
    forests: Path | None = None
    forests_format: str | None = None
    built: Path | None = None
    stats: Path | None = None
    template: str | None = None
    project_case: bool = False
    lists: Path | None = None
    printing: Printing | None = None

    def check(self, nbest: int | None) -> None:
        """Check before tables are loaded; ``nbest`` is the length of lists, None for translations alone."""
        for name, option in (("to_format", "--to"), ("unique", "--unique"), ("fields", "--fields")):
            if getattr(self, name) and nbest is None:
                raise UsageError(f"{argument(name, option)} needs n-best lists ({argument('nbest=N', '-k N')})")
        if self.forests_format is not None and self.forests is None:
            needed = argument("forests=DIR", "--forests DIR")
            raise UsageError(f"{argument('forests_format')} needs {needed}")
        folder = os.path.dirname(os.fspath(self.stats or "")) or "."
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)


def run(
    host: Host,
    translator: Translator,
    sentences: Iterable[Sentence],
    outputs: Outputs,
    *,
    jobs: Jobs = None,
    trace: Callable[[str], None] | None = None,
    note: Callable[[str], None] = lambda text: None,
    quiet: bool = True,
    keep: Callable[[Candidates], object] = lambda nbest: None,
    label: str = "sentences",
    otherwise: str = "all others are",
) -> DecodingStatistics:
    """Decode the sentences and write what ``outputs`` asks for, but for the statistics, which are returned.

    ``jobs`` is a number of processes, which share what is loaded, or a runner; by default that of the configuration.
    ``keep`` is given each n-best list. ``label`` is that of the progress bar. ``otherwise`` ends the error for
    sentences that cannot be translated.
    """
    output, built, precision = outputs.output, outputs.built, outputs.precision
    shown = number(None if built is None else precision)
    record, wanted = _list_format(host, translator, outputs)
    # Moses leaves features that are not to be tuned out of its lists.
    hidden = translator.fixed if record is not None and record.name == "moses-nbest" else frozenset[str]()
    runner = make_runner(host, jobs, translator.config)
    load: Callable[[Model], Mapping[str, float]] = getattr(translator.decoder, "load", lambda model: {})
    statistics = DecodingStatistics(added(translator.loading, load(translator.model)))
    files = _forest_files(host, translator, outputs)
    unpack = (lambda parcel: None) if files is None else files.output.unpack
    printing = outputs.printing.with_features(host, translator, precision) if outputs.printing else Printing()
    task = _Task(translator, replace(outputs, printing=printing), files, trace is not None, wanted, hidden)
    total = len(sentences) if isinstance(sentences, Sized) else None
    faults: list[str] = []

    def results() -> Iterator[_Result]:
        decoded = runner.map(_Task.decode, sentences, setup=functools.partial(_same, task))
        for result in progress(decoded, label, total=total, quiet=quiet):
            statistics.add(result.decoding)
            unpack(result.parcel)
            faults.extend(filter(None, [result.fault]))
            _report(result, note, trace, chosen=printing.choice is not None)
            if trees is not None and result.tree is not None:
                trees.write(_tree_line(result.tree, shown))
            for key, text in result.beside.items():
                beside[key].write(text)
            yield result

    with _opened(built) as trees, printing.opened() as beside:
        if record is None:
            _write_texts(results(), output)
        elif outputs.lists is not None:
            with open_write(output) as out:
                _write_lists(record, _lists(_texts_written(results(), out, output), keep), outputs.lists, precision)
        else:
            _write_lists(record, _lists(results(), keep), output, precision)
    if files is not None:
        files.write_beside()
    _check_all_translated(faults, otherwise)
    return statistics


def _check_all_translated(faults: Sequence[str], otherwise: str) -> None:
    if faults:
        which = "1 sentence is" if len(faults) == 1 else f"{len(faults)} sentences are"
        raise SentenceError(f"{which} not translated, {otherwise}: {'; '.join(faults)}")


def _write_lists(record: Format, lists: Iterable[Candidates], path: Path, precision: int | None) -> None:
    """Write n-best lists; a list that the format cannot hold is named by its sentence."""
    last = ""

    def told() -> Iterator[Candidates]:
        nonlocal last
        for nbest in lists:
            last = nbest.id
            yield nbest

    try:
        write_all(record, told(), path, precision)
    except FormatError as error:
        if error.file or not last:
            raise
        other = argument("to_format='jsonl'", "--to jsonl")
        text = f"{record.name} expects {error.expected}, found {error.found} ({other} writes any text)"
        raise SmtError(f"sentence {last}: {text}") from None


def _lists(results: Iterable[_Result], keep: Callable[[Candidates], object]) -> Iterator[Candidates]:
    for result in results:
        if result.candidates is not None:
            keep(result.candidates)
            yield result.candidates


def _list_format(host: Host, translator: Translator, outputs: Outputs) -> tuple[Format | None, tuple[str, ...]]:
    """The format of n-best lists, ``None`` for translations alone, and the checked names of further fields."""
    record = None
    if outputs.nbest is not None:
        if outputs.nbest < 1:
            raise UsageError(f"nbest: expected 1 or more, found {outputs.nbest}")
        from smtplugins.host.decode.decoded_lists import writable_lists

        name = outputs.to_format or translator.config.output.format
        record = writable_lists(find_format(name, "nbest", host.formats("nbest")))
    if outputs.template is not None:
        if outputs.fields:
            raise UsageError("fields: expected none, as output.template says what lines have")
        from smtplugins.host.files.joshua_output import check_template

        return None, check_template(outputs.template)
    if not outputs.fields:
        return record, ()
    from smtplugins.host.files.list_fields import check_fields

    wanted = check_fields(outputs.fields)
    if wanted and record is None:
        raise UsageError(f"field {wanted[0]!r}: expected n-best lists, found translations alone")
    if record is not None and (lost := record.lost(wanted)):
        raise UsageError(f"{record.name} has no place for {', '.join(sorted(lost))}")
    return record, wanted


def _forest_files(host: Host, translator: Translator, outputs: Outputs) -> ForestFiles | None:
    if outputs.forests is None:
        return None
    from smtplugins.host.forests.forest_files import ForestFiles

    names, weights = translator.features(), translator.model.weights
    return ForestFiles.of(host, outputs.forests, outputs.forests_format, names, weights, outputs.precision)


def _opened(path: Path | None) -> contextlib.AbstractContextManager[Any]:
    return contextlib.nullcontext() if path is None else open_write(path)


def _report(result: _Result, note: Callable[[str], None], trace: Callable[[str], None] | None, *, chosen: bool) -> None:
    """Report a sentence without a translation, and the trace if it was asked for."""
    if not result.decoding.found:
        note(f"sentence {result.decoding.id} has no translation")
    if trace is not None and result.trace is not None:
        trace(f"sentence {result.decoding.id}{', the best derivation, from which output.choice may differ' * chosen}")
        for line in result.trace:
            trace(line)


def _write_texts(results: Iterable[_Result], output: Path) -> None:
    """Write translations, or the lines of lists with a template."""
    with open_write(output) as out:
        for _ in _texts_written(results, out, output):
            pass


def _texts_written(results: Iterable[_Result], out: TextIO, output: Path) -> Iterator[_Result]:
    for result in results:
        out.writelines(f"{line}\n" for line in result.lines)
        if output == "-":
            # The reader may wait for this line before sending the next sentence.
            out.flush()
        yield result


def _same(task: _Task) -> _Task:
    """What each worker has: forked processes share it, others make its translator again."""
    return task


@dataclass(frozen=True)
class _Task:
    """The decoder and what to make of each sentence."""

    translator: Translator
    outputs: Outputs
    forests: ForestFiles | None
    trace: bool
    fields: tuple[str, ...]
    hidden: frozenset[str]

    @property
    def graphs(self) -> bool:
        listed = self.outputs.nbest is not None and (self.outputs.nbest > 1 or bool(self.fields))
        printed = self.outputs.printing is not None and self.outputs.printing.needs_graph
        return listed or printed or self.outputs.project_case or self.forests is not None

    def decode(self, sentence: Sentence) -> _Result:
        """Decode a sentence. The result does not refer to the decoder, so it can be sent through a pipe."""
        fault = ""
        try:
            decoding = self.translator.decode_one(sentence, graphs=self.graphs)
        except SentenceError as error:
            decoding, fault = Decoding(sentence.id, "", found=False), str(error)
        times = Times()
        with times("output"):
            graph = decoding.graph() if self.graphs and decoding.graph is not None else None
            parcel = {} if self.forests is None or fault else self.forests.write(graph, decoding.id)
            candidates, lines = self._texts(sentence, decoding, graph)
            trace = tuple(decoding.trace()) if self.trace and decoding.trace is not None else None
            tree = None if self.outputs.built is None else _built_tree(sentence, decoding)
            assert self.outputs.printing is not None
            line = self.outputs.printing.line(decoding, graph)
        stats = added(decoding.stats, times.sums)
        if self.outputs.template is None and not self.outputs.project_case:
            lines = (line.text,)
        if sentence.raw and self.translator.text is not None:
            lines = tuple(map(self.translator.text.translation, lines))
        gone: dict[str, Any] = dict.fromkeys(("graph", "endings", "shown", "trace", "built", "unknown"))
        rest = replace(decoding, features={}, stats=stats, **gone)
        return _Result(rest, candidates, lines, trace, tree, line.beside, fault, parcel)

    def _texts(
        self, sentence: Sentence, decoding: Decoding, graph: Hypergraph | None
    ) -> tuple[Candidates | None, tuple[str, ...]]:
        """The n-best list, if there is one, and the lines to write if it is not written in a format of lists."""
        nbest, template, cased = self.outputs.nbest, self.outputs.template, self.outputs.project_case
        if nbest is None and not cased:
            return None, (decoding.best,)
        candidates = self._candidates(sentence, decoding, graph)
        if nbest is None or template is None:
            text = decoding.best if candidates is None else candidates.texts[0]
            return None if nbest is None else candidates, (text,)
        from smtplugins.host.files.joshua_output import printed, three_decimals

        # Joshua treats an empty line as a sentence without a translation.
        found = decoding.found and candidates is not None and bool(sentence.tokens or sentence.lattice is not None)
        spell = three_decimals if self.outputs.precision is None else number(self.outputs.precision)
        given = Candidates(id=decoding.id, texts=[decoding.best]) if candidates is None else candidates
        lines = tuple(printed(given, template, found=found, number=spell))
        rescored = None if self.outputs.printing is None else self.outputs.printing.rescored
        if rescored is None or not found:
            return candidates, lines
        ranked = functools.partial(rescored.list, references=self._references(sentence))
        again = self._candidates(sentence, decoding, graph, ranked)
        assert again is not None
        return candidates, (*lines, *printed(again, template, number=spell), *lines)

    def _candidates(
        self, sentence: Sentence, decoding: Decoding, graph: Hypergraph | None, ranked: Ranked | None = None
    ) -> Candidates | None:
        """The n-best list of a decoding, or the list ``ranked`` of its derivations."""
        from smtplugins.host.decode.decoded_lists import candidates_of

        nbest, cased, scheme = self.outputs.nbest, self.outputs.project_case, self.translator.config.escape
        candidates = candidates_of(
            decoding,
            1 if nbest is None else nbest,
            unique=self.outputs.unique,
            names=self.translator.names(),
            graph=graph,
            fields=tuple(dict.fromkeys((*self.fields, *(("alignment",) if cased else ())))),
            hidden=self.hidden,
            trees=decoding.built is not None,
            moses=not cased and self.outputs.template is None,
            ranked=ranked,
        )
        if candidates is not None and scheme is not None:
            candidates = unescaped_input(candidates, scheme)
        if cased and candidates is not None and "alignment" in candidates.extras:
            from smtplugins.host.files.joshua_output import recased

            candidates = recased(candidates, sentence.tokens)
            if "alignment" not in self.fields:
                del candidates.extras["alignment"]
        return candidates

    def _references(self, sentence: Sentence) -> list[str]:
        """The references of a sentence, as the words of the model are spelt."""
        scheme = self.translator.config.escape
        if scheme is None:
            return list(sentence.references)
        return [escape(line, scheme) for line in sentence.references]


@dataclass(frozen=True)
class _Result:
    decoding: Decoding
    candidates: Candidates | None
    lines: tuple[str, ...]
    trace: tuple[str, ...] | None
    tree: BuiltTree | None
    beside: Mapping[str, str]
    fault: str
    parcel: Mapping[str, bytes]


def _tree_line(tree: BuiltTree, shown: Callable[[float], str]) -> str:
    from smtplugins.host.decode.built_steps import line_of

    return line_of(tree, shown)


def _built_tree(sentence: Sentence, decoding: Decoding) -> BuiltTree:
    """The steps that built the tree of a decoding; of a lattice the source is the path taken through it."""
    from smtplugins.host.decode.built_steps import BuiltTree, children, sides, source_words

    if decoding.built is None and decoding.found:
        raise UsageError("this decoder does not report the building steps of trees")
    score = None if decoding.score is None else rounded([decoding.score])[0]
    steps = () if decoding.built is None else tuple(decoding.built())
    steps = tuple(replace(s, score=v) for s, v in zip(steps, rounded([s.score for s in steps]), strict=True))
    try:
        for step, below in zip(steps, children(steps), strict=True):
            sides(step.rule, below)
        source = sentence.tokens if sentence.lattice is None else source_words(steps)
    except BadField as bad:
        text = f"sentence {decoding.id}: the decoder's steps: expected {bad.expected}, found {bad.found}"
        raise SmtError(text) from None
    return BuiltTree(decoding.id, source, decoding.best, score, steps)
