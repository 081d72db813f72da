"""Grammars told apart by their first lines, from each other and from n-best lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtformats import FormatError, all_formats, detect, open_bytes
from smtformats.files import head

FORMATS = all_formats()
GRAMMARS = [record for record in FORMATS if record.kind == "grammar"]

SAMPLES = {
    "cdec-grammar": [
        "[X] ||| [X,1] ein ||| a [X,1] ||| F=2 G=0 ||| 1-0\n",
        "[S] ||| a ||| A\n",
        "[S] ||| [X,1] ||| [1]\n[S] ||| [S] [X] ||| [1] [2] ||| Glue=1\n",
        "[S] ||| a ||| A ||| 0.5 F=3 7\n[S] ||| a b ||| A B ||| F=1;G=2\n",
        "[S] ||| a [X] ||| [1] A ||| 0.5 0.25\n",
        "[S] ||| a ||| A ||| F=5 ||| 0-0 ||| (S (A a))\n",
        "[S] ||| cinco ||| 5\n",
        "[S] ||| a ||| A ||| F=1\n [S1] ||| a ||| A ||| 1\n",
    ],
    "joshua-grammar": [
        "[GOAL] ||| <s> ||| <s> ||| 0\n[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1\n",
        "[X] ||| a [X,1] ||| b [X,1] ||| 1 2 3\n",
        "[X] ||| a [X,1] ||| b [X,1] ||| 1 F=3 ||| 0-0\n",
        "[X] ||| a [X,1] ||| b [X,1] ||| tm_pt_0=1 F=3\n",
        "[X] ||| a ||| b ||| F=1 ||| 0-0 ||| 2\n",
        # A line with a slip does not make it cdec's.
        "[X] ||| a ||| b ||| 1\n[X] ||| a [X,1] ||| [1] b ||| 1\n[X] ||| c ||| d ||| 2\n",
    ],
    "moses-phrases": [
        "a ||| A ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1 ||| |||\n",
        "1 ||| one ||| 0.5 0.4 ||| 0-0 ||| 1 1 1 ||| |||\n",
        "d |||  ||| 0.5 0.5 0.5 0.5 |||\n",
        "a b ||| A ||| 0.5 0.4 0.3 0.2\n",
        "a ||| A ||| 0.5\nb ||| B ||| 1\n",
        "a ||| A ||| 1e-5 2e-6 0.1 0.2 ||| 0-0\n",
        "a ||| A ||| 0.5 0.4 ||| 0-0\na ||| oops\nb ||| B ||| 0.1 0.2 ||| 0-0\n",
    ],
    "moses-rules": [
        "<s> [X] ||| <s> [S] ||| 1 ||| 0-0 ||| 0 ||| |||\n",
        "[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1\n",
        "a [X] ||| [X] ||| 0.5 0.25\n",
        "5 [X] ||| five [X] ||| 1\n",
    ],
    "homework-phrases": [
        "ein haus ||| a house ||| -0.30103\n",
        "a ||| A ||| 0\nb ||| B ||| -1.5\n",
        "a ||| A ||| 0\n",
        "0 ||| zero ||| -0.1\nein ||| a ||| -0.5\n",
        "a |||  ||| -2\n",
    ],
    "moses-reordering": ["a ||| A ||| 0.2 0.3 0.5 0.6 0.2 0.2\nb ||| B ||| 0.333333 0.333333 0.333333 1 0 0\n"],
    "plain-nbest": [
        "0 ||| a house ||| -1.25\n1 ||| a ||| -1\n",
        "0 ||| a ||| -1 -2\n0 ||| b ||| 1 2\n",
        "3 ||| c ||| 0\n",
    ],
    "moses-nbest": ["0 ||| a ||| -3 -1 -2 ||| -6\n", "0 ||| a ||| 3 1 ||| 6 ||| 0-0\n"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in SAMPLES.items() for text in texts])
def test_shape_tells_the_format(name: str, text: str) -> None:
    assert detect(text.encode(), FORMATS, "x").name == name


@pytest.mark.parametrize(
    "text",
    [
        "a ||| A ||| 0.2 0.3 0.5 0.6 0.2 0.2\nb ||| B ||| 0.333333 0.333333 0.333333 1 0 0\n",  # reordering
        "a ||| A ||| 0.25 0.25 0.25 0.25\n",
        "a ||| A ||| 0-0\n",  # extracted pairs
        "a ||| A ||| mono mono\n",
        "the boy ||| tm_pt_0=-6.000 lm_0=-17.198 ||| -19.240\n",  # a list in a template
        "0 ||| a ||| -1\n1 ||| b ||| -1\n0 ||| c ||| -1\n",  # a list whose ids go back
        "a ||| A ||| x\n",
        "a ||| A\n",
        "das haus\n",
        "",
    ],
)
def test_other_shapes(text: str) -> None:
    assert [record.name for record in GRAMMARS if not record.folder and record.matches(text.encode())] == []


def test_what_both_may_be_is_taken_for_cdecs() -> None:
    text = b"[X] ||| a [X,1] ||| b [X,1] ||| F=1 ||| 0-0\n"
    assert [record.name for record in GRAMMARS if not record.folder and record.matches(text)] == [
        "cdec-grammar",
        "joshua-grammar",
    ]
    assert detect(text, FORMATS, "x").name == "cdec-grammar"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("toolkit", "counts"),
    [
        ("joshua", {"joshua-grammar": 24, "moses-phrases": 1}),
        ("moses", {"moses-phrases": 6, "moses-rules": 8, "moses-compact": 13}),
    ],
)
def test_gold(shared: Path, toolkit: str, counts: dict[str, int]) -> None:
    taken: dict[str, int] = {}
    for path in sorted((shared / "gold" / toolkit).rglob("*")):
        if not path.is_file():
            continue
        with open_bytes(path) as stream:
            start = head(stream, str(path))
        fitting = [
            record.name for record in GRAMMARS if not record.folder and not record.binary and record.matches(start)
        ]
        assert len(fitting) <= 1, path
        for name in fitting:
            assert detect(start, FORMATS, str(path)).name == name
            taken[name] = taken.get(name, 0) + 1
    assert taken == counts


@pytest.mark.shared
def test_gold_of_cdec(shared: Path) -> None:
    """Two grammars of numbers without names might be Joshua's and are taken for its."""
    paths = [path for path in sorted((shared / "gold/cdec").rglob("*")) if ".scfg" in path.name or "gra" in path.name]
    others = []
    seen = 0
    for path in paths:
        if not path.is_file():
            continue
        with open_bytes(path) as stream:
            try:
                name = detect(head(stream, str(path)), GRAMMARS, str(path)).name
            except FormatError:
                continue
        seen += name == "cdec-grammar"
        others += [path.parent.name] * (name != "cdec-grammar")
    assert seen >= 640
    assert others == ["australia", "australia-align"]
