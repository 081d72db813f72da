"""What a moses.ini amounts to."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtformats import FormatError
from smtplugins.host.config import ConfigError, OutputConfig, RunConfig, load_config, show_config
from smtplugins.host.spec import Spec

PHRASES = """\
[input-factors]
0
[mapping]
0 T 0
[distortion-limit]
6
[stack]
100
[stack]
50
[n-best-list]
out
100
distinct
[input-file]
in.de
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=4 path=pt.gz input-factor=0 output-factor=0
LexicalReordering num-features=6 type=wbe-msd-bidirectional-fe-allff input-factor=0 output-factor=1 path=rt
Distortion
KENLM name=LM factor=0 path=lm order=3 oov-feature=1 load=lazy
InputFeature num-features=2 num-input-features=1 real-word-count=1
OpSequenceModel path=osm support-features=no tuneable=false
[weight]
TM= 1 1 1 1
[threads]
4
"""
CHART = """\
[search-algorithm]
3
[inputtype]
3
[max-chart-span]
15
1000
[mapping]
0 T 0
1 T 1
[feature]
WordPenalty
PhraseDictionaryMemory num-features=4 path=rules table-limit=0
PhraseDictionaryMemory path=glue
KENLM path=lm
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)


def load(text: str) -> RunConfig:
    Path("below/moses.ini").write_text(text)
    return load_config("below/moses.ini")


def unused() -> list[str]:
    return [line[12:] for line in show_config("below/moses.ini").splitlines() if line.startswith("# not used: ")]


def test_phrases(tmp_path: Path) -> None:
    found = load(PHRASES)
    assert found.source == tmp_path / "in.de"
    assert found.decoder == Spec(
        "phrase",
        {
            "search": "stack",
            "stack_size": 100,
            "beam_threshold": 1e-5,
            "distortion_limit": 6,
            "max_phrase_length": 20,
            "xml": "pass-through",
        },
    )
    assert (found.model.grammar, found.model.grammar_format) == ((tmp_path / "pt.gz",), "moses-phrases")
    assert found.model.weights == tmp_path / "below/moses.ini"
    assert [str(one).replace(f"{tmp_path}/", "") for one in found.model.features] == [
        "oov,value=-100,tuneable=false,name=UnknownWordPenalty0",
        "word-penalty,value=-1,name=WordPenalty0",
        "phrase-penalty,value=1,name=PhrasePenalty0",
        "translation-model,path=pt.gz,scores=4,limit=20,name=TM",
        "lexical-reordering,path=rt,model=wbe-msd-bidirectional-fe-allff,scores=6,name=LexicalReordering0",
        "distortion,name=Distortion0",
        "lm,path=lm,base=e,oov=true,name=LM",
        "source-path,log=true,scores=1,real_words=1,name=InputFeature0",
        "OpSequenceModel,path=osm,support-features=no,tuneable=false,name=OpSequenceModel0",
    ]
    assert found.output == OutputConfig(nbest=100, unique=True, format="moses-nbest")
    assert unused() == [
        "line 10: stack '50'",
        "line 12: n-best-list 'out'",
        "line 22: feature 'LexicalReordering output-factor=1'",
        "line 30: threads '4'",
    ]


def test_what_lists_show() -> None:
    text = "[include-segmentation-in-n-best]\ntrue\n[print-alignment-info-in-n-best]\n0\n[feature]\nDistortion\n"
    assert load(text).output.fields == ("segmentation",)
    assert unused() == []
    assert load(text.replace("\n0\n", "\nyes\n")).output.fields == ("segmentation", "alignment")


def test_unknown_words_are_tuned_if_that_is_said() -> None:
    (found,) = load("[feature]\nUnknownWordPenalty tuneable=true\n").model.features
    assert str(found) == "oov,value=-100,name=UnknownWordPenalty0"


def test_scores_of_unseen_pairs() -> None:
    (found,) = load(
        "[feature]\nLexicalReordering type=msd path=rt num-features=3 default-scores=.2,.3,.5\n"
    ).model.features
    assert found.options["default_scores"] == ".2,.3,.5"
    assert unused() == []


def test_reordering_scores_within_a_probing_table_are_refused(tmp_path: Path) -> None:
    from smtplugins import load_plugins

    path = tmp_path / "moses.ini"
    path.write_text("[feature]\nLexicalReordering type=msd num-features=3 property-index=0\n[weight]\n")
    config = load_config(path)
    assert "property_index=0" in show_config(path)
    with pytest.raises(ConfigError, match=r"moses.ini:2: model.features.0: .* no option 'property_index'"):
        load_plugins().translator(config)


def test_features_without_a_weight_line() -> None:
    """Moses gives them the weight 1."""
    text = "[feature]\nWordPenalty\nDistortion\nKENLM path=lm oov-feature=1\n[weight]\nDistortion0= 0.5\n"
    assert load(text).model.missing == 1
    assert load(text + "WordPenalty0 UNTUNEABLE\nKENLM0= 1 2\n").model.missing == 1
    assert load(text + "WordPenalty0= 3\nKENLM0= 1 2\n").model.missing is None


def test_weights_of_sparse_features(tmp_path: Path) -> None:
    from smtplugins import load_plugins

    text = "[feature]\nPhraseDictionaryMemory name=TM path=pt num-features=2\n[weight]\nTM= 1 2\nTM_sp= 0.5\n"
    path = load(text).model.weights
    assert path is not None
    assert load_plugins().read_weights(path) == {"TM[0]": 1.0, "TM[1]": 2.0, "TM_sp": 0.5}


def test_charts(tmp_path: Path) -> None:
    found = load(CHART)
    assert found.decoder == Spec(
        "hiero",
        {
            "search": "cube_pruning",
            "pops": "moses",
            "markers": True,
            "glue": False,
            "pass_through": "unknown",
            "nonterminal": "X",
            "pop_limit": 1000,
            "input": "tree",
            "max_span": 15,
        },
    )
    assert (found.model.grammar, found.model.grammar_format) == ((tmp_path / "rules", tmp_path / "glue"), None)
    assert found.model.weights is None
    assert [str(one).replace(f"{tmp_path}/", "") for one in found.model.features] == [
        "word-penalty,value=-1,count_bos=true,name=WordPenalty0",
        "translation-model,path=rules,scores=4,limit=0,name=PhraseDictionaryMemory0",
        "translation-model,path=glue,scores=1,limit=20,max_span=1000,name=PhraseDictionaryMemory1",
        "lm,path=lm,base=e,markers=rules,name=KENLM0",
    ]
    assert unused() == []


@pytest.mark.parametrize(
    ("algorithm", "decoder", "search"),
    [("1", "phrase", "cube"), ("4", "phrase", "stack"), ("5", "hiero", "incremental"), ("9", "f2s", None)],
)
def test_search_algorithms(algorithm: str, decoder: str, search: str | None) -> None:
    found = load(f"[search-algorithm]\n{algorithm}\n[feature]\nDistortion\n").decoder
    assert found is not None
    assert (found.name, found.options.get("search")) == (decoder, search)
    assert ("pop_limit" in found.options) == (search != "stack")


def test_steps_that_say_more_and_short_names_are_not_used() -> None:
    load("[mapping]\n0 T 0\n0 G 0\n[input-factors]\n0\n1\n[s]\n7\n[feature]\nPhraseDictionaryCompact path=x\n")
    assert unused() == [
        "line 2: mapping '0 T 0'",
        "line 3: mapping '0 G 0'",
        "line 5: input-factors '0'",
        "line 6: input-factors '1'",
        "line 8: s '7'",
    ]


def options_of(text: str) -> dict[str, object]:
    found = load(text + "[feature]\nDistortion\n").decoder
    assert found is not None
    return dict(found.options)


def test_mark_up() -> None:
    """What Moses has where nothing is said stands there: it says how sentences are read."""
    assert options_of("")["xml"] == "pass-through"
    assert options_of("[xml-input]\nexclusive\n")["xml"] == "exclusive"
    # Lattices have none.
    assert "xml" not in options_of("[inputtype]\n2\n[xml-input]\nignore\n")
    assert options_of("[inputtype]\n1\n")["input"] == "confusion-net"
    chart = "[search-algorithm]\n3\n"
    assert "xml" not in options_of(chart)
    assert options_of(f"{chart}[xml-input]\ninclusive\n")["xml"] == "inclusive"


def test_brackets_of_mark_up() -> None:
    text = "[feature]\nDistortion\n[xml-brackets]\n{{ }}\n"
    assert load(f"{text}[xml-input]\ninclusive\n").source_format == "moses-xml,brackets={{ }}"
    assert load(text).source_format is None


@pytest.mark.parametrize(
    ("value", "meant"), [("true", True), ("1", True), ("Yes", True), ("false", False), ("0", False)]
)
def test_unknown_words(value: str, meant: bool) -> None:
    found = options_of(f"[drop-unknown]\n{value}\n[mark-unknown]\n{value}\n[unknown-word-prefix]\n<oov>\n")
    assert (found["drop_unknown"], found["mark_unknown"], found["unknown_prefix"]) == (meant, meant, "<oov>")
    assert "unknown_suffix" not in found
    assert options_of("[unknown-word-suffix]\n</oov>\n")["unknown_suffix"] == "</oov>"
    assert unused() == []


TABLES = "PhraseDictionaryMemory path=one table-limit=5\nPhraseDictionaryMemory path=two\n"


@pytest.mark.parametrize("steps", ["0 T 0\n1 T 1\n", "0 T 1\n1 T 0\n", "T 0\nT 1\n"])
def test_several_tables(steps: str, tmp_path: Path) -> None:
    found = load(f"[mapping]\n{steps}[decoding-graph-backoff]\n0\n0\n[feature]\n{TABLES}")
    assert found.model.grammar == (tmp_path / "one", tmp_path / "two")
    assert [one.options["limit"] for one in found.model.features] == ["5", "20"]


@pytest.mark.parametrize(
    ("section", "line", "message"),
    [
        ("[decoding-graph-backoff]\n0\n3\n", 3, "decoding-graph-backoff 0 .*, found '3'"),
        ("[monotone-at-punctuation]\ntrue\n", 2, "monotone-at-punctuation false .*, found 'true'"),
        ("[mapping]\n0 T 0\n0 T 1\n", 3, "mapping a graph for each table: '0 T 0', '1 T 1', found '0 T 1'"),
        ("[mapping]\n0 T 1\n", 2, "mapping a graph for each table: '0 T 0', '1 T 1', found '0 T 1'"),
    ],
)
def test_what_would_change_translations(section: str, line: int, message: str) -> None:
    with pytest.raises(FormatError, match=f"^below/moses.ini:{line}: expected {message}$"):
        load(f"{section}[feature]\n{TABLES}")
    # Charts have other rules.
    load(f"{section}[search-algorithm]\n3\n[feature]\n{TABLES}")
