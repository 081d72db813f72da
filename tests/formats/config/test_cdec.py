"""cdec.ini: keys, flags, comments and errors."""

from __future__ import annotations

import io

import pytest

from smtformats import FormatError
from smtformats.config.cdec import FORMAT, language_model
from smtformats.config.settings import Setting, Settings
from smtformats.files import Lines

INI = """\
 formalism = SCFG   # hierarchical
grammar=a.gz

grammar = b.gz#c
feature_function=WordPenalty
add_pass_through_rules=false
[section]
"""


def read(text: str) -> Settings:
    settings = FORMAT.read(Lines(io.BytesIO(text.encode()), "x"))
    assert isinstance(settings, Settings)
    return settings


def test_settings() -> None:
    assert read(INI).entries == (
        Setting("formalism", "SCFG", 1),
        Setting("grammar", "a.gz", 2),
        Setting("grammar", "b.gz", 4),
        Setting("feature_function", "WordPenalty", 5),
        Setting("add_pass_through_rules", "false", 6),
    )
    assert (
        read("formalism=scfg\r\nfeature_function=External a=b=c").all("feature_function")[-1].value == "External a=b=c"
    )


def test_language_model() -> None:
    assert language_model("KLanguageModel lm.klm") == ("lm.klm", {})
    assert language_model("KLanguageModel -x -n LM  -m classes lm.klm") == (
        "lm.klm",
        {"-x": "", "-n": "LM", "-m": "classes"},
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("unknown_option=3", "field 1: expected a key that cdec knows, found 'unknown_option'"),
        (
            "cubeprunning_pop_limit=3",
            "field 1: expected a key that cdec knows (did you mean 'cubepruning_pop_limit' or "
            "'cubepruning_pop_limit3'?), found 'cubeprunning_pop_limit'",
        ),
        ("add_pass_through_rules", "field 1: expected key=value, found 'add_pass_through_rules'"),
        ("[sec]\ngrammar=x", "field 1: expected a key that cdec knows (did you mean 'grammar'?), found 'sec.grammar'"),
        ("[sec", "field 1: expected key=value, found '[sec'"),
        ("=x", "field 1: expected a key that cdec knows, found ''"),
        ("formalism=fst", "field 1: expected each key once, found 'formalism' again"),
        ("quiet=", "field 2: expected a value, found nothing"),
        ("grammar= # none", "field 2: expected a value, found nothing"),
        ("cubepruning_pop_limit=many", "field 2: expected a whole number from 1 on, found 'many'"),
        ("cubepruning_pop_limit=0", "field 2: expected a whole number from 1 on, found '0'"),
        ("k_best=1e3", "field 2: expected a whole number from 1 on, found '1e3'"),
        ("k_best=9999999999", "field 2: expected a whole number from 1 on, found '9999999999'"),
        ("scfg_max_span_limit=-1", "field 2: expected a whole number from 0 on, found '-1'"),
        ("beam_prune=wide", "field 2: expected a number, found 'wide'"),
        (
            "intersection_strategy=cube",
            "field 2: expected one of cube_pruning, full, fast_cube_pruning, fast_cube_pruning_2, found 'cube'",
        ),
        (
            "feature_function=KLanguageModel",
            "field 2: expected KLanguageModel [-x] [-n NAME] [-m CLASSES] FILE, one file, found 0",
        ),
        (
            "feature_function=KLanguageModel a b",
            "field 2: expected KLanguageModel [-x] [-n NAME] [-m CLASSES] FILE, one file, found 2",
        ),
        (
            "feature_function=KLanguageModel -o 3 a",
            "field 2: expected KLanguageModel [-x] [-n NAME] [-m CLASSES] FILE, found '-o'",
        ),
        ("feature_function=-F x", "field 2: expected the name of a feature function, found '-F'"),
    ],
)
def test_bad_lines(line: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(f"formalism=scfg\n{line}\n")
    assert str(caught.value) == f"x:{2 + line.count(chr(10))}: {message}"


def test_formalism() -> None:
    with pytest.raises(FormatError) as caught:
        read("grammar=x\n")
    assert str(caught.value) == "x:1: field 1: expected a formalism, such as formalism=scfg, found none in the file"
    with pytest.raises(FormatError, match=r"x:1: field 2: expected one of scfg, fst, .*, t2s, found 'hiero'"):
        read("formalism=hiero\n")


@pytest.mark.parametrize("text", [INI, "grammar=x\nk_best=1\n", "formalism=scfg\nfoo=1", "# c\nformalism = t2s\n[a]\n"])
def test_shape(text: str) -> None:
    assert FORMAT.matches(text.encode())


@pytest.mark.parametrize(
    "text",
    ["", "# c\n", "formalism scfg\n", "goal=1\nk_best=2\n", "tm = x y\nlm = x y\n", "[feature]\nX\n", "seed: 1\n"],
)
def test_other_shapes(text: str) -> None:
    assert not FORMAT.matches(text.encode())
