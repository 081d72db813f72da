"""moses.ini: sections, features, weights and errors."""

from __future__ import annotations

import io

import pytest

from smtformats import FormatError, all_formats, detect
from smtformats.config.moses import FORMAT, Feature, features
from smtformats.config.settings import Setting, Settings
from smtformats.files import Lines

INI = """\
### a model ###
[input-factors]
0

[mapping]
0 T 0
[print-id]
[s]
100
[feature] # all
WordPenalty
WordPenalty name=WP
WordPenalty
KENLM name=LM0 order=3 oov-feature=true path=a#b
PhraseDictionaryMemory path=t num-features=2 tuneable=false
Odd x.y-z=1=2 num-features=3
[weight]
WordPenalty0= -1
LM0= 0.5 0.25
PhraseDictionaryMemory0= 1 1
PhraseDictionaryMemory0_sparse= 0.5
Odd0= 1 2 3
[mapping]
1 T 1
"""
HEAD = "[feature]\nWordPenalty\nDistortion\nKENLM name=LM path=x\nSomething\n"


def read(text: str) -> Settings:
    settings = FORMAT.read(Lines(io.BytesIO(text.encode()), "x"))
    assert isinstance(settings, Settings)
    return settings


def test_settings() -> None:
    settings = read(INI)
    assert settings.entries[:3] == (
        Setting("input-factors", "0", 3),
        Setting("mapping", "0 T 0", 6),
        Setting("s", "100", 9),
    )
    assert [setting.value for setting in settings.all("mapping")] == ["0 T 0", "1 T 1"]
    assert settings.all("print-id") == []
    assert [setting.value for setting in settings.all("weight")][-1] == "Odd0= 1 2 3"


def test_features() -> None:
    parsed = [feature for _, feature in features(read(INI))]
    assert [entry.name for entry in parsed] == [
        "WordPenalty0",
        "WP",
        "WordPenalty1",
        "LM0",
        "PhraseDictionaryMemory0",
        "Odd0",
    ]
    assert [entry.scores for entry in parsed] == [1, 1, 1, 2, 2, 3]
    assert parsed[3] == Feature("KENLM", "LM0", {"name": "LM0", "order": "3", "oov-feature": "true", "path": "a"})
    assert parsed[5].options == {"x.y-z": "1=2", "num-features": "3"}


def test_reordering_scores_within_a_probing_table_need_no_path() -> None:
    """As in Moses2."""
    settings = read("[feature]\nLexicalReordering num-features=6 type=msd property-index=0\n")
    ((_, feature),) = features(settings)
    assert feature.options["property-index"] == "0" and "path" not in feature.options


def test_comment_cuts_a_path_and_what_is_behind_it() -> None:
    # Moses cuts the path too: its error is "Can't read a".
    assert read(INI).all("feature")[3].value.endswith(" path=a")


def test_several_numbers() -> None:
    """Lists of numbers may stand on one line; threads may be all of the machine's."""
    text = f"{HEAD}[max-chart-span]\n20 1000\n[input-factors]\n0 1\n[threads]\nall\n"
    assert [setting.value for setting in read(text).entries[-3:]] == ["20 1000", "0 1", "all"]


def test_a_weight_may_be_missing() -> None:
    assert read("[feature]\nWordPenalty\n").all("weight") == []
    assert read("[feature]\nWordPenalty\n[weight]\nWordPenalty0 UNTUNEABLE\nWordPenalty0= 1\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n[feature]\n", "1: field 1: expected a [section] before its values, found '0'"),
        ("[feature\nX\n", "1: field 1: expected [section], found '[feature'"),
        ("[stack] 100\n", "1: field 1: expected [section], found '[stack] 100'"),
        ("[stak]\n100\n", "1: field 1: expected a section that Moses knows (did you mean 'stack'?), found 'stak'"),
        ("[stack]\n100 200\n", "2: field 1: expected a whole number from 0 on in [stack], found '100 200'"),
        ("[threads]\nmany\n", "2: field 1: expected a whole number or all in [threads], found 'many'"),
        ("[stack]\nbig\n", "2: field 1: expected a whole number from 0 on in [stack], found 'big'"),
        (
            "[distortion-limit]\n-2\n",
            "2: field 1: expected a whole number from -1 on in [distortion-limit], found '-2'",
        ),
        ("[beam-threshold]\n0,1\n", "2: field 1: expected a number in [beam-threshold], found '0,1'"),
        (
            "[search-algorithm]\n2\n",
            "2: field 1: expected one of 0, 1, 3, 4, 5, 6, 7, 8, 9 in [search-algorithm], found '2'",
        ),
        ("[n-best-list]\nout many\n", "2: field 1: expected a whole number from 0 on in [n-best-list], found 'many'"),
        (
            "[ttable-file]\n",
            "1: field 1: expected [feature] and [weight] sections (moses.ini since 2013), found [ttable-file]",
        ),
        (
            "[weight-t]\n",
            "1: field 1: expected [feature] and [weight] sections (moses.ini since 2013), found [weight-t]",
        ),
        ("[feature]\n# none\n", "1: field 1: expected a [feature] section with features, found none in the file"),
        ("[weight]\nLM0= 1\n", "1: field 1: expected a [feature] section with features, found none in the file"),
        ("[feature]\nname=LM0\n", "2: field 1: expected a kind of feature, such as KENLM, found 'name=LM0'"),
        ("[feature]\nKENLM LM0\n", "2: field 1: expected key=value, found 'LM0'"),
        ("[feature]\nKENLM path=\n", "2: field 1: expected key=value, found 'path='"),
        ("[feature]\nKENLM\n", "2: field 1: expected path=FILE for KENLM, found none"),
        ("[feature]\nKENLM path=a path=b\n", "2: field 1: expected each key once, found 'path' again"),
        (
            "[feature]\nLexicalReordering path=a\n",
            "2: field 1: expected type=MODEL for LexicalReordering, found none",
        ),
        (
            "[feature]\nLexicalReordering type=msd\n",
            "2: field 1: expected path=FILE for LexicalReordering, found none",
        ),
        (
            "[feature]\nLexicalReordering type=msd property-index=a\n",
            "2: field 1: expected a whole number from 0 on, found 'a'",
        ),
        ("[feature]\nOdd num-features=two\n", "2: field 1: expected a whole number from 0 on, found 'two'"),
        ("[feature]\nA name=x\nB name=x\n", "3: field 1: expected each feature name once, found 'x' again"),
        (HEAD + "[weight]\nNone0= 1\n", "7: field 1: expected the name of a feature in this file, found 'None0'"),
        (HEAD + "[weight]\nLM0= 1\n", "7: field 1: expected the name of a feature in this file, found 'LM0'"),
        (HEAD + "[weight]\nLM= 1 2\n", "7: field 2: expected 1 weight of LM, found 2"),
        (HEAD + "[weight]\nLM_x= 1 2\n", "7: field 2: expected 1 weight of LM_x, found 2"),
        (HEAD + "[weight]\nLM=1\n", "7: field 1: expected `Name= number ...`, a blank after the `=`, found 'LM=1'"),
        (HEAD + "[weight]\nLM= x\n", "7: field 2: expected a finite number, found 'x'"),
    ],
)
def test_bad_files(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(text)
    assert str(caught.value) == f"x:{message}"


def test_weight_given_twice() -> None:
    with pytest.raises(FormatError, match="x:8: field 1: expected each weight once, found "):
        read(HEAD + "[weight]\nLM= 1\nLM= 2\n")


def test_names_of_features_that_are_joshuas_keys() -> None:
    text = "[feature]\nWordPenalty name=TM\n[weight]\nTM= 0.2 0.3\n"
    assert detect(text.encode(), all_formats(), "x").name == "moses-ini"


def test_unknown_key_of_a_feature() -> None:
    with pytest.raises(FormatError) as caught:
        read("[feature]\nDistortion foo=1\n")
    assert str(caught.value) == (
        "x:2: field 1: expected a key of Distortion (filterable, name, num-features, "
        "require-sorting-after-source-context, sparse, sparse-distance, sparse-subordinate, tuneable, "
        "tuneable-components, verbosity), found 'foo'"
    )


@pytest.mark.parametrize("text", [INI, "# c\n\n[feature]\nX\n", "[stack]\n1\n[feature]\r\nX\n"])
def test_shape(text: str) -> None:
    assert FORMAT.matches(text.encode())


@pytest.mark.parametrize(
    "text", ["", "[X] ||| a ||| b\n", "a: 1\n[feature]\n", "[other]\nx\n", "formalism=scfg\n[weight]\n"]
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
