"""What a cdec.ini amounts to."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import smtplugins as smt
from smtplugins.contracts.errors import SmtError
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.passes import ForestPass
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ModelConfig, OutputConfig, RunConfig, load_config


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)


def load(text: str) -> RunConfig:
    # Beside the place one stands at: paths are relative to that, not to the file.
    Path("below/cdec.ini").write_text(text)
    return load_config("below/cdec.ini")


def test_whole(tmp_path: Path) -> None:
    found = load(
        "formalism=SCFG\ngrammar=a.gz\ngrammar=/b.gz\nweights=w\ninput=in.de\nk_best=100\nunique_k_best=false\n"
        "intersection_strategy=Full\ncubepruning_pop_limit=30\nbeam_prune=2.5\ndensity_prune=3\nscfg_max_span_limit=15\n"
        "goal=TOP\nscfg_default_nt=Y\nscfg_no_hiero_glue_grammar=1\nscfg_extra_glue_grammar=glue\n"
        "feature_function=WordPenalty\nfeature_function=KLanguageModel -x -n LM -m classes lm.klm\n"
        "feature_function=RuleShape a, b\n"
    )
    assert found == RunConfig(
        source=tmp_path / "in.de",
        decoder=Spec(
            "hiero",
            {
                "search": "full",
                "pop_limit": 30,
                "beam_prune": 2.5,
                "density_prune": 3.0,
                "pops": "cdec",
                "max_span": 15,
                "goal": "TOP",
                "nonterminal": "Y",
                "glue": False,
                "glue_path": str(tmp_path / "glue"),
                "pass_through": "none",
            },
        ),
        model=ModelConfig(
            tables=(RuleTable(tmp_path / "a.gz"), RuleTable(Path("/b.gz"))),
            grammar_format="cdec-grammar",
            features=(
                Spec("word-penalty", {"value": repr(-1 / math.log(10)), "name": "WordPenalty"}),
                Spec(
                    "lm",
                    {
                        "path": str(tmp_path / "lm.klm"),
                        "base": "10",
                        "class_path": str(tmp_path / "classes"),
                        "markers": "rules",
                        "oov": "true",
                        "oov_name": "LM_OOV",
                        "name": "LM",
                    },
                ),
                Spec("RuleShape", {"params": "a, b"}),
            ),
            weights=tmp_path / "w",
        ),
        output=OutputConfig(nbest=100, unique=True, format="cdec-nbest"),
    )


def test_defaults_are_cdecs(tmp_path: Path) -> None:
    found = load("formalism=scfg\nadd_pass_through_rules=false\nadd_extra_pass_through_features=4\ninput=-\n")
    assert found.decoder == Spec(
        "hiero",
        {
            "search": "cube_pruning",
            "pop_limit": 200,
            "pops": "cdec",
            "max_span": 10,
            "goal": "S",
            "nonterminal": "X",
            "glue": True,
            "pass_through": "all",
        },
    )
    assert [str(one) for one in found.model.features] == [
        "glue,value=1,name=Glue",
        "pass-through,value=1,lengths=4,name=PassThrough",
    ]
    assert found.source is None
    assert found.output == OutputConfig(unique=False, format="cdec-nbest")


@pytest.mark.parametrize("name", ["cube_pruning", "Fast_Cube_Pruning", "fast_cube_pruning_2"])
def test_all_ways_through_cubes_are_ours(name: str) -> None:
    found = load(f"formalism=scfg\nintersection_strategy={name}\n").decoder
    assert found is not None
    assert found.options["search"] == "cube_pruning"


def test_other_formalisms_are_decoders_of_their_own() -> None:
    assert load("formalism=tagger\n").decoder == Spec("tagger", {"search": "cube_pruning", "pop_limit": 200})


def test_phrases_in_any_order(tmp_path: Path) -> None:
    text = "formalism=PB\ngrammar=pt\nadd_pass_through_rules=1\nadd_extra_pass_through_features=4\ngoal=TOP\n"
    found = load(f"{text}feature_function=WordPenalty\n")
    assert found.decoder == Spec(
        "hiero",
        {"search": "cube_pruning", "pop_limit": 200, "pops": "cdec", "reach": 4, "pass_through": "unknown"},
    )
    assert found.model.grammar_format == "cdec-grammar,label=X"
    assert found.model.paths == (tmp_path / "pt",)
    assert [one.name for one in found.model.features] == ["pass-through", "word-penalty"]
    assert unused() == ["line 4: add_extra_pass_through_features '4' (for scfg)", "line 5: goal 'TOP' (for scfg)"]
    decoder = load("formalism=pb\ngrammar=pt\npb_max_distortion=2\n").decoder
    assert decoder is not None
    assert (decoder.options["reach"], decoder.options["pass_through"]) == (2, "none")
    with pytest.raises(SmtError, match=r"cdec\.ini:3: grammar: expected one phrase table, as formalism pb has"):
        load("formalism=pb\ngrammar=a\ngrammar=b\n")
    load("formalism=scfg\npb_max_distortion=2\n")
    assert unused() == ["line 2: pb_max_distortion '2' (for pb)"]


def unused() -> list[str]:
    return [line[12:] for line in load_config("below/cdec.ini").shown().splitlines() if line.startswith("# not used: ")]


def test_what_is_not_used_is_told() -> None:
    load("formalism=scfg\nquiet=1\nfeature_function=WordPenalty 0.5\ncubepruning_pop_limit2=7\n")
    assert unused() == [
        "line 2: quiet '1' (translations are printed in any case, notes go to standard error)",
        "line 3: feature_function '0.5'",
        "line 4: cubepruning_pop_limit2 '7' (the second pass has no feature_function, beam_prune, density_prune or "
        "weights, so there are no passes from there on)",
    ]


def test_passes(tmp_path: Path) -> None:
    found = load(
        "formalism=scfg\nfeature_function=WordPenalty\nbeam_prune=2\nscale_prune_srclen=1\nsummary_feature=P\n"
        "summary_feature_type=edge_prob\nweights2=w2\nfeature_function2=KLanguageModel -n A a.klm\n"
        "feature_function2=SourceWordPenalty\ncubepruning_pop_limit2=7\ndensity_prune2=3\nsummary_feature2=Q\n"
        "beam_prune3=0.5\nintersection_strategy3=Full\n"
    )
    assert found.decoder is not None
    options = found.decoder.options
    assert (options["beam_prune"], options["beam_by_length"]) == (2.0, True)
    assert (options["summary"], options["summary_type"]) == ("P", "edge_prob")
    second, third = found.model.passes
    assert [str(one) for one in second.features] == [
        f"lm,path={tmp_path / 'a.klm'},base=10,oov=true,oov_name=A_OOV,name=A",
        f"source-word-penalty,value={-1 / math.log(10)!r},name=SourceWordPenalty",
    ]
    assert [str(one).partition(",")[0] for one in found.model.features] == ["glue", "word-penalty"]
    assert replace(second, features=()) == ForestPass(
        weights=tmp_path / "w2", search="cube_pruning", pop_limit=7, density_prune=3.0, summary="Q"
    )
    assert third == ForestPass(search="full", pop_limit=200, beam_prune=0.5)
    assert unused() == []


def test_feature_functions_of_the_same_name() -> None:
    """cdec sets the value of a name again: the same function counts once, of two language models the last alone."""
    text = "formalism=scfg\nfeature_function=WordPenalty\nweights2=w\n"
    for line in ("feature_function=WordPenalty\n", "feature_function2=WordPenalty\n"):
        found = load(text + line)
        assert [one.name for one in found.model.features] == ["glue", "word-penalty"]
        assert found.model.passes[0].features == ()
        assert "WordPenalty': the same as line 2; it counts once, as in cdec" in found.notes[-1]
    models = "feature_function=KLanguageModel a\nfeature_function=KLanguageModel b\n"
    with pytest.raises(SmtError, match=r"cdec\.ini:5: feature_function: expected `-n NAME`, as line 4 has a language"):
        load(text + models)
    assert len(load(text + models.replace("l a", "l -n A a")).model.features) == 4


def test_flags_that_say_false_are_on() -> None:
    found = load("formalism=scfg\nadd_pass_through_rules=false\nunique_k_best=1\n")
    assert found.decoder is not None and found.decoder.options["pass_through"] == "all"
    (note,) = found.notes
    assert note.endswith(
        "line 2: add_pass_through_rules 'false': on, as with any value in cdec; remove the line to turn it off"
    )


def test_the_language_model_of_srilm() -> None:
    load("formalism=scfg\nfeature_function=LanguageModel -o 3 lm\n")
    with pytest.raises(
        SmtError, match=r"cdec\.ini:2: .* unknown feature 'LanguageModel'; instead: `KLanguageModel FILE`"
    ):
        smt.load_plugins().show_config("below/cdec.ini")


def test_the_fast_variants_count_in_all_passes() -> None:
    text = "formalism=scfg\nbeam_prune=1\nweights2=w\nintersection_strategy2=full\n"
    assert load(text).model.passes[0].search == "full"
    assert load(f"{text}intersection_strategy=fast_cube_pruning\n").model.passes[0].search == "cube_pruning"


def test_a_pass_that_is_not_there_ends_the_chain() -> None:
    """As in cdec, where the settings of the passes behind it have no effect."""
    assert load("formalism=scfg\nweights2=w\nfeature_function2=WordPenalty\n").model.passes == ()
    reason = "the first pass has no feature_function, beam_prune or density_prune, so there are no passes from there on"
    assert unused() == [f"line 2: weights2 'w' ({reason})", f"line 3: feature_function2 'WordPenalty' ({reason})"]
    assert load("formalism=scfg\nbeam_prune=1\nfeature_function3=WordPenalty\nweights3=w\n").model.passes == ()
    assert [line.partition(" (")[0] for line in unused()] == [
        "line 3: feature_function3 'WordPenalty'",
        "line 4: weights3 'w'",
    ]


def test_features_of_passes_that_no_plugin_offers() -> None:
    text = "formalism=scfg\nfeature_function=WordPenalty\nweights2=w\nfeature_function2=RuleShape\n"
    load(f"{text}feature_function2=SourceWordPenalty\n")
    with pytest.raises(SmtError) as caught:
        smt.load_plugins().show_config("below/cdec.ini")
    assert str(caught.value).startswith("below/cdec.ini:4: model.passes.0.features.0: unknown feature 'RuleShape'")
    found = load_config("below/cdec.ini", ignore=["RuleShape"])
    assert [one.name for one in found.model.passes[0].features] == ["source-word-penalty"]
    assert [one.name for one in found.model.features] == ["glue", "word-penalty"]
    smt.load_plugins().show_config(found)


def test_grammars_of_lextrans_by_offset() -> None:
    text = "grammar=x\nper_sentence_grammar_file=psg\n"
    load(f"formalism=scfg\n{text}")
    assert "lextrans" in unused()[0]
    with pytest.raises(SmtError, match=r"cdec\.ini:3: per_sentence_grammar_file: expected no such setting"):
        load(f"formalism=lextrans\n{text}")


def test_beams_by_length() -> None:
    load("formalism=scfg\nscale_prune_srclen=1\n")
    assert unused() == ["line 2: scale_prune_srclen '1'"]
    found = load("formalism=scfg\nscale_prune_srclen=1\nbeam_prune=3\n").decoder
    assert found is not None
    assert (found.options["beam_prune"], found.options["beam_by_length"]) == (3.0, True)
    load("formalism=scfg\npromise_power=0.0\n")
    assert unused() == []


def test_forests_and_trees(tmp_path: Path) -> None:
    found = load("formalism=scfg\nforest_output=forests\nshow_joshua_visualization=1\n").output
    assert (found.forests, found.forests_format) == (tmp_path / "forests", "cdec-binary-hypergraph")
    assert found.template == "%i ||| %t ||| 1.0 ||| -1"
    # With lists cdec prints no trees.
    assert load("formalism=scfg\nshow_joshua_visualization=1\nk_best=2\n").output.template is None
    assert unused() == ["line 2: show_joshua_visualization '1' (for output without k_best)"]
