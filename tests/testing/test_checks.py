"""The frame of the kit: what is run, what is left out, and when it stops."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from smtplugins import Offer
from smtplugins.contracts.errors import UsageError
from smtplugins.host.host import Host
from smtplugins.testing import checks, run_checks


@pytest.mark.parametrize("kind", checks.KINDS)
def test_every_check_says_which_contract_it_checks(kind: str) -> None:
    functions = importlib.import_module(checks.KINDS[kind]).CHECKS
    assert len({function.__name__ for function in functions}) == len(functions)
    for function in functions:
        assert function.__doc__ is not None
        assert function.__doc__.strip().endswith(".")


def test_results_name_every_check_that_applies(host: Host, tmp_path: Path) -> None:
    offer = host.registry.entry("features", "length").record
    results = {result.check: result for result in run_checks("features", offer, tmp_path, host=host)}
    assert results["rules_are_independent"].ok
    assert results["rules_are_independent"].message == ""
    assert "bracketing_does_not_matter" not in results


def test_without_a_host_the_installed_plugins_are_loaded(tmp_path: Path) -> None:
    class Fixed:
        def score_candidates(self, source: str, candidates: object) -> list[float]:
            return [1.0] * len(candidates)  # type: ignore[arg-type]

    results = run_checks("features", Offer(name="fixed", make=Fixed, summary="one for all"), tmp_path)
    assert all(result.ok for result in results)


def test_what_cannot_be_made_is_not_checked_further(host: Host, tmp_path: Path) -> None:
    def make() -> None:
        raise RuntimeError("out of order")

    results = run_checks("metrics", Offer(name="tried", make=make, summary="does not work"), tmp_path, host=host)
    assert [result.check for result in results if result.ok] == ["is_documented"]
    assert results[-1] == checks.CheckResult("can_be_made", False, "'tried' cannot be made: RuntimeError: out of order")


def test_an_unknown_kind_lists_the_known_ones(host: Host, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no checks for 'metric'; did you mean 'metrics'"):
        run_checks("metric", Offer(name="tried", make=int, summary="no matter"), tmp_path, host=host)


def test_the_kit_works_without_pytest_and_refuses_to_work_without_assertions(tmp_path: Path) -> None:
    # An offer of each kind, one whose checks are quick.
    offers = {
        "features": "length", "metrics": "bleu", "formats": "text", "learners": "perceptron", "decoders": "hiero",
        "recipes": "hiero"
    }  # fmt: skip
    assert offers.keys() == checks.KINDS.keys()
    code = (
        "import sys, tempfile, pathlib; sys.modules['pytest'] = None\n"
        "import smtplugins as smt\n"
        "from smtplugins.testing import run_checks\n"
        "from smtplugins.contracts.errors import UsageError\n"
        "host = smt.load_plugins()\n"
        "try:\n"
        f"    for kind, name in {offers}.items():\n"
        "        with tempfile.TemporaryDirectory() as folder:\n"
        "            record = host.registry.entry(kind, name).record\n"
        "            print(all(one.ok for one in run_checks(kind, record, pathlib.Path(folder), host=host)))\n"
        "except UsageError as error:\n"
        "    print(error)\n"
    )
    outputs = [
        # Not in the current folder: `-c` puts it first on the path, and the sources there lack the native modules.
        subprocess.run(
            [sys.executable, *option, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for option in ([], ["-O"])
    ]
    assert outputs == ["True\n" * len(offers), "the checks are assertions, which `python -O` removes: run without -O\n"]
