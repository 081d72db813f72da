"""Kinds of input to learn from, and missing references."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtformats import FormatError
from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.host import Host
from tests.host.teaching import BLEU, REFS, lists, teaching_host


@pytest.fixture(scope="module")
def host() -> Host:
    return teaching_host()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ref").write_text("".join(f"{ref}\n" for ref in REFS))


def test_no_lists(host: Host) -> None:
    with pytest.raises(SmtError, match="<lists>: expected n-best lists to learn from, found none"):
        host.tune([], [REFS], learner="given", metric=BLEU)
    Path("empty").touch()
    with pytest.raises(FormatError, match="empty"):
        host.tune("empty", [REFS], learner="given", metric=BLEU)


def test_references_are_needed(host: Host) -> None:
    with pytest.raises(UsageError, match=r"expected references to learn with \(refs=FILE\)"):
        host.tune(lists(), learner="given")
    assert host.tune(lists(), "ref", learner="given", metric=BLEU).score == (
        host.tune(lists(), ["ref"], learner="given", metric=BLEU).score
    )
