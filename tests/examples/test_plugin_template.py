"""The plugin template, from a copy, installed without network, as its README says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/plugin-template"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ignored = shutil.ignore_patterns("__pycache__", ".*_cache", "build")
    return Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("template") / "copy", ignore=ignored))


@pytest.fixture(scope="module")
def environment(copy: Path) -> dict[str, str]:
    """An environment in which the copy is installed, into a folder of its own."""
    site = copy.parent / "site"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", "--no-deps"]
    done = subprocess.run([*command, "--target", site, "."], cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(site),
        # Its pytest removes old folders of runs; those of other runs may be large.
        "PYTEST_DEBUG_TEMPROOT": str(copy.parent),
    }


def fences(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run(command: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_readme_runs_as_it_stands(copy: Path, environment: dict[str, str]) -> None:
    (install,) = fences(copy / "README.md", "sh")
    # Done by the fixture, without the network.
    assert install == "python -m pip install -e '.[test]'\n"
    outputs = {}
    for fence in fences(copy / "README.md", "console"):
        for part in re.split(r"^\$ ", fence, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            outputs[command] = run(command, copy, environment)
            assert expected in ("...\n", outputs[command])
    assert re.search(r"^example +smt-example +0\.1\.0 +ok", outputs["smt plugins"], re.MULTILINE)
    assert "example-exact" in outputs["smt plugins check example"]
    assert "FAILED" not in outputs["smt plugins check example"]
    assert re.search(r"^\d+ passed", outputs["python -m pytest -q"].splitlines()[-1])
    assert "100" in outputs["smt evaluate -m example-exact -r best best"]


@pytest.mark.skipif(not (shutil.which("cmake") and shutil.which("cc")), reason="needs CMake and a C compiler")
def test_the_native_feature_builds_and_scores(copy: Path, environment: dict[str, str]) -> None:
    (commands,) = fences(copy / "native/README.md", "sh")
    run(commands, copy, environment)
    (code,) = fences(copy / "native/README.md", "python")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=copy, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[2.]\n"
