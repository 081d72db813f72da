"""Postprocessing of hypotheses."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from smtplugins.contracts.errors import SmtError, UsageError
from smtplugins.host.files.lists import candidates
from smtplugins.host.host import Host
from smtplugins.host.judge.postprocess import join_bpe, join_spm, make_post


def posted(spec: str, texts: list[str]) -> list[str]:
    post = make_post(spec)
    assert post is not None
    return post(texts)


def test_pieces_are_joined() -> None:
    assert join_bpe("a blo@@ nd wo@@ man @ home@@") == "a blond woman @ home"
    assert join_bpe("") == join_spm("") == ""
    assert join_spm("\u2581a \u2581blo nd \u2581w <0xC3> <0xA4> \u2581") == "a blond wä"
    post = make_post("bpe")
    assert post is not None
    assert post(["a@@ b", "c", "a@@ b"]) == ["ab", "c", "ab"]
    assert make_post("none") is make_post(None) is None


@pytest.mark.parametrize(("spec", "text"), [("bpe", "the hou@@ se"), ("spm", "\u2581the \u2581hou se")])
def test_pieces_are_not_judged_by_words(spec: str, text: str, host: Host, tmp_path: Path) -> None:
    lists = [
        candidates(["the", text], id=0, scores=[2.0, 1.0]),
        candidates(["yes", "no"], id=1, scores=[2.0, 1.0]),
    ]
    words, pieces = tmp_path / "words", tmp_path / "pieces"
    words.write_text("the house\nyes\n", encoding="utf-8")
    pieces.write_text(f"{text}\nyes\n", encoding="utf-8")
    message = "hypotheses: expected whole words, as in the references .* joins them., found pieces"

    def oracle(refs: list[Path], **options: Any) -> Any:
        return host.oracle(lists, refs, "ter", **options)

    def tune(refs: list[Path], **options: Any) -> Any:
        return host.tune(lists, refs, learner="mert", metric="ter", **options)

    for judge in (oracle, tune):
        with pytest.raises(SmtError, match=message):
            judge([words])
        judge([words], post=spec)
        judge([pieces])


def test_command_sees_each_text_once_for_many_lists(tmp_path: Path) -> None:
    script = tmp_path / "upper.py"
    script.write_text(
        "import sys\n"
        f"open({str(tmp_path / 'calls')!r}, 'a').write('x')\n"
        "for line in sys.stdin:\n    sys.stdout.write(line.upper())\n"
    )
    post = make_post(f"{sys.executable} {script}")
    assert post is not None
    assert post(["straße", "b", "straße"]) == ["STRASSE", "B", "STRASSE"]
    assert post([]) == []
    lists = [candidates(["a", "b"], id=0), candidates(["a"], id=1), candidates(["", "c"], id=2)]
    assert [texts for _, texts in post.lists(lists)] == [["A", "B"], ["A"], ["", "C"]]
    assert (tmp_path / "calls").read_text() == "xx"


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("detok", UsageError, "post detok: expected detok:LANG, such as detok:en"),
        ("", UsageError, "post: expected none, bpe, spm, detok:LANG or a command, found nothing"),
        ("sh 'x", UsageError, "post sh 'x: No closing quotation"),
        ("no-such-command-here", UsageError, "post: 'no-such-command-here' cannot be run: No such file"),
        ("head -n 1", SmtError, "post head: expected 2 lines, one for each hypothesis, found 1"),
        ("false", SmtError, "post false: the command failed with exit code 1"),
    ],
)
def test_what_goes_wrong_is_told(spec: str, error: type[SmtError], message: str) -> None:
    with pytest.raises(error) as caught:
        posted(spec, ["a", "b"])
    assert str(caught.value).startswith(message)


def test_line_breaks_do_not_reach_a_command() -> None:
    post = make_post("cat")
    assert post is not None
    with pytest.raises(SmtError, match="expected single-line texts"):
        post(["a\nb"])


def test_detokenizer_is_that_of_sacremoses(monkeypatch: pytest.MonkeyPatch) -> None:
    class MosesDetokenizer:
        def __init__(self, lang: str) -> None:
            self.lang = lang

        def detokenize(self, words: list[str]) -> str:
            return f"{self.lang}:{''.join(words)}"

    module: Any = ModuleType("sacremoses")
    module.MosesDetokenizer = MosesDetokenizer
    monkeypatch.setitem(sys.modules, "sacremoses", module)
    post = make_post("detok:de")
    assert post is not None
    assert post(["a ."]) == ["de:a."]
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(UsageError, match="post detok:de needs the package sacremoses: pip install 'smtplugins"):
        make_post("detok:de")


def test_sacremoses_itself() -> None:
    pytest.importorskip("sacremoses")
    post = make_post("detok:en")
    assert post is not None
    assert post(["Hello , world !", "it 's"]) == ["Hello, world!", "it's"]
