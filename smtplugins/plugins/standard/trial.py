"""Tiny files for the conformance kit: options with which it can make this plugin's offers."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def tiny_orientations(folder: Path) -> dict[str, Any]:
    """Write a reordering table of six phrase pairs."""
    path = folder / "orientations.txt"
    sides = [
        ("das", "a"),
        ("das haus", "b"),
        ("haus ist", "a"),
        ("gut", "c"),
        ("gut ja", "a b"),
        ("wo ist", "where is"),
    ]
    rows = [
        f"{source} ||| {target} ||| 0.{k} 0.2 0.1 0.3 0.{9 - k} 0.4\n" for k, (source, target) in enumerate(sides, 1)
    ]
    path.write_text("".join(rows), encoding="utf-8")
    return {"path": path, "model": "wbe-msd-bidirectional-fe", "default_scores": "0.4,0.3,0.3,0.2,0.2,0.6"}


def tiny_arpa(folder: Path) -> dict[str, Any]:
    """Write a bigram model of two words."""
    path = folder / "tiny.arpa"
    path.write_text(
        "\\data\\\nngram 1=5\nngram 2=2\n\n"
        "\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\ta\t-0.2\n-0.9\tb\t-0.1\n\n"
        "\\2-grams:\n-0.4\t<s> a\n-0.5\ta b\n\n\\end\\\n",
        encoding="utf-8",
    )
    return {"path": path}


def tiny_column(folder: Path) -> dict[str, Any]:
    """Write 64 numbers."""
    path = folder / "column.txt"
    path.write_text("".join(f"{i / 8}\n" for i in range(64)), encoding="utf-8")
    return {"path": path}


def tiny_command(folder: Path) -> dict[str, Any]:
    """Write a scorer that counts characters."""
    path = folder / "scorer.py"
    path.write_text(
        "import json, sys\nfor line in sys.stdin:\n    print(len(json.loads(line)['hyp']), flush=True)\n",
        encoding="utf-8",
    )
    return {"command": f"python3 {path}"}


def tiny_judge(folder: Path) -> dict[str, Any]:
    """Write a judge that looks for exact matches."""
    path = folder / "judge.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    one = json.loads(line)\n"
        "    print(float(max(one['hyp'] == ref for ref in one['refs'])), flush=True)\n",
        encoding="utf-8",
    )
    return {"command": f"python3 {path}"}
