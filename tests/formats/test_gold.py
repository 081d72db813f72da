"""Real output of the toolkits: lists in templates and in base64; new weights change only their lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from smtformats import Format, open_bytes, open_lines
from smtformats.files import Lines
from smtformats.format import shortest
from smtformats.nbest import cdec as nbest_cdec
from smtformats.nbest import cdec_mira as nbest_cdec_mira
from smtformats.nbest import joshua as nbest_joshua
from smtformats.nbest import jsonl as nbest_jsonl
from smtformats.nbest import moses as nbest_moses
from smtformats.nbest import tsv as nbest_tsv
from smtformats.weights import cdec, moses

pytestmark = pytest.mark.shared


def files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize(
    ("case", "template", "lists"),
    [
        ("bn-en-hiero/output.gold", '"%c %s"', 805),
        ("bn-en-hiero/output-berkeleylm.gold", '"%c %s"', 943),
        ("n-ary/output.gold", "%c %s", 2),
        ("num_translation_options/output.gold", "%c ||| %s ||| %f", 4),
        ("oov-list/output.gold", "%s ||| %f ||| %c", 3),
        ("rescoring/output.gold", "%s ||| %f ||| %c", 12),
    ],
)
def test_lists_in_joshuas_templates_come_back(shared: Path, case: str, template: str, lists: int) -> None:
    path = shared / "gold" / "joshua" / case
    with open_lines(path) as lines:
        nbests = list(nbest_joshua.parse(lines, template=template))
    assert len(nbests) == lists
    out = io.StringIO()
    nbest_joshua.write(nbests, out, shortest)
    assert out.getvalue().encode() == path.read_bytes()


def test_both_spellings_of_a_cdec_list_say_the_same(shared: Path) -> None:
    folder = shared / "gold" / "cdec" / "first50"
    with open_lines(folder / "kbest5.mr_mira_compat.txt") as lines:
        binary = list(nbest_cdec_mira.parse(lines))
    assert [len(nbest) for nbest in binary] == [5] * 5
    with open_lines(folder / "kbest100.txt.gz") as lines:
        for nbest, other in zip(binary, nbest_cdec.parse(lines), strict=False):
            for mine, its in zip(nbest.rows(), other.rows(), strict=False):
                text, features, total = its
                # The base64 lists omit zeros, and the numbers of the text lists have six digits.
                nonzero = {name: value for name, value in features.items() if value != 0}
                assert mine[0] == text
                assert mine[1] == pytest.approx(nonzero, rel=1e-5)
                assert mine[2] == total


def changed_lines(path: Path, record: Format) -> tuple[list[tuple[bytes, bytes]], dict[str, float]]:
    """Lines that differ when every weight is replaced, and the new weights as read back."""
    assert record.update is not None
    with open_lines(path) as lines:
        new = {name: 3 * value + 0.123 for name, value in record.read(lines).items()}
    out = io.StringIO()
    with open_lines(path) as lines:
        assert record.update(new, lines, out, shortest) == []
    with open_bytes(path) as stream:
        before = stream.read().split(b"\n")
    after = out.getvalue().encode().split(b"\n")
    assert record.read(Lines(io.BytesIO(out.getvalue().encode()), "x")) == new
    return [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]], new


def test_moses_weights(shared: Path) -> None:
    paths = [path for path in files(shared / "gold" / "moses") if path.suffix == ".ini"]
    assert len(paths) >= 7
    for path in paths:
        pairs, new = changed_lines(path, moses.FORMAT)
        labels = {name.split("[")[0] for name in new}
        assert {before.split()[0].decode() for before, _ in pairs} == {f"{label}=" for label in labels}
        assert all(before.split()[0] == after.split()[0] for before, after in pairs)


def test_cdec_weights(shared: Path) -> None:
    gold = shared / "gold" / "cdec"
    paths = [path for path in files(gold) if path.name.startswith("weights") or path.name == "minrisk.weights"]
    paths += [gold / "quirks" / f"w_{name}.w" for name in ("crlf", "eq", "eqname", "nonl", "short", "tab")]
    assert len(paths) >= 20
    for path in paths:
        pairs, new = changed_lines(path, cdec.FORMAT)
        assert len(pairs) == len(new)
        assert all(len(after.split()) == len(before.split()) for before, after in pairs)


@pytest.mark.parametrize(
    "name", ["moses/pb/nbest100.align_seg.txt.gz", "moses/hiero/nbest100.align.txt.gz", "cdec/first50/kbest100.txt.gz"]
)
def test_lists_come_back_from_json_lines_and_tables(shared: Path, name: str) -> None:
    with open_bytes(shared / "gold" / name) as stream:
        text = stream.read().decode()
    own = nbest_cdec if name.startswith("cdec") else nbest_moses

    def lines(data: str) -> Lines:
        return Lines(io.BytesIO(data.encode()), "x")

    lists = list(own.parse(lines(text)))
    for record in (nbest_jsonl, nbest_tsv):
        out, back = io.StringIO(newline=""), io.StringIO(newline="")
        record.write([replace(nbest, raw=None) for nbest in lists], out, shortest)
        again = list(record.parse(lines(out.getvalue())))
        assert [list(nbest.rows()) for nbest in again] == [list(nbest.rows()) for nbest in lists]
        assert [nbest.extras for nbest in again] == [nbest.extras for nbest in lists]
        own.write(again, back, shortest)
        # Tables do not keep the order of features where hypotheses differ in it.
        if record is nbest_jsonl or name.startswith("moses"):
            assert back.getvalue().split() == text.split()
