"""Drafts of a run.yaml: what is set, what counts of several settings, what is not used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtformats.config.settings import Setting, Settings
from smtplugins.contracts.spec import Spec
from smtplugins.host.config.toolkits.draft import Draft

SETTINGS = Settings((Setting("a", "1", 1), Setting("a", "2", 4), Setting("b", "x y", 2), Setting("c", "\u2028", 3)))


@pytest.mark.parametrize(
    ("counts", "value", "left"), [(0, 1, "line 4: a '2' (line 1 counts)"), (-1, 2, "line 1: a '1' (line 4 counts)")]
)
def test_of_several_settings_one_counts(counts: int, value: int, left: str) -> None:
    draft = Draft(SETTINGS, counts)
    draft.option("decoder.size", "a", int)
    draft.option("decoder.other", "absent", int, 7)
    draft.option("decoder.none", "absent", int)
    draft.option("decoder.skipped", "b", skip="x y")
    assert draft.values == {"decoder": {"size": value, "other": 7}}
    assert draft.lines == {("decoder", "size"): 1 if counts == 0 else 4}
    assert sorted(draft.unused()) == sorted([left, r"line 3: c '\u2028'"])


def test_features_and_grammars() -> None:
    draft = Draft(SETTINGS, 0)
    draft.table("g.gz", 2)
    draft.feature("lm", 3, path="a,b", base=10, oov=True, none=None, value=-0.5, name="LM")
    draft.feature("distortion")
    draft.table("named.gz", 4, name="TM", limit="20", scores="x", max_span=None)
    named = {"path": "named.gz", "name": "TM", "limit": 20, "scores": "x", "position": 2}
    assert draft.values["model"]["tables"] == ["g.gz", named]
    lm, distortion = draft.values["model"]["features"]
    assert lm == Spec("lm", {"path": "a,b", "base": "10", "oov": "true", "value": "-0.5", "name": "LM"})
    assert distortion == Spec("distortion")
    assert draft.lines == {
        ("model", "tables", "0"): 2,
        ("model", "features", "0"): 3,
        ("model", "tables", "1"): 4,
    }
    draft.idle(SETTINGS.entries[2], "y")
    assert "line 2: b 'y'" in draft.unused()
    assert len(draft.unused()) == 5


@given(
    st.dictionaries(
        st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=5), st.text(st.characters(exclude_categories=["C"]))
    )
)
def test_features_read_back_from_their_text(options: dict[str, str]) -> None:
    draft = Draft(SETTINGS, 0)
    draft.feature("x", None, **options)
    (spec,) = draft.values["model"]["features"]
    assert Spec.parse(str(spec)) == spec
