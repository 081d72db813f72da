"""What a joshua.config amounts to."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ConfigError, OutputConfig, RunConfig, load_config

CHART = """\
lm = kenlm 5 false false 100 lm.gz
tm = thrax pt 12 grammar.gz
tm = thrax -owner glue -maxspan -1 -path /glue -max-source-len 3
default_non_terminal = [Y,1]
goalSymbol = [TOP]
pop-limit = 10
pop-limit = 20
top-n = 0
use-unique-nbest = false
mark_oovs = true
lattice-decoding = false
oov-list = CD 0.1 NN 0.9
output-format = %s
feature-function = WordPenalty
feature-function = LanguageModel -lm_type kenlm -lm_file lm2 -class_map classes -oov_feature
feature-function = OOVPenalty
feature-function = PhrasePenalty -owner pt
feature-function = RuleShape -name x -a-b
lm_0 1
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)


def load(text: str) -> RunConfig:
    Path("below/joshua.config").write_text(text)
    return load_config("below/joshua.config")


def texts(config: RunConfig, folder: Path) -> list[str]:
    return [str(one).replace(f"{folder}/", "") for one in config.model.features]


def test_features_of_the_same_name() -> None:
    text = "tm = thrax -owner pt -maxspan 12 -path g\nfeature-function = WordPenalty\n"
    with pytest.raises(ConfigError, match=r"joshua\.config:3: feature-function: expected WordPenalty once, in line 2"):
        load(f"{text}feature-function = WordPenalty\n")


def test_settings_without_an_equals_sign_are_weights() -> None:
    note = "line 2: weight 'pop_limit 5': a weight, as in Joshua; the setting is `pop-limit = VALUE`"
    assert note in load("tm = thrax -owner pt -maxspan 12 -path g\npop_limit 5\n").notes[-1]


def test_kinds_of_tables() -> None:
    for kind, more in (("regexp", ", as regular expressions are not read"), ("thrx", "")):
        text = f"mark-oovs = true\ntm = {kind} -owner pt -maxspan 12 -path g\n"
        with pytest.raises(
            ConfigError, match=rf"joshua\.config:2: tm\.{kind}: expected one of .*, phrase{more}, found '"
        ):
            load(text)


def test_kinds_of_language_models() -> None:
    text = "tm = thrax -owner pt -maxspan 12 -path g\nfeature-function = LanguageModel -lm_type {} -lm_file lm\n"
    load(text.format("kenlm"))
    with pytest.raises(ConfigError, match=r"joshua\.config:2: LanguageModel\.lm_type: expected kenlm or berkeleylm, "):
        load(text.format("srilm"))


def test_charts(tmp_path: Path) -> None:
    found = load(CHART)
    assert found.decoder == Spec(
        "hiero",
        {
            "pop_limit": 20,
            "max_options": 20,
            "mark_oovs": True,
            "max_length": 200,
            "pass_through": "all",
            "joshua": True,
            "goal": "TOP",
            "nonterminal": "Y",
            "input": "lattice",
            "oov_list": "CD 0.1 NN 0.9",
            "pops": "joshua",
            "markers": True,
            "max_span": 12,
            "glue": False,
            # Of the first LanguageModel, of order 5.
            "constraint_words": 4,
        },
    )
    assert found.model.tables == (
        RuleTable(tmp_path / "grammar.gz", name="tm_pt", owner="pt"),
        RuleTable(Path("/glue"), name="tm_glue", owner="glue", max_span=-1, position=1),
    )
    assert found.model.weights == tmp_path / "below/joshua.config"
    assert texts(found, tmp_path) == [
        "lm,path=lm.gz,base=10,order=5,markers=rules,name=lm_0",
        "word-penalty,value=-0.4342945,count_bos=true,name=WordPenalty",
        "lm,path=lm2,base=10,class_path=classes,markers=rules,oov=true,oov_name=lm_1_oov,name=lm_1",
        "oov,value=-100,name=OOVPenalty",
        "phrase-penalty,value=1,owner=pt,name=PhrasePenalty",
        "RuleShape,lm_name=x,a_b=true",
    ]
    assert found.output == OutputConfig(unique=False, format="joshua-nbest", template="%s")
    assert [line for line in load_config("below/joshua.config").shown().splitlines() if line.startswith("#")] == [
        "# not used: line 3: tm '-max-source-len 3'",
        "# not used: line 6: pop-limit '10' (line 7 counts)",
    ]


def test_stacks(tmp_path: Path) -> None:
    found = load(
        "tm = moses -owner pt -maxspan 0 -path rules\nweights-file = w\nn-best-list = out 30\ngoal-symbol = TOP\n"
        "default-non-terminal = Y\n"
        "feature-function = StateMinimizingLanguageModel -lm_order 3 -lm_file lm\n"
        "feature-function = WordPenalty -value -1\nfeature-function = Distortion\nfeature-function = SourcePath\n"
    )
    assert found.decoder == Spec(
        "phrase",
        {
            "pop_limit": 100,
            "max_options": 20,
            "mark_oovs": False,
            "max_length": 200,
            "pass_through": "all",
            "joshua": True,
            "search": "cube",
            "stack_size": 0,
            "beam_threshold": 0.0,
            "lm_beam": math.inf,
            "order": "window",
            "constrained": True,
            "distortion_limit": 8,
            "max_phrase_length": 8,
        },
    )
    smt.load_plugins().registry.check("decoders", found.decoder)
    assert found.model.weights == tmp_path / "w"
    template = "%i ||| %s ||| %f ||| %c"
    assert found.output == OutputConfig(nbest=30, unique=True, format="joshua-nbest", template=template)
    assert found.model.tables == (RuleTable(tmp_path / "rules", name="tm_pt", owner="pt"),)
    assert texts(found, tmp_path) == [
        "lm,path=lm,base=10,order=3,name=lm_0",
        "word-penalty,value=-1,name=WordPenalty",
        "distortion,name=Distortion",
        "source-path,name=SourcePath",
    ]


def test_glue_of_its_own(tmp_path: Path) -> None:
    found = load("search = cky\ntm = thrax pt 12 g\n")
    assert found.decoder is not None
    assert found.decoder.options["glue"] is True
    assert texts(found, tmp_path)[-1] == "glue,value=1,name=tm_glue_0"


STACK = "tm = moses -owner pt -maxspan 0 -path rules\n"


@pytest.mark.parametrize(("limit", "jump", "longest"), [("3", 3, 3), ("-1", -1, 200), ("-5", -1, 200)])
def test_reordering_limits(limit: str, jump: int, longest: int) -> None:
    found = load(f"{STACK}reordering-limit = {limit}\n").decoder
    assert found is not None
    assert (found.options["distortion_limit"], found.options["max_phrase_length"]) == (jump, longest)


def unused() -> list[str]:
    lines = load_config("below/joshua.config").shown().splitlines()
    return [line[12:] for line in lines if line.startswith("# not used: ")]


def test_what_is_refused_and_ignored_in_any_spelling() -> None:
    text = f"{STACK}FUZZY_MATCHING = True\n"
    Path("below/joshua.config").write_text(text)
    with pytest.raises(ConfigError, match=r"joshua.config:2: fuzzy-matching: expected false \(.*\), found 'True': it"):
        load_config("below/joshua.config")
    load_config("below/joshua.config", ignore=["fuzzy_matching"])


def test_no_words_to_reorder() -> None:
    with pytest.raises(ConfigError, match=r"joshua.config:2: reordering-limit: expected 1 or more"):
        load(f"{STACK}reordering-limit = 0\n")


def test_what_changes_nothing() -> None:
    load("tm = thrax pt 3 rules\nparse = false\nfuzzy_matching = FALSE\ninput-type = plain\n")
    assert unused() == []
    # By its name alone, without the forests' pass.
    load("tm = thrax pt 3 rules\nrescore-forest-weight = 3\n")
    assert unused() == ["line 2: rescore-forest-weight '3' (for rescore-forest)"]


def test_output_and_case() -> None:
    found = load("tm = thrax pt 3 rules\noutput-format = %c, %s\nlowercase = false\nproject-case = no\n")
    assert (found.output.template, found.output.project_case) == ("%c, %s", True)
    assert found.decoder is not None
    assert found.decoder.options["lowercase"] is True
    # Nothing is lowercased, so there is no case to project.
    alone = load("tm = thrax pt 3 rules\nproject-case = no\n")
    assert alone == load("tm = thrax pt 3 rules\n")
    load("tm = thrax pt 3 rules\nproject-case = no\n")
    assert unused() == ["line 2: project-case 'no' (for lowercase)"]
    with pytest.raises(ConfigError, match="output-format: expected a format without %t"):
        load(f"{STACK}output-format = %i %t\n")


def test_translations_alone_with_moses(tmp_path: Path) -> None:
    rules = "tm = thrax pt 3 rules\nmoses = true\n"
    found = load(f"{rules}top-n = 7\noutput-format = %s\n")
    assert found.output == OutputConfig(unique=True, format="joshua-nbest")
    assert unused() == ["line 3: top-n '7'", "line 4: output-format '%s'"]
    found = load(f"{rules}top-n = 7\nn-best-list = out\n")
    assert found.output == OutputConfig(nbest=7, unique=True, format="moses-nbest", lists=tmp_path / "out")
    assert load(f"{rules}n-best-list = out 3\n").output.nbest == 3


def test_rescoring_needs_words_in_states() -> None:
    rules, model = "tm = thrax pt 3 rules\nrescore-forest = true\n", "feature-function = LanguageModel -lm_file a"
    found = load(f"{rules}{model} -lm_order 3\n")
    assert found.output.rescored == Spec("bleu", {"weight": 10.0, "context": 2})
    assert found.decoder is not None and found.decoder.options["boundary_words"] == 2
    weighted = load(f"{rules}{model}\nrescore-forest-weight = 2.5\n").output.rescored
    assert weighted is not None and weighted.options["weight"] == 2.5
    minimised = "feature-function = StateMinimizingLanguageModel -lm_file b\n"
    for wrong in ("", f"{model} -class_map c\n", minimised, f"{minimised}{model}\n"):
        with pytest.raises(ConfigError, match="config:2: rescore-forest: expected a LanguageModel without classes as"):
            load(f"{rules}{wrong}")
    with pytest.raises(ConfigError, match="rescore-forest: expected no such setting with moses"):
        load(f"{rules}{model}\nmoses = true\n")


@pytest.mark.parametrize(
    ("functions", "width"),
    [
        (["LanguageModel -lm_file a -lm_order 3", "LanguageModel -lm_file b -lm_order 7"], 2),
        (["StateMinimizingLanguageModel -lm_file a", "LanguageModel -lm_file b"], 4),
        (["LanguageModel -lm_file a -class_map c", "LanguageModel -lm_file b"], 0),
        (["StateMinimizingLanguageModel -lm_file a"], 0),
    ],
)
def test_words_that_a_target_constrains(functions: list[str], width: int) -> None:
    """The states of the first model that holds words."""
    text = "".join(f"feature-function = {function}\n" for function in functions)
    found = load(f"tm = thrax pt 3 rules\n{text}").decoder
    assert found is not None
    assert found.options["constraint_words"] == width
    stack = load(f"{STACK}{text}").decoder
    assert stack is not None
    assert "constraint_words" not in stack.options


def test_berkeley_models_are_scored_otherwise() -> None:
    note = load("tm = thrax pt 3 rules\nlm = berkeleylm 3 false false 100 lm\n").notes[-1]
    assert note.startswith("below/joshua.config: line 2: lm 'berkeleylm 3 false false 100 lm': scored as by KenLM")


class TestPaths:
    """Joshua 6.0 takes them from the working directory; later, tables and language models are beside the file."""

    TEXT = "tm = thrax pt 3 rules\nlm = kenlm 3 false false 100 lm\nweights-file = w\noov-list = labels\n"

    def found(self, tmp_path: Path) -> list[str]:
        config = load(self.TEXT)
        assert config.decoder is not None
        listed = [
            config.model.tables[0].path,
            config.model.features[-1].options["path"],
        ]
        return [
            str(one).removeprefix(f"{tmp_path}/")
            for one in (*listed, config.model.weights, config.decoder.options["oov_path"])
        ]

    def test_in_the_working_directory(self, tmp_path: Path) -> None:
        assert self.found(tmp_path) == ["rules", "lm", "w", "labels"]
        for name in ("rules", "lm", "w"):
            Path(name).touch()
        assert self.found(tmp_path) == ["rules", "lm", "w", "labels"]

    def test_beside_the_file(self, tmp_path: Path) -> None:
        for name in ("rules", "lm", "w", "labels"):
            Path("below", name).touch()
        # Weights and labels are those of the working directory in all versions.
        assert self.found(tmp_path) == ["below/rules", "below/lm", "w", "labels"]

    def test_in_both_places(self, tmp_path: Path) -> None:
        for name in ("rules", "below/rules", "below/lm"):
            Path(name).touch()
        message = (
            "^below/joshua.config:1: expected a path that names one file, or an absolute one, found 'rules', which is "
            "in the working directory and beside the configuration$"
        )
        with pytest.raises(FormatError, match=message):
            load(self.TEXT)
        Path("rules").unlink()
        Path("rules").symlink_to("below/rules")
        assert self.found(tmp_path)[0] == "rules"
