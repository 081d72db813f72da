"""The suite's own fixtures: golden files are compared, shown and rewritten; reference data may be absent."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import smtplugins

pytest_plugins = ["pytester"]

CASE = """
def test_it(golden):
    golden("one\\ntwo\\n", "deep/case.txt")
"""


@pytest.fixture(autouse=True)
def _profile_of_its_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("SMT_ALLOWED_SKIPS", "SMT_TEST_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    # A suite within this process would unfreeze what this one has collected: its own five collections of garbage, and
    # all later ones here, would look at it.
    gc.freeze()
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
    profile = settings.get_current_profile_name()
    yield
    # Suites within this process load another.
    settings.load_profile(profile)


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Path:
    """A small suite with our conftest, run in a folder of its own."""
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    pytester.makepyfile(CASE)
    return pytester.path / "golden" / "deep" / "case.txt"


def test_difference_fails_and_is_shown(pytester: pytest.Pytester, suite: Path) -> None:
    suite.parent.mkdir(parents=True)
    suite.write_text("one\n2\n")
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*-2", "*+two", "*--update-golden rewrites golden/deep/case.txt*"])
    assert suite.read_text() == "one\n2\n"


@pytest.mark.parametrize("before", ["one\n2\n", None])
def test_update_rewrites_and_shows(pytester: pytest.Pytester, suite: Path, before: str | None) -> None:
    if before is not None:
        suite.parent.mkdir(parents=True)
        suite.write_text(before)
    result = pytester.runpytest("--update-golden")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*+two"])
    assert suite.read_text() == "one\ntwo\n"
    pytester.runpytest().assert_outcomes(passed=1)


def test_missing_file_fails(pytester: pytest.Pytester, suite: Path) -> None:
    pytester.runpytest().assert_outcomes(failed=1)
    assert not suite.exists()


def test_shared_is_skipped_when_absent(pytester: pytest.Pytester, suite: Path) -> None:
    pytester.makepyfile("def test_it(shared):\n    assert shared.is_dir()\n")
    pytester.runpytest().assert_outcomes(skipped=1)


@pytest.mark.parametrize(("options", "counts"), [((), "15 12 10 8"), (("--hypothesis-profile=deep",), "100 80 30 8")])
def test_the_profile_says_how_many_examples(pytester: pytest.Pytester, options: tuple[str, ...], counts: str) -> None:
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    pytester.makepyfile(
        """
        import pytest
        from hypothesis import given, settings, strategies as st

        def counted(decorate):
            @pytest.mark.parametrize("case", [0, 1])
            @decorate
            @given(st.integers())
            def test(case, number):
                seen[case] += 1

            seen = [0, 0]
            test.hypothesis.inner_test.seen = seen
            return test

        test_default = counted(lambda test: test)
        test_80 = counted(settings(max_examples=80))
        test_30 = counted(settings(max_examples=30))
        test_8 = counted(settings(max_examples=8))

        def test_counts():
            tests = (test_default, test_80, test_30, test_8)
            print(*(test.hypothesis.inner_test.seen for test in tests))
        """
    )
    result = pytester.runpytest("-s", *options)
    result.assert_outcomes(passed=9)
    result.stdout.fnmatch_lines([f"*{' '.join(f'[[]{count}, {count}]' for count in counts.split())}*"])


SUN = "could not import 'sun'"
SKIPS = {
    "test_inside": f"def test_it():\n    pytest.skip({SUN!r})",
    "test_mark": f"@pytest.mark.skipif(True, reason={SUN!r})\ndef test_it():\n    pass",
    "test_fixture": f"@pytest.fixture\ndef sun():\n    pytest.skip({SUN!r})\n\ndef test_it(sun):\n    pass",
    "test_module": f"pytest.skip({SUN!r}, allow_module_level=True)",
    "test_import": f"pytest.importorskip('sun', reason={SUN!r})",
    "test_not": "def test_not():\n    pass",
}


@pytest.mark.parametrize(
    ("workers", "allowed", "named"),
    [("0", SUN, []), ("0", "no moon", list(SKIPS)[:5]), ("1", "no moon", list(SKIPS)[:5])],
)
def test_skips_have_to_be_allowed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, workers: str, allowed: str, named: list[str]
) -> None:
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    pytester.makepyfile(**{name: f"import pytest\n\n{code}\n" for name, code in SKIPS.items()})
    reasons = pytester.path / "reasons"
    reasons.write_text(f"another reason\n{allowed}\n")
    monkeypatch.setenv("SMT_ALLOWED_SKIPS", str(reasons))
    result = pytester.runpytest("-n", workers)
    result.assert_outcomes(passed=1, skipped=5)
    assert result.ret == bool(named)
    shown = result.stdout.str().partition("not in .ci/skips")[2]
    assert [name for name in SKIPS if f"{name}.py" in shown] == named


def test_processes_report_what_fails_before_and_after_a_test(pytester: pytest.Pytester) -> None:
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text())
    pytester.makepyfile(
        "import pytest\n\n@pytest.fixture\ndef before():\n    assert 0\n\n"
        "@pytest.fixture\ndef after():\n    yield\n    assert 0\n\n"
        "def test_before(before):\n    pass\n\ndef test_after(after):\n    pass\n"
    )
    pytester.runpytest("-n", "1").assert_outcomes(passed=1, errors=2)


@pytest.mark.parametrize("inside", [False, True])
def test_installed_packages_have_to_be_from_elsewhere(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, inside: bool
) -> None:
    place = f"Path({str(Path(smtplugins.__file__).parents[1])!r})" if inside else "Path(__file__).parent"
    text = (Path(__file__).parent / "conftest.py").read_text()
    pytester.makeconftest(text.replace("CHECKOUT = Path(__file__).resolve().parents[1]", f"CHECKOUT = {place}"))
    pytester.makepyfile("def test_it():\n    pass")
    monkeypatch.setenv("SMT_TEST_INSTALLED", "1")
    result = pytester.runpytest("-p", "no:cacheprovider")
    assert result.ret == (pytest.ExitCode.USAGE_ERROR if inside else pytest.ExitCode.OK)
    if inside:
        result.stderr.fnmatch_lines(["*SMT_TEST_INSTALLED: smtplugins is not installed, or imported from the checkout"])


@pytest.mark.parametrize(
    ("room", "told", "used"), [("1", "", True), ("1 << 60", "", False), ("1", "TMPDIR", False), ("1", "", None)]
)
def test_temporary_files_are_in_memory_where_it_has_room(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, room: str, told: str, used: bool | None
) -> None:
    monkeypatch.delenv("TMPDIR", raising=False)
    # Undone at the end, though the suite within this process sets it.
    monkeypatch.setenv("PYTEST_DEBUG_TEMPROOT", "")
    if told:
        monkeypatch.setenv(told, str(pytester.path))
    memory = pytester.path / "memory"
    if used is not None:
        memory.mkdir()
    conftest = (Path(__file__).parent / "conftest.py").read_text()
    pytester.makeconftest(conftest.replace("2 << 30", room).replace("/dev/shm", str(memory)))
    wanted = str(memory) if used else ""
    pytester.makepyfile(f"import os\n\ndef test_it():\n    assert os.environ['PYTEST_DEBUG_TEMPROOT'] == {wanted!r}\n")
    pytester.runpytest().assert_outcomes(passed=1)


def test_a_module_that_fails_is_no_half_module(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where processes import their share of the modules first, what failed then is imported again, and reported."""
    monkeypatch.setenv("SMT_TEST_COMPILED", str(pytester.mkdir("compiled")))
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw1")
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    pytester.makeini("[pytest]\ntestpaths = tests\naddopts = --import-mode=importlib")
    folder = pytester.mkdir("tests")
    (folder / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (folder / "test_half.py").write_text("def test_it():\n    pass\n\nraise ValueError('the other half')\n")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    # Compiled once, with its assertions.
    assert len(list((pytester.path / "compiled").iterdir())) == 1
    result.stdout.fnmatch_lines(["*the other half*"])
