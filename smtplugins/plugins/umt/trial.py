"""A tiny language model, with which the conformance kit makes the undirected feature."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def tiny_arpa(folder: Path) -> dict[str, Any]:
    """Write a bigram model of two words."""
    path = folder / "tiny.arpa"
    path.write_text(
        "\\data\\\nngram 1=5\nngram 2=4\nngram 3=2\n\n"
        "\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\ta\t-0.2\n-0.9\tb\t-0.1\n\n"
        "\\2-grams:\n-0.4\t<s> a\t-0.15\n-0.5\ta b\t-0.25\n-0.35\tb a\n-0.45\tb </s>\n\n"
        "\\3-grams:\n-0.2\t<s> a b\n-0.3\ta b </s>\n\n\\end\\\n",
        encoding="utf-8",
    )
    return {"path": path}
