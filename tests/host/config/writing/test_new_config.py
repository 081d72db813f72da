"""A new run.yaml: every key, the files of a folder and the features that use them; it decodes as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import smtplugins as smt
from smtplugins.contracts.decoders import Decoding
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.contracts.offers import Offer
from smtplugins.contracts.options import CheckedOptions, option
from smtplugins.host.config.records import ModelConfig, OutputConfig
from smtplugins.host.config.run_yaml import RunConfig, load_config
from smtplugins.host.config.writing.keys import record_keys
from smtplugins.host.host import Host

ARPA = "\\data\\\nngram 1=5\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n-1\ta\n-0.5\tb\n\n\\end\\\n"
PHRASES = "x ||| a ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1\nx ||| b ||| 0.5 0.4 0.5 0.5 ||| 0-0 ||| 1 1 1\n"
RULES = "x [X] ||| a [X] ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1\n[X][X] y [X] ||| b [X][X] [X] ||| 1 1 1 1 ||| 0-1 1-0\n"
REORDERING = "x ||| a ||| 0.5 0.25 0.25 0.5 0.25 0.25\n"


@pytest.fixture(scope="module")
def host() -> Host:
    return smt.load_plugins()


@pytest.fixture(autouse=True)
def _model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder as `smt extract` and `smt lm` write it."""
    monkeypatch.chdir(tmp_path)
    Path("model").mkdir()
    for name, text in {
        "phrase-table": PHRASES,
        "reordering-table.wbe-msd-bidirectional-fe": REORDERING,
        "en.arpa": ARPA,
        "lex.f2e": "a x 0.5\n",
        "extract.inv": "a ||| x ||| 0-0\n",
        "notes.txt": "nothing\n",
    }.items():
        (Path("model") / name).write_text(text)


def written(host: Host, *given: object, **more: object) -> tuple[RunConfig, str, list[str]]:
    notes: list[str] = []
    text = host.new_config(*given, note=notes.append, **more)  # type: ignore[arg-type]
    Path("run.yaml").write_text(text)
    return load_config("run.yaml"), text, notes


def test_a_folder_decodes_as_it_is(host: Host, tmp_path: Path) -> None:
    config, _, notes = written(host, "phrase", "model")
    assert [table.path for table in config.model.tables] == [tmp_path / "model/phrase-table"]
    assert list(map(str, config.model.features)) == [
        f"lm,path={tmp_path / 'model/en.arpa'}",
        f"lexical-reordering,path={tmp_path / 'model/reordering-table.wbe-msd-bidirectional-fe'},"
        "model=wbe-msd-bidirectional-fe",
        "distortion",
        "word-penalty",
        "phrase-penalty",
        "oov,value=-100,tuneable=False",
    ]
    assert notes == ["not used: model/extract.inv, model/lex.f2e, model/notes.txt"]
    translator = host.translator(config, cache="off")
    assert [decoding.best for decoding in translator.decode(["x x new"])] == ["b b new"]
    assert (translator.model.weights["lm"], translator.model.weights["lexical-reordering[5]"]) == (0.5, 0.3)
    assert not translator.loaded().unweighted()


def test_rules_and_a_model_beside_them(host: Host) -> None:
    Path("rules").mkdir()
    Path("rules/rule-table").write_text(RULES)
    Path("rules/glue-grammar").write_text("<s> [X] ||| <s> [S] ||| 1 ||| 0-0\n")
    # The plugin of umt may be taken out.
    known = host.registry.names("decoders")
    for decoder in (name for name in ("hiero", "reference", "umt") if name in known):
        config, _, notes = written(host, decoder, ["rules", "model/en.arpa"])
        assert [feature.name for feature in config.model.features][:2] == ["lm", "word-penalty"]
        assert notes == ["not used: rules/glue-grammar"]
        assert [one.best for one in host.translator(config, cache="off").decode(["x y"])] == ["b a"]


def test_two_files_for_the_same_use_are_named(host: Host) -> None:
    Path("model/other").write_text(PHRASES)
    with pytest.raises(UsageError, match=r"model: expected one file for tables, found other, phrase-table; name those"):
        host.new_config("phrase", "model")
    Path("model/other").unlink()
    Path("model/more.arpa").write_text(ARPA)
    with pytest.raises(UsageError, match=r"model: expected one file for lm, found en\.arpa, more\.arpa"):
        host.new_config("phrase", "model")
    config, _, _ = written(host, "phrase", ["model/phrase-table", "model/en.arpa", "model/more.arpa"])
    assert [feature.options.get("name") for feature in config.model.features[:2]] == [None, "lm1"]
    assert host.translator(config, cache="off").model.weights["lm1"] == 0.5


def test_each_table_has_scores_of_its_own(host: Host) -> None:
    Path("cdec").write_text("[X] ||| x ||| a ||| p=0.5\n")
    for name in ("other", "third"):
        Path(name).write_text(PHRASES)
    config, text, _ = written(host, "phrase", ["model/phrase-table", "cdec", "other", "third"])
    assert [table.name for table in config.model.tables] == ["", "", "TranslationModel1", "TranslationModel2"]
    assert text.count(" name: TranslationModel") == 2
    assert "#name:" not in text.partition("  tables:")[2].partition("  features:")[0]
    scores = host.translator(config, cache="off").model.weights
    assert {"TranslationModel0[3]", "TranslationModel1[3]", "TranslationModel2[3]", "p"} <= scores.keys()
    with pytest.raises(UsageError, match=r"notes\.txt: decoder 'phrase' has no use for it"):
        host.new_config("phrase", "model/notes.txt")
    with pytest.raises(FileNotFoundError):
        host.new_config("phrase", "modle")


def test_of_many_files_the_first_are_named(host: Host) -> None:
    Path("grammars").mkdir()
    for k in range(30):
        Path(f"grammars/grammar.{k:02}").write_text(RULES)
    with pytest.raises(UsageError, match=r"found grammar\.00, .*, grammar\.09 and 20 more; name those to use"):
        host.new_config("hiero", "grammars")


def test_every_key_is_there(host: Host) -> None:
    """Without the comment signs, all keys of the records stand in it, and it reads back with their defaults."""
    for decoder in host.registry.names("decoders"):
        text = host.new_config(decoder, ["model/phrase-table"] if decoder in ("phrase", "amasis", "swap") else [])
        plain = re.sub(r"^( *)#(?=- \{|\w+:)", r"\1", text, flags=re.MULTILINE)
        tree = yaml.safe_load(plain)
        assert tree.keys() == {key.name for key in record_keys(RunConfig)}
        assert tree["output"].keys() == {key.name for key in record_keys(OutputConfig)}
        assert tree["model"].keys() == {key.name for key in record_keys(ModelConfig)}
        assert tree["decoder"]["name"] == decoder
    assert all(key.doc for record in (RunConfig, ModelConfig, OutputConfig) for key in record_keys(record))


def test_what_is_missing_is_said_and_is_an_error(host: Host) -> None:
    with pytest.raises(SmtError, match=r"run\.yaml:\d+: model\.tables\.0\.path: expected a path, found None"):
        written(host, "hiero")
    notes: list[str] = []
    host.new_config("hiero", note=notes.append)
    assert notes == ["fill in: model.tables"]
    Path("reordering").write_text(REORDERING)
    with pytest.raises(SmtError, match=r"features\.0\.model: expected text, found None"):
        host.check_config(written(host, "phrase", ["model/phrase-table", "reordering"])[0], cache="off")
    host.new_config("phrase", ["reordering"], note=notes.append)
    assert notes[1:] == ["fill in: model.tables, option 'model' of feature lexical-reordering"]


def test_options_without_a_default_are_to_be_filled_in(host: Host) -> None:
    if "bitree" in host.registry.names("decoders"):
        notes: list[str] = []
        host.new_config("bitree", note=notes.append)
        assert notes == ["fill in: decoder.model_path"]


def test_values_and_paths_of_another_folder(host: Host, tmp_path: Path) -> None:
    Path("runs").mkdir()
    values = {"source": "dev.x", "references": ["dev.y"], "seed": 3, "model.weights": "weights", "output.nbest": 5}
    text = host.new_config("phrase,pop_limit=7", "model", folder="runs", values=values)
    assert "path: ../model/phrase-table\n" in text
    Path("runs/run.yaml").write_text(text)
    config = load_config("runs/run.yaml")
    assert (config.source, config.references) == (tmp_path / "runs/dev.x", (tmp_path / "runs/dev.y",))
    assert (config.seed, config.output.nbest, config.model.weights) == (3, 5, tmp_path / "runs/weights")
    assert config.model.tables[0].path == tmp_path / "model/phrase-table"
    assert config.decoder is not None and config.decoder.options == {"pop_limit": 7}
    with pytest.raises(UsageError, match=r"unknown key 'decoder.pop_limits'; did you mean 'decoder.pop_limit'"):
        host.new_config("phrase", values={"decoder.pop_limits": 3})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"source": {"a": "b"}}, r"source: expected a path, found \{'a': 'b'\}"),
        ({"seed": "one"}, "seed: expected a whole number, found 'one'"),
        ({"output.nbest": "many"}, r"output\.nbest: expected a whole number"),
        ({"model.features": [3]}, r"model\.features\.0: expected NAME or"),
        ({"decoder.pop_limit": "x"}, "decoder 'phrase': pop_limit: expected a whole number, found 'x'"),
        ({"output.nbest": 0}, r"output\.nbest: expected a number from 1 on, found 0"),
        ({"escape": "mose"}, "escape: unknown escaping 'mose'; did you mean 'moses'"),
        ({"decoder": "hiero"}, "the decoder is given twice: 'phrase' and "),
    ],
)
def test_values_of_another_type(host: Host, values: dict[str, object], message: str) -> None:
    with pytest.raises((SmtError, UsageError), match=message):
        host.new_config("phrase", values=values)


def test_what_is_found_for_a_key_that_is_set_is_not_used(host: Host) -> None:
    notes: list[str] = []
    values = {"model.tables": "other", "model.features": ["distortion"]}
    text = host.new_config("phrase", "model", values=values, note=notes.append)
    assert "  tables: other  #" in text
    assert "  features: [distortion]  #" in text
    assert "model/phrase-table, lm,path=model/en.arpa, lexical-reordering,path=" in notes[0]


def test_any_path_reads_back(host: Host, tmp_path: Path) -> None:
    odd = Path("my model, #1: ü '\"x")
    Path("model").rename(odd)
    Path("second, #2: lm.arpa").write_text(ARPA)
    config, _, _ = written(host, "phrase", [odd, "second, #2: lm.arpa"])
    assert config.model.tables[0].path == tmp_path / odd / "phrase-table"
    assert [feature.options["path"] for feature in config.model.features[:2]] == [
        str(tmp_path / odd / "en.arpa"),
        str(tmp_path / "second, #2: lm.arpa"),
    ]


@dataclass(frozen=True, kw_only=True)
class OwnOptions(CheckedOptions):
    """Its options."""

    lexicon_path: Path = option(doc="the lexicon")
    width: int = option(3, "hypotheses kept")


class Own:
    """A decoder of a third party, without tables."""

    def __init__(self, *, options: OwnOptions) -> None:
        self.options = options

    def decode(self, sentences: object, model: object, *, threads: int = 1) -> list[Decoding]:
        return []


def test_a_decoder_of_a_third_party() -> None:
    host = smt.load_plugins()
    host.registry.add("decoders", Offer(name="own", make=Own, summary="for tests"), host.plugins[0])
    notes: list[str] = []
    text = host.new_config("own", note=notes.append)
    assert "  lexicon_path:  # fill in: the lexicon\n  #width: 3  # hypotheses kept\n" in text
    assert notes == ["fill in: decoder.lexicon_path"]
    Path("run.yaml").write_text(text.replace("lexicon_path:", "lexicon_path: words"))
    assert host.translator("run.yaml").decoder.options.width == 3  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="model: decoder 'own' has no use for it: expected tables or files"):
        host.new_config("own", "model")
