"""Fixtures of the whole suite: reference data beside the checkout, and golden files."""

from __future__ import annotations

import atexit
import contextlib
import difflib
import functools
import gc
import hashlib
import importlib.util
import marshal
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite
from _pytest.pathlib import import_path
from _pytest.runner import runtestprotocol
from hypothesis import settings

# Before numpy is imported, as in `smt`: threads of a linear algebra library spin while others work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Tests of the cache of scores name a folder of their own.
os.environ["SMT_SCORE_CACHE"] = "off"

# A shared machine is slow now and then; time is measured in tests/bench. A run between two edits tries 15 % of the
# examples; `pytest --hypothesis-profile=deep` all of them, as does .ci/run, by SMT_TEST_PROFILE=deep.
DEEP = settings(deadline=None, max_examples=100)
settings.register_profile("deep", DEEP)
settings.register_profile("suite", DEEP, max_examples=15)
settings.load_profile(os.environ.get("SMT_TEST_PROFILE", "suite"))

FEWEST = 10
# Names the folder where processes of ``-n`` share compiled modules if Python shall write none beside them.
COMPILED = "SMT_TEST_COMPILED"
# Where temporary files of tests are, if there is room to run programs: the suite makes and removes tens of thousands,
# and ext4 takes up to 0.5 ms to create a file among some just removed, and 3 ms to remove a folder.
MEMORY = Path("/dev/shm")
ROOM = 2 << 30
CHECKOUT = Path(__file__).resolve().parents[1]
GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the files of tests/golden that differ, showing how"
    )
    parser.addoption(
        "--without", default="", metavar="PLUGIN,...", help="switch plugins off for all tests, as SMT_DISABLE_PLUGINS"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With ``-n``, each process begins with a half of the tests, so that modules stay whole, and takes from others."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--without"):
        os.environ["SMT_DISABLE_PLUGINS"] = config.getoption("--without")
    if not (os.environ.get("PYTEST_DEBUG_TEMPROOT") or os.environ.get("TMPDIR")) and has_room(MEMORY):
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)
    if sys.dont_write_bytecode and getattr(config.option, "numprocesses", None) and COMPILED not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="smt-tests-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT"))
        os.environ[COMPILED] = folder.name
        config.add_cleanup(lambda: os.environ.pop(COMPILED))
        config.add_cleanup(folder.cleanup)
    if os.environ.get("SMT_TEST_INSTALLED"):
        for name in ("smtplugins", "smtformats"):
            spec = importlib.util.find_spec(name)
            if spec is None or spec.origin is None or Path(spec.origin).is_relative_to(CHECKOUT):
                raise pytest.UsageError(f"SMT_TEST_INSTALLED: {name} is not installed, or imported from the checkout")


def has_room(folder: Path) -> bool:
    """Whether a folder can hold the temporary files of tests, programs among them."""
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    system = os.statvfs(folder)
    return system.f_bavail * system.f_frsize >= ROOM and not system.f_flag & os.ST_NOEXEC


def unexpected_skips(config: pytest.Config) -> list[str]:
    """Skips for a reason that is no line of the file ``$SMT_ALLOWED_SKIPS``, which .ci/run sets; none without it."""
    allowed = os.environ.get("SMT_ALLOWED_SKIPS")
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if not allowed or reporter is None:
        return []
    reasons = set(Path(allowed).read_text(encoding="utf-8").splitlines())
    skips = []
    for report in reporter.stats.get("skipped", ()):
        # Of a test or of a whole module, here or in another process.
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if reason.removeprefix("Skipped: ") not in reasons:
            skips.append(f"{report.nodeid}: {reason}")
    return skips


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collections of garbage find next to none among modules and tests, and each looks at all there are so far."""
    gc.disable()
    compile_test = rewrite._rewrite_test
    try:
        import_share(session.config)
        return (yield)
    finally:
        rewrite._rewrite_test = compile_test
        gc.enable()


def compiled(compile_test: Callable[..., Any], folder: Path, path: Path, config: pytest.Config) -> tuple[Any, Any]:
    """What ``compile_test`` gives for a module, from a folder if a neighbour put it there."""
    kept = folder / hashlib.sha256(os.fsencode(path)).hexdigest()
    with contextlib.suppress(FileNotFoundError):
        return path.stat(), marshal.loads(kept.read_bytes())
    stat, code = compile_test(path, config)
    part = kept.with_suffix(f".{os.getpid()}")
    part.write_bytes(marshal.dumps(code))
    part.replace(kept)
    return stat, code


def import_share(config: pytest.Config) -> None:
    """With ``-n``, each process begins with a part of the modules, and reads the others as compiled by its neighbours.

    To compile a module with its assertions, which pytest rewrites, takes most of the time of collection.
    """
    number, count = os.environ.get("PYTEST_XDIST_WORKER", "")[2:], int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if count < 2 or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    if folder := os.environ.get(COMPILED):
        rewrite._rewrite_test = functools.partial(compiled, rewrite._rewrite_test, Path(folder))
    modules = sorted((CHECKOUT / "tests").rglob("test_*.py"))
    first, last = (len(modules) * (int(number) + k) // count for k in (0, 1))
    for path in modules[first:last]:
        try:
            import_path(path, mode="importlib", root=config.rootpath, consider_namespace_packages=False)
        except (Exception, pytest.skip.Exception):
            # Left there, half of it would be collected as if it were whole; so it is imported again, and reported.
            for name in [name for name, module in sys.modules.items() if getattr(module, "__file__", "") == str(path)]:
                del sys.modules[name]


def pytest_collection_finish() -> None:
    """What was collected stays: no later collection of garbage looks at it, and no forked process copies it."""
    gc.collect()
    gc.freeze()
    # Collected in the end, so that nothing native seems to leak; pytest itself collects garbage five times before that.
    atexit.register(gc.unfreeze)
    # With the default, 700, 10 and 10, collections take many times as long: most objects of a test are still in use.
    gc.set_threshold(50_000, 20, 20)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and unexpected_skips(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if skips := unexpected_skips(config):
        terminalreporter.section("skipped for a reason that is not in .ci/skips", red=True)
        for line in skips:
            terminalreporter.line(line)


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test with a number of examples of its own gets the profile's share of it."""
    test = getattr(item, "function", None)
    # All cases of a test are one function: what it asked for is kept beside it.
    asked = getattr(test, "asked_settings", getattr(test, "_hypothesis_internal_use_settings", None))
    profile = settings()
    if asked is not None and asked.max_examples != profile.max_examples:
        share = asked.max_examples * profile.max_examples // DEEP.max_examples
        test.asked_settings = asked
        test._hypothesis_internal_use_settings = settings(
            asked, max_examples=max(share, min(asked.max_examples, FEWEST))
        )


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """With ``-n``, processes do not report that a test was set up and torn down: 2.5 s of CPU less for 11,000."""
    if "PYTEST_XDIST_WORKER" not in os.environ or item.config.getoption("durations") is not None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked ``models`` run by hand alone."""
    if item.get_closest_marker("models") is not None and not os.environ.get("SMT_TEST_MODELS"):
        pytest.skip("needs SMT_TEST_MODELS=1")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the interpreter that forks ``smt`` (``forked.py``)."""
    from tests.forked import forking_server

    with forking_server(tmp_path_factory.mktemp("smt")) as address:
        yield address


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference data beside the checkout; mark tests that use it ``shared``."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs the reference data in ../shared")
    return folder


@pytest.fixture(scope="session")
def aligners() -> Any:
    """The library of alignment models, with one thread as in `smt`: others spin, and a fork does not copy them."""
    from smtplugins.contracts.errors import UsageError
    from smtplugins.host.estimate.aligners import load_library

    try:
        return load_library()
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture
def signals() -> Iterator[None]:
    """Commands do not inherit that this process ignores signals, as started by ``nohup`` or ``&``."""
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(text, name)`` compares a text with ``tests/golden/name``, or rewrites that on ``--update-golden``."""

    def check(found: str, name: str) -> None:
        path = GOLDEN / name
        expected = path.read_bytes().decode() if path.exists() else ""
        if found == expected and path.exists():
            return
        diff = "\n".join(
            line.rstrip("\n")
            for line in difflib.unified_diff(
                expected.splitlines(keepends=True), found.splitlines(keepends=True), f"golden/{name}", "found"
            )
        )
        if not request.config.getoption("--update-golden"):
            pytest.fail(f"{diff}\n(pytest --update-golden rewrites golden/{name})", pytrace=False)
        capture = request.config.pluginmanager.getplugin("capturemanager")
        assert capture is not None
        with capture.global_and_fixture_disabled():
            sys.stdout.write(f"\n{diff}\n")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found.encode())

    return check
