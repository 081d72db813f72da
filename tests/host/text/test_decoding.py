"""Raw text translated into raw text, by the key `text` of a run.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smtplugins.contracts.data import Sentence
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.host import Host

RAW = "Ein Mann steht.\nDas Haus, das steht, ist Leer!\nEin Haus.\nWo steht ein Mann?\nDort ist ein Haus.\n"
TABLE = """\
ein Mann ||| the man ||| 0.5
ein Mann ||| a man ||| 1
ein Haus ||| a house ||| 1
steht ||| is standing ||| 1
. ||| . ||| 1
" ||| " ||| 1
: ||| : ||| 1
"""
CONFIG = """\
decoder: {name: phrase, distortion_limit: 0}
text: text
model:
  tables: {path: table, name: TM}
  features: [pass-through]
"""


@pytest.fixture(autouse=True)
def _system(host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sacremoses")
    monkeypatch.chdir(tmp_path)
    Path("raw.de").write_text(RAW)
    Path("raw.en").write_text(
        "A man is standing.\nThe house that stands is empty.\nA house.\nWhere is a man?\nA house.\n"
    )
    host.prepare("text", "raw.de", "raw.en", tokenize="moses", case="true")
    Path("table").write_text(TABLE)
    Path("w").write_text("TM 1\npass-through -9\n")
    Path("run.yaml").write_text(CONFIG)


def decoded(host: Host, sentences: Any, **options: Any) -> list[str]:
    host.decode("run.yaml", "out", sentences, weights="w", cache="off", **options)
    return Path("out").read_text().splitlines()


def test_raw_text_in_and_out(host: Host) -> None:
    Path("in").write_text('Ein Mann steht.\n\n"Ein Haus: EIN Mann"\u2028steht\n')
    assert decoded(host, "in") == ["A man is standing.", "", '"A house: A man" is standing']
    assert decoded(host, "in", overrides="text.detokenize=false")[0] == "A man is standing ."
    assert decoded(host, iter(["Ein Mann steht.", Sentence("1", ("ein", "Mann")), ["steht", "."]])) == [
        "A man is standing.",
        "a man",
        "is standing .",
    ]
    # Lists have the words of the model.
    assert decoded(host, "in", nbest=1)[0].split(" ||| ")[1].strip() == "a man is standing ."


def test_the_words_are_those_of_prepare(host: Host) -> None:
    host.prepare("again", "raw.de", like="text")
    translator = host.translator("run.yaml", weights="w", cache="off")
    assert translator.text is not None
    words = [" ".join(translator.text.words(line)) for line in RAW.splitlines()]
    assert words == Path("again/source").read_text().splitlines() == Path("text/source").read_text().splitlines()
    assert [one.best for one in translator.decode(["Ein Mann steht.", "steht ."])] == [
        "A man is standing.",
        "Is standing.",
    ]
    assert [one.best for one in translator.decode([("ein", "Mann")], threads=2)] == ["a man"]


def test_prepared_text_is_taken_as_it_is(host: Host) -> None:
    host.prepare("dev", "raw.de", like="text")
    notes: list[str] = []
    lines = decoded(host, "dev/source", note=notes.append)
    assert lines[0] == "a man is standing ."
    assert lines == decoded(host, "text/source")
    assert notes[0] == "dev/source is prepared already: translations have the words of the model"
    assert decoded(host, "dev/source", overrides="text=null") == lines
    host.prepare("other", "raw.de", tokenize="13a")
    with pytest.raises(
        UsageError, match=r"other/source: expected raw text, or text prepared as the source in .*text, found"
    ):
        decoded(host, "other/source")


@pytest.mark.parametrize(
    ("line", "options", "error"),
    [
        (
            "ein Haus\ta house\n",
            {"format": "tsv-corpus"},
            "in: sentence 0: expected raw text for .* found a target beside",
        ),
        ("((('ein',0,1),),)\n", {"overrides": "decoder.input=lattice"}, "found a lattice"),
        ('ein <n translation="x">Haus</n>\n', {"overrides": "decoder.xml=exclusive"}, "found tags"),
        ("a\n", {"overrides": "output.show=score"}, "output.show: cannot be used with the key `text`"),
        ("a\n", {"overrides": {"output.template": "%s"}}, "output.template: cannot be used with the key `text`"),
        ("a\n", {"overrides": "text=run.yaml"}, "text: .*run.yaml: expected a folder that `smt prepare` wrote"),
        ("a\n", {"overrides": {"text": {"detokenize": True}}}, "text: expected a path: add the key `path`"),
    ],
)
def test_what_is_no_raw_text(host: Host, line: str, options: dict[str, Any], error: str) -> None:
    Path("in").write_text(line)
    with pytest.raises((UsageError, SmtError), match=error):
        decoded(host, "in", **options)


def test_escapes_are_made_after_tokens_and_undone_before(host: Host) -> None:
    with open("table", "a") as table:
        table.write("&#91; ||| &#91; ||| 1\n&#93; ||| &#93; ||| 1\n")
    assert decoded(host, ["Ein Haus [steht]."], overrides="escape=moses") == ["A house [is standing]."]


def test_segments_of_other_formats(host: Host) -> None:
    Path("in.sgm").write_text(
        '<srcset setid="x" srclang="de"><doc docid="d"><seg id="1">Ein Mann steht.</seg></doc></srcset>\n'
    )
    assert decoded(host, "in.sgm") == ["A man is standing."]


def test_a_folder_without_a_target_or_its_language(host: Host) -> None:
    host.prepare("one", "raw.de", tokenize="13a")
    Path("plain").write_text(RAW)
    host.prepare("two", "raw.de", "plain", tokenize="13a")
    with pytest.raises(SmtError, match=r"text: .*one: expected a target side, found only source"):
        decoded(host, "raw.de", overrides="text=one")
    assert decoded(host, ["steht."], overrides="text=two") == ["is standing ."]
    with pytest.raises(SmtError, match="detokenizing needs the language of the target side"):
        decoded(host, "raw.de", overrides={"text": {"path": "two", "detokenize": True}})


def test_tuning_wants_references_as_translations_are(host: Host) -> None:
    def tuned(source: str, references: str) -> str:
        given = {"source": source, "references": [references], "metric": "bleu,tokenize=none"}
        folder = "run-" + source[:3]
        host.tune_decoder("run.yaml", given, folder=folder, start="w", nbest=2, iterations=1, cache="off")
        return Path(folder, "weights").read_text()

    with pytest.raises(
        SmtError, match=r"raw.en: expected references as translations are, found raw ones: .* --like .*text"
    ):
        tuned("raw.de", "raw.en")
    assert tuned("raw.de", "text/target") == tuned("text/source", "text/target")


def test_the_key_as_it_is_shown(tmp_path: Path) -> None:
    config = load_config("run.yaml", {"text.detokenize": False}.items())
    assert config.text is not None and config.text.path == tmp_path / "text"
    assert f"text: {{path: {tmp_path}/text" in load_config("run.yaml").to_yaml()
    assert {tmp_path / "text/case.source", tmp_path / "text/prepared.json"} < {*config.paths}
