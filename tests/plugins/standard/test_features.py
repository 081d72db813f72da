"""Length, word penalty, language model and column, as a run uses them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.spec import Spec
from smtplugins.host.host import Host
from tests.core.kenlm_files import LAYOUTS, written_trie
from tests.core.ngrams import arpa

ARPA = """\
\\data\\
ngram 1=6
ngram 2=3

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.25
-0.75\t</s>
-0.5\ta\t-0.125
-1\tman\t-0.375
-1.25\that\t0

\\2-grams:
-0.25\t<s> a
-0.625\ta man
-0.125\that </s>

\\end\\
"""
# <s> a: listed; a man: listed; man backs off to hat; hat </s>: listed.
A_MAN_HAT = -0.25 - 0.625 + (-0.375 - 1.25) - 0.125
# <s> backs off to the unknown word, which has no back-off weight of its own; then the end of the sentence.
UNKNOWN = (-0.25 - 1.5) - 0.75

TEXTS = ["a man hat", "zebra", "", "a  man\u00a0hat"]
LISTS = [smt.candidates(["a b", "c", ""], id=0), smt.candidates(["d e f"], id=1)]

File = Callable[[str], Path]


@pytest.fixture
def file(tmp_path: Path) -> File:
    def write(text: str) -> Path:
        path = tmp_path / "side"
        path.write_bytes(text.encode())
        return path

    return write


def scores(host: Host, spec: Spec | str, texts: list[str] | None = None, jobs: int = 1) -> list[dict[str, float]]:
    lists = [smt.candidates(texts)] if texts is not None else LISTS
    return [features for one in host.score(lists, [spec], jobs=jobs) for _, features, _ in one.rows()]


def column(host: Host, path: Path, jobs: int = 1) -> list[dict[str, float]]:
    return scores(host, Spec("column", {"path": path}), jobs=jobs)


def test_length_counts_words_between_blanks(host: Host) -> None:
    texts = ["a b c", "", "  a  b ", "a\tb", "a\u00a0b c", "a\u2028b", "\u3000"]
    assert [one["length"] for one in scores(host, "length", texts)] == [3, 0, 2, 2, 2, 1, 1]


@pytest.mark.parametrize(
    ("value", "each"),
    [
        (None, -1.0),
        ("moses", -1.0),
        ("cdec", -0.4342944819032518),
        ("joshua", -0.4342944819032518),
        ("0.5", 0.5),
        (2, 2.0),
    ],
)
def test_word_penalty_has_each_toolkits_convention(host: Host, value: object, each: float) -> None:
    spec = Spec("word-penalty", {} if value is None else {"value": value})
    assert [one["word-penalty"] for one in scores(host, spec, ["a b c", "", "a"])] == pytest.approx([3 * each, 0, each])


def test_word_penalty_knows_no_other_toolkit(host: Host) -> None:
    with pytest.raises(UsageError, match=r"feature 'word-penalty': value: expected one of float, Literal\['moses', "):
        scores(host, "word-penalty,value=marian", ["a"])


class TestLanguageModel:
    def test_scores_are_natural_unless_asked_otherwise(self, host: Host, file: File) -> None:
        path = file(ARPA)
        natural = [one["lm"] for one in scores(host, f"lm,path={path}", TEXTS)]
        common = [one["lm"] for one in scores(host, f"lm,path={path},base=10", TEXTS)]
        expected = [A_MAN_HAT, UNKNOWN, -0.25 - 0.75, -0.25 + (-0.125 - 1.5) - 0.75]
        assert common == pytest.approx(expected)
        assert natural == pytest.approx([score * math.log(10) for score in expected])

    def test_unknown_words_are_a_second_component(self, host: Host, file: File) -> None:
        rows = scores(host, f"lm,path={file(ARPA)},oov=true,base=10,name=LM", TEXTS)
        assert [one["LM[1]"] for one in rows] == [0, 1, 0, 1]
        assert rows[0]["LM[0]"] == pytest.approx(A_MAN_HAT)

    def test_sentence_ends_can_be_left_out(self, host: Host, file: File) -> None:
        path = file(ARPA)
        (one,) = scores(host, f"lm,path={path},base=10,eos=false", ["a man"])
        assert one["lm"] == pytest.approx(-0.25 - 0.625)
        (one,) = scores(host, f"lm,path={path},base=10,eos=false,bos=no", ["a man"])
        assert one["lm"] == pytest.approx(-0.5 - 0.625)

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_kenlm_gives_the_same(self, host: Host, tmp_path: Path, jobs: int) -> None:
        kenlm = pytest.importorskip("kenlm")
        path = tmp_path / "x.arpa"
        path.write_text(ARPA)
        model = kenlm.Model(str(path))
        texts = [*TEXTS[:3], "man man a hat", "hat zebra a man a"]
        rows = scores(host, f"lm,path={path},base=10", texts, jobs)
        assert [one["lm"] for one in rows] == pytest.approx([model.score(text) for text in texts], abs=1e-5)

    @pytest.mark.parametrize("kind", LAYOUTS)
    def test_a_trie_gives_the_same(self, host: Host, file: File, tmp_path: Path, kind: str) -> None:
        words = {(word,): (-1.0, -0.5) for word in ("<s>", "</s>", "<unk>", "a", "man", "hat")}
        table = words | {("a", "man"): (-0.25, 0.0), ("<s>", "a"): (-0.5, 0.0)}
        (tmp_path / "x.arpa").write_text(arpa(table, 2))
        (tmp_path / "x.klm").write_bytes(written_trie(table, 2, kind))
        expected, trie = (scores(host, f"lm,path={tmp_path / name}", TEXTS) for name in ("x.arpa", "x.klm"))
        assert [one["lm"] for one in trie] == pytest.approx([one["lm"] for one in expected], abs=1e-5)

    def test_wrong_files_and_options(self, host: Host, file: File, tmp_path: Path) -> None:
        with pytest.raises(FormatError, match=r"side:\d+: expected"):
            host.score(LISTS, [f"lm,path={file('hello' + chr(10))}"])
        with pytest.raises(FileNotFoundError):
            host.score(LISTS, [f"lm,path={tmp_path / 'absent'}"])
        with pytest.raises(UsageError, match="feature 'lm': base: expected one of e, 10, found '2'"):
            host.score(LISTS, [f"lm,path={file(ARPA)},base=2"])
        with pytest.raises(UsageError, match="feature 'lm' needs the option path"):
            host.score(LISTS, ["lm"])


class TestColumn:
    @pytest.mark.parametrize("jobs", [1, 2])
    @pytest.mark.parametrize("text", ["1\n-2.5\n3e1\n.5\n", "1\r\n-2.5\r\n 30 \r\n0.5"])
    def test_one_number_a_line(self, host: Host, file: File, text: str, jobs: int) -> None:
        assert [one["column"] for one in column(host, file(text), jobs)] == [1.0, -2.5, 30.0, 0.5]

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_header_names_the_columns(self, host: Host, file: File, jobs: int) -> None:
        rows = column(host, file("qe\tmt-score\n1\t10\n2\t20\n3\t30\n4\t40\n"), jobs)
        assert rows == [{"qe": float(i), "mt-score": 10.0 * i} for i in range(1, 5)]

    def test_header_of_one_column(self, host: Host, file: File) -> None:
        assert column(host, file("qe\n1\n2\n3\n4\n"))[3] == {"qe": 4.0}

    def test_rows_follow_their_hypotheses(self, host: Host, file: File, tmp_path: Path) -> None:
        path = tmp_path / "x.nbest"
        path.write_text("".join(f"{i // 2} ||| h{i} ||| f= {i % 3} ||| 0\n" for i in range(4)))
        lists = smt.rescore(smt.read(path), {"f": 1.0})
        scored = host.score(lists, [Spec("column", {"path": file("0\n1\n2\n3\n")})])
        assert [(text, row["column"]) for one in scored for text, row, _ in one.rows()] == [
            ("h1", 1.0), ("h0", 0.0), ("h2", 2.0), ("h3", 3.0)
        ]  # fmt: skip

    @pytest.mark.parametrize("jobs", [1, 2])
    def test_as_many_rows_as_hypotheses(self, host: Host, file: File, jobs: int) -> None:
        with pytest.raises(FormatError, match=r"side: expected a row for each hypothesis, 4 and more, found 3$"):
            column(host, file("1\n2\n3\n"), jobs)
        with pytest.raises(FormatError, match=r"side: expected 4 rows, one for each hypothesis, found 5$"):
            column(host, file("1\n2\n3\n4\n5\n"), jobs)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "side:1: field 1: expected numbers, one row for each hypothesis, found none"),
            ("qe\n", "side:1: field 1: expected numbers, one row for each hypothesis, found none"),
            ("1\nx\n", "side:2: field 1: expected a finite number, found 'x'"),
            ("1\n\n2\n", "side:2: field 1: expected a finite number, found ''"),
            ("1\nnan\n", "side:2: field 1: expected a finite number, found 'nan'"),
            ("1\n1_0\n", "side:2: field 1: expected a finite number, found '1_0'"),
            ("nan\n1\n", "side:1: field 1: expected a number, or a header of names, found 'nan'"),
            ("my score\n1\n", "side:1: field 1: expected a number, or a header of names, found 'my score'"),
            ("\n1\n", "side:1: field 1: expected a number, or a header of names, found ''"),
            ("a\tb\n1\t2\n1\tinf\n", "side:3: field 2: expected a finite number, found 'inf'"),
            ("a\tb\n1\t2\n1\n", "side:3: field 2: expected 2 columns, found 1"),
            ("a\tb\n1\t2\t3\n", "side:2: field 3: expected 2 columns, found 3"),
            ("1\t2\n3\t4\n", "side:1: field 1: expected a header that names the columns, found '1\\t2'"),
            ("a\ta\n1\t2\n", "side:1: field 1: expected each column once, found 'a\\ta'"),
            ("a\t1\n1\t2\n", "side:1: field 1: expected a number, or a header of names, found 'a'"),
        ],
    )
    def test_bad_rows_are_named_by_line_and_field(self, host: Host, file: File, text: str, message: str) -> None:
        with pytest.raises(FormatError) as caught:
            column(host, file(text))
        assert str(caught.value).endswith(message)

    def test_absent_file(self, host: Host, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            column(host, tmp_path / "absent")
