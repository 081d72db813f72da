"""`smt searn label`: what it writes of aligned text in all formats, what it prints, what it refuses."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from smtplugins.cli.main import main
from smtplugins.host.estimate.lm import estimate_files
from smtplugins.plugins.searn.labels.item_files import ItemFolder
from smtplugins.plugins.searn.labels.items import items_of
from smtplugins.plugins.searn.labels.labels import labels_of, order_of
from tests.plugins.cut_examples import EXAMPLES, cut

from .test_labels import LABELS, LINKS, SOURCE, TARGET

BITEXT = "-s train.fr -t train.en -a train.align"
Pair = tuple[list[str], list[str], list[tuple[int, int]]]


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut("localized", tmp_path, {f"train.{side}": 200 for side in ("fr", "en", "align")})
    shutil.copy(EXAMPLES / "localized/test.fr", tmp_path)
    monkeypatch.chdir(tmp_path)


def label(text: str) -> int:
    return int(main(["searn", "label", *text.split()]))


def test_a_call_that_fails_leaves_nothing(fails_without_trace: Callable[[list[str], Path], None]) -> None:
    fails_without_trace(f"searn label {BITEXT} -o new/out -q".split(), Path("new/out"))


def pairs_of(source: str = "train.fr", target: str = "train.en", links: str = "train.align") -> list[Pair]:
    files = [Path(name).read_text(encoding="utf-8").splitlines() for name in (source, target, links)]
    return [
        (one.split(), other.split(), [(int(i), int(j)) for i, j in (link.split("-") for link in line.split())])
        for one, other, line in zip(*files, strict=True)
    ]


def lines_of(path: str) -> list[str]:
    return gzip.decompress(Path(path).read_bytes()).decode().split("\n")[:-1]


def write_pairs(pairs: list[Pair]) -> str:
    for name, lines in (
        ("some.fr", [" ".join(source) for source, _, _ in pairs]),
        ("some.en", [" ".join(target) for _, target, _ in pairs]),
        ("some.align", [" ".join(f"{i}-{j}" for i, j in links) for _, _, links in pairs]),
    ):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return "-s some.fr -t some.en -a some.align"


def test_labels_and_items_of_each_pair(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [*pairs_of(), (["a", "b"], ["c"], []), (SOURCE, TARGET, LINKS), ([], ["c"], []), (["a"], ["c"], [(0, 0)])]
    assert label(f"{write_pairs(pairs)} -o out -q") == 0
    assert capsys.readouterr() == ("", "")
    lines = lines_of("out/labels.gz")
    folder = ItemFolder.open(Path("out"))
    assert len(lines) == len(folder) == len(pairs)
    for number, (source, target, links) in enumerate(pairs):
        items = items_of(source, target, links)
        expected = [
            (" ".join(source[slice(*item.source)]), " ".join(target[slice(*item.target)]), one)
            for item, one in zip(items, labels_of(items), strict=True)
        ]
        assert folder.texts(number) == expected
        assert lines[number] == " ||| ".join(" ### ".join(fields) for fields in expected)
        assert folder.spans[folder.sentence(number)].tolist() == [[*item.source, *item.target] for item in items]
        if items:
            assert " ".join(filter(None, (expected[item][1] for item in order_of(labels_of(items))))) == " ".join(
                target
            )
    assert lines[200] == lines[202] == ""
    assert [text for _, _, text in folder.texts(201)] == LABELS
    assert lines[201].startswith(
        "一个 ### a ### S ||| 了解 ### to learn about ### S ||| 中国 ### Chinese ### S,R+ ||| "
    )


def test_the_table_is_that_of_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [*pairs_of(), *[(list("abcdx"), list("1234"), [(0, 1), (1, 3), (2, 0), (3, 2)])] * 2]
    pairs.append((list("pqr"), list("678"), [(0, 0), (2, 0), (2, 2), (1, 1)]))
    files = write_pairs(pairs)
    assert label(f"{files} -o out -q") == 0
    assert main(f"extract --phrases {files} -o all --max-length 50 -q".split()) == 0
    counts: Counter[tuple[str, str]] = Counter()
    for source, target, links in pairs:
        for item in items_of(source, target, links):
            for words, others in ((item.source, item.target), *item.parts):
                if others != (0, 0):
                    counts[" ".join(source[slice(*words)]), " ".join(target[slice(*others)])] += 1
    assert {("a b c d", "1 2 3 4"), ("a", "2"), ("d", "3"), ("p q r", "6 7 8"), ("q", "7")} <= counts.keys()
    totals = [Counter[str](), Counter[str]()]
    for pair, count in counts.items():
        for side in (0, 1):
            totals[side][pair[side]] += count
    every = {tuple(line.split(" ||| ")[:2]): line.split(" ||| ") for line in lines_of("all/phrase-table.gz")}
    lines = lines_of("out/phrase-table.gz")
    assert lines == sorted(lines, key=lambda line: (line.split(" ||| ")[0] + " |||", line.encode()))
    assert len(lines) == len(counts)
    same = 0
    for line in lines:
        one, other, scores, links_there, seen, *_ = line.split(" ||| ")
        values = scores.split(" ")
        count, of_source, of_target = counts[one, other], totals[0][one], totals[1][other]
        assert values[0] == f"{np.float32(count) / np.float32(of_target):.6g}"
        assert values[2] == f"{np.float32(count) / np.float32(of_source):.6g}"
        assert values[4] == "2.718"
        assert seen == f"{of_target} {of_source} {count}"
        known = every[one, other]
        # Found at the same places, its words are linked in the same ways.
        if known[4].split(" ")[2] == str(count):
            same += 1
            assert known[3] == links_there
            assert (values[1], values[3]) == tuple(known[2].split(" ")[1::2])
    assert same > 0.5 * len(lines)

    record = json.loads(Path("out/statistics.json").read_text())
    by_length = Counter(len(one.split(" ")) for one, _ in counts)
    assert record["table"]["entries"] == len(counts)
    assert record["table"]["single_word_share"] == by_length[1] / len(counts)
    assert record["table"]["entries_of_source_words"] == {
        str(length): by_length[length] for length in sorted(by_length)
    }

    assert label(f"{files} -o short --max-length 2 --no-parts -q") == 0
    short = [line.split(" ||| ")[:2] for line in lines_of("short/phrase-table.gz")]
    assert not {"a", "p q r", "q"} & {one for one, _ in short}
    assert max(len(side.split()) for pair in short for side in pair) == 2


def test_words_that_stay_alone() -> None:
    pairs: list[Pair] = [
        (["a", "b", "c"], ["x", "y"], [(0, 0), (2, 1)]),
        (["b", "a"], ["x"], [(0, 0)]),
        (["a", "b", "d"], ["x"], [(0, 0), (2, 0)]),
    ]
    assert label(f"{write_pairs(pairs)} -o out -q") == 0
    # The b inside of a phrase is not alone.
    assert lines_of("out/nulls.gz") == ["a ||| 0.333333 1", "b ||| 0.333333 1"]


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [
        *pairs_of()[:20],
        (SOURCE, TARGET, LINKS),
        (["a"], ["c"], []),
        (list("abcd"), list("1234"), [(0, 1), (1, 3), (2, 0), (3, 2)]),
        (list("pqr"), list("678"), [(0, 0), (2, 2), (2, 0), (1, 1)]),
    ]
    assert label(f"{write_pairs(pairs)} -o out") == 0
    shown = capsys.readouterr().out
    record = json.loads(Path("out/statistics.json").read_text())
    found = [items_of(*pair) for pair in pairs]
    labels = Counter(one for items in found for one in labels_of(items))
    kinds = Counter(item.kind for items in found for item in items)
    assert record["labels"] == labels
    assert list(record["labels"].values()) == sorted(labels.values(), reverse=True)
    assert record["items_of_kind"] == kinds
    assert record["sentences_with"] == {
        kind: sum(any(item.kind == kind for item in items) for items in found) for kind in kinds
    } | {"indecomposable": sum(any(item.kind in ("crossing", "simple") for item in items) for items in found)}
    assert (record["sentences"], record["labelled"], record["unlinked"]) == (24, 23, 1)
    assert record["items_of_several_words"] == sum(
        item.source[1] - item.source[0] > 1 for items in found for item in items
    )
    rows = [line.split() for line in shown.splitlines()]
    assert ["labels", str(len(labels))] in rows
    assert rows[0] == ["sentence", "pairs", "24"]
    assert ["without", "links", "1"] in rows


@pytest.mark.parametrize("name", ["pharaoh with texts", "giza", "giza inverted", "bal"])
def test_formats_of_links(name: str) -> None:
    pairs = pairs_of()[:30]
    # In A3 each word of one side has any links, in bal each word one on either side.
    pairs = [(source, target, sorted({j: (i, j) for i, j in links}.values())) for source, target, links in pairs]
    write_pairs(pairs)
    lines = []
    option = ""
    for number, (source, target, links) in enumerate(pairs, 1):
        if name == "pharaoh with texts":
            points = " ".join(f"{i}-{j}" for i, j in links)
            lines.append(f"{' '.join(source)} ||| {' '.join(target)} ||| {points}")
        elif name.startswith("giza"):
            made, by = (source, target) if "inverted" in name else (target, source)
            option = "--from giza-alignment" + ",inverted=yes" * ("inverted" in name)
            ends = [(j, i) for i, j in links] if "inverted" in name else links
            lines.append(f"# Sentence pair ({number}) source length {len(by)} target length {len(made)} "
                         "alignment score : 0.1")  # fmt: skip
            lines.append(" ".join(made))
            groups = [
                f"{word} ({{ {' '.join(str(j + 1) for i, j in ends if i == at)} }})" for at, word in enumerate(by)
            ]
            lines.append(" ".join(["NULL ({ })", *groups]))
        else:
            option = "--from bal-alignment,method=tgttosrc"
            lines.append("1")
            to_source = {j: i + 1 for i, j in links}
            lines.append(
                f"{len(target)} {' '.join(target)} # {' '.join(str(to_source.get(j, 0)) for j in range(len(target)))}"
            )
            lines.append(f"{len(source)} {' '.join(source)} # {' '.join('0' for _ in source)}")
    Path("links").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert label("-s some.fr -t some.en -a some.align -o plain -q") == 0
    assert label(f"-s some.fr -t some.en -a links {option} -o other -q") == 0
    for file in ("labels.gz", "phrase-table.gz", "nulls.gz"):
        assert lines_of(f"other/{file}") == lines_of(f"plain/{file}")


def test_bad_links_are_refused_or_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    files = write_pairs([(["a"], ["b"], [(0, 0)]), (["a", "c"], ["d"], [(0, 0), (2, 0)])])
    assert label(f"{files} -o out -q") != 0
    assert "some.align:2: expected links inside the sentences of 2 and 1 words, found '2-0'" in capsys.readouterr().err
    assert not Path("out").exists()
    assert label(f"{files} -o out --skip-bad") == 0
    assert lines_of("out/labels.gz") == ["a ### b ### S", ""]
    record = json.loads(Path("out/statistics.json").read_text())
    assert (record["sentences"], record["skipped"], record["empty"], record["labelled"]) == (2, 1, 0, 1)
    # A folder of labels is replaced if that is asked, another one is not.
    assert label(f"{files} -o out --skip-bad -q") == 2
    assert "out: expected a new or empty folder, found one with statistics.json" in capsys.readouterr().err
    assert label(f"{files} -o out --skip-bad -q --force") == 0
    Path("other").mkdir()
    Path("other/file").touch()
    assert label(f"{files} -o other --skip-bad -q --force") == 2


@pytest.mark.parametrize(
    ("source", "links", "option", "message"),
    [
        ("a\n", "0-0\n0-0\n", "", "links: expected links of 1 sentence pairs, as in source, found more"),
        ("a\n", "", "", "links:1: field 1: expected alignment data"),
        ("a |||\n", "0-0\n", "", "source:1: expected words without |||"),
        ("a [*]\n", "0-0\n", "", "source:1: expected words without brackets around them"),
        ("a b\n", "a ||| c ||| 0-0\n", "", "links:1: expected 2 words, as line 1 of source, found 1: 'a'"),
        ("a\n", "0-0\n", "--max-length 0", "--max-length: expected 1 to 255, found 0"),
        ("a\n", "0-0\n", "--from gizza", "unknown format"),
    ],
)
def test_what_is_refused(
    source: str, links: str, option: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("source", source), ("target", "c\n"), ("links", links)):
        Path(name).write_text(text)
    assert label(f"-s source -t target -a links -o out {option}") != 0
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


def test_the_decoder_of_phrases_reads_the_table() -> None:
    assert label(f"{BITEXT} -o out -q") == 0
    estimate_files([Path("train.en")], 3, fallback=(), quiet=True).write_arpa("lm.arpa")
    Path("run.yaml").write_text(
        "source: test.fr\ndecoder: {name: phrase, order: monotone}\nmodel:\n  tables: out/phrase-table.gz\n"
        "  features: ['lm,path=lm.arpa,name=lm', word-penalty]\n  weights: weights\n"
    )
    Path("weights").write_text("lm 0.2\n" + "".join(f"TranslationModel0[{k}] 0.2\n" for k in range(5)))
    assert main("decode -c run.yaml -o found -k 1 -q".split()) == 0
    found = Path("found").read_text().splitlines()
    assert len(found) == len(Path("test.fr").read_text().splitlines())
    # The fifth score is as good as a penalty: its logarithm is one for each phrase.
    assert re.search(r"TranslationModel0= (-[\d.]+ ){4}\d\.999", found[0])


@pytest.mark.shared
def test_labels_of_multi30k_give_the_target_back(shared: Path) -> None:
    data = shared / "data/multi30k"
    links = shared / "gold/moses/train/aligned.gdfa.gz"
    assert label(f"-s {data}/train.de.gz -t {data}/train.en.gz -a {links} -o out -q") == 0
    targets = gzip.decompress((data / "train.en.gz").read_bytes()).decode().split("\n")
    sources = gzip.decompress((data / "train.de.gz").read_bytes()).decode().split("\n")
    folder = ItemFolder.open(Path("out"))
    assert len(folder) == 29_000
    for number, items in enumerate(folder):
        found = [items[item][1] for item in order_of(one for _, _, one in items)]
        assert " ".join(filter(None, found)) == " ".join(targets[number].split())
        assert " ".join(source for source, _, _ in items) == " ".join(sources[number].split())
    record = json.loads(Path("out/statistics.json").read_text())
    assert (record["labelled"], len(record["labels"]), record["table"]["entries"]) == (29_000, 11, 59_000)
    assert record["sentences_with"]["indecomposable"] == 11_402
