"""Pool the output of all decoding iterations: n-best lists merged by (text, features), or forests side by side.

Finished files on disk are reused; incomplete ones are written again.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.learners import ListProblem
from smtplugins.host.learn.training_data import Material, Statistics, append_list, join_forests, select_unseen
from smtplugins.host.spread.folders import OutputFolder, Parcel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.contracts.metrics import Metric
    from smtplugins.contracts.runners import Jobs
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.decode.translator import Translator
    from smtplugins.host.host import Host
    from smtplugins.host.judge.evaluation import Texts

LISTS = "candidates.jsonl.gz"
BEST = "best.json"
_FORMAT = "jsonl-nbest"


@dataclass(frozen=True)
class Work:
    """What is decoded in each iteration, and the metric and references that judge it."""

    host: Host
    sentences: Sequence[Sentence]
    references: Sequence[Texts]
    metric: Metric
    nbest: int
    jobs: Jobs
    quiet: bool = True


def write_json(path: Path, record: Any) -> None:
    """Write a record as JSON; the file is renamed into place when complete."""
    from smtformats.files import open_write

    with open_write(path) as out:
        json.dump(record, out, ensure_ascii=False, indent=1)
        out.write("\n")


_WITHOUT = "so nothing is learnt; learn without it (take it out of the source and the references)"


class ListPool:
    """The n-best lists of all iterations or of the last ``rounds``, deduplicated by (text, features)."""

    def __init__(self, work: Work, rounds: int = 0) -> None:
        self.work = work
        self._rounds = rounds
        self._round = 0
        self.count = 0
        self.found = 0  # hypotheses in the last decoding
        self._lists: dict[str, Candidates] = {}
        self._stats: dict[str, list[NDArray[Any]]] = {}
        self._seen: dict[str, dict[bytes, int]] = {}  # the last round of each, in the order of the lists
        self._judge = Statistics(work.metric, work.references)

    def add(self, folder: Path, translator: Translator, label: str = "sentences") -> tuple[dict[str, str], int]:
        """Decode lists, or read those on disk, and pool them; return the best texts by id and how many are new."""
        best: dict[str, str] = {}
        parts: list[Candidates] = []
        self._round += 1

        def keep(nbest: Candidates) -> None:
            if nbest.id in best:
                raise SmtError(f"expected each sentence id once, found {nbest.id} again")
            if not best:
                self.found = 0
            best[nbest.id] = nbest.texts[0]
            self.found += len(nbest)
            part = select_unseen(nbest, self._seen.setdefault(nbest.id, {}), self._round)
            if part is not None:
                parts.append(replace(part, totals=None))

        path = folder / LISTS
        if path.exists():
            self._read(path, keep)
        else:
            self._decode(path, translator, keep, label)
        if not best:
            raise SmtError("no sentence has a translation: expected lists to learn from (see `smt decode --trace`)")
        rows = self._judge.each((part.texts, int(part.id)) for part in parts)
        for part, stats in zip(parts, rows, strict=True):
            self._lists[part.id] = append_list(self._lists.get(part.id), part)
            self._stats.setdefault(part.id, []).append(stats)
        self.count = sum(len(self._kept(key)) for key in self._lists)
        return best, sum(map(len, parts))

    def _kept(self, key: str) -> list[int]:
        """The rows of a sentence's hypotheses that were decoded in the last rounds."""
        first = self._round - self._rounds + 1 if self._rounds else 1
        return [row for row, last in enumerate(self._seen[key].values()) if last >= first]

    def _read(self, path: Path, keep: Callable[[Candidates], None]) -> None:
        from smtformats.files import open_bytes

        with open_bytes(path) as stream:
            empty = not stream.peek(1)
        for nbest in () if empty else self.work.host.read(path, format=_FORMAT):
            keep(nbest)

    def _decode(self, path: Path, translator: Translator, keep: Callable[[Candidates], None], label: str) -> None:
        from smtplugins.host.decode import job

        work, name = self.work, os.fspath(path)
        numbers = itertools.count(1)
        # As they are read from the file, in which each list is a line. Without notes: the loop reports the number of
        # untranslated sentences.
        job.run(
            work.host,
            translator,
            work.sentences,
            job.Outputs(path, work.nbest, to_format=_FORMAT),
            jobs=work.jobs,
            quiet=work.quiet,
            keep=lambda nbest: keep(replace(nbest, file=name, line=next(numbers))),
            label=label,
            otherwise=_WITHOUT,
        )

    def material(self) -> Material:
        """The training data of all iterations kept."""
        import numpy as np

        lists, stats = [], []
        for key in sorted(self._lists, key=int):
            nbest, rows, kept = self._lists[key], np.concatenate(self._stats[key]), self._kept(key)
            if kept:
                whole = len(kept) == len(nbest)
                lists.append(nbest if whole else nbest.select(kept))
                stats.append(rows if whole else rows[kept])
        return Material(ListProblem(lists, stats, self.work.metric), self.work.metric.signature)


class ForestPool:
    """The forests of all iterations or of the last ``rounds``; equal forests count once, with the later iteration."""

    def __init__(self, work: Work, rounds: int = 0) -> None:
        self.work = work
        self.count = 0
        self.found = 0  # forests in the last decoding
        self._rounds = rounds
        self._round = 0
        self._graphs: dict[str, list[tuple[int, Hypergraph]]] = {}

    def add(self, folder: Path, translator: Translator, label: str = "sentences") -> tuple[dict[str, str], int]:
        """Decode forests, or read them from disk, and pool them; return the best texts by id and how many are new."""
        from smtplugins.core.graph.hypergraph import Hypergraph
        from smtplugins.host.progress import progress
        from smtplugins.host.spread.choice import make_runner

        work, path = self.work, folder / BEST
        graphs: dict[str, Hypergraph] = {}
        if not path.exists():
            (folder / "forests").mkdir(exist_ok=True)
            runner = make_runner(work.host, work.jobs, translator.config)
            getattr(translator.decoder, "load", lambda model: {})(translator.model)
            output = OutputFolder(folder / "forests")
            task = functools.partial(_forest, translator, output, os.getpid())
            texts = {}
            decoded, total = runner.map(task, work.sentences), len(work.sentences)
            for key, text, graph, parcel in progress(decoded, label, total=total, quiet=work.quiet):
                texts[key] = text
                output.unpack(parcel)
                if graph is not None:
                    graphs[key] = graph
            write_json(path, texts)
        record = json.loads(path.read_text(encoding="utf-8"))
        best = {key: text for key, text in record.items() if text is not None}
        new = 0
        self._round += 1
        self.found = len(best)
        for key in best:
            graph = graphs.pop(key) if key in graphs else Hypergraph.load(folder / "forests" / f"{key}.npz")
            graph = graph.with_scores(None)
            known = self._graphs.setdefault(key, [])
            at = next((i for i, (_, known_graph) in enumerate(known) if known_graph == graph), len(known))
            new += at == len(known)
            known[at:] = [(self._round, graph), *known[at + 1 :]]
        if self._rounds:
            last = self._round - self._rounds
            kept = {key: [entry for entry in known if entry[0] > last] for key, known in self._graphs.items()}
            self._graphs = {key: known for key, known in kept.items() if known}
        self.count = sum(map(len, self._graphs.values()))
        if not best:
            raise SmtError("no sentence has a translation: expected forests to learn from (see `smt decode --trace`)")
        return best, new

    def material(self) -> Material:
        """The training data of all iterations kept."""
        ids = sorted(self._graphs, key=int)
        graphs = [[graph for _, graph in self._graphs[key]] for key in ids]
        return join_forests(graphs, list(map(int, ids)), self.work.references, self.work.metric, None, "forests")


def _forest(
    translator: Translator, output: OutputFolder, reader: int, sentence: Sentence
) -> tuple[str, str | None, Hypergraph | None, Parcel]:
    """Decode a sentence and save its forest.

    Return its id, its best text, in the process ``reader`` the forest, and on another machine its file.
    """
    from smtplugins.core.graph.compacting import compacted
    from smtplugins.host.files.escaping import unescaped_graph

    decoded = translator.decode_one(sentence, graphs=True)
    graph = decoded.graph() if decoded.graph is not None else None
    if graph is not None and translator.config.escape is not None:
        graph = unescaped_graph(graph, translator.config.escape)
    if graph is None:
        raise UsageError("learning from forests needs a decoder that returns graphs; this one does not")
    if not decoded.found or not graph.nodes:
        return sentence.id, None, None, {}
    graph = compacted(graph)
    with output.written() as (folder, parcel):
        aside = folder / f".{sentence.id}.part.npz"
        graph.save(aside)
        os.replace(aside, folder / f"{sentence.id}.npz")
    return sentence.id, decoded.best, graph if os.getpid() == reader else None, parcel
