"""A tiny language model, class map and trained model, for the features' conformance tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smtplugins.plugins.cdlm.features.classes import ClassMap

_ARPA = (
    "\\data\\\nngram 1=6\nngram 2=4\nngram 3=2\n\n"
    "\\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.3\n-0.7\t</s>\n-0.6\ta\t-0.2\n-0.9\tb\t-0.1\n-0.8\tc\t-0.15\n\n"
    "\\2-grams:\n-0.4\t<s> a\t-0.15\n-0.5\ta b\t-0.25\n-0.35\tb a\n-0.45\tb </s>\n\n"
    "\\3-grams:\n-0.2\t<s> a b\n-0.3\ta b </s>\n\n\\end\\\n"
)
WEIGHTS = {"blm": 0.5, "wp": -0.25, "tsrb:X_X": -1.0, "tsrb:X_<other>": 0.5, "tsrb:a_b": 0.75, "tsrb:<other>_a": -0.125}


def lm_trial(folder: Path) -> dict[str, Any]:
    """Make the options of ``blm``."""
    (folder / "tiny.arpa").write_text(_ARPA, encoding="utf-8")
    return {"path": folder / "tiny.arpa"}


def _classes() -> ClassMap:
    from smtplugins.plugins.cdlm.features.class_making import make_classes

    return make_classes({"a": 5, "b": 3, "c": 2, "d": 1}, frequent=2)


def classes_trial(folder: Path) -> dict[str, Any]:
    """Make the options of ``tsrb``."""
    _classes().write(folder / "classes.txt")
    return {"path": folder / "classes.txt"}


def model_trial(folder: Path) -> dict[str, Any]:
    """Make the options of ``cdlm``."""
    from smtplugins.plugins.cdlm.features.model import save_model

    save_model(folder / "model", WEIGHTS, _classes())
    return {"path": folder / "model"}
