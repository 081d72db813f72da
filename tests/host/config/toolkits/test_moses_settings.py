"""Every setting of a moses.ini is honoured, noted or refused: none is silent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import smtplugins as smt
from smtformats import FormatError
from smtformats.config.moses import BEFORE_2013, SECTIONS
from smtplugins.contracts.errors import SmtError
from smtplugins.host.config.run_yaml import load_config
from smtplugins.host.config.toolkits import moses_settings
from smtplugins.host.config.toolkits.known_settings import Known, rows_of
from smtplugins.host.config.toolkits.moses_settings import CHARTS, PHRASES
from tests.host.config.toolkits.fates import Configuration, check_page

CONFIGURATION = Configuration("moses.ini")
load = CONFIGURATION.load
FEATURES = """\
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM0 num-features=2 path=table
KENLM name=LM0 path=en.arpa
"""
WORKING = {
    PHRASES: f"[search-algorithm]\n1\n{FEATURES}Distortion\n",
    CHARTS: f"[search-algorithm]\n3\n{FEATURES}PhraseDictionaryMemory name=Glue num-features=1 path=glue\n",
}
# Settings that need another one.
RISK = "[minimum-bayes-risk]\ntrue\n"
WITH = {"xml-brackets": "[xml-input]\ninclusive\n", "mbr-size": RISK, "mbr-scale": RISK, "n-best-factor": RISK}
LATTICE, CONSENSUS = RISK.replace("[", "[l"), RISK.replace("minimum-bayes-risk", "consensus-decoding")
WITH |= dict.fromkeys(("lmbr-p", "lmbr-r", "lmbr-map-weight", "lmbr-thetas"), LATTICE)
WITH["lmbr-pruning-factor"] = CONSENSUS
WITH["inputtype"] = "[feature]\nInputFeature num-features=1 num-input-features=1\n"
WITH["decoding-graph-backoff"] = "[feature]\nRuleTable name=First path=first\n"


def cases() -> Iterator[tuple[str, str, Known]]:
    for kind in (PHRASES, CHARTS):
        for key, row in rows_of(moses_settings.SECTIONS, kind):
            yield kind, key, row


def test_each_section_has_one_fate_in_each_kind_of_configuration() -> None:
    for kind in (PHRASES, CHARTS):
        keys = [key for key, _ in rows_of(moses_settings.SECTIONS, kind)]
        assert sorted(keys) == sorted(SECTIONS)


@pytest.mark.parametrize(("kind", "key", "row"), [pytest.param(*case, id="-".join(case[:2])) for case in cases()])
def test_no_section_is_silent(kind: str, key: str, row: Known, host: smt.Host) -> None:
    without = (WITH.get(key, "") if kind == PHRASES or key == "inputtype" else "") + WORKING[kind]
    text = without + f"[{key}]\n{row.value}\n"
    if row.fate == "honoured":
        if key == "weight":
            assert load(text).model.weights == Path("moses.ini").absolute()
        elif key == "search-algorithm":
            assert load(without.replace("\n3\n", f"\n{row.value}\n", 1)).decoder != load(WORKING[CHARTS]).decoder
        elif key == "mapping":
            with pytest.raises(SmtError, match="mapping: expected a graph for each table"):
                load(f"{without}[mapping]\n0 T 0\n1 G 0\n")
            return
        else:
            assert load(text) != load(without)
        host.show_config("moses.ini", ignore=())
    else:
        CONFIGURATION.check(row, key, row.value, text, without)


def test_sections_before_2013() -> None:
    for key in sorted(BEFORE_2013):
        with pytest.raises(FormatError, match=r"moses\.ini:1: .*since 2013\), found"):
            load(f"[{key}]\n1\n{FEATURES}")


def test_unknown_sections_have_a_suggestion() -> None:
    with pytest.raises(FormatError, match=r"moses\.ini:1: .*did you mean 'minimum-bayes-risk'"):
        load(f"[minimum-bayes-rsk]\ntrue\n{FEATURES}")


EXAMPLES = {
    "KENLM": "KENLM path=en.arpa",
    "LexicalReordering": "LexicalReordering type=msd path=rt num-features=3",
    "InputFeature": "InputFeature num-features=1 num-input-features=1",
    "ProbingPT": "ProbingPT path=pt",
    "TABLE": "PhraseDictionaryCompact path=pt",
}


def keys_of_features() -> Iterator[tuple[str, str, Known]]:
    for row in moses_settings.FEATURE_KEYS:
        for known in row.keys:
            owner, _, key = known.partition(".")
            if key not in ("path", "type", "name", "num-features", "num-input-features"):
                yield owner, key.replace("*", "phrase"), row


@pytest.mark.parametrize(
    ("owner", "key", "row"), [pytest.param(*case, id=".".join(case[:2])) for case in keys_of_features()]
)
def test_no_key_of_a_feature_is_silent(owner: str, key: str, row: Known) -> None:
    kind = "WordPenalty" if owner == "*" else owner
    line = re.sub(rf" {re.escape(key)}=\S+", "", EXAMPLES.get(kind, kind))
    without = f"[feature]\n{line} name=F\n"
    value = "false" if key == "tuneable" else row.value
    text = f"[feature]\n{line} name=F {key}={value}\n"
    if row.fate == "honoured":
        assert load(text) != load(without)
    elif row.fate == "no effect":
        assert load(text) == load(without)
        assert f"# not used: line 2: feature 'F {key}={value}'\n" in load(text).shown()
    else:
        with pytest.raises(SmtError) as caught:
            load(text)
        assert re.match(rf"moses\.ini:2: F\.{key}: expected .*, found '{key}={value}'", str(caught.value))
        assert load(text, f"F.{key}") == load(without)


def test_unknown_keys_of_features_have_a_suggestion() -> None:
    with pytest.raises(SmtError, match=r"expected a key of PhraseDictionaryCompact; did you mean 'table-limit'\?"):
        load("[feature]\nPhraseDictionaryCompact path=x table-limt=20\n")


@pytest.mark.parametrize("kind", [key for row in moses_settings.KINDS if row.fate != "honoured" for key in row.keys])
def test_features_that_no_plugin_offers(kind: str, host: smt.Host) -> None:
    """They are errors with their line, until they are ignored: other features and tables stay in their places."""
    text = "[feature]\nDistortion\nPhraseDictionaryCompact name=A path=a\n{}KENLM path=lm\nRuleTable name=B path=b\n"
    load(text.format(f"{kind} name=F mode=x\n"))
    with pytest.raises(SmtError) as caught:
        host.show_config("moses.ini")
    assert re.match(rf"moses\.ini:4: model\.features\.1: unknown feature '{kind}'", str(caught.value))
    if kind in moses_settings.INSTEAD:
        assert f"'{kind}'; instead: {moses_settings.INSTEAD[kind]} (ignore" in str(caught.value)
    assert "(ignore=['F'] continues without)" in str(caught.value)
    found = load_config("moses.ini", ignore=["F"])
    assert found.notes[0] == f"moses.ini: ignored: line 4: F '{kind}', which changes translations"
    assert found == load(text.format(""))
    with found.at("model", "features", "1"):
        pass


def test_misspelt_features_have_a_suggestion(host: smt.Host) -> None:
    load("[feature]\nKENML path=x\n")
    with pytest.raises(SmtError, match=r"did you mean 'KENLM'\?"):
        host.show_config("moses.ini")


def test_the_page_is_what_the_table_says(request: pytest.FixtureRequest) -> None:
    check_page("MOSES.md", moses_settings.documentation(), request)
