"""Class maps: made, written, read again; files of others; what is wrong with one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from smtformats import FormatError
from smtplugins.cli.main import main
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.plugins.cdlm.features.class_making import dominant_tags, make_classes, read_tagged, word_counts
from smtplugins.plugins.cdlm.features.classes import ClassMap, load_classes, read_classes

TEXT = ["the cat sat on the mat", "the dog sat", "# on running jumping singing <other> mats"]
TAGGED = "the/DT cat/NN sat/VBD 1/2/CD\nthe/DT sat/NN sat/VBD\n"
CONLLU = (
    "# text = It's small\n"
    "1-2\tIt's\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tIt\tit\tPRON\tPRP\t_\t3\tnsubj\t_\t_\n"
    "2\t's\tbe\tAUX\tVBZ\t_\t3\tcop\t_\t_\n"
    "3\tsmall\tsmall\tADJ\tJJ\t_\t0\troot\t_\t_\n\n"
)


def test_the_most_frequent_words_are_classes() -> None:
    made = make_classes(word_counts(TEXT), frequent=3, source="text.en")
    assert made.classes == {"the": "the", "sat": "sat", "on": "on"}
    assert [made.of(word) for word in ("the", "cat", "never", "<other>")] == ["the", "<other>", "<other>", "<other>"]
    assert made.names == ("<other>", "on", "sat", "the")
    assert made.made == "the 3 most frequent words, others one class, of text.en"
    # Equally frequent words go by name, whatever the order of the text.
    assert make_classes(word_counts(reversed(TEXT)), frequent=3, source="text.en") == made


def test_others_by_suffix() -> None:
    made = make_classes(word_counts(TEXT), frequent=1, other="suffix", suffix=3, suffixes=2)
    assert made.names == ("<-ats>", "<-ing>", "<other>", "the")
    # A word has to be longer than its suffix.
    wanted = {"running": "<-ing>", "swimming": "<-ing>", "ing": "<other>", "cats": "<-ats>", "cat": "<other>"}
    assert {word: made.of(word) for word in wanted} == wanted


def test_others_by_frequency() -> None:
    made = make_classes({"a": 100, "b": 7, "c": 3, "d": 2, "e": 1}, frequent=1, other="frequency")
    assert [made.of(word) for word in "abcdef"] == ["a", "<seen-4>", "<seen-2>", "<seen-2>", "<seen-1>", "<seen-0>"]


def test_tags_in_the_place_of_words() -> None:
    counts, tags = dominant_tags(
        [("the", "DT"), ("run", "NN"), ("run", "VB"), ("run", "VB"), ("a", "DT"), ("x", "B"), ("x", "A")]
    )
    assert tags == {"the": "DT", "run": "VB", "a": "DT", "x": "A"}
    made = make_classes({**counts, "of": 9}, frequent=3, tags=tags)
    # The most frequent ones are of, run and x; of has no tag.
    assert made.classes == {"run": "VB", "x": "A"}
    assert made.of("the") == made.of("of") == "<other>"
    assert make_classes(counts, frequent=None, tags=tags).of("the") == "DT"


@pytest.mark.parametrize("other", ["one", "suffix", "frequency"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_files_say_all(tmp_path: Path, other: str, suffix: str) -> None:
    made = make_classes(word_counts(TEXT), frequent=4, other=other, suffix=2)  # type: ignore[arg-type]
    path = tmp_path / f"classes.txt{suffix}"
    made.write(path)
    again = read_classes(path)
    assert again == made
    assert again.digest() == made.digest()
    if suffix:
        assert gzip.decompress(path.read_bytes()).startswith(b"# smt cdlm classes: the 4 most frequent words, others ")


def test_a_map_of_no_words(tmp_path: Path) -> None:
    made = make_classes(word_counts(TEXT), frequent=0)
    made.write(tmp_path / "classes.txt")
    assert read_classes(tmp_path / "classes.txt") == made
    assert made.names == ("<other>",)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("the DT\ncat\tNN\n\n#  SYM\n", {"the": "DT", "cat": "NN", "#": "SYM"}),
        ("the\t7\ncat\t12\n", {"the": "7", "cat": "12"}),
        ("0\tthe\t12\n010\tcat\t3\n", {"the": "0", "cat": "010"}),
        ("no\u00a0break X\n", {"no\u00a0break": "X"}),
    ],
)
def test_files_of_others(tmp_path: Path, text: str, wanted: dict[str, str]) -> None:
    (tmp_path / "c").write_text(text, encoding="utf-8")
    found = read_classes(tmp_path / "c")
    assert (dict(found.classes), found.other, found.made) == (wanted, "<other>", "the file c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the DT\ncat\n", "c:2: field 2: expected a word and its class, found 'cat'"),
        ("the DT\ncat NN VB\n", "c:2: field 3: expected a word and its class, found 'cat NN VB'"),
        ("a b\tX\n", "c:1: field 1: expected a word and its class"),
        ("the DT\nthe NN\n", "c:2: field 1: expected one class for each word, found 'the' in DT and NN"),
        ("01 the 3\nthe DT\n", "c:2: field 1: expected bits, a word and a count, as on the first line, found 'the DT'"),
        ("\n", "c:1: field 1: expected a word and its class on each line, found none in the file"),
        ("# smt cdlm classes: x\nthe\tDT\n", "c:2: field 1: expected `# other words: CLASS`"),
    ],
)
def test_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "c").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read_classes(tmp_path / "c")
    assert message in str(caught.value)


def test_wrong_options() -> None:
    with pytest.raises(UsageError, match="frequent: expected 0 or more, found -1"):
        make_classes({}, frequent=-1)
    with pytest.raises(UsageError, match="suffix: expected 1 or more, found 0"):
        make_classes({}, suffix=0)


def test_tagged_texts(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(TAGGED, encoding="utf-8")
    assert list(read_tagged(tmp_path / "t"))[2:5] == [("sat", "VBD"), ("1/2", "CD"), ("the", "DT")]
    (tmp_path / "u").write_text(CONLLU, encoding="utf-8")
    assert list(read_tagged(tmp_path / "u")) == [("It", "PRON"), ("'s", "AUX"), ("small", "ADJ")]
    assert [tag for _, tag in read_tagged(tmp_path / "u", column="xpos")] == ["PRP", "VBZ", "JJ"]
    (tmp_path / "w").write_text("a/DT\nb\n", encoding="utf-8")
    with pytest.raises(FormatError, match="w:2: field 1: expected WORD/TAG, or CoNLL-U with ten columns, found 'b'"):
        list(read_tagged(tmp_path / "w"))


def test_artefacts_are_checked(tmp_path: Path) -> None:
    made = ClassMap({"a": "A"})
    made.save(tmp_path / "classes")
    assert load_classes(tmp_path / "classes", made.digest()).classes == {"a": "A"}
    with pytest.raises(SmtError, match="expected the classes that the model was saved with, found others"):
        load_classes(tmp_path / "classes", "0")
    with pytest.raises(SmtError, match=r"expected classes\.txt, the classes of a model, found none"):
        load_classes(tmp_path, "")


def test_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("\n".join(TEXT) + "\n", encoding="utf-8")
    (tmp_path / "tagged").write_text(TAGGED, encoding="utf-8")
    assert main(["cdlm", "classes", "-i", f"{tmp_path}/text", "--frequent", "2"]) == 0
    assert capfd.readouterr().out == (
        "# smt cdlm classes: the 2 most frequent words, others one class, of text\n"
        "# other words: <other>\non\ton\nthe\tthe\n"
    )
    assert main(["cdlm", "classes", "--tagged", f"{tmp_path}/tagged", "--frequent", "all", "-o", f"{tmp_path}/c"]) == 0
    found = read_classes(tmp_path / "c")
    assert found.classes == {"the": "DT", "cat": "NN", "sat": "VBD", "1/2": "CD"}
    assert found.made == "all 4 words by their tags, others one class, of tagged"
    assert main(["cdlm", "classes", "-i", f"{tmp_path}/text", "--tags", f"{tmp_path}/c", "-o", f"{tmp_path}/d"]) == 0
    assert read_classes(tmp_path / "d").classes == {"the": "DT", "cat": "NN", "sat": "VBD"}
    assert main(["cdlm", "classes"]) != 0
    assert "expected a text (--input) or a tagged text (--tagged)" in capfd.readouterr().err
    assert main(["cdlm", "classes", "--tagged", "x", "--tags", "y"]) != 0
    assert "expected --tagged or --tags, found both" in capfd.readouterr().err
