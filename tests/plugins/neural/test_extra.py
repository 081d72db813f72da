"""The libraries of the extra are imported when a list is scored; without them, the error says what to install."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smtplugins.cli.main import main
from smtplugins.contracts.errors import PluginError
from smtplugins.host.host import Host
from smtplugins.plugins.neural import trial

WATCH = """
import sys
from smtplugins.cli.main import main
code = main(sys.argv[1:])
print(sorted({'onnxruntime', 'tokenizers'} & set(sys.modules)), code, file=sys.stderr)
"""


def test_the_libraries_are_imported_only_for_scores_and_tell_nobody(tmp_path: Path) -> None:
    path = trial.tiny_quality(tmp_path)["path"]
    nbest = tmp_path / "list.nbest"
    nbest.write_text("0 ||| a ||| x= 1 ||| 1\n", encoding="utf-8")
    (tmp_path / "source").write_text("b\n", encoding="utf-8")
    feature = f"neural-quality,path={path}"
    # onnxruntime would keep there what it sends about its use, and send it.
    home = tmp_path / "home"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": ""}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    for command, imported in (
        (["features"], []),
        (["features", "show", "neural-quality"], []),
        (["score", "-i", str(nbest), "--feature", "length"], []),
        (
            ["score", "-i", str(nbest), "-s", str(tmp_path / "source"), "--feature", feature],
            ["onnxruntime", "tokenizers"],
        ),
    ):
        # Not in the current folder: `-c` puts it first on the path, and the sources there lack the native modules.
        done = subprocess.run(
            [sys.executable, "-c", WATCH, *command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.stderr.splitlines()[-1] == f"{imported} 0", command
    assert [path.name for path in home.rglob("*onnx*")] == []


@pytest.mark.parametrize("kind", ["features", "metrics"])
def test_without_the_extra_the_error_says_what_to_install(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found: Any = importlib.util.find_spec
    path = trial.tiny_quality(tmp_path)["path"]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "tokenizers" else found(name))
    with pytest.raises(PluginError, match=r"'neural-quality' needs tokenizers: pip install 'smtplugins\[neural\]'"):
        host.registry.make(kind, f"neural-quality,path={path}")
    if kind == "features":
        nbest = tmp_path / "list.nbest"
        nbest.write_text("0 ||| a ||| x= 1 ||| 1\n", encoding="utf-8")
        assert main(["score", "-i", str(nbest), "--feature", f"neural-quality,path={path}"]) == 2
        assert "pip install 'smtplugins[neural]'" in capsys.readouterr().err
