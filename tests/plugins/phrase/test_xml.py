"""Sentences with Moses' mark-up: its own output for each way to take it, and what the tags do to a small table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.sentences import read_source
from smtplugins.host.decode.translator import make_translator

MODES = ("pass-through", "ignore", "exclusive", "inclusive", "constraint")
TABLE = """\
ein ||| a ||| 0.9 0.9
haus ||| house ||| 0.6 0.6
haus ||| home ||| 0.3 0.3
ein haus ||| a house ||| 0.7 0.7
ein haus ||| a home ||| 0.4 0.4
das ||| the ||| 0.9 0.9
haus das ||| house that ||| 0.1 0.1
"""
CONFIG = """\
decoder: {name: phrase, search: stack, distortion_limit: 0, xml: MODE}
model:
  tables: {path: table, name: TM, scores: 2}
  features: ["oov,value=-100", "phrase-penalty,value=1"]
  weights: weights
"""
_SPAN = re.compile(r"\|([0-9]+)-([0-9]+)\|")


def steps(found: Decoding) -> list[tuple[int, int, str]]:
    """Source words, first and last one behind, and what they were translated as."""
    assert found.trace is not None
    lines = [line.partition(" ||| ") for line in found.trace() if line.startswith("[")]
    return [(*_ends(before), after.split("  ")[0]) for before, _, after in lines]


def _ends(text: str) -> tuple[int, int]:
    first, last = text[1 : text.index(")")].split(", ")
    return int(first), int(last)


def of_moses(line: str) -> list[tuple[int, int, str]]:
    """The same of a line of ``-t``, whose number is in front."""
    pieces = _SPAN.split(line.partition(" ")[2])
    spans = zip(pieces[0::3], pieces[1::3], pieces[2::3], strict=False)
    return [(int(first), int(last) + 1, text.strip()) for text, first, last in spans]


@pytest.fixture(scope="module")
def moses(shared: Path, cut_model: Callable[[str, Iterable[str]], Path]) -> Path:
    """A folder with Moses' model, the tables cut to the words of the input."""
    text = (shared / "gold/moses/xml/in.txt").read_text()
    return cut_model("model/moses.pb.tuned.ini", re.sub("<[a-z/][^>]*>", " ", text).split())


@pytest.mark.shared
@pytest.mark.parametrize("search", ["stack", "cube"])
@pytest.mark.parametrize("mode", MODES)
def test_moses_own_phrases(mode: str, search: str, moses: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(moses)
    host = smt.load_plugins()
    lines = (shared / "gold/moses/xml/in.txt").read_text().splitlines(keepends=True)
    output = (shared / f"gold/moses/xml/out.{mode}.txt").read_text().splitlines()
    Path("in.txt").write_text("".join(lines))
    overrides = [f"decoder.xml={mode}", f"decoder.search={search}", "decoder.pop_limit=1000"]
    made = make_translator(host, load_config("moses.ini", overrides), None, "off")
    found = list(made.decode(read_source(host, made, "in.txt")))
    assert len(found) == len(lines) == 11
    for i, one in enumerate(found):
        # To Moses a bar begins another factor.
        ours = [(first, last, re.sub(r"\|\S*", "", text)) for first, last, text in steps(one)]
        assert ours == of_moses(output[i]), i


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("table").write_text(TABLE)
    Path("weights").write_text("TM[0] 1\nTM[1] 0.5\noov 1\nphrase-penalty 0.1\n")
    Path("run.yaml").write_text(CONFIG)
    return tmp_path


def decode(mode: str, line: str, *overrides: str, graphs: bool = False) -> Decoding:
    config = load_config("run.yaml", [f"decoder.xml={mode}", *overrides])
    host = smt.load_plugins()
    made = make_translator(host, config, None, "off")
    Path("in").write_text(line + "\n")
    (found,) = made.decode(read_source(host, made, "in"), graphs=graphs)
    return found


_DOTS = "decoder.monotone_at_punctuation=true"
HOUSE = '<n translation="villa||hut" prob="0.25||0.5">haus</n>'


@pytest.mark.usefixtures("here")
class TestModes:
    def test_ignore_takes_the_text(self) -> None:
        assert steps(decode("ignore", f"ein {HOUSE}")) == [(0, 2, "a house")]

    def test_exclusive_is_what_the_tag_says(self) -> None:
        """log 0.5 over two scores of the first table, a word of its own phrase."""
        found = decode("exclusive", f"ein {HOUSE}")
        assert steps(found) == [(0, 1, "a"), (1, 2, "hut")]
        each = math.log(0.9) + math.log(0.5) / 2
        assert dict(found.features) == pytest.approx({"TM[0]": each, "TM[1]": each, "phrase-penalty": 2, "oov": 0})
        assert found.score == pytest.approx(1.5 * each + 0.2, abs=1e-6)

    def test_inclusive_is_one_more_translation(self) -> None:
        assert steps(decode("inclusive", f"ein {HOUSE}")) == [(0, 2, "a house")]
        likely = HOUSE.replace("0.5", "1")
        assert steps(decode("inclusive", f"ein {likely}")) == [(0, 1, "a"), (1, 2, "hut")]
        # A certain one costs nothing.
        assert steps(decode("inclusive", 'ein <x translation="">haus</x> <x english="x y">haus</x>')) == [
            (0, 2, "a house"),
            (2, 3, "x y"),
        ]

    def test_constraint_keeps_what_has_the_text_in_it(self) -> None:
        unlikely = 'ein <n translation="villa||home" prob="0.0001||0.0001">haus</n>'
        assert steps(decode("constraint", unlikely)) == [(0, 2, "a home")]
        assert steps(decode("constraint", 'ein <n translation="a home" span="0-1" prob="1e-9"/> haus')) == [
            (0, 2, "a home")
        ]
        # Not inside, and not half.
        assert steps(decode("constraint", 'ein haus <n translation="house that" span="1-2" prob="1e-9"/> das')) == [
            (0, 1, "a"),
            (1, 3, "house that"),
        ]

    def test_text_that_two_tags_ask_for(self) -> None:
        line = '<a translation="a" prob="1e-9">ein</a> <b translation="home" prob="1e-9">haus</b>'
        assert steps(decode("constraint", line)) == [(0, 2, "a home")]

    def test_tags_at_one_place_are_alternatives(self) -> None:
        line = 'ein <a translation="b" prob="0.1"><c translation="d" prob="0.2">haus</c></a>'
        assert steps(decode("exclusive", line)) == [(0, 1, "a"), (1, 2, "d")]

    @pytest.mark.parametrize("mode", ["exclusive", "constraint"])
    def test_tags_that_overlap_leave_words_as_they_are(self, mode: str) -> None:
        """Nothing else may stand there, but there is a translation all the same."""
        line = 'ein haus das <a translation="AB" span="0-1"/> <b translation="BC" span="1-2"/>'
        found = decode(mode, line)
        assert steps(found) in ([(0, 2, "AB"), (2, 3, "das")], [(0, 1, "ein"), (1, 3, "BC")])
        assert found.features["oov"] == -100

    def test_other_tags_say_nothing(self) -> None:
        assert steps(decode("exclusive", 'ein <b>haus</b> <ne entity="3">das</ne> <e translation="x"/>')) == [
            (0, 2, "a house"),
            (2, 3, "the"),
        ]

    def test_unknown_words_in_and_around_a_tag(self) -> None:
        found = decode("exclusive", 'foo <a translation="bar">foo</a> foo')
        assert found.best == "foo bar foo"
        assert found.features["oov"] == -200

    def test_empty_target_sides_of_the_table_and_the_same_words_elsewhere(self) -> None:
        """A tag is at its own place alone."""
        assert decode("exclusive", f"haus {HOUSE} haus").best == "house hut house"
        assert decode("inclusive", 'haus <x translation="X">haus</x> haus').best == "house X house"

    def test_lists_have_all(self) -> None:
        from smtplugins.host.decode.decoded_lists import candidates_of

        found = decode("exclusive", f"ein {HOUSE}", graphs=True)
        assert found.graph is not None
        listed = candidates_of(found, 9, graph=found.graph())
        assert listed is not None and listed.totals is not None
        assert listed.texts == ["a hut", "a villa"]
        assert listed.totals[0] == pytest.approx(found.score, abs=1e-5)
        weights = {"TM[0]": 1.0, "TM[1]": 0.5, "oov": 1.0, "phrase-penalty": 0.1}
        for (_, features, _), total in zip(listed.rows(), listed.totals, strict=True):
            assert sum(weights[name] * value for name, value in features.items()) == pytest.approx(total, abs=1e-5)

    def test_other_searches_and_orders(self) -> None:
        for option in ("decoder.search=cube", "decoder.order=monotone", "decoder.order=swap"):
            found = decode("exclusive", f"das ein {HOUSE}", option)
            assert sorted(steps(found)) == [(0, 1, "the"), (1, 2, "a"), (2, 3, "hut")]


@pytest.mark.usefixtures("here")
class TestErrors:
    def test_zones_and_walls_limit_the_search(self) -> None:
        free = ("decoder.distortion_limit=6", "decoder.monotone_at_punctuation=false")
        made = [
            decode("ignore", line, f"decoder.search={search}", *free).stats["hypotheses"]
            for search in ("stack", "cube")
            for line in ("ein das haus", "ein <zone> das haus </zone>", "ein <wall/> das <wall/> haus")
        ]
        assert made[0] > made[1] > made[2]
        assert made[3] > made[4] > made[5]
        dots = [decode("ignore", "ein . haus", "decoder.distortion_limit=6", *more) for more in ((), (_DOTS,))]
        assert dots[0].stats["hypotheses"] > dots[1].stats["hypotheses"]

    @pytest.mark.parametrize("tag", ["update", "weight-overwrite"])
    def test_tags_that_change_the_model(self, tag: str) -> None:
        with pytest.raises(SmtError, match=f"sentence 0: <{tag}> changes the model"):
            decode("inclusive", f'ein <{tag} weights="a= 1"/> haus')

    def test_marks_where_none_are_taken(self) -> None:
        """Tags are words unless something is said; who names the format wants them used."""
        assert decode("pass-through", "ein <b>haus</b>").best == "a <b>haus</b>"
        with pytest.raises(UsageError, match=r"sentence 0: .*expected a decoder that takes it"):
            decode("pass-through", f"ein {HOUSE}", "source_format=moses-xml")

    def test_modes(self) -> None:
        with pytest.raises(UsageError, match="xml"):
            decode("some", "ein")

    def test_probabilities_without_a_table_to_split_them_over(self) -> None:
        Path("table").write_text("[X] ||| ein ||| a ||| p=1\n")
        Path("run.yaml").write_text("decoder: phrase\nmodel: {tables: table}\n")
        assert decode("exclusive", '<a translation="b">haus</a>').best == "b"
        with pytest.raises(UsageError, match="no table has scores under its own name"):
            decode("inclusive", '<a translation="b" prob="0.5">haus</a>')

    def test_lines_that_moses_does_not_take(self) -> None:
        from smtplugins.host.decode.sentences import read_sentences

        Path("in").write_text('ein <a translation="b">haus\nein haus\n')
        said: list[str] = []
        found = list(read_sentences(smt.load_plugins(), "in", "moses-xml", note=said.append))
        assert [one.text for one in found] == ['ein <a translation="b">haus', "ein haus"]
        assert said == ["in:1: tags are taken for words: 'a' is not closed"]
