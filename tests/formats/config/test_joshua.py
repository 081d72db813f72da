"""joshua.config: key spellings, old and new forms of lines, weights and errors."""

from __future__ import annotations

import io

import pytest

from smtformats import FormatError
from smtformats.config.joshua import FORMAT, function, table
from smtformats.config.settings import Setting, Settings
from smtformats.files import Lines

CONFIG = """\
  # a model
lm = kenlm 5 false false 100 lm.gz
tm = thrax -owner pt -maxspan -1 -path grammar.gz -max-source-len 5
tm = thrax glue -1 glue-grammar

popLimit = 10
POP_limit=20
mark-oovs = FALSE
lattice-decoding = false
output-format = "%c = %s"
"""


def read(text: str) -> Settings:
    settings = FORMAT.read(Lines(io.BytesIO(text.encode()), "x"))
    assert isinstance(settings, Settings)
    return settings


def test_settings() -> None:
    settings = read(CONFIG + "lm_0 1.5\n")
    assert settings.entries[0] == Setting("lm", "kenlm 5 false false 100 lm.gz", 2)
    assert [(setting.key, setting.value) for setting in settings.entries[3:]] == [
        ("pop-limit", "10"),
        ("pop-limit", "20"),
        ("mark-oovs", "FALSE"),
        ("lattice-decoding", "false"),
        ("output-format", '"%c = %s"'),
        ("weight", "lm_0 1.5"),
    ]
    assert settings.all("pop-limit")[-1].value == "20"


def test_tables_in_both_forms() -> None:
    assert table("thrax -path g -owner pt -maxspan -1") == ("thrax", {"path": "g", "owner": "pt", "maxspan": "-1"})
    assert table("thrax phrase 20 g more") == ("thrax", {"owner": "phrase", "maxspan": "20", "path": "g"})


def test_functions_in_both_forms() -> None:
    assert function("feature-function", "WordPenaltyFF -value -0.5") == ("WordPenalty", {"value": "-0.5"})
    assert function("feature-function", "RuleFF -sides both") == ("RuleFF", {"sides": "both"})
    assert function("feature-function", "LanguageModel -oov_feature -lm_file f")[1] == {
        "oov_feature": "",
        "lm_file": "f",
    }
    assert function("lm", "berkeleylm 3 false false 100 f") == (
        "LanguageModel",
        {"lm_type": "berkeleylm", "lm_order": "3", "lm_file": "f"},
    )
    assert function("lm", "berkeleylm 3 true false 100 f") == (
        "StateMinimizingLanguageModel",
        {"lm_type": "kenlm", "lm_order": "3", "lm_file": "f"},
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("poplimits = 3", "field 1: expected a key that Joshua knows (did you mean 'pop-limit'?), found 'poplimits'"),
        ("= 3", "field 1: expected a key that Joshua knows, found ''"),
        ("pop-limit = 10 # few", "field 2: expected a whole number from 0 on, found '10 # few'"),
        ("threads = 0", "field 2: expected a whole number from 1 on, found '0'"),
        ("mark-oovs = yes", "field 2: expected one of true, false, found 'yes'"),
        ("search = chart", "field 2: expected one of cky, stack, found 'chart'"),
        ("input-type = xml", "field 2: expected one of plain, json, found 'xml'"),
        ("goal-symbol =", "field 2: expected a value, found nothing"),
        ("rescore-forest-weight = x", "field 2: expected a number, found 'x'"),
        ("tm = thrax pt 12", "field 2: expected TYPE OWNER SPAN FILE, found 'thrax pt 12'"),
        (
            "tm = thrax -owner pt -maxspan 12",
            "field 2: expected TYPE -owner OWNER -maxspan SPAN -path FILE, with -path, "
            "found 'thrax -owner pt -maxspan 12'",
        ),
        ("tm = thrax pt wide g", "field 2: expected a whole number from -1 on, found 'wide'"),
        ("tm = thrax p|t 12 g", "field 2: expected an owner (a word), found 'p|t'"),
        ("tm = thrax -owner a -owner b", "field 2: expected each parameter once, found '-owner' again"),
        ("tm = thrax -owner a b", "field 2: expected -name value, found 'b'"),
        (
            "lm = kenlm 5 false false lm.gz",
            "field 2: expected TYPE ORDER MINIMIZING FIXED CEILING FILE, found 'kenlm 5 false false lm.gz'",
        ),
        ("feature-function = -value 1", "field 2: expected the class of a feature function, found '-value'"),
        (
            "feature-function = LanguageModel -lm_order 3",
            "field 2: expected -lm_file FILE, found 'LanguageModel -lm_order 3'",
        ),
        (
            "feature-function = LanguageModel -lm_order x -lm_file f",
            "field 2: expected a whole number from 1 on, found 'x'",
        ),
        ("feature-function = WordPenalty -value x", "field 2: expected a number, found 'x'"),
        ("oov-list = CD 0.1 JJ", "field 2: expected a file, or labels each with a probability, found 3 words"),
        ("oov-list = CD 0", "field 2: expected a probability above 0, found '0'"),
        ("n-best-list = out many", "field 2: expected a whole number from 0 on, found 'many'"),
        ("weight-overwrite = lm_0 1", "field 1: expected weights on lines of their own, found `weight-overwrite`"),
        ("lm_0", "field 2: expected `key = value` or a weight, `NAME VALUE`, found 'lm_0'"),
        ("lm_0 1 2", "field 3: expected `key = value` or a weight, `NAME VALUE`, found 'lm_0 1 2'"),
        ("lm_0 x", "field 2: expected a finite number, found 'x'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(f"top_n = 1\n{line}\n")
    assert str(caught.value) == f"x:2: {message}"


def test_weights_stand_in_one_place() -> None:
    with pytest.raises(FormatError) as caught:
        read("lm_0 1\n\nweights_file = w\n")
    assert (
        str(caught.value) == "x:3: field 2: expected weights in this file only (line 1 has one), found a weights-file"
    )


def test_shape() -> None:
    assert FORMAT.matches(CONFIG.encode())
    assert not FORMAT.matches(b"formalism=scfg\n")
    assert not FORMAT.matches(b"version = 4\nmax-source-len = 3\n")
