"""Utilities in a file: the choices are those without it, for other totals too; a file that does not fit is an error."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.files.lists import candidates
from smtplugins.host.host import Host

METRICS = ["bleu,tokenize=none", "chrf", "ter", "wer"]


def random_lists(seed: int, count: int = 5) -> list[Any]:
    rng = random.Random(seed)
    lists = []
    for key in range(count):
        texts = [" ".join(rng.choice("abc") for _ in range(rng.randint(0, 5))) for _ in range(rng.randint(1, 7))]
        lists.append(candidates(texts, id=f"s/{key}", scores=[rng.uniform(-3, 0) for _ in texts]))
    return lists


def chosen(host: Host, lists: Any, metric: str, **options: Any) -> list[Any]:
    return [(nbest.texts, nbest.totals) for nbest in host.mbr(lists, metric, **options)]


@pytest.mark.parametrize("spec", METRICS)
@pytest.mark.parametrize("jobs", [1, 2])
def test_choices_are_those_without_the_file(host: Host, tmp_path: Path, spec: str, jobs: int) -> None:
    lists, path = random_lists(3), tmp_path / "utilities"
    wanted = chosen(host, lists, spec)
    assert chosen(host, lists, spec, utilities=path, jobs=jobs) == wanted
    before = path.read_bytes()
    assert chosen(host, lists, spec, utilities=path, jobs=jobs) == wanted
    # Other totals and scales, some of the texts and some of the lists, in another order.
    changed = [nbest.with_totals([-2 * total * total for total in nbest.totals]) for nbest in lists[::-1]]
    for options in ({"scale": 0.3}, {"scale": 2.0, "top": 2}, {"scale": 0.0}):
        assert chosen(host, changed[1:], spec, utilities=path, **options) == chosen(host, changed[1:], spec, **options)
    assert path.read_bytes() == before
    chosen(host, lists, spec, utilities=tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == before


def test_file_holds_the_metrics_scores(host: Host, tmp_path: Path) -> None:
    lists, path, metric = random_lists(4, 2), tmp_path / "utilities", host.metric("chrf")
    chosen(host, lists, "chrf", utilities=path, references=random_lists(5, 2))
    with np.load(path, allow_pickle=False) as held:
        for k, (nbest, others) in enumerate(zip(lists, random_lists(5, 2), strict=True)):
            ranked = sorted(range(len(nbest)), key=lambda i: -nbest.totals[i])
            rows = list(dict.fromkeys(nbest.texts[i] for i in ranked))
            columns = list(dict.fromkeys(others.texts))
            wanted = [[metric.sentence(metric.stats([row], [[column]]))[0] for column in columns] for row in rows]
            assert held[f"{k}/scores"].tolist() == wanted


def test_long_lists_sum_alike(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(6)
    texts = [f"{rng.choice('abc')} x{i} y {rng.choice('abc')}" for i in range(40)]
    lists = [candidates(texts, scores=[rng.uniform(-2, 0) for _ in texts])]
    monkeypatch.setattr("smtplugins.host.judge.consensus._CELLS", 5000)
    wanted = chosen(host, lists, "chrf")
    for _ in range(2):
        assert chosen(host, lists, "chrf", utilities=tmp_path / "utilities") == wanted


def test_what_does_not_fit_is_an_error_with_its_place(host: Host, tmp_path: Path) -> None:
    lists, path = random_lists(7), tmp_path / "utilities"
    chosen(host, lists, "wer", utilities=path)
    other = candidates(["never seen"], id="s/1", scores=[0.0])
    with pytest.raises(
        SmtError, match=r"utilities: expected .* of list s/1 .* with the hypothesis 'never seen', found"
    ):
        chosen(host, [other], "wer", utilities=path)
    with pytest.raises(SmtError, match=r"utilities: expected .* of list s/1 .* with the reference 'never seen', found"):
        chosen(host, lists[1:2], "wer", utilities=path, references=[other])
    with pytest.raises(SmtError, match=r"utilities: expected utilities of list 9 .*, found none"):
        chosen(host, [candidates(["a"], id=9, scores=[0.0])], "wer", utilities=path)
    with pytest.raises(SmtError, match=r"utilities: expected utilities of TER.*, found those of "):
        chosen(host, lists, "ter", utilities=path)


def test_unreadable_files_are_errors(host: Host, tmp_path: Path) -> None:
    lists, path = random_lists(8), tmp_path / "utilities"
    chosen(host, lists, "wer", utilities=path)
    whole = path.read_bytes()
    broken = [b"", b"junk", whole[:-30], whole[: len(whole) // 2]]
    for data in broken:
        path.write_bytes(data)
        with pytest.raises(SmtError, match="utilities: expected utilities as `smt mbr --utilities` writes them, found"):
            chosen(host, lists, "wer", utilities=path)
    with path.open("wb") as stream:
        np.savez(stream, other=np.zeros(3))
    with pytest.raises(SmtError, match="expected utilities as `smt mbr --utilities` writes them"):
        chosen(host, lists, "wer", utilities=path)
    with path.open("wb") as stream:
        np.save(stream, np.zeros(3))
    with pytest.raises(SmtError, match="writes them, found a single array"):
        chosen(host, lists, "wer", utilities=path)


def test_file_appears_when_all_lists_are_done(host: Host, tmp_path: Path) -> None:
    lists, path = random_lists(9), tmp_path / "utilities"
    for wrong in ([*lists, candidates([], scores=[])], [*lists, lists[0]]):
        with pytest.raises(SmtError):
            chosen(host, wrong, "wer", utilities=path)
        assert not list(tmp_path.iterdir())
    stream = iter(host.mbr(lists, "wer", utilities=path))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="expected a file, found standard output"):
        host.mbr(lists, "wer", utilities="-")
    with pytest.raises(UsageError, match="expected a file that is not compressed"):
        host.mbr(lists, "wer", utilities="x.gz")
    with pytest.raises(FileNotFoundError):
        host.mbr(lists, "wer", utilities=tmp_path / "absent" / "x")


def test_metrics_that_read_the_source_need_the_same(host: Host, tmp_path: Path) -> None:
    class Sourced:
        name, higher_is_better = "sourced", True

        def stats(self, hypotheses: Any, references: Any, sources: Any = None) -> Any:
            return np.array(
                [[float(len(text) + len(source))] for text, source in zip(hypotheses, sources, strict=True)]
            )

        def score(self, stats: Any) -> Any:
            return stats[..., 0]

        sentence = score

        def signature(self) -> str:
            return "sourced"

    from smtplugins.host.judge.consensus import Consensus, choices

    def run(source: str) -> list[float | None]:
        lists = [candidates(["a b", "c"], scores=[0.0, 0.0], source=source)]
        [choice] = choices(lists, Consensus(Sourced()), utilities=tmp_path / "utilities")
        return list(choice.gains)

    assert run("one") == run("one") == [6.0, 4.0]
    with pytest.raises(SmtError, match=r"expected utilities of list 0 .* with its source, found those with another"):
        run("two")
