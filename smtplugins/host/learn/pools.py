"""What decoding found in all iterations of a loop: lists joined by text and features, or forests side by side.

A piece of work that is on disk is not done again; what is there half is written anew.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smtplugins.contracts.contracts import Lists, Sentence
from smtplugins.host.errors import SmtError, UsageError
from smtplugins.host.learn.training_data import Material, Statistics, appended, joined_forests, unseen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from smtformats import Candidates
    from smtplugins.contracts.contracts import Metric
    from smtplugins.core.graph.hypergraph import Hypergraph
    from smtplugins.host.decode.decoding import Translator
    from smtplugins.host.host import Host
    from smtplugins.host.judge.evaluation import Texts

LISTS = "candidates.jsonl.gz"
BEST = "best.json"


@dataclass(frozen=True)
class Work:
    """What is decoded again and again, and what it is judged by."""

    host: Host
    sentences: Sequence[Sentence]
    references: Sequence[Texts]
    metric: Metric
    nbest: int
    jobs: int | None
    quiet: bool = True


def write_json(path: Path, record: Any) -> None:
    """Write a record; the file takes its name when it is complete."""
    from smtformats.files import open_write

    with open_write(path) as out:
        json.dump(record, out, ensure_ascii=False, indent=1)
        out.write("\n")


class ListPool:
    """Candidates of all iterations, each once: what text and features it has is what it is."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.count = 0
        self.found = 0  # by the last decoding
        self._lists: dict[str, Candidates] = {}
        self._stats: dict[str, list[NDArray[Any]]] = {}
        self._seen: dict[str, set[bytes]] = {}
        self._judge = Statistics(work.metric, work.references)

    def add(self, folder: Path, translator: Translator) -> tuple[dict[str, str], int]:
        """Lists decoded, or those that were, put in: the best text of each sentence, how many are new."""
        from smtformats.files import open_bytes
        from smtplugins.host.decode import decoding

        work, path = self.work, folder / LISTS
        if not path.exists():
            # Nothing is told of sentences without a translation here: they are counted.
            decoding.run(
                work.host,
                translator,
                work.sentences,
                path,
                k=work.nbest,
                to_format="jsonl-nbest",
                jobs=work.jobs,
                quiet=work.quiet,
            )
        best: dict[str, str] = {}
        before = self.count
        with open_bytes(path) as stream:
            empty = not stream.peek(1)
        if not empty:
            parts = []
            self.found = 0
            for one in work.host.read(path, format="jsonl-nbest"):
                best[one.id] = one.texts[0]
                self.found += len(one)
                part = unseen(one, self._seen.setdefault(one.id, set()))
                if part is not None:
                    parts.append(replace(part, totals=None))
            rows = self._judge.each((part.texts, int(part.id)) for part in parts)
            for part, stats in zip(parts, rows, strict=True):
                self.count += len(part)
                self._lists[part.id] = appended(self._lists.get(part.id), part)
                self._stats.setdefault(part.id, []).append(stats)
        if not best:
            raise SmtError("no sentence has a translation: expected lists to learn from (see `smt decode --trace`)")
        return best, self.count - before

    def material(self) -> Material:
        """What there is to learn from."""
        import numpy as np

        ids = sorted(self._lists, key=int)
        stats = [np.concatenate(self._stats[key]) for key in ids]
        return Material(Lists([self._lists[key] for key in ids], stats, self.work.metric), self.work.metric.signature)


class ForestPool:
    """The forests of all iterations, or of the last ``rounds``; one that comes again counts once, as the later one."""

    def __init__(self, work: Work, rounds: int = 0) -> None:
        self.work = work
        self.count = 0
        self.found = 0  # by the last decoding
        self._rounds = rounds
        self._round = 0
        self._graphs: dict[str, list[tuple[int, Hypergraph]]] = {}

    def add(self, folder: Path, translator: Translator) -> tuple[dict[str, str], int]:
        """Forests decoded, or those that were, put in: the best text of each sentence, how many are new."""
        from smtplugins.core.graph.hypergraph import Hypergraph
        from smtplugins.host.host import runner_of
        from smtplugins.host.progress import progress

        work, path = self.work, folder / BEST
        if not path.exists():
            (folder / "forests").mkdir(exist_ok=True)
            runner = runner_of(work.host, work.jobs, translator.config)
            getattr(translator.decoder, "load", lambda model: {})(translator.model)
            task = functools.partial(_forest, translator, folder / "forests")
            made = progress(runner.map(task, work.sentences), "sentences", quiet=work.quiet)
            write_json(path, dict(made))
        record = json.loads(path.read_text(encoding="utf-8"))
        best = {key: text for key, text in record.items() if text is not None}
        new = 0
        self._round += 1
        self.found = len(best)
        for key in best:
            graph = Hypergraph.load(folder / "forests" / f"{key}.npz").with_scores(None)
            known = self._graphs.setdefault(key, [])
            at = next((i for i, (_, one) in enumerate(known) if one == graph), len(known))
            new += at == len(known)
            known[at:] = [(self._round, graph), *known[at + 1 :]]
        if self._rounds:
            last = self._round - self._rounds
            kept = {key: [one for one in known if one[0] > last] for key, known in self._graphs.items()}
            self._graphs = {key: known for key, known in kept.items() if known}
        self.count = sum(map(len, self._graphs.values()))
        if not best:
            raise SmtError("no sentence has a translation: expected forests to learn from (see `smt decode --trace`)")
        return best, new

    def material(self) -> Material:
        """What there is to learn from."""
        ids = sorted(self._graphs, key=int)
        graphs = [[graph for _, graph in self._graphs[key]] for key in ids]
        return joined_forests(graphs, list(map(int, ids)), self.work.references, self.work.metric, None, "forests")


def _forest(translator: Translator, folder: Path, sentence: Sentence) -> tuple[str, str | None]:
    """Decode a sentence and keep its forest; gives its id and best text."""
    from smtplugins.core.graph.compacting import compacted

    (one,) = translator.decode([sentence], graphs=True)
    graph = one.graph() if one.graph is not None else None
    if graph is None:
        raise UsageError("the decoder gives no graphs, so that there are no forests to learn from")
    if not one.found or not graph.nodes:
        return sentence.id, None
    aside = folder / f".{sentence.id}.part.npz"
    compacted(graph).save(aside)
    os.replace(aside, folder / f"{sentence.id}.npz")
    return sentence.id, one.best
