"""Each check of what features have for native decoders fails for the feature that breaks it, and says what is wrong."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from smtplugins import Offer
from smtplugins.contracts import features as contracts
from smtplugins.core.search.stateful_search import lm_scorer
from smtplugins.host.host import Host
from smtplugins.include import get_include
from smtplugins.plugins.standard.features import LanguageModelScore, WordPenalty
from smtplugins.testing import run_checks

Failures = Callable[..., dict[str, str]]
REPETITION = Path(__file__).resolve().parents[3] / "examples/plugin-template/native/repetition.c"


def tried(host: Host, make: type, options: dict[str, Any] | None = None) -> Offer:
    model = host.registry.entry("features", "lm").record

    def trial(folder: Path) -> dict[str, Any]:
        return {**model.trial_options(folder), **(options or {})}

    return Offer(name="tried", make=make, summary="a feature under test", needs=frozenset({"target"}), trial=trial)


class Scaled(LanguageModelScore):
    def native(self) -> Any:
        return lm_scorer(self._model, (), scale=1.0)


class Misnumbered(LanguageModelScore):
    def numbers(self, vocabulary: Any) -> Any:
        return super().numbers(vocabulary)[::-1]


class Unnamed(LanguageModelScore):
    def column_names(self, label: str) -> tuple[str, ...]:
        return (label,)


class Twice(LanguageModelScore):
    def column_names(self, label: str) -> tuple[str, ...]:
        return (label, label)


class Blank(LanguageModelScore):
    def column_names(self, label: str) -> tuple[str, ...]:
        return (f"{label} of words",)


class Short(LanguageModelScore):
    def fragment_scores(self, columns: Any) -> Any:
        return super().fragment_scores(columns)[1:]


class Endless(LanguageModelScore):
    def fragment_scores(self, columns: Any) -> Any:
        return np.log(np.zeros(len(columns)))


@pytest.mark.parametrize("options", [{}, {"oov": "true"}, {"base": "10", "oov": "true", "oov_name": "unknown"}])
def test_good_features_pass(options: dict[str, Any], host: Host, tmp_path: Path) -> None:
    results = run_checks("features", tried(host, LanguageModelScore, options), tmp_path, host=host)
    assert [result for result in results if not result.ok] == []
    assert {"native_scorers_agree", "columns_are_named", "fragment_scores_fit"} <= {result.check for result in results}


class Starting(LanguageModelScore):
    """A weight for a column that it does not have."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.start_weights = (0.5, 0.5)


@pytest.mark.parametrize(
    ("make", "options", "check", "words"),
    [
        (Scaled, {}, "native_scorers_agree", "'a' on a list and by the native scorer: ["),
        (Misnumbered, {}, "native_scorers_agree", "on a list and by the native scorer: ["),
        (Unnamed, {"oov": "true"}, "columns_are_named", "expected 2 names, one for each column, found ('kit',)"),
        (Twice, {"oov": "true"}, "columns_are_named", "expected different names, found ('kit', 'kit')"),
        (Blank, {}, "columns_are_named", "expected a tuple of names without blanks, found ('kit of words',)"),
        (Short, {}, "fragment_scores_fit", "expected 40 numbers, found shape (39,)"),
        (Endless, {}, "fragment_scores_fit", "expected finite numbers, found -inf"),
        (
            Starting,
            {},
            "start_weights_fit",
            "expected 1 numbers, one for each column, or one for all, found [0.5, 0.5]",
        ),
    ],
)
def test_a_bad_feature_fails(
    make: type, options: dict[str, Any], check: str, words: str, host: Host, failures: Failures
) -> None:
    with np.errstate(divide="ignore"):
        failed = failures("features", tried(host, make, options))
    assert set(failed) == {check}
    assert words in failed[check]


def test_contracts_tell_such_features_apart(host: Host, tmp_path: Path) -> None:
    model = LanguageModelScore(**host.registry.entry("features", "lm").record.trial_options(tmp_path))
    for contract in (
        contracts.StatefulFeature,
        contracts.NativeFeature,
        contracts.FragmentFeature,
        contracts.NamedColumns,
    ):
        assert isinstance(model, contract)
        assert not isinstance(WordPenalty(), contract)


def in_c(source: str, folder: Path) -> Offer:
    """A feature that is the table of a C source and nothing else."""
    (folder / "repetition.c").write_text(source, encoding="utf-8")
    library = folder / "repetition.so"
    flags = ["-std=c99", "-D_GNU_SOURCE", "-shared", "-fPIC", "-I", get_include()]
    subprocess.run(["cc", *flags, folder / "repetition.c", "-o", library], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.example_repetition.restype = ctypes.c_void_p
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

    class Repetition:
        name = b"smt_feature_v1"

        def __init__(self) -> None:
            self.smt_feature_v1 = new(loaded.example_repetition(), self.name, None)

    return Offer(name="tried", make=Repetition, summary="a feature under test", needs=frozenset({"target"}))


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_features_in_c_are_checked_by_bracketings(host: Host, tmp_path: Path, failures: Failures) -> None:
    source = REPETITION.read_text(encoding="utf-8")
    record = in_c(source, tmp_path)
    (tmp_path / "kit").mkdir()
    results = {result.check: result.ok for result in run_checks("features", record, tmp_path / "kit", host=host)}
    checked = ("is_documented", "can_be_made", "options_are_free_of_name", "native_scorers_agree")
    assert results == dict.fromkeys(checked, True)

    (tmp_path / "bad").mkdir()
    bad = in_c(source.replace("result->last = part.last;", "result->last = part.first;"), tmp_path / "bad")
    failed = failures("features", bad)
    assert set(failed) == {"native_scorers_agree"}
    assert "in one piece and as [" in failed["native_scorers_agree"]
