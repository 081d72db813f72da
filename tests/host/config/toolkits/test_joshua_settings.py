"""Every setting of a joshua.config is honoured, noted or refused: none is silent."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtformats.config.joshua import KEYS
from smtplugins.contracts.errors import SmtError
from smtplugins.host.config.toolkits import joshua_settings
from smtplugins.host.config.toolkits.joshua_settings import CHARTS, STACKS
from smtplugins.host.config.toolkits.known_settings import Known, rows_of
from tests.host.config.toolkits.fates import Configuration, check_page

CONFIGURATION = Configuration("joshua.config")
load = CONFIGURATION.load
WORKING = {
    CHARTS: "tm = thrax -owner pt -maxspan 12 -path rules\nfeature-function = WordPenalty\n",
    STACKS: "tm = moses -owner pt -maxspan 0 -path rules\nfeature-function = Distortion\n",
}
# Settings that need another one.
LM = "feature-function = LanguageModel -lm_file lm\n"
WITH = {
    (CHARTS, "project-case"): "lowercase = true\n",
    (STACKS, "project-case"): "lowercase = true\n",
    (CHARTS, "rescore-forest"): LM,
    (CHARTS, "rescore-forest-weight"): f"{LM}rescore-forest = true\n",
}


def cases() -> Iterator[tuple[str, str, Known]]:
    for kind in (CHARTS, STACKS):
        for key, row in rows_of(joshua_settings.SETTINGS, kind):
            yield kind, key, row


def test_each_key_has_one_fate_in_each_kind_of_configuration() -> None:
    for kind in (CHARTS, STACKS):
        assert sorted(key for key, _ in rows_of(joshua_settings.SETTINGS, kind)) == sorted(KEYS)


@pytest.mark.parametrize(("kind", "key", "row"), [pytest.param(*case, id="-".join(case[:2])) for case in cases()])
def test_no_key_is_silent(kind: str, key: str, row: Known, host: smt.Host) -> None:
    without = WORKING[kind] + WITH.get((kind, key), "")
    value = "kenlm 3 false false 100 lm" if key == "lm" else row.value
    text = f"{without}{key} = {value}\n"
    if row.fate == "honoured":
        # A `tm` of type moses means stacks in any case.
        changed = kind == CHARTS or key != "search"
        assert (load(text) != load(without)) == changed
        load(text)
        host.show_config("joshua.config")
    else:
        CONFIGURATION.check(row, key, value, text, without)


def test_unknown_keys_have_a_suggestion() -> None:
    with pytest.raises(FormatError, match=r"joshua\.config:3: .*did you mean 'pop-limit'"):
        load(f"{WORKING[CHARTS]}pop-limits = 3\n")


@pytest.mark.parametrize("name", [key for row in joshua_settings.FUNCTIONS for key in row.keys])
def test_feature_functions(name: str, host: smt.Host) -> None:
    """Those that no plugin offers are errors with their line, until they are ignored."""
    row = next(row for row in joshua_settings.FUNCTIONS if name in row.keys)
    value = row.value if row.fate == "honoured" else "-some b"
    ending = "" if name == "RuleFF" else "FF"
    before = WORKING[CHARTS].replace("WordPenalty", "OOVPenalty" if name == "WordPenalty" else "WordPenalty")
    last = f"feature-function = {'OOVPenalty' if name == 'Distortion' else 'Distortion'}\n"
    text = f"{before}feature-function = {name}{{}} {value}\n{last}"
    found = load(text.format(ending))
    assert found == load(text.format(""))
    if row.fate == "honoured":
        host.show_config("joshua.config")
        return
    with pytest.raises(SmtError) as caught:
        host.show_config("joshua.config")
    assert re.match(rf"joshua\.config:3: model\.features\.\d: unknown feature '{name}'", str(caught.value))
    assert f"(ignore=['{name}'] continues without)" in str(caught.value)
    assert load(text.format(""), name) == load(before + last)


def test_misspelt_feature_functions_have_a_suggestion(host: smt.Host) -> None:
    load(f"{WORKING[CHARTS]}feature-function = WordPenalti\n")
    with pytest.raises(SmtError, match=r": unknown feature 'WordPenalti'; did you mean 'WordPenalty'\? \(ignore="):
        host.show_config("joshua.config")


@pytest.mark.parametrize("name", [key for row in joshua_settings.PARAMETERS for key in row.keys])
def test_no_parameter_is_silent(name: str) -> None:
    row = next(row for row in joshua_settings.PARAMETERS if name in row.keys)
    kind, key = name.split(".")
    key = key.replace("*", "other")
    tables = "tm = thrax -owner glue -maxspan -1 -path glue\n"
    base = {
        "tm": "tm = thrax -owner a -maxspan 20 -path a",
        "LanguageModel": "feature-function = LanguageModel -lm_file a",
        "*": "feature-function = OOVPenalty",
    }.get(kind, f"feature-function = {kind}")
    without = f"{tables}{base}\n"
    others = re.sub(rf" -{key} \S+", "", base)
    text = f"{tables}{others} -{key} {row.value}".rstrip() + "\n"
    if row.fate == "honoured":
        assert load(text) != load(without)
    else:
        found = load(text.replace(f"-{key} 1", f"-{key} berkeleylm") if key == "lm_type" else text)
        assert found == load(without)
        assert "line 2: feature-function '" in found.notes[-1]


def test_the_page_is_what_the_table_says(request: pytest.FixtureRequest) -> None:
    check_page("JOSHUA.md", joshua_settings.documentation(), request)
