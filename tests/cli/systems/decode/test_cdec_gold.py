"""cdec's own system tests of translation, by its own configurations; and its exact lists, made in two passes.

Left out are those of other formalisms (ftrans, hmm, t2s, tagger, unsup-align), whose decoders no plugin of ours
offers, and of alignments and gradients (australia-align, mcle_gradient) and a forest (cfg_rescore), which
`tests/core/test_gold_systests.py` has without a configuration.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Smt = Callable[..., Any]
pytestmark = pytest.mark.shared


def listed(text: str) -> Counter[tuple[str, str, frozenset[tuple[str, float]], float]]:
    """The entries of lists: id, text, features that are not 0, score; to three digits, as cdec prints six."""

    def rounded(value: str) -> float:
        return float(f"{float(value):.3g}")

    rows = [line.split(" ||| ") for line in text.splitlines()]
    return Counter(
        (
            row[0],
            row[1],
            frozenset((name, rounded(x)) for name, x in (pair.split("=") for pair in row[2].split()) if float(x)),
            rounded(row[3]),
        )
        for row in rows
    )


def decoded(smt: Smt, folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> str:
    monkeypatch.chdir(folder)
    weights = ["-w", "weights"] if Path("weights").exists() else []
    # Notes name weights of features that are not there, and references.
    result = smt("decode", "-c", "cdec.ini", "-i", "input.txt", *weights, *more)
    assert result.code == 0
    assert "LatticeCost_0" not in result.err
    text: str = result.out
    return text


@pytest.mark.parametrize("name", ["lattice", "controlled_synparse"])
def test_lists(smt: Smt, shared: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder = shared / "gold/cdec/system_tests" / name
    found = listed(decoded(smt, folder, monkeypatch))
    assert found == listed((folder / "gold.stdout").read_text())
    assert len(found) >= 9


def test_grammars_of_a_sentence(smt: Smt, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of them, `<seg grammar="g1.scfg" grammar1="g2.scfg">`."""
    folder = shared / "gold/cdec/system_tests/multigram"
    assert decoded(smt, folder, monkeypatch) == (folder / "gold.stdout").read_text() == "foo bar\n"


def test_a_large_grammar(smt: Smt, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference in its input constrains nothing here: the translation is that of the whole forest."""
    folder = shared / "gold/cdec/system_tests/australia"
    log = (shared / "gold/cdec/systests_values.txt").read_text().partition("== australia rc=0")[2]
    wanted = log.partition("Init. forest       Viterbi: ")[2].partition("\n")[0]
    assert decoded(smt, folder, monkeypatch) == f"{wanted}\n"


@pytest.mark.parametrize(("order", "gold"), [("2", "full"), ("4", "full.4gram")])
def test_exact_lists_in_two_passes(
    smt: Smt, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, gold: str
) -> None:
    """A language model in a second pass over the whole forest gives the list of a single pass with it."""
    folder = shared / "gold/cdec/exact_lm"
    name = "cdec.ini" if order == "2" else "cdec.4gram.ini"
    config = tmp_path / "two.ini"
    text = (
        (folder / name)
        .read_text()
        .replace("feature_function=KLan", "intersection_strategy2=full\nfeature_function2=KLan")
    )
    config.write_text(f"{text}weights=weights.tuned\nk_best=100\n")
    monkeypatch.chdir(folder)
    found = smt("decode", "-c", config, "-i", "input.txt").ok()
    wanted = Path(f"{gold}.kbest100.txt").read_text()
    scores = [[float(line.split(" ||| ")[3]) for line in lines.splitlines()] for lines in (found, wanted)]
    assert scores[0] == pytest.approx(scores[1], abs=2e-4)
    # Entries at the end of a list may be others with the same score.
    assert sum((listed(found) & listed(wanted)).values()) >= 0.9 * len(scores[0])


def quirk(folder: Path, name: str) -> str:
    """A cdec.ini of a case, by what cdec logged of it."""
    log = (folder / f"{name}.err").read_text()
    grammars = re.findall(r"^Reading SCFG grammar from (.*)$", log, re.MULTILINE)
    made = re.search(r"^Adding glue grammar for default nonterminal (.*) and goal nonterminal (.*)$", log, re.MULTILINE)
    file = re.search(r"^Adding glue grammar from file (.*)$", log, re.MULTILINE)
    glue = "scfg_no_hiero_glue_grammar=1\n" if made is None else f"scfg_default_nt={made[1]}\ngoal={made[2]}\n"
    glue += "" if file is None else f"scfg_extra_glue_grammar={file[1]}\n"
    span = f"scfg_max_span_limit={name[-1]}\n" if name.startswith("span") else ""
    source = re.search(r"^Reading input from (.*)$", log, re.MULTILINE)
    assert source is not None
    more = {"dupu": "unique_k_best=1", "ctf": "coarse_to_fine_beam_prune=10"}.get(name, "")
    tables = "".join(f"grammar={path}\n" for path in grammars)
    return f"formalism=scfg\n{tables}input={source[1]}\nk_best=100\n{glue}{span}{more}\n"


@pytest.mark.parametrize("name", "ctf ctf0 dup dup2 dupu glue goal span1 span2 span3 span4 u1 u2".split())
def test_small_cases(smt: Smt, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Glue, goals, spans, duplicates, unary rules and levels: cdec's lists, whatever the order."""
    folder = shared / "gold/cdec/quirks"
    (tmp_path / "cdec.ini").write_text(quirk(folder, name))
    monkeypatch.chdir(folder)
    result = smt("decode", "-c", tmp_path / "cdec.ini")
    assert result.code == 0
    gold = (folder / f"{name}.out").read_text()
    assert listed(result.out) == listed(gold if gold.strip() else "")
