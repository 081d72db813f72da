"""Configurations made into systems, sentences read, lists made of decodings."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtformats.hypergraph.lattices import arcs_of
from smtplugins.contracts.data import Sentence
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import UsageError
from smtplugins.contracts.models import Model
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.decode import job
from smtplugins.host.decode.decoded_lists import candidates_of
from smtplugins.host.decode.sentences import read_sentences, read_source
from smtplugins.host.decode.statistics import DecodingStatistics
from smtplugins.host.decode.translator import Translator, make_translator
from smtplugins.host.host import Host

RULES = "[X] ||| haus ||| house ||| p=-1\n[X] ||| haus ||| home ||| p=-2\n[X] ||| das [X,1] ||| the [1] ||| p=-0.5\n"
CONFIG = """\
decoder: hiero
model:
  tables: rules
  features: [word-penalty, glue, pass-through]
"""


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules").write_text(RULES)
    Path("run.yaml").write_text(CONFIG)


def system(host: Host, weights: dict[str, float] | None = None, *overrides: str) -> Translator:
    return make_translator(host, load_config("run.yaml", overrides), weights, "off")


def read(host: Host, text: str, *args: Any, **options: Any) -> list[Sentence]:
    Path("in").write_bytes(text.encode())
    return list(read_sentences(host, "in", *args, **options))


class TestSystems:
    def test_weights_given_go_before_those_of_the_configuration(self, host: Host) -> None:
        Path("w").write_text("p 3\n")
        assert system(host, None, "model.weights=w").model.weights == {"p": 3}
        assert system(host, {"p": 1.0}, "model.weights=w").model.weights == {"p": 1}
        # Those that tuning starts from.
        assert system(host).model.weights == {"p": 0, "word-penalty": -1, "glue": 0, "pass-through": -5}

    def test_features_without_a_weight_have_what_the_configuration_says(self, host: Host) -> None:
        Path("w").write_text("word-penalty 3\n")
        table = "model.tables={path: rules, scores: 2, name: TM}"
        given = ("model.weights=w", "model.missing=1", "model.features=[word-penalty, glue]", table)
        wanted = {"TM[0]": 1, "TM[1]": 1, "word-penalty": 3, "glue": 1}
        assert system(host, None, *given).model.weights == wanted
        assert system(host, None, given[0], *given[2:]).model.weights == {"word-penalty": 3}
        assert system(host, {"p": 1.0}, *given).model.weights == {"p": 1}

    def test_names_that_lists_always_show(self, host: Host) -> None:
        features = "model.features=[glue, 'pass-through,lengths=2,name=P', source-path]"
        table = "model.tables={path: rules, scores: 2, name: TM, position: 1}"
        made = system(host, None, features, table)
        assert made.arc_name == "source-path"
        list(made.decode([]))
        # The table names its own columns, none of which is called TM.
        assert made.names() == ("glue", "P", "P_1", "P_2", "source-path")
        Path("rules").write_text("haus [X] ||| house [X] ||| 0.5 0.25 ||| 0-0\n")
        made = system(host, None, features, table, "output.format=moses-nbest")
        list(made.decode([]))
        assert made.names()[:3] == ("glue", "TM[0]", "TM[1]")

    def test_a_decoder_is_named(self, host: Host) -> None:
        with pytest.raises(UsageError, match="names no decoder"):
            system(host, None, "decoder=null")

    def test_threads(self, host: Host) -> None:
        with pytest.raises(UsageError, match="jobs: expected 1 or more, found 0"):
            system(host).decode([], threads=0)

    def test_a_stream_of_sentences_is_not_read_ahead_without_end(self, host: Host) -> None:
        taken = 0

        def endless() -> Iterator[Sentence]:
            nonlocal taken
            while True:
                taken += 1
                yield Sentence(str(taken), ("das", "haus"))

        for threads in (1, 2):
            taken = 0
            found = system(host, {"p": 1.0}).decode(endless(), threads=threads)
            assert [next(found).id for _ in range(3)] == ["1", "2", "3"]
            assert taken < 100
            found.close()  # type: ignore[attr-defined]

    def test_weights_may_change_between_calls(self, host: Host) -> None:
        made = system(host)
        one = [Sentence("0", ("haus",))]
        for weight, best in ((1.0, "house"), (-1.0, "home"), (1.0, "house")):
            (found,) = made.decoder.decode(one, Model(weights={"p": weight, "pass-through": -9.0}))
            assert found.best == best


SLF = """\
VERSION=1.0
UTTERANCE=u1
N=3 L=3
I=0
I=1
I=2
J=0 S=0 E=1 W=das a=-3.5
J=1 S=0 E=1 W=ein a=-4
J=2 S=1 E=2 W=haus a=-5
"""
FST = "0 1 das 0.5\n0 1 ein 1\n1 2 haus\n2\n"
LATTICE = "((('das',0.1,1),('ein',0.2,1),),(('haus',1,1),),)\n"


class TestLattices:
    """With ``input: lattice`` nothing but a lattice is read as one; sentences among them as each toolkit does it."""

    def read(self, host: Host, text: str, *overrides: str) -> list[Sentence]:
        Path("in").write_text(text)
        made = system(host, None, "decoder.input=lattice", *overrides)
        return list(read_source(host, made, "in"))

    @pytest.mark.parametrize("format", ["moses-nbest", "cdec-nbest"])
    @pytest.mark.parametrize(
        "text",
        [SLF, LATTICE, "das 0.6 ein 0.4\nhaus 1.0\n\n", FST, "u\n0 1 das 1,2,3\n0 1 ein 2,2,4\n1 2 haus 1,1,\n2\n"],
    )
    def test_files_are_told_by_their_shape(self, host: Host, text: str, format: str) -> None:
        (one,) = self.read(host, text, f"output.format={format}")
        assert one.tokens == ()
        assert one.lattice is not None
        assert sorted(word for arc in arcs_of(one.lattice)[1] for word in arc.words) == ["das", "ein", "haus"]

    @pytest.mark.parametrize("format", ["cdec-nbest", "joshua-nbest"])
    def test_sentences_among_lattices_of_cdec_and_joshua(self, host: Host, format: str) -> None:
        found = self.read(host, f"das haus\n\n{LATTICE}", f"output.format={format}")
        assert [one.lattice is not None for one in found] == [True] * 3
        assert len(found) == 3

    def test_sentences_are_no_lattices_for_moses(self, host: Host) -> None:
        with pytest.raises(
            FormatError, match=r"in:2: field 1: expected a lattice, \(\(\('word',cost,jump\),\),\), found 'das"
        ):
            self.read(host, f"{LATTICE}das haus\n")
        assert len(self.read(host, f"{LATTICE}\n{LATTICE}")) == 3
        assert len(self.read(host, f"{LATTICE}das haus\n", "source_format=plf-lattice")) == 2
        assert self.read(host, "das haus\n", "source_format=text")[0].tokens == ("das", "haus")

    @pytest.mark.parametrize("text", [SLF, FST])
    def test_lattices_are_no_sentences_without_the_option_either(self, host: Host, text: str) -> None:
        (one,) = read(host, text)
        assert (one.tokens, one.lattice is not None) == ((), True)
        assert read(host, text, "text")[0].lattice is None

    def test_folders_of_lattices(self, host: Host) -> None:
        Path("in").mkdir()
        for name in ("10.slf", "2.slf"):
            (Path("in") / name).write_text(SLF)
        made = system(host, None, "decoder.input=lattice")
        assert [one.id for one in read_source(host, made, "in")] == ["2", "10"]

    def test_other_lines_of_lattice_formats_have_their_place(self, host: Host) -> None:
        with pytest.raises(FormatError, match="in:2: field 1: expected a lattice"):
            self.read(host, LATTICE + SLF)
        with pytest.raises(FormatError, match="in:1: field 1: expected"):
            self.read(host, LATTICE, "source_format=slf-lattice")

    def test_a_lattice_behind_sentences_is_no_sentence(self, host: Host) -> None:
        """A file is told by its first lines; what comes later must not be decoded as words."""
        text = "das haus\n" * 60 + LATTICE
        with pytest.raises(FormatError, match="in:61: expected a sentence, as on the lines before, found a lattice"):
            read(host, text)
        assert len(read(host, text, "text")) == len(read(host, text, "plf-lattice")) == 61
        assert read(host, text, "text")[-1].lattice is None
        # Brackets alone are no lattice.
        assert len(read(host, "das haus\n((( siehe oben )))\n('das',1)\n")) == 3


class TestSentences:
    def test_text(self, host: Host) -> None:
        found = read(host, "das  haus\n\nja\u00a0nein\n")
        assert [(one.id, one.tokens) for one in found] == [("0", ("das", "haus")), ("1", ()), ("2", ("ja\u00a0nein",))]

    def test_nothing(self, host: Host) -> None:
        assert read(host, "") == []
        assert read(host, "", "text") == []
        Path("in.gz").write_bytes(gzip.compress(b""))
        assert list(read_sentences(host, "in.gz")) == []

    def test_cdecs_corpus(self, host: Host) -> None:
        for name in ("g", "h"):
            Path(name).touch()
        found = read(
            host, '<seg id="4" grammar="g" grammar1="h" topic="x">das haus</seg> ||| the house\n\nja ||| yes\n'
        )
        assert found == [
            Sentence("4", ("das", "haus"), ("the house",), {"id": "4", "topic": "x"}, None, ("g", "h")),
            # An empty line has no number.
            Sentence("5", ("ja",), ("yes",)),
        ]

    @pytest.mark.parametrize(
        "text",
        [
            '<seg grammar="g" id="7">das haus</seg>\n',
            "<seg id=7 grammar=g>((('das',0.5,1),),)</seg>\n",
            '<srcset setid="x">\n<doc docid="d">\n<seg id="7" grammar="g">das haus</seg>\n</doc></srcset>\n',
            '{"source": "das haus", "grammar": "g"}\n',
            "id\tsource\tgrammar\n7\tdas haus\tg\n",
        ],
    )
    def test_grammars_of_sentences_in_all_formats(self, host: Host, text: str) -> None:
        with pytest.raises(FormatError, match=r"^in:[123]: expected an existing grammar of the sentence, found"):
            read(host, text)
        Path("g").touch()
        assert [one.grammars for one in read(host, text)] == [("g",)]

    @pytest.mark.parametrize("overrides", [{}, {"joshua": True}, {"usual": Spec("moses-xml", {"tags": False})}])
    def test_grammars_in_tags_that_are_words(self, host: Host, overrides: dict[str, Any]) -> None:
        Path("g").touch()
        text = "das haus\n" * 3 + '<seg id="7" grammar="g">ja</seg> ||| yes\n'
        with pytest.raises(FormatError, match=r"^in:4: expected a sentence without a grammar of its own.*cdec-corpus"):
            read(host, text, **overrides)
        assert read(host, text, "text")[3].tokens[0] == "<seg"

    def test_grammars_in_mark_up(self, host: Host) -> None:
        Path("g").touch()
        with pytest.raises(FormatError, match=r"^in:1: expected a tag with a grammar around the whole sentence"):
            read(host, 'das <seg grammar="g">haus</seg>\n', usual=Spec("moses-xml"))

    def test_objects_and_sgml_are_no_words_for_moses(self, host: Host) -> None:
        xml = Spec("moses-xml", {"tags": False})
        assert [one.tokens for one in read(host, '{"source": "das haus"}\n', usual=xml)] == [("das", "haus")]
        with pytest.raises(FormatError, match=r"^in:1: expected a sentence, found a lattice"):
            read(host, "((('das',0.5,1),),)\n", usual=xml)

    def test_lattices_by_shape_by_name_and_by_wish(self, host: Host) -> None:
        text = "((('das',0.5,1),('dies',0.25,1),),)\n"
        for options in ({}, {"format": "plf-lattice"}, {"lattice": True}):
            (one,) = read(host, text, **options)
            assert (one.id, one.tokens) == ("0", ())
            assert one.lattice is not None
            assert one.lattice.names[:] == ["LatticeCost_0"]
            (one,) = read(host, text, **options, arc_name="Path")
            assert one.lattice is not None
            assert one.lattice.names[:] == ["Path"]
        (one,) = read(host, text, "plf-lattice,name=mine", arc_name="Path")
        assert one.lattice is not None
        assert one.lattice.names[:] == ["mine"]

    def test_text_among_lattices_is_a_lattice_of_one_path(self, host: Host) -> None:
        (one,) = read(host, "das haus\n", lattice=True)
        assert one.lattice is not None

    def test_other_formats_are_refused_by_their_kind(self, host: Host) -> None:
        with pytest.raises(UsageError, match="unknown format 'cdec-weights'"):
            read(host, "a 1\n", "cdec-weights")
        with pytest.raises(FormatError, match="expected the shape of one of"):
            read(host, RULES)


class TestLists:
    FOUND = Decoding("3", "the house", -1.5, {"p": 2.0, "q": 0.0, "always": 0.0})

    def test_the_best_alone(self) -> None:
        one = candidates_of(self.FOUND, 1, names=["always"])
        assert one is not None
        assert (one.id, one.texts, one.totals) == ("3", ["the house"], [-1.5])
        assert (one.layouts, one.values) == ([("always", "p")], [[0.0, 2.0]])

    def test_a_feature_of_several_values_has_all_of_them_or_none(self) -> None:
        # Learners take lists with fewer for lists of another system.
        values = {"t[0]": 0.0, "t[1]": 2.0, "u[0]": 0.0, "u[1]": 0.0, "v[x]": 0.0, "v[y]": 1.0}
        one = candidates_of(Decoding("3", "the house", -1.5, values), 1)
        assert one is not None
        assert (one.layouts, one.values) == ([("t[0]", "t[1]", "v[y]")], [[0.0, 2.0, 1.0]])

    def test_no_translation_no_list(self) -> None:
        assert candidates_of(Decoding("3", "", found=False), 1) is None

    def test_more_than_one_needs_a_graph(self) -> None:
        with pytest.raises(UsageError, match="gives no graph"):
            candidates_of(self.FOUND, 2)

    def test_all_of_a_graph(self, host: Host) -> None:
        made = system(host, {"p": 1.0, "pass-through": -9.0})
        (one,) = made.decode([Sentence("7", ("das", "haus"))], graphs=True)
        assert one.graph is not None
        found = candidates_of(one, 100, names=made.names(), graph=one.graph())
        assert found is not None
        assert found.totals is not None
        assert found.texts[0] == one.best == "the house"
        assert found.totals[0] == pytest.approx(one.score)
        assert found.totals == sorted(found.totals, reverse=True)
        assert all(layout[:3] == ("word-penalty", "glue", "pass-through") for layout in found.layouts)
        # {the X, das X} x {house, home, haus}, and das joined to each by glue.
        assert sorted(found.texts) == sorted(["the house", "the home", "the haus", "das house", "das home", "das haus"])
        unique = candidates_of(one, 100, unique=True, graph=one.graph())
        assert unique is not None
        assert len(set(unique.texts)) == len(unique.texts)


class TestRuns:
    def run(
        self, host: Host, found: Sequence[Decoding], outputs: job.Outputs | None = None, **options: Any
    ) -> DecodingStatistics:
        left = list(found)

        class Fixed:
            def decode(self, sentences: Iterable[Sentence], *args: Any, **kwargs: Any) -> Iterator[Decoding]:
                for _ in sentences:
                    yield left.pop(0)

        made = Translator(Fixed(), Model(), load_config("run.yaml"))
        return job.run(host, made, [Sentence(one.id, ()) for one in found], outputs or job.Outputs("out"), **options)

    def test_statistics_are_sums(self, host: Host) -> None:
        stats = {"cpu.parsing": 0.25, "wall.search": 1.0, "nodes": 3, "pops": 5, "other": 1}
        found = self.run(host, [Decoding("0", "a", stats=stats), Decoding("1", "", stats=stats, found=False)])
        assert Path("out").read_text() == "a\n\n"
        assert (found.sentences, found.failed) == (2, 1)
        record = found.record()
        assert (record["sentences"], record["nodes"], record["pops"], record["lm_queries"]) == (2, 6, 10, 0)
        assert (record["cpu"]["parsing"], record["wall"]["search"], record["cpu"]["loading"]) == (0.5, 2.0, 0.0)

    def test_notes_and_traces(self, host: Host) -> None:
        notes: list[str] = []
        lines: list[str] = []
        found = [Decoding("0", "a", trace=lambda: ["one", "two"]), Decoding("x", "", found=False)]
        self.run(host, found, note=notes.append, trace=lines.append)
        assert notes == ["sentence x has no translation"]
        assert lines == ["sentence 0", "one", "two"]

    def test_what_cannot_be_written(self, host: Host) -> None:
        with pytest.raises(UsageError, match="nbest: expected 1 or more, found 0"):
            self.run(host, [], job.Outputs("out", 0))
        with pytest.raises(UsageError, match="forest output needs a decoder that returns graphs"):
            self.run(host, [Decoding("0", "a")], job.Outputs("out", forests="f"))
        assert not Path("out").exists()

    @pytest.mark.parametrize("key", ["../x", "a/b", "/x"])
    def test_ids_that_are_no_names_of_files(self, host: Host, key: str) -> None:
        made = system(host, {"p": 1.0})
        (one,) = made.decode([Sentence(key, ("haus",))], graphs=True)
        with pytest.raises(UsageError, match="expected an id that is a valid file name"):
            self.run(host, [one], job.Outputs("out", forests="f"))
