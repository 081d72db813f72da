"""What a moses.ini amounts to."""

from __future__ import annotations

from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import OutputConfig, RunConfig, load_config
from smtplugins.host.decode.markup import OWNER

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
LexicalReordering num-features=6 type=wbe-msd-bidirectional-fe-allff input-factor=0 output-factor=0 path=rt
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
    lines = load_config("below/moses.ini").shown().splitlines()
    return [line[12:] for line in lines if line.startswith("# not used: ")]


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
    table = RuleTable(tmp_path / "pt.gz", name="TM", limit=20, scores=4, position=3)
    assert (found.model.tables, found.model.grammar_format) == ((table,), "moses-phrases")
    assert found.model.weights == tmp_path / "below/moses.ini"
    assert [str(one).replace(f"{tmp_path}/", "") for one in found.model.features] == [
        "oov,value=-100,tuneable=false,name=UnknownWordPenalty0",
        "word-penalty,value=-1,name=WordPenalty0",
        "phrase-penalty,value=1,name=PhrasePenalty0",
        "lexical-reordering,path=rt,model=wbe-msd-bidirectional-fe-allff,scores=6,name=LexicalReordering0",
        "distortion,name=Distortion0",
        "lm,path=lm,base=e,oov=true,name=LM",
        "source-path,log=true,scores=1,real_words=1,name=InputFeature0",
        "OpSequenceModel,path=osm,support-features=no,tuneable=false,name=OpSequenceModel0",
    ]
    assert found.output == OutputConfig(nbest=100, unique=True, format="moses-nbest", lists=tmp_path / "out")
    assert unused() == [
        "line 10: stack '50' (line 8 counts)",
        "line 24: feature 'LM order=3'",
        "line 24: feature 'LM load=lazy'",
        "line 30: threads '4' (`-j N`)",
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


def test_scores_inside_a_binary_table() -> None:
    """``property-index`` counts scores; Moses2 prefers them to those of a path."""
    table = "ProbingPT name=TM path=folder num-features=4\n"
    reordering = "LexicalReordering type=msd path=x num-features=3 property-index=6\n"
    found = load(f"[feature]\n{table}{reordering}").model
    assert found.tables[0].format == "moses-probing"
    (feature,) = found.features
    assert Path(str(feature.options["path"])).name == "folder"
    assert (feature.options["property_index"], feature.options["scores"]) == ("6", "3")


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
    rules = RuleTable(tmp_path / "rules", name="PhraseDictionaryMemory0", scores=4, position=1)
    glue = RuleTable(tmp_path / "glue", name="PhraseDictionaryMemory1", limit=20, max_span=1000, scores=1, position=2)
    assert (found.model.tables, found.model.grammar_format) == ((rules, glue), None)
    assert found.model.weights is None
    assert [str(one).replace(f"{tmp_path}/", "") for one in found.model.features] == [
        "word-penalty,value=-1,count_bos=true,name=WordPenalty0",
        "lm,path=lm,base=e,markers=rules,name=KENLM0",
    ]
    assert unused() == []


@pytest.mark.parametrize(
    ("algorithm", "decoder", "search"),
    [("1", "phrase", "cube"), ("4", "phrase", "stack"), ("5", "hiero", "incremental"), ("9", "f2s", None)],
)
def test_search_algorithms(algorithm: str, decoder: str, search: str | None) -> None:
    found = load(f"[search-algorithm]\n{algorithm}\n[feature]\nWordPenalty\n").decoder
    assert found is not None
    assert (found.name, found.options.get("search")) == (decoder, search)
    assert ("pop_limit" in found.options) == (search != "stack")


def test_short_names_are_not_used() -> None:
    load("[mapping]\n0 T 0\n[input-factors]\n0\n[s]\n7\n[feature]\nPhraseDictionaryCompact path=x\n")
    assert unused() == ["line 6: s '7'"]


def options_of(text: str) -> dict[str, object]:
    found = load(text + "[feature]\nWordPenalty\n").decoder
    assert found is not None
    return dict(found.options)


def test_mark_up() -> None:
    """What Moses has where nothing is said stands there: it says how sentences are read."""
    assert options_of("")["xml"] == "pass-through"
    assert options_of("[xml-input]\nexclusive\n")["xml"] == "exclusive"
    # Lattices have none.
    scored = "[feature]\nInputFeature num-features=1 num-input-features=1\n"
    assert "xml" not in options_of(f"{scored}[inputtype]\n2\n[xml-input]\nignore\n")
    assert options_of(f"{scored}[inputtype]\n1\n")["input"] == "confusion-net"
    assert "xml" not in options_of("[search-algorithm]\n3\n[xml-input]\npass-through\n")


@pytest.mark.parametrize("kind", ["1", "2"])
def test_lattices_have_a_feature(kind: str) -> None:
    """Moses: "Input feature must be specified"."""
    text = f"[inputtype]\n{kind}\n[feature]\nDistortion\n"
    with pytest.raises(SmtError, match=r"moses\.ini:2: InputFeature: expected `InputFeature num-features=1 "):
        load(text)
    assert [one.name for one in load_config("below/moses.ini", ignore=["InputFeature"]).model.features] == [
        "distortion"
    ]


@pytest.mark.parametrize(
    ("section", "value", "message"),
    [
        ("search-algorithm", "5", "decoder.search: .* found 'incremental'; .search-algorithm. 3 searches the same"),
        ("search-algorithm", "6", "decoder.search: .* found 's2t'; .search-algorithm. 3 searches the same"),
        ("search-algorithm", "7", "decoder: unknown decoder 't2s'.*; 7 is for trees as input; search algorithms 0, 1"),
        ("search-algorithm", "9", "decoder: unknown decoder 'f2s'.*; 9 is for forests as input; search algorithms 0"),
        ("inputtype", "3", "decoder.input: .* found 'tree'; .inputtype. 0 is for the words"),
        ("inputtype", "5", "decoder.input: .* found 'tabbed'; .inputtype. 0 is for the first column"),
        ("inputtype", "6", "decoder.input: .* found 'forest'; .inputtype. 0 is for sentences, 2 for lattices"),
    ],
)
def test_searches_and_inputs_that_no_plugin_offers(section: str, value: str, message: str, host: smt.Host) -> None:
    load(f"[{section}]\n{value}\n[feature]\nWordPenalty\n")
    with pytest.raises(SmtError, match=rf"moses\.ini:2: {message}"):
        host.show_config("below/moses.ini")


@pytest.mark.parametrize("feature", ["Distortion", "LexicalReordering type=msd num-features=3 path=x"])
def test_features_of_the_order_of_phrases_are_not_for_charts(feature: str) -> None:
    text = f"[search-algorithm]\n3\n[feature]\nWordPenalty\n{feature}\n"
    name = f"{feature.partition(' ')[0]}0"
    with pytest.raises(SmtError, match=rf"moses\.ini:5: {name}: expected no feature of the order of phrases in charts"):
        load(text)
    assert [one.name for one in load_config("below/moses.ini", ignore=[name]).model.features] == ["word-penalty"]


def test_features_without_weights_are_noted() -> None:
    """Moses takes 1 for each."""
    text = "[feature]\nWordPenalty\nDistortion\n[weight]\nWordPenalty0= -1\n"
    note = (
        "below/moses.ini: line 3: feature 'Distortion': Distortion0 has no line in [weight]: each of its weights is 1"
    )
    assert [line.partition(", as in")[0] for line in load(text).notes] == [note]
    assert load(text + "Distortion0= 1\n").notes == ()


@pytest.mark.parametrize(
    ("kind", "hint"), [("LazyKen", "instead: `KENLM"), ("BerkeleyLM", "instead: `KENLM"), ("KenLM", "did")]
)
def test_other_names_of_language_models(kind: str, hint: str, host: smt.Host) -> None:
    load(f"[feature]\n{kind} path=x\n")
    with pytest.raises(SmtError, match=f"unknown feature '{kind}'; {hint}"):
        host.show_config("below/moses.ini")


def test_switches_need_a_value(tmp_path: Path) -> None:
    """Moses keeps the lines of a section, so that one without lines is not there."""
    bare = "[minimum-bayes-risk]\n\n[drop-unknown]\n# true\n[mark-unknown]\n[mark-unknown]\n1\n[threads]\n"
    (tmp_path / "moses.ini").write_text(f"{bare}{PHRASES}")
    config = load_config(tmp_path / "moses.ini", ignore=["OpSequenceModel0"])
    assert config.output.choice is None
    assert config.decoder is not None
    assert "drop_unknown" not in config.decoder.options
    assert config.decoder.options["mark_unknown"]
    told = [note.partition("moses.ini: ")[2] for note in config.notes if "without a line `true`" in note]
    off = "is off without a line `true`, as in Moses"
    assert told == [f"line 1: [minimum-bayes-risk] {off}", f"line 3: [drop-unknown] {off}"]


def test_options_of_choices_that_are_not_made() -> None:
    load("[lmbr-p]\n0.3\n[mbr-size]\n7\n[feature]\nDistortion\n")
    assert unused() == [
        "line 2: lmbr-p '0.3' (for lminimum-bayes-risk)",
        "line 4: mbr-size '7' (for minimum-bayes-risk and lminimum-bayes-risk and consensus-decoding)",
    ]


@pytest.mark.parametrize(
    "text", ["[feature]\nDistortion\n", "formalism=scfg\n", "tm = thrax -owner pt -maxspan 1 -path g\n"]
)
def test_byte_order_marks_are_refused(text: str) -> None:
    """Each toolkit reads them as a part of the first line."""
    Path("config").write_text("\ufeff" + text)
    with pytest.raises(SmtError, match=r"^config:1: expected text without a byte order mark"):
        load_config("config")


def test_tables_that_are_folders(host: smt.Host) -> None:
    Path("table").mkdir()
    for kind, message in (("Memory", "expected a file, found the folder"), ("OnDisk", "unknown feature")):
        load(f"[feature]\nPhraseDictionary{kind} path=table num-features=1\n")
        with pytest.raises(SmtError, match=rf"below/moses\.ini:2: model\.[a-z]+\.0: .*{message}"):
            host.translator("below/moses.ini")
    Path("file").write_text("a ||| b ||| 1\n")
    load("[feature]\nProbingPT path=file num-features=1\n")
    with pytest.raises(SmtError, match=r"below/moses\.ini:2: model\.tables\.0: .*expected a folder, found the file"):
        host.translator("below/moses.ini")


def test_brackets_of_mark_up() -> None:
    text = "[feature]\nDistortion\n[xml-brackets]\n{{ }}\n"
    assert load(f"{text}[xml-input]\ninclusive\n").source_format == Spec("moses-xml", {"brackets": "{{ }}"})
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
    limits = {table.path: table.limit for table in found.model.tables}
    assert limits == {tmp_path / "one": 5, tmp_path / "two": 20}
    assert found.model.paths == tuple(limits)


def test_penalties_of_each_table() -> None:
    for value, owners in (("true", f"PhraseDictionaryMemory0+{OWNER} PhraseDictionaryMemory1"), ("false", None)):
        found = load(f"[feature]\n{TABLES}PhrasePenalty num-features=2 per-dictionary={value}\n").model.features
        assert [one.options.get("owners") for one in found] == [owners]
        assert unused() == []
    refused(f"[feature]\n{TABLES}PhrasePenalty per-dictionary=true\n", "PhrasePenalty0.per-dictionary")


def test_limits_of_all_options() -> None:
    def limits(text: str) -> list[int]:
        return [table.limit for table in load(f"[max-trans-opt-per-coverage]\n{text}").model.tables]

    assert limits("9\n[feature]\nRuleTable path=one\n") == [9]
    assert limits("9\n[feature]\nRuleTable path=one table-limit=5\n") == [5]
    assert limits("9\n[feature]\nRuleTable path=one table-limit=0\n") == [9]
    assert limits("0\n[feature]\nRuleTable path=one table-limit=0\n") == [0]
    # Together they keep no more, so nothing has to be dropped.
    assert limits(f"25\n[feature]\n{TABLES}") == [5, 20]
    found = refused(f"[max-trans-opt-per-coverage]\n24\n[feature]\n{TABLES}", "max-trans-opt-per-coverage")
    assert "max-trans-opt-per-coverage: expected 25 or more, for tables are limited one by one, found '24'" in found
    unlimited = "RuleTable path=a table-limit=0\n"
    assert "expected a table-limit of each" in refused(
        f"[max-trans-opt-per-coverage]\n24\n[feature]\n{TABLES}{unlimited}"
    )


@pytest.mark.parametrize(("values", "meant"), [("0\n3", [0, 3]), ("7\n-1", [0, -1]), ("0 2", [0, 2]), ("5", [0, 0])])
def test_backoff(values: str, meant: list[int]) -> None:
    for mapping in ("", "[mapping]\n0 T 0\n1 T 1\n", "[mapping]\n0 PhraseDictionaryMemory0\n1 T 1\n"):
        found = load(f"{mapping}[decoding-graph-backoff]\n{values}\n[feature]\n{TABLES}")
        assert [table.backoff for table in found.model.tables] == meant
        assert unused() == []


def test_backoff_for_tables_that_are_not_there() -> None:
    text = f"[mapping]\n0 T 0\n1 T 1\n[decoding-graph-backoff]\n0\n1\n2\n[feature]\n{TABLES}"
    message = "decoding-graph-backoff: expected at most a number for each table, 2 in all, found '0 1 2'"
    assert message in refused(text, "decoding-graph-backoff")


def test_backoff_in_another_order() -> None:
    text = f"[mapping]\n0 T 1\n1 T 0\n[decoding-graph-backoff]\n0\n3\n[feature]\n{TABLES}"
    assert "decoding-graph-backoff: expected tables in the order of [mapping]" in refused(
        text, "decoding-graph-backoff"
    )


def refused(text: str, *ignore: str) -> str:
    """What is wrong with a configuration; nothing if all keys of these are ignored."""
    Path("below/moses.ini").write_text(text)
    with pytest.raises(SmtError) as caught:
        load_config("below/moses.ini")
    if ignore:
        load_config("below/moses.ini", ignore=ignore)
    return str(caught.value).removeprefix("below/moses.ini:")


BOTH = (
    ("always-create-direct-transopt", "true", "false"),
    ("disable-discarding", "yes", "no"),
    ("early-distortion-cost", "true", "false"),
    ("mira", "true", "false"),
    ("context-string", "a b", None),
    ("context-weights", "1", None),
    ("context-window", "3", None),
    ("distortion", "msd", None),
    ("lm-interpolation-weights", "1", None),
    ("muxlm", "1", None),
    ("placeholder-factor", "1", None),
    ("spe-src", "a", None),
    ("spe-trg", "a", None),
    ("spe-aln", "a", None),
    ("factor-delimiter", "^", "|"),
    ("input-factors", "1", "0"),
    ("output-factors", "1", "0"),
    ("time-out", "60", "-1"),
)
CHARTS = (
    ("minimum-bayes-risk", "true", "0"),
    ("lminimum-bayes-risk", "true", "false"),
    ("consensus-decoding", "1", "0"),
    ("mark-unknown", "true", "false"),
    ("default-non-term-for-empty-range-only", "false", "true"),
    ("rule-limit", "20", "5000"),
    ("source-label-overlap", "1", "0"),
    ("unknown-lhs", "file", None),
    ("xml-input", "exclusive", "pass-through"),
)


@pytest.mark.parametrize("algorithm", [0, 3])
@pytest.mark.parametrize(("key", "harmful", "harmless"), [*BOTH, *CHARTS])
def test_what_changes_translations(algorithm: int, key: str, harmful: str, harmless: str | None) -> None:
    rest = f"[search-algorithm]\n{algorithm}\n[feature]\nWordPenalty\n"
    if not algorithm and (key, harmful, harmless) in CHARTS:
        load(f"[{key}]\n{harmful}\n{rest}")
        return
    found = refused(f"[{key}]\n{harmful}\n{rest}", key)
    assert found.startswith(f"2: {key}: expected ")
    assert f", found '{harmful}': it changes translations and is not supported (ignore=['{key}'] continues" in found
    if harmless is not None:
        load(f"[{key}]\n{harmless}\n{rest}")
        assert unused() == []


@pytest.mark.parametrize(
    ("features", "key", "found"),
    [
        ("Distortion sparse=true", "Distortion0.sparse", "Distortion without sparse features, found 'sparse=true'"),
        ("PhrasePenalty per-dictionary=1", "PhrasePenalty0.per-dictionary", "found 'per-dictionary=1'"),
        (
            "KENLM name=LM path=x factor=1",
            "LM.factor",
            "KENLM of factor 0, the words (factors are not supported), found 'factor=1'",
        ),
        ("WordPenalty tuneable-components=1", "WordPenalty0.tuneable-components", "found 'tuneable-components=1'"),
        ("LexicalReordering type=msd path=x sparse-phrase=1", "LexicalReordering0.sparse-phrase", "sparse-phrase=1"),
        (
            "LexicalReordering type=msd num-features=3 property-index=0",
            "LexicalReordering0.property-index",
            "with the path of a reordering table, or with one table, a ProbingPT, that has its scores, found ",
        ),
        (
            "LexicalReordering type=msd num-features=3 property-index=0\nProbingPT path=a\nProbingPT path=b",
            "LexicalReordering0.property-index",
            "found 'property-index=0'",
        ),
        (
            "LexicalReordering type=msd path=x num-features=3 property-index=3\nPhraseDictionaryMemory path=a",
            "LexicalReordering0.property-index",
            "found 'property-index=3'",
        ),
    ],
)
def test_keys_of_features_that_change_translations(features: str, key: str, found: str) -> None:
    message = refused(f"[feature]\n{features}\n", key)
    assert message.startswith(f"2: {key}: expected ")
    assert found in message


def test_all_that_is_refused_is_told_at_once() -> None:
    text = "[mira]\ntrue\n[feature]\nDistortion sparse=yes\n[disable-discarding]\n1\n"
    assert refused(text, "mira", "distortion0.SPARSE", "disable-discarding").endswith(
        "; line 4: Distortion0.sparse: expected Distortion without sparse features, found 'sparse=yes'; line 6: "
        "disable-discarding: expected false, found '1' (ignore=['mira', 'Distortion0.sparse', "
        "'disable-discarding'] continues without)"
    )


@pytest.mark.parametrize("steps", ["0 T 0\n0 T 1\n", "0 T 1\n", "0 T 0\n1 G 0\n", "0 Other\n", "0 T 0\n1 T 1\n1 G 0\n"])
@pytest.mark.parametrize("algorithm", [1, 3])
def test_steps_that_go_together(steps: str, algorithm: int) -> None:
    found = refused(f"[mapping]\n{steps}[search-algorithm]\n{algorithm}\n[feature]\n{TABLES}", "mapping")
    assert "mapping: expected a graph for each table: '0 T 0', '1 T 1', found " in found


def test_steps_may_name_their_tables() -> None:
    load(f"[mapping]\n0 PhraseDictionaryMemory0\n1 PhraseDictionaryMemory1\n[feature]\n{TABLES}")
    assert unused() == []
    # In charts each has a limit of spans, in the order of the steps.
    assert "mapping" in refused(f"[mapping]\n0 T 1\n1 T 0\n[search-algorithm]\n3\n[feature]\n{TABLES}")
