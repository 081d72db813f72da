"""Tiny systems in the formats of the toolkits, in the folder where the test stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import smtplugins as smt
from tests.forked import Process

Smt = Callable[..., Any]
Start = Callable[..., Process]
EXAMPLE = Path(__file__).resolve().parents[4] / "examples/decode-hiero"
TEXTS = (
    "the cook has cooked the soup .\nthe boy saw a small dog yesterday .\n"
    "i believe that the woman buys the old boat .\n"
    "the cat sleeps on the old bench .\nthe money is in the bank .\nwhen does the last train leave ?\n"
    "the gull eats the fisherman 's bread .\nthe fisherman 's dog has eaten the bread .\n"
    "the woman has seen petersen .\n"
)
FEATURES = "lm,path=en.arpa,base=10,name=LM"

MOSES = """\
[search-algorithm]
3
[mapping]
0 T 0
1 T 1
[cube-pruning-pop-limit]
50
[max-chart-span]
10
1000
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=2 path=rules
PhraseDictionaryMemory name=Glue num-features=1 path=glue
KENLM name=LM0 path=en.arpa
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.2
TM= 0.4 0.2
Glue= 0.1
LM0= 0.5
"""
MOSES_RULES = """\
der [X] ||| the [X] ||| 0.7 0.3 ||| 0-0
das [X][X] [X] ||| the [X][X] [X] ||| 0.6 0.3 ||| 0-0 1-1
koch [X] ||| cook [X] ||| 0.9 0.8 ||| 0-0
koch [X] ||| chef [X] ||| 0.1 0.7 ||| 0-0
brot [X] ||| bread [X] ||| 0.9 0.9 ||| 0-0
hat [X][X] gekocht [X] ||| has cooked [X][X] [X] ||| 0.6 0.7 ||| 0-0 1-2 2-1
"""
MOSES_GLUE = """\
<s> [X] ||| <s> [S] ||| 1 |||
[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0
[X][S] [X][X] [X] ||| [X][S] [X][X] [S] ||| 2.718 ||| 0-0 1-1
"""
PHRASES = """\
[search-algorithm]
0
[stack]
50
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM0 num-features=2 path=phrases
Distortion
KENLM name=LM0 path=en.arpa
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.2
TM0= 0.4 0.2
Distortion0= 0.1
LM0= 0.5
[distortion-limit]
6
"""
PHRASE_TABLE = """\
der ||| the ||| 0.7 0.3 ||| 0-0 ||| |||
das ||| the ||| 0.6 0.3 ||| 0-0 ||| |||
koch ||| cook ||| 0.9 0.8 ||| 0-0 ||| |||
koch ||| chef ||| 0.1 0.7 ||| 0-0 ||| |||
das brot ||| the bread ||| 0.5 0.9 ||| 0-0 1-1 ||| |||
brot ||| bread ||| 0.9 0.9 ||| 0-0 ||| |||
hat ||| has ||| 0.6 0.7 ||| 0-0 ||| |||
gekocht ||| cooked ||| 0.6 0.7 ||| 0-0 ||| |||
"""
JOSHUA = """\
lm = kenlm 3 false false 100 en.arpa
tm = thrax pt 12 rules
tm = thrax glue -1 glue
goal-symbol = GOAL
top-n = 0
feature-function = WordPenalty
feature-function = OOVPenalty
lm_0 1
tm_pt_0 1
tm_pt_1 0.5
tm_glue_0 0.3
WordPenalty -0.4
OOVPenalty 1
"""
JOSHUA_RULES = """\
[X] ||| der ||| the ||| 0.7 0.3
[X] ||| das [X,1] ||| the [X,1] ||| 0.6 0.3
[X] ||| koch ||| cook ||| 0.1 0.2
[X] ||| koch ||| chef ||| 2.1 0.7
[X] ||| brot ||| bread ||| 0.1 0.1
[X] ||| hat [X,1] gekocht ||| has cooked [X,1] ||| 0.4 0.3
"""
JOSHUA_GLUE = """\
[GOAL] ||| <s> ||| <s> ||| 0
[GOAL] ||| [GOAL,1] [X,2] ||| [GOAL,1] [X,2] ||| -1
[GOAL] ||| [GOAL,1] </s> ||| [GOAL,1] </s> ||| 0
"""
BAKER = "der koch hat das brot gekocht\nder petersen\n\n"


def toolkit(name: str) -> str:
    """The files of a tiny system of a toolkit; gives the name of its configuration."""
    if name == "cdec":
        return "cdec.ini"
    config, rules, glue = {"moses": (MOSES, MOSES_RULES, MOSES_GLUE), "joshua": (JOSHUA, JOSHUA_RULES, JOSHUA_GLUE)}[
        name
    ]
    path = "moses.ini" if name == "moses" else "joshua.config"
    Path(path).write_text(config)
    Path("rules").write_text(rules)
    Path("glue").write_text(glue)
    return path


def phrases() -> str:
    """The files of a tiny phrase-based Moses; gives the name of its configuration."""
    Path("phrases.ini").write_text(PHRASES)
    Path("phrases").write_text(PHRASE_TABLE)
    return "phrases.ini"


def changed(old: str, new: str) -> str:
    """A run.yaml in which something is otherwise."""
    text = Path("run.yaml").read_text()
    assert text.count(old) == 1
    Path("changed.yaml").write_text(text.replace(old, new))
    return "changed.yaml"


def read_weights(path: str) -> dict[str, float]:
    """The weights of a file or a toolkit's configuration."""
    return smt.load_plugins().read_weights(path)


def smt_read(path: str) -> list[Any]:
    """The lists of a file."""
    return list(smt.read(path))
