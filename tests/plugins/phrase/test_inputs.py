"""What Moses users translate: confusion networks, unknown words, odd lines, several tables; its output beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode.sentences import read_source
from smtplugins.host.decode.translator import make_translator

CutModel = Callable[[str, Iterable[str]], Path]
INI = """\
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
Distortion
PhraseDictionaryMemory name=TM num-features=2 path=table
[weight]
WordPenalty0= -0.1
PhrasePenalty0= -0.1
Distortion0= 0.3
TM= 1 0.5
"""
TABLE = """\
ein ||| a ||| 0.9 0.9
haus ||| house ||| 0.6 0.6
haus ||| home ||| 0.3 0.3
ein haus ||| a house ||| 0.7 0.7
grünes ||| green ||| 0.5 0.5
. ||| . ||| 1 1
tja |||  ||| 0.5 0.5
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("table").write_text(TABLE)
    Path("moses.ini").write_text(INI)
    return tmp_path


def decode(text: str | bytes, *overrides: str, ini: str = "") -> list[Decoding]:
    """What comes out; ``ini`` are lines before all others of the moses.ini."""
    Path("run.ini").write_text(ini + Path("moses.ini").read_text())
    Path("in").write_bytes(text.encode() if isinstance(text, str) else text)
    host = smt.load_plugins()
    made = make_translator(host, load_config("run.ini", overrides), None, "off")
    return list(made.decode(read_source(host, made, "in")))


def texts(text: str | bytes, *overrides: str, ini: str = "") -> list[str]:
    return [one.best for one in decode(text, *overrides, ini=ini)]


@pytest.mark.shared
class TestMosesOutput:
    @pytest.mark.parametrize("search", ["stack", "cube"])
    @pytest.mark.parametrize(("kind", "type"), [("cn", 1), ("plf", 2)])
    def test_networks(
        self, kind: str, type: int, search: str, shared: Path, cut_model: CutModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = shared / "gold/moses/lattice"
        words = "ein eine mann junge mit einem ner roten hut . ' hund".split()
        monkeypatch.chdir(cut_model("lattice/moses.lattice.ini", words))
        output = (given / ("out.cn" if kind == "cn" else "out.txt")).read_text().splitlines()
        wanted = [line.rpartition("||| ")[2].strip() for line in output]
        text = (given / f"in.{kind}").read_text()
        assert texts(text, f"decoder.search={search}", ini=f"[inputtype]\n{type}\n") == wanted

    @pytest.mark.parametrize(
        ("file", "ini"),
        [
            ("1best", ""),
            ("drop-unknown", "[drop-unknown]\ntrue\n"),
            ("mark-unknown", "[mark-unknown]\n1\n"),
            (
                "mark-unknown2",
                "[mark-unknown]\nyes\n[unknown-word-prefix]\n<oov>\n[unknown-word-suffix]\n</oov>\n",
            ),
        ],
    )
    def test_unknown_words(
        self, file: str, ini: str, shared: Path, cut_model: CutModel, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given = shared / "gold/moses/pb"
        # Three sentences with such words, and one without.
        lines = [(given / "t10.de").read_text().splitlines()[i] for i in (0, 1, 3, 4)]
        monkeypatch.chdir(cut_model("model/moses.pb.tuned.ini", " ".join(lines).split()))
        output = (given / (f"{file}.txt" if file == "1best" else f"out.{file}.txt")).read_text().splitlines()
        assert texts("\n".join(lines) + "\n", ini=ini) == [output[i].strip() for i in (0, 1, 3, 4)]

    def test_scores_of_odd_tables(self, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Sparse features, 0 and tiny numbers, an empty target side, behind which Moses forgets ``</s>``."""
        monkeypatch.chdir(shared / "gold/moses")
        host = smt.load_plugins()
        made = make_translator(host, load_config("edge/pt.ini"), None, "off")
        (moses, _) = host.read("edge/pt.nbest")
        (found,) = made.decode(["a b c d"])
        assert found.best == moses.texts[0] == "A B1 B2 C"
        for name, value in next(moses.rows())[1].items():
            if name != "LM0":
                assert found.features[name] == pytest.approx(value, abs=1e-3), name


@pytest.mark.usefixtures("here")
class TestConfusionNetworks:
    INI = "[inputtype]\n1\n[feature]\nInputFeature num-features=2 num-input-features=1 real-word-count=1\n"
    WEIGHTED = INI + "[weight]\nInputFeature0= 1 0.1\n"

    def test_scores_of_the_way_that_was_taken(self) -> None:
        (found,) = decode("ein 0.5 *EPS* 0.5\nhaus 0.8 grünes 0.2\n", ini=self.WEIGHTED)
        assert found.best == "a house"
        assert found.features["InputFeature0[0]"] == pytest.approx(math.log(0.5) + math.log(0.8))
        assert found.features["InputFeature0[1]"] == -2
        assert found.score is not None
        parts = {"TM[0]": 1, "TM[1]": 0.5, "WordPenalty0": -0.1, "PhrasePenalty0": -0.1, "Distortion0": 0.3}
        parts |= {"InputFeature0[0]": 1, "InputFeature0[1]": 0.1}
        total = sum(weight * found.features[name] for name, weight in parts.items())
        assert found.score == pytest.approx(total, abs=1e-5)

    def test_arcs_without_a_word(self) -> None:
        """A phrase goes over them, and they are in its score."""
        (found,) = decode("ein 1\n*EPS* 0.75 grünes 0.25\nhaus 1\n", ini=self.WEIGHTED)
        assert found.best == "a house"
        assert found.features["InputFeature0[0]"] == pytest.approx(math.log(0.75))
        assert found.features["PhrasePenalty0"] == 1

    def test_nothing_but_arcs_without_a_word(self) -> None:
        assert texts("*EPS* 1\n\nein 1\n\n", ini=self.WEIGHTED) == ["", "a"]

    def test_unknown_words(self) -> None:
        (found,) = decode("ein 1\nxyz 0.25\n", ini=self.WEIGHTED)
        assert (found.best, found.features["UnknownWordPenalty0"]) == ("a xyz", -100)
        assert texts("ein 1\nxyz 0.25\n", ini=f"{self.WEIGHTED}[drop-unknown]\n1\n") == ["a"]

    def test_jumps_are_columns(self) -> None:
        weights = "[weight]\nInputFeature0= 1 0.5\n[distortion-limit]\n1\n"
        (found,) = decode("ein 1\ngrünes 1\nhaus 1\n", ini=self.INI + weights)
        assert found.best == "a green house"
        assert found.features["Distortion0"] == 0

    def test_numbers_that_are_not_as_said(self) -> None:
        with pytest.raises(FormatError, match=r"^in:1: field 1: expected groups of a word and 1 scores"):
            decode("ein 1 2\n", ini=self.WEIGHTED)
        with pytest.raises(FormatError, match=r"^in:2: field 1: expected scores of 0 or more, found '-1'"):
            decode("ein 1\nhaus -1\n", ini=self.WEIGHTED)

    def test_several_numbers_for_each_word(self) -> None:
        ini = "[inputtype]\n1\n[feature]\nInputFeature num-features=2 num-input-features=2 real-word-count=0\n"
        weights = "[weight]\nInputFeature0= 1 0.1\n"
        (found,) = decode("ein 0.5 0.25\n", ini=ini + weights)
        assert found.best == "a"
        assert found.features["InputFeature0[0]"] == pytest.approx(math.log(0.5))
        assert found.features["InputFeature0[1]"] == pytest.approx(math.log(0.25))
        with pytest.raises(FormatError, match="expected groups of a word and 2 scores"):
            decode("ein 0.5\n", ini=ini + weights)


@pytest.mark.usefixtures("here")
class TestLines:
    @pytest.mark.parametrize(
        ("line", "wanted"),
        [
            ("", ""),
            (" \t ", ""),
            ("ein  \t haus .", "a house ."),
            ("ein haus .\r", "a house ."),
            ("ein\u00a0haus", "ein\u00a0haus"),
            ("<s> ein haus </s>", "<s> a house </s>"),
            ('<seg id="77">ein haus</seg>', "a house"),
            ('ein <n translation="x">haus', 'a <n translation="x">haus'),
            ("ein ||| haus", "a ||| house"),
            ("ein [X]", "a [X]"),
            ("tja", ""),
        ],
    )
    def test_one_line_is_one_sentence(self, line: str, wanted: str) -> None:
        assert texts(f"ein .\n{line}\nhaus\n") == ["a .", wanted, "house"]
        # A last line without its end counts, too; Moses leaves it out.
        assert texts(f"ein .\n{line or 'ein'}") == ["a .", wanted if line else "a"]

    def test_a_lattice_is_no_sentence(self) -> None:
        with pytest.raises(FormatError, match=r"in:2: expected a sentence, as on the lines before, found a lattice"):
            texts("ein .\n((('ein',1,1),),)\n")

    def test_nothing(self) -> None:
        assert texts("") == []

    def test_bytes_that_are_no_text(self) -> None:
        with pytest.raises(FormatError, match=r"^in:2: field 1: expected UTF-8 text, found byte 0xff"):
            decode(b"ein\nhaus \xff\n")

    def test_mark_up_by_the_configuration(self) -> None:
        line = 'ein <n translation="villa">haus</n> .\n'
        assert texts(line, ini="[xml-input]\nexclusive\n") == ["a villa ."]
        swapped = line.replace("<", "{{").replace(">", "}}")
        assert texts(swapped, ini="[xml-input]\nexclusive\n[xml-brackets]\n{{ }}\n") == ["a villa ."]
        assert texts(line) == ['a <n translation="villa">haus</n> .']

    def test_inputs_that_are_not_for_phrases(self) -> None:
        with pytest.raises(SmtError, match=r"run.ini:2: decoder.input: expected one of text, .* found 'tree'"):
            decode("ein\n", ini="[inputtype]\n3\n")


@pytest.mark.usefixtures("here")
class TestUnknownWords:
    def test_numbers_are_not_dropped(self) -> None:
        (found,) = decode("ein foo 3x . bar\n", ini="[drop-unknown]\ntrue\n")
        assert found.best == "a 3x ."
        assert found.features["UnknownWordPenalty0"] == -300
        assert found.features["WordPenalty0"] == -3

    def test_marks_are_for_readers_alone(self) -> None:
        from smtplugins.host.decode.decoded_lists import candidates_of

        (plain,) = decode("ein foo\n")
        (found,) = decode("ein foo\n", ini="[mark-unknown]\ntrue\n")
        assert (found.best, found.score) == ("a UNKfoo", plain.score)
        assert dict(found.features) == dict(plain.features)
        host = smt.load_plugins()
        made = make_translator(host, load_config("run.ini"), None, "off")
        (found,) = made.decode(["foo haus"], graphs=True)
        assert found.graph is not None
        listed = candidates_of(found, 3, graph=found.graph())
        assert listed is not None and listed.texts[:2] == ["UNKfoo house", "house UNKfoo"]


@pytest.mark.usefixtures("here")
class TestTables:
    TWO = "[mapping]\n0 T 0\n1 T 1\n[feature]\n"

    def test_several_are_alternatives(self) -> None:
        """Each phrase has the scores of its own table; equal ones of two tables are two derivations."""
        Path("second").write_text("haus ||| villa ||| 0.9\nein ||| a ||| 0.9\n")
        ini = "[weight]\nSecond= 2\n[feature]\nPhraseDictionaryMemory name=Second num-features=1 path=second\n"
        mapping = "[mapping]\n0 T 0\n1 T 1\n"
        (found,) = decode("haus\n", ini=mapping + ini)
        assert found.best == "villa"
        assert found.features["Second"] == pytest.approx(math.log(0.9), abs=1e-6)
        assert found.features.get("TM[0]", 0) == 0
        host = smt.load_plugins()
        made = make_translator(host, load_config("run.ini"), None, "off")
        (found,) = made.decode(["haus ein"], graphs=True)
        assert found.graph is not None
        from smtplugins.core.graph.inference import kbest

        listed = kbest(found.graph(), k=100)
        # Three for a house, two for an article, in two orders.
        assert len(listed.texts()) == 12
        assert sorted(set(listed.texts())) == sorted(
            " ".join(pair[::order]) for pair in (("house", "a"), ("home", "a"), ("villa", "a")) for order in (1, -1)
        )

    def test_a_limit_is_a_tables_own(self) -> None:
        Path("second").write_text("haus ||| villa ||| 0.1\nhaus ||| hut ||| 0.09\n")
        ini = "[feature]\nPhraseDictionaryMemory name=Second num-features=1 path=second table-limit=1\n"
        Path("moses.ini").write_text(INI.replace("path=table", "path=table table-limit=2"))
        Path("run.ini").write_text(ini + "[weight]\nSecond= 1\n" + Path("moses.ini").read_text())
        made = make_translator(smt.load_plugins(), load_config("run.ini"), None, "off")
        (found,) = made.decode(["haus"], graphs=True)
        from smtplugins.core.graph.inference import kbest

        assert found.graph is not None
        assert sorted(kbest(found.graph(), k=9).texts()) == ["home", "house", "villa"]

    def test_the_longest_phrase(self) -> None:
        (long,) = decode("ein haus\n")
        (short,) = decode("ein haus\n", ini="[max-phrase-length]\n1\n")
        assert (long.features["PhrasePenalty0"], short.features["PhrasePenalty0"]) == (1, 2)

    def test_scores_that_are_not_as_many_as_the_configuration_says(self) -> None:
        Path("moses.ini").write_text(INI.replace("num-features=2", "num-features=3").replace("1 0.5", "1 1 1"))
        with pytest.raises(FormatError, match=r"table: expected 3 scores of each rule, as 'TM' says, found 2"):
            decode("ein\n")

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("a ||| A ||| 0.5", "field 3: expected 2 scores, as line 1 has, found 1"),
            (" ||| A ||| 0.5 0.5", "field 1: expected 1 to 1000 source symbols, found 0"),
            ("a ||| A ||| 0.5 nan", "field 3: expected"),
            ("a ||| A ||| 0.5 x", "field 3: expected"),
            ("a ||| A", "expected"),
        ],
    )
    def test_broken_lines(self, line: str, message: str) -> None:
        Path("table").write_text(TABLE + line + "\n")
        with pytest.raises(
            FormatError, match=f"table:8: .*{message}" if message == "expected" else f"table:8: {message}"
        ):
            decode("ein\n")

    def test_a_line_without_its_end(self) -> None:
        Path("table").write_text(TABLE + "foo ||| bar ||| 0.5 0.5")
        assert texts("foo\n") == ["bar"]


@pytest.mark.usefixtures("here")
class TestConfigurations:
    """Faults in a moses.ini; Moses' own words for them are in gold/moses/edge/config.txt."""

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (
                "TM= 1",
                "TM=1",
                r"moses.ini:11: field 1: expected `Name= number ...`, a blank after the `=`, found 'TM=1 0.5'",
            ),
            ("TM= 1 0.5", "TM= 1", r"moses.ini:11: field 2: expected 2 weights of TM, found 1"),
            ("TM= 1 0.5", "TM= 1 2 3", r"moses.ini:11: field 2: expected 2 weights of TM, found 3"),
            ("TM= ", "NoSuchFeature= 1\nTM= ", r"moses.ini:11: field 1: expected the name of a feature .* 'NoSuch"),
            ("Distortion\n", "Distortion foo=1\n", r"moses.ini:5: field 1: expected a key of Distortion .*found 'foo'"),
            ("path=table", "path=tab#le", r"moses.ini:6: model.tables.0: .*tab: No such file or directory"),
            ("path=table", "path=no", r"moses.ini:6: model.tables.0: .*no: No such file or directory"),
            (
                "[feature]",
                "[print-id]\non\n[feature]",
                r"moses.ini:2: field 1: expected one of true, false, .* found 'on'",
            ),
            ("[feature]", "[disable-discarding]\ntrue\n[feature]", r"moses.ini:2: disable-discarding: expected false"),
        ],
    )
    def test_faults(self, old: str, new: str, message: str) -> None:
        Path("moses.ini").write_text(INI.replace(old, new))
        with pytest.raises((SmtError, FormatError, OSError), match=message):
            make_translator(smt.load_plugins(), load_config("moses.ini"), None, "off")

    def test_no_weight_is_1(self) -> None:
        Path("moses.ini").write_text(INI.replace("TM= 1 0.5\n", ""))
        (found,) = decode("haus\n")
        assert found.score == pytest.approx(2 * math.log(0.6) - 0.1 + 0.1, abs=1e-5)

    def test_the_first_of_two_values_counts(self) -> None:
        assert texts("haus foo\n", ini="[drop-unknown]\ntrue\nfalse\n") == ["house"]
