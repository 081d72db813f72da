"""Every setting of a cdec.ini is honoured, noted or refused: none is silent."""

from __future__ import annotations

import re

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtformats.config.cdec import FORMALISMS, KEYS
from smtplugins.contracts.errors import SmtError
from smtplugins.host.config.toolkits import cdec_settings
from smtplugins.host.config.toolkits.known_settings import Known, rows_of
from tests.host.config.toolkits.fates import Configuration, check_page

CONFIGURATION = Configuration("cdec.ini")
load = CONFIGURATION.load
WORKING = "formalism=scfg\ngrammar=rules\nfeature_function=KLanguageModel lm.klm\n"
# Settings that need another one.
SECOND = "feature_function2=WordPenalty\n"
THIRD = f"{SECOND}weights3=other\n"
WITH = {
    "scale_prune_srclen": "beam_prune=1\n",
    "add_extra_pass_through_features": "add_pass_through_rules=1\n",
    **dict.fromkeys(("ctf_beam_widen", "ctf_num_widenings", "ctf_no_exhaustive"), "coarse_to_fine_beam_prune=5\n"),
    "summary_feature_type": "summary_feature=Post\n",
    **dict.fromkeys(("intersection_strategy2", "cubepruning_pop_limit2", "summary_feature2"), SECOND),
    **dict.fromkeys(("intersection_strategy3", "cubepruning_pop_limit3", "summary_feature3"), THIRD),
    **dict.fromkeys(("feature_function3", "weights3", "beam_prune3", "density_prune3"), "weights2=other\n"),
}


def test_each_key_has_one_fate() -> None:
    assert sorted(key for key, _ in rows_of(cdec_settings.SETTINGS, "")) == sorted(KEYS)


@pytest.mark.parametrize(
    ("key", "row"), [pytest.param(*case, id=case[0]) for case in rows_of(cdec_settings.SETTINGS, "")]
)
def test_no_key_is_silent(key: str, row: Known, host: smt.Host) -> None:
    without = WORKING + WITH.get(key, "")
    if key == "pb_max_distortion":
        without = without.replace("scfg", "pb")
    if key == "formalism":
        assert load(without).toolkit == "cdec"
        return
    text = f"{without}{key}={row.value}\n"
    if row.fate == "honoured":
        assert load(text) != load(without)
        load(text)
        host.show_config("cdec.ini")
    else:
        CONFIGURATION.check(row, key, row.value, text, without)


def test_unknown_keys_have_a_suggestion() -> None:
    with pytest.raises(FormatError, match=r"cdec\.ini:4: .*did you mean 'k_best'"):
        load(f"{WORKING}k_bset=3\n")


def test_formalisms(host: smt.Host) -> None:
    rows = dict(rows_of(cdec_settings.FORMALISMS, ""))
    assert sorted(rows) == sorted(FORMALISMS)
    for name, row in rows.items():
        text = WORKING.replace("scfg", name)
        if row.fate == "honoured":
            load(text)
            host.show_config("cdec.ini")
        else:
            load(text)
            with pytest.raises(SmtError, match=rf"cdec\.ini:1: decoder: unknown decoder '{name}'"):
                host.show_config("cdec.ini")


@pytest.mark.parametrize("name", [key for row in cdec_settings.FUNCTIONS for key in row.keys])
def test_feature_functions(name: str, host: smt.Host) -> None:
    """Those that no plugin offers are errors with their line, until they are ignored."""
    row = next(row for row in cdec_settings.FUNCTIONS if name in row.keys)
    kind, _, switch = name.partition(".")
    value = f"KLanguageModel {switch} {'' if switch == '-x' else 'other'} lm" if switch else row.value
    before = WORKING.replace("lm.klm", "-n First lm.klm")
    text = f"{before}feature_function={value if row.fate == 'honoured' else f'{kind} a b'}\n"
    if row.fate == "honoured":
        assert load(text) != load(f"{before}feature_function=KLanguageModel lm\n" if switch else before)
        load(text)
        host.show_config("cdec.ini")
        return
    load(text)
    with pytest.raises(SmtError) as caught:
        host.show_config("cdec.ini")
    assert re.match(rf"cdec\.ini:4: model\.features\.\d: unknown feature '{name}'", str(caught.value))
    assert f"(ignore=['{name}'] continues without)" in str(caught.value)
    assert load(text, name) == load(before)


def test_misspelt_feature_functions_have_a_suggestion(host: smt.Host) -> None:
    load(f"{WORKING}feature_function=WordPenalti\n")
    with pytest.raises(SmtError, match=r"did you mean 'WordPenalty' or "):
        host.show_config("cdec.ini")


def test_the_page_is_what_the_table_says(request: pytest.FixtureRequest) -> None:
    check_page("CDEC.md", cdec_settings.documentation(), request)
