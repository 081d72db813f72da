"""What a cdec.ini amounts to."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from smtformats import FormatError
from smtformats.config.cdec import KEYS
from smtformats.config.settings import words
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.rule_tables import RuleTable
from smtplugins.host.config.run_yaml import ConfigError, ModelConfig, OutputConfig, RunConfig, load_config


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
    assert found.output == OutputConfig(nbest=1, unique=False, format="cdec-nbest")


@pytest.mark.parametrize("name", ["cube_pruning", "Fast_Cube_Pruning", "fast_cube_pruning_2"])
def test_all_ways_through_cubes_are_ours(name: str) -> None:
    found = load(f"formalism=scfg\nintersection_strategy={name}\n").decoder
    assert found is not None
    assert found.options["search"] == "cube_pruning"


def test_other_formalisms_are_decoders_of_their_own() -> None:
    assert load("formalism=tagger\n").decoder == Spec("tagger", {"search": "cube_pruning", "pop_limit": 200})


def test_cdecs_own_search_over_phrases_is_refused() -> None:
    with pytest.raises(
        FormatError, match=r"^below/cdec.ini:2: expected formalism scfg \(.* the decoder `phrase` .*'PB'$"
    ):
        load("grammar=x\nformalism=PB\npb_max_distortion=6\n")


def unused() -> list[str]:
    return [line[12:] for line in load_config("below/cdec.ini").shown().splitlines() if line.startswith("# not used: ")]


def test_what_is_not_used_is_told() -> None:
    load("formalism=fst\nquiet=1\nfeature_function=WordPenalty 0.5\ngoal=S\ncubepruning_pop_limit2=7\n")
    assert unused() == [
        "line 2: quiet '1'",
        "line 3: feature_function '0.5'",
        "line 4: goal 'S'",
        "line 5: cubepruning_pop_limit2 '7'",
    ]


CHANGING = words(
    """aligner beam_prune2 beam_prune3 cll_gradient coarse_to_fine_beam_prune density_prune2 density_prune3
    feature_expectations feature_function2 feature_function3 get_oracle_forest incremental_search max_translation_beam
    max_translation_sample per_sentence_grammar_file promise_power show_conditional_prob summary_feature
    summary_feature2 summary_feature3 weights2 weights3"""
)


@pytest.mark.parametrize("key", sorted(CHANGING))
def test_what_changes_translations(key: str) -> None:
    value = "A" if key.startswith("feature_function") else "1"
    Path("below/cdec.ini").write_text(f"formalism=scfg\n{key}={value}\n")
    with pytest.raises(ConfigError) as caught:
        load_config("below/cdec.ini")
    assert str(caught.value) == (
        f"below/cdec.ini:2: {key}: expected {'0' if key == 'promise_power' else 'no such setting'}, found '{value}': "
        f"it changes translations and is not supported (ignore=['{key}'] continues without)"
    )
    load_config("below/cdec.ini", ignore=[key])


def test_each_key_is_used_refused_or_without_effect() -> None:
    noted = words(
        """aligner_use_viterbi combine_size csplit_output_plf csplit_preserve_full_word ctf_beam_widen ctf_no_exhaustive
        ctf_num_widenings cubepruning_pop_limit2 cubepruning_pop_limit3 extract_rules forest_output freeze_feature_set
        graphviz intersection_strategy2 intersection_strategy3 lextrans_align_only lextrans_dynasearch
        lextrans_use_null list_feature_functions mr_mira_compat pb_max_distortion quiet
        remove_intersected_rule_annotations show_cfg_alignment_space show_cfg_search_space show_config show_derivations
        show_derivations_mask show_expected_length show_feature_dictionary show_joshua_visualization show_partition
        show_target_graph show_tree_structure show_weights summary_feature_type tagger_tagset vector_format
        warn_0_weight cmph_perfect_feature_hash"""
    )
    used = words(
        """add_extra_pass_through_features add_pass_through_rules beam_prune cubepruning_pop_limit density_prune
        feature_function formalism goal grammar input intersection_strategy k_best scale_prune_srclen scfg_default_nt
        scfg_extra_glue_grammar scfg_max_span_limit scfg_no_hiero_glue_grammar unique_k_best weights"""
    )
    assert noted | used | CHANGING == KEYS
    assert not noted & used
    assert not (noted | used) & CHANGING
    for key in sorted(noted):
        value = "full" if "strategy" in key else "1"
        load(f"formalism=scfg\n{key}={value}\n")
        assert unused() == [f"line 2: {key} '{value}'"]


def test_beams_by_length() -> None:
    load("formalism=scfg\nscale_prune_srclen=1\n")
    assert unused() == ["line 2: scale_prune_srclen '1'"]
    with pytest.raises(ConfigError, match=r"cdec.ini:2: scale_prune_srclen: expected no such setting"):
        load("formalism=scfg\nscale_prune_srclen=1\nbeam_prune=3\n")
    load("formalism=scfg\npromise_power=0.0\n")
    assert unused() == []
