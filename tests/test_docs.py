"""Every fence of the README files runs as it stands, and generated pages and tables are what the code says now."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import smtplugins as smt
from tests.forked import client_environment

ROOT = Path(__file__).resolve().parents[1]
# Each with the folder where it begins; `$ cd FOLDER` holds for what follows.
RUNNABLE = {
    # The slowest first, so that no worker is left with one of them at the end.
    "examples/cdlm/README.md": "examples/cdlm",
    "examples/umt/README.md": "examples/umt",
    "examples/from-text/README.md": "examples/from-text",
    "README.md": ".",
    "examples/rescore-nbest/README.md": "examples/rescore-nbest",
    "examples/rerank-marian/README.md": "examples/rerank-marian",
    "examples/bitree/README.md": "examples/bitree",
    "examples/classroom/README.md": "examples/classroom",
    "examples/convert-files/README.md": "examples/convert-files",
    "examples/decode-hiero/README.md": "examples/decode-hiero",
    "examples/external-metric/README.md": "examples/external-metric",
    "examples/localized/README.md": "examples/localized",
    "examples/searn/README.md": "examples/searn",
    "smtplugins/plugins/bitree/README.md": "examples/bitree",
    "smtplugins/plugins/cdlm/README.md": "examples/cdlm",
    "smtplugins/plugins/hiero/README.md": "examples/decode-hiero",
    "smtplugins/plugins/localized/README.md": "examples/localized",
    "smtplugins/plugins/phrase/README.md": "examples/classroom",
    "smtplugins/plugins/searn/README.md": "examples/searn",
    "smtplugins/plugins/standard/BATCHES.md": "examples/external-metric",
    "smtplugins/plugins/standard/README.md": "examples/rescore-nbest",
    "smtplugins/plugins/tuning/README.md": "examples/rescore-nbest",
    "smtplugins/plugins/umt/README.md": "examples/umt",
}
# tests/examples runs examples/open-corpus/README.md, with made-up packages and clients in place of the network's.
# With a model from a package: by hand, as they take long.
WITH_MODELS = {
    "examples/neural-scores/README.md": "examples/neural-scores",
    "smtplugins/plugins/neural/README.md": "examples/neural-scores",
}
# A plugin of a paper may be taken out, with its example.
PAPERS = {
    f"{folder}/{name}/README.md"
    for folder in ("examples", "smtplugins/plugins")
    for name in ("bitree", "cdlm", "localized", "searn", "umt")
}
INSTALL = "python -m pip install"


def fences(path: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(\w+)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def environment(server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return client_environment(tmp_path_factory.mktemp("smt"), server)


def run(command: list[str] | str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        shell=isinstance(command, str),
        capture_output=True,
        text=True,
        timeout=600,
    )
    # diff and cmp say with 1 that files differ, which is what some examples show.
    assert done.returncode == 0 or (done.returncode == 1 and "diff" in command), done.stderr
    return done.stdout + done.stderr


def check_output(expected: list[str], found: list[str]) -> None:
    """``...`` on a line of its own stands for any lines, at the end of a line for its rest."""
    if expected == ["..."]:
        assert found
        return
    assert len(expected) == len(found), found
    for wanted, line in zip(expected, found, strict=True):
        if wanted.endswith("..."):
            assert line.startswith(wanted[:-3]), line
        else:
            assert line == wanted


@pytest.mark.parametrize(
    "name",
    [
        *(one for one in RUNNABLE if one not in PAPERS or (ROOT / one).exists()),
        *(pytest.param(one, marks=pytest.mark.models) for one in WITH_MODELS),
    ],
)
def test_fences_run_as_they_stand(name: str, tmp_path: Path, environment: dict[str, str]) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    folder = tmp_path / {**RUNNABLE, **WITH_MODELS}[name]
    for language, body in fences(ROOT / name):
        first = body.split("\n", 1)[0]
        if language == "console":
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                if re.fullmatch(r"cd \S+", command):
                    folder = (folder / command[3:]).resolve(strict=True)
                    continue
                check_output(output.splitlines(), run(command, folder, environment).splitlines())
        elif re.fullmatch(r"# \w+\.\w+", first):
            (folder / first[2:]).write_text(body, encoding="utf-8")
        elif language == "python":
            run([sys.executable, "-c", body], folder, environment)
        else:
            assert body.startswith(INSTALL), f"a fence that nothing runs: {body}"


def test_readme_names_what_it_needs_first_and_has_two_install_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.match(r"# smtplugins\n\nNeeds Python .* headers .* C\+\+20 compiler", text)
    commands = [body for language, body in fences(ROOT / "README.md") if language == "sh" and body.startswith(INSTALL)]
    assert [body.count("\n") for body in commands] == [1, 1]
    assert "run.sh" in commands[0]
    assert "pytest" in commands[1]


def test_diffs_of_contributing_are_true() -> None:
    """Their context stands in the files, and the lines of options, too; the row is one that nobody has added.

    Where a paper's plugin was taken out, as CI does, its row has no file.
    """
    diffs = [body for language, body in fences(ROOT / "CONTRIBUTING.md") if language == "diff"]
    assert len(diffs) == 2
    for diff in diffs:
        for part in re.split(r"^--- ", diff, flags=re.MULTILINE)[1:]:
            path, *lines = part.splitlines()
            paper = re.match(r"a/(smtplugins/plugins/\w+)/study/", path)
            if paper is not None and not (ROOT / paper[1]).exists():
                continue
            text = (ROOT / path.removeprefix("a/")).read_text(encoding="utf-8")
            marks = (" ",) if lines[0].startswith("+++ b/") else (" ", "+")
            there = "\n".join(line[1:] for line in lines if line.startswith(marks))
            assert there, path
            assert there in text, path


def regenerate(path: Path, text: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, f"{path.name} is not what the code says: pytest --update-golden"


def test_formats_pages_are_what_the_modules_say(request: pytest.FixtureRequest) -> None:
    from tests.formats.pages import documentation

    pages = documentation()
    folder = ROOT / "formats/pages"
    stale = {f"pages/{one.name}" for one in folder.glob("*")} - pages.keys()
    if request.config.getoption("--update-golden"):
        while stale:
            (ROOT / "formats" / stale.pop()).unlink()
    assert not stale
    for name, text in pages.items():
        regenerate(ROOT / "formats" / name, text, request)


def test_hooks_page_is_what_the_hookspecs_say(request: pytest.FixtureRequest) -> None:
    from smtplugins.contracts.hookspecs import documentation

    regenerate(ROOT / "smtplugins/contracts/HOOKS.md", documentation(), request)


def test_keys_page_is_what_the_records_say(request: pytest.FixtureRequest) -> None:
    from smtplugins.host.config.writing.keys import keys_page

    regenerate(ROOT / "smtplugins/host/config/KEYS.md", keys_page(), request)


@pytest.mark.parametrize(
    "plugin",
    [
        one
        for one in ("bitree", "cdlm", "localized", "neural", "searn", "standard", "tuning", "umt")
        if (ROOT / "smtplugins/plugins" / one).exists()
    ],
)
def test_plugin_tables_are_what_the_registry_says(plugin: str, request: pytest.FixtureRequest) -> None:
    path = ROOT / "smtplugins/plugins" / plugin / "README.md"
    host = smt.load_plugins()

    def table(match: re.Match[str]) -> str:
        entries = [one for one in host.registry.entries(match[1]) if one.plugin.name == plugin]
        rows = "".join(f"| `{one.record.name}` | {one.record.summary} |\n" for one in entries)
        return f"<!-- generated: {match[1]} -->\n| name | what |\n|---|---|\n{rows}<!-- end -->"

    text = path.read_text(encoding="utf-8")
    pattern = r"<!-- generated: (\w+) -->\n.*?<!-- end -->"
    assert re.search(pattern, text, re.DOTALL)
    regenerate(path, re.sub(pattern, table, text, flags=re.DOTALL), request)


PLUGIN_PAGES = sorted((ROOT / "smtplugins/plugins").glob("*/README.md"))


@pytest.mark.parametrize("path", PLUGIN_PAGES, ids=lambda path: path.parent.name)
def test_tables_of_options_are_what_the_decoders_say(path: Path, request: pytest.FixtureRequest) -> None:
    from smtplugins.contracts.spec import documentation, parameters

    host = smt.load_plugins()

    def table(match: re.Match[str]) -> str:
        if match[1] not in host.registry.names("decoders"):
            return match[0]
        make = host.registry.entry("decoders", match[1]).record.factory
        known, docs = parameters(make), documentation(make)
        assert known.keys() == docs.keys()
        rows = "".join(f"| `{name}` | {values(one)} | {docs[name]} |\n" for name, one in known.items())
        return f"<!-- options: {match[1]} -->\n| option | values | what |\n|---|---|---|\n{rows}<!-- end -->"

    def values(one: inspect.Parameter) -> str:
        shown = {"None": "none", "True": "true", "False": "false", str(1 << 28): "2^28"}
        default = shown.get(str(one.default), str(one.default)) or "empty"
        others = [value for value in get_args(one.annotation) if isinstance(value, str) and value != one.default]
        return ", ".join([f"**{default}**", *others])

    text = path.read_text(encoding="utf-8")
    regenerate(path, re.sub(r"<!-- options: ([\w-]+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL), request)
