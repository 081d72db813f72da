"""What a joshua.config amounts to."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtplugins.host.config import OutputConfig, RunConfig, load_config, show_config
from smtplugins.host.spec import Spec

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


def test_charts(tmp_path: Path) -> None:
    found = load(CHART)
    assert found.decoder == Spec(
        "hiero",
        {
            "pop_limit": 20,
            "max_options": 20,
            "goal": "TOP",
            "nonterminal": "Y",
            "mark_oovs": True,
            "max_length": 200,
            "input": "lattice",
            "oov_list": "CD 0.1 NN 0.9",
            "pass_through": "all",
            "pops": "joshua",
            "markers": True,
            "joshua": True,
            "max_span": 12,
            "glue": False,
        },
    )
    assert found.model.grammar == (tmp_path / "below/grammar.gz", Path("/glue"))
    assert found.model.weights == tmp_path / "below/joshua.config"
    assert texts(found, tmp_path) == [
        "translation-model,path=below/grammar.gz,owner=pt,name=tm_pt",
        "translation-model,path=/glue,owner=glue,max_span=-1,name=tm_glue",
        "lm,path=below/lm.gz,base=10,order=5,markers=rules,name=lm_0",
        "word-penalty,value=-0.4342945,count_bos=true,name=WordPenalty",
        "lm,path=below/lm2,base=10,class_path=classes,markers=rules,oov=true,oov_name=lm_1_oov,name=lm_1",
        "oov,value=-100,name=OOVPenalty",
        "phrase-penalty,value=1,owner=pt,name=PhrasePenalty",
        "RuleShape,lm_name=x,a_b=true",
    ]
    assert found.output == OutputConfig(nbest=1, unique=False, format="joshua-nbest")
    assert [line for line in show_config("below/joshua.config").splitlines() if line.startswith("#")] == [
        "# not used: line 3: tm '-max-source-len 3'",
        "# not used: line 6: pop-limit '10'",
        "# not used: line 13: output-format '%s'",
    ]


def test_stacks(tmp_path: Path) -> None:
    found = load(
        "tm = moses -owner pt -maxspan 0 -path rules\nweights-file = w\noov-list = labels\nn-best-list = out 30\n"
        "feature-function = StateMinimizingLanguageModel -lm_order 3 -lm_file lm\n"
        "feature-function = WordPenalty -value -1\nfeature-function = Distortion\nfeature-function = SourcePath\n"
    )
    assert found.decoder is not None
    assert (found.decoder.name, found.decoder.options["distortion_limit"]) == ("phrase", 8)
    assert found.decoder.options["oov_path"] == str(tmp_path / "labels")
    assert not {"max_span", "glue", "pops", "markers", "joshua"} & found.decoder.options.keys()
    assert found.model.weights == tmp_path / "w"
    assert found.output == OutputConfig(nbest=30, unique=True, format="joshua-nbest")
    assert texts(found, tmp_path) == [
        "translation-model,path=below/rules,owner=pt,name=tm_pt",
        "lm,path=below/lm,base=10,order=3,name=lm_0",
        "word-penalty,value=-1,name=WordPenalty",
        "distortion,name=Distortion",
        "source-path,name=SourcePath",
    ]


def test_glue_of_its_own(tmp_path: Path) -> None:
    found = load("search = cky\ntm = thrax pt 12 g\n")
    assert found.decoder is not None
    assert found.decoder.options["glue"] is True
    assert texts(found, tmp_path)[-1] == "glue,value=1,name=tm_glue_0"
